"""What was forgotten was known, also when no link tells of it any more (M23)."""

from __future__ import annotations

from memci.reading.keywords import Keywords
from memci.storage.reading import once_known
from memci.storage.reading.sight import Sight
from memci.storage.session import Connection


def was_known(connection: Connection, agent_id: str, keywords: Keywords, sight: Sight) -> bool:
    """Tell whether messages in sight that became memories hold what no memory holds now."""
    terms = [each for each in keywords.terms if each]
    if not (terms or keywords.characters or keywords.everything):
        return False
    return once_known.was_known(connection, agent_id, terms, keywords.characters, sight)
