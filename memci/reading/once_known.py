"""What was forgotten was known, also when no link tells of it any more (M23)."""

from __future__ import annotations

from memci.reading.keywords import Keywords
from memci.storage.heirs import heirs_of
from memci.storage.reading import once_known
from memci.storage.reading.recall import restorable
from memci.storage.reading.sight import Sight
from memci.storage.session import Connection


def was_known(connection: Connection, agent_id: str, keywords: Keywords, sight: Sight) -> bool:
    """Tell whether messages in sight that became memories hold what no memory holds now."""
    terms = [each for each in keywords.terms if each]
    if not (terms or keywords.characters or keywords.everything):
        return False
    return once_known.was_known(connection, agent_id, terms, keywords.characters, sight)


def who_knew(
    connection: Connection, agent_id: str, keywords: Keywords, sight: Sight, most: int
) -> list[int]:
    """Return forgotten memories that can be restored and told of a keyword, the latest first."""
    terms = [each for each in keywords.terms if each]
    nodes = once_known.who_knew(connection, agent_id, terms, keywords.characters, sight)
    heirs = heirs_of(connection, agent_id, nodes)
    gone = list(dict.fromkeys(heirs[each].last for each in nodes if heirs[each].living is None))
    can = restorable(connection, agent_id, gone)
    return [each for each in gone if each in can][:most]
