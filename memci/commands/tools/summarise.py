"""What an agent wants summed up (R20): found here, read and thought about by a context worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memci.commands.pages.bench import Bench
from memci.commands.pages.perform import PageCommands
from memci.commands.tools.place import Place
from memci.domain.pages.page import Page
from memci.domain.pages.permission import Actor
from memci.domain.pages.viewer import Viewer
from memci.shapes.memory_tools import Summarise, SummaryRequest
from memci.storage.erasure.gone import snapshot_of
from memci.storage.page_messages import shown_messages
from memci.storage.page_warming import reading_texts
from memci.storage.reading.messages import latest_seqs
from memci.storage.session import Connection
from memci.storage.summaries import StoredSummary, read_summary

# More than these are not read at once: messages, notes and characters of notes, the newest.
_MOST = 2_000
_MOST_NOTES = 200
_MOST_CHARACTERS = 200_000
_PAGES_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a worker is to sum up; ``in_part``: there is more than is read at once."""

    request: SummaryRequest
    in_part: bool = False


def summary_request(pages: PageCommands, place: Place, asked: Summarise) -> Wanted:
    """Return what a worker is to sum up; raises ``NotFoundError`` for no such page or message."""
    if asked.page is not None:
        return _of_page(pages, place, asked.page, asked.max_tokens)
    with snapshot_of(pages.database, place.agent_id) as connection:
        before = None
        if asked.messages is None:
            before = _summary_of(connection, place)
            seqs = latest_seqs(
                connection,
                place.agent_id,
                session_id=place.session_id,
                user_id=place.user_id,
                most=_MOST,
            )
        else:
            seqs = place.seqs(connection, asked.messages)
    if before is not None:
        seqs = [seq for seq in seqs if seq > before.through_seq]
    request = SummaryRequest(
        previous="" if before is None else before.text,
        seqs=tuple(seqs),
        max_tokens=asked.max_tokens,
    )
    return Wanted(request)


def _summary_of(connection: Connection, place: Place) -> StoredSummary | None:
    """Return the summary of the session, from which the conversation so far is gone on with."""
    if place.session_id is None:
        return None
    viewer = Viewer(place.session_id, place.user_id, is_new=place.is_new)
    return read_summary(connection, place.agent_id, place.session_id, viewer)


def _of_page(pages: PageCommands, place: Place, index: str, max_tokens: int) -> Wanted:
    session = place.session_id
    with pages.rehearsal(place.agent_id, Actor.AGENT, session_id=session) as bench:
        held = list(_below(bench, bench.page(index)))
        seqs = _newest_seqs(bench, held)
    # Afterwards: a store that is far shall hold no transaction.
    notes = [page for page in held if page.body is not None]
    texts = _newest_texts(pages, place.agent_id, notes)
    request = SummaryRequest(
        seqs=tuple(seqs[:_MOST]),
        texts=tuple(texts[each.index] for each in notes if texts.get(each.index)),
        max_tokens=max_tokens,
    )
    whole = sum(map(len, texts.values())) < _MOST_CHARACTERS and len(texts) == len(notes)
    return Wanted(request, in_part=len(seqs) > _MOST or not whole)


def _newest_seqs(bench: Bench, held: Iterable[Page]) -> list[int]:
    """Return the newest messages of pages, latest first; more than ``_MOST`` if there are more."""
    ends = [(page.span.last_seq, page) for page in held if page.span is not None]
    waiting = [page for _, page in sorted(ends, key=lambda each: each[0])]
    seqs: list[int] = []
    while waiting and len(seqs) <= _MOST:
        bite = [waiting.pop() for _ in waiting[-_PAGES_AT_ONCE:]]
        said = shown_messages(bench.connection, bench.agent_id, bite)
        seqs += [each.seq for messages in said.values() for each in messages]
    return sorted(set(seqs), reverse=True)


def _newest_texts(pages: PageCommands, agent_id: str, notes: Iterable[Page]) -> dict[str, str]:
    """Return the texts of the newest notes by index, the last of them cut where it is too long."""
    newest = sorted(notes, key=lambda each: each.place, reverse=True)[:_MOST_NOTES]
    texts: dict[str, str] = {}
    room = _MOST_CHARACTERS
    with reading_texts(pages.database, pages.store, agent_id) as reader:
        for page in newest:
            texts[page.index] = reader.read(page).text[:room]
            room -= len(texts[page.index])
            if not room:
                break
    return texts


def _below(bench: Bench, page: Page) -> Iterator[Page]:
    for each in bench.opened.desk.rendering.sight.below(page):
        if not each.is_folder:
            yield each
