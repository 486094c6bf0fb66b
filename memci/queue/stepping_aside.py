"""Kinds of jobs that stand in nobody's way.

Others overtake them while they wait for another try, and one that is dead halts nobody: what they
do is worth having, and nothing waits for it. Each looks for what there is to do when it runs, and
so does right in any order.
"""

from __future__ import annotations

from memci.queue.documents import DOCUMENT_KIND
from memci.queue.item_indexing import ITEM_INDEX
from memci.queue.page_naming import NAME_KIND
from memci.queue.summaries import SUMMARISE_KIND
from memci.queue.tracking import TRACK_KIND

ASIDE_KINDS = frozenset({DOCUMENT_KIND, ITEM_INDEX, NAME_KIND, SUMMARISE_KIND, TRACK_KIND})

_LISTED = ", ".join(f"'{each}'" for each in sorted(ASIDE_KINDS))

# A condition on ``job``: it waits for another try, and the next in the mailbox goes first.
STEPS_ASIDE = f"(kind IN ({_LISTED}) AND coalesce(not_before > now(), false))"
