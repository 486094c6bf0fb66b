"""Kinds of jobs that stand in nobody's way (queue.md).

Others overtake them while they wait for another try, and a dead one halts no agent: a summarizer
that is down keeps nobody from remembering.
"""

from __future__ import annotations

from memci.queue.page_naming import NAME_KIND
from memci.queue.summaries import SUMMARISE_KIND

ASIDE_KINDS = frozenset({NAME_KIND, SUMMARISE_KIND})

_KINDS = ", ".join(f"'{kind}'" for kind in sorted(ASIDE_KINDS))
# A condition on ``job``: it waits for another try, and the next in the mailbox goes first.
STEPS_ASIDE = f"(kind IN ({_KINDS}) AND coalesce(not_before > now(), false))"
