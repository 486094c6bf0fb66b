"""Are the texts there that pages refer to."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

from memci.cli.doctor.finding import Finding, note, ok, wrong
from memci.cli.output import counted
from memci.errors import MemciError, NotFoundError
from memci.storage.notes_kept import all_agents, notes_of
from memci.storage.page_store.cached import CachedPageStore
from memci.storage.page_store.port import BodyKey, PageStore
from memci.storage.session import Database

_SUBJECT = "page texts"
_NOTES_OF_ONE = 20  # the newest of each agent
_LONGEST_S = 5.0
_MOST_NAMED = 5


def check_page_texts(
    database: Database, store: PageStore, *, longest_s: float = _LONGEST_S
) -> Iterator[Finding]:
    """Look for the newest texts of each agent in the store, for a few seconds at most."""
    ends, looked, missing, whole = monotonic() + longest_s, 0, list[BodyKey](), True
    try:
        if isinstance(store, CachedPageStore):
            store.check()
        for agent_id in all_agents(database):
            for key in notes_of(database, agent_id, _NOTES_OF_ONE):
                looked += 1
                missing += [] if _is_there(store, key) else [key]
            if monotonic() > ends:
                whole = False
                break
    except MemciError as error:
        yield wrong(_SUBJECT, str(error), "see MEMCI_PAGE_STORE and the settings that begin so")
        return
    yield _found(looked, missing)
    if not whole:
        yield note(_SUBJECT, f"not all agents were looked at: {longest_s:g} s were over")


def _found(looked: int, missing: list[BodyKey]) -> Finding:
    texts = counted(looked, "text")
    if not missing:
        return ok(_SUBJECT, f"{texts} looked for, none is missing")
    names = [f"{key.page} of {key.agent_id}" for key in missing[:_MOST_NAMED]]
    return wrong(
        _SUBJECT,
        f"{len(missing)} of {texts} cannot be read: {', '.join(names)}"
        f"{', …' if len(missing) > _MOST_NAMED else ''}",
        "bring them back from a back-up of the page store; or remove their pages for good with"
        " `memci erase --agent ID --page INDEX`",
    )


def _is_there(store: PageStore, key: BodyKey) -> bool:
    try:
        store.load(key)
    except NotFoundError:
        return False
    return True
