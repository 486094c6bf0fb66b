"""What an agent wants summed up (R20): found here, read and thought about by a context worker."""

from __future__ import annotations

from collections.abc import Iterator

from memci.commands.pages.bench import Bench
from memci.commands.pages.perform import PageCommands
from memci.commands.tools.place import Place
from memci.domain.pages.page import Page
from memci.domain.pages.permission import Actor
from memci.shapes.memory_tools import Summarise, SummaryRequest
from memci.storage.erasure.gone import snapshot_of
from memci.storage.page_messages import shown_messages
from memci.storage.reading.messages import latest_seqs

# More messages than these, the newest, are not read at once.
_MOST = 2_000


def summary_request(pages: PageCommands, place: Place, asked: Summarise) -> SummaryRequest:
    """Return what a worker is to sum up; raises ``NotFoundError`` for no such page or message."""
    if asked.page is not None:
        return _of_page(pages, place, asked.page, asked.max_tokens)
    with snapshot_of(pages.database, place.agent_id) as connection:
        if asked.messages is None:
            seqs = latest_seqs(
                connection,
                place.agent_id,
                session_id=place.session_id,
                user_id=place.user_id,
                most=_MOST,
            )
        else:
            seqs = place.seqs(connection, asked.messages)
    return SummaryRequest(seqs=tuple(seqs), max_tokens=asked.max_tokens)


def _of_page(pages: PageCommands, place: Place, index: str, max_tokens: int) -> SummaryRequest:
    session = place.session_id
    with pages.rehearsal(place.agent_id, Actor.AGENT, session_id=session) as bench:
        held = list(_below(bench, bench.page(index)))
        said = shown_messages(bench.connection, place.agent_id, held)
        texts = tuple(
            text for page in held if page.span is None and (text := bench.opened.texts(page).text)
        )
    seqs = sorted({each.seq for messages in said.values() for each in messages}, reverse=True)
    return SummaryRequest(seqs=tuple(seqs[:_MOST]), texts=texts, max_tokens=max_tokens)


def _below(bench: Bench, page: Page) -> Iterator[Page]:
    for each in bench.opened.desk.rendering.sight.below(page):
        if not each.is_folder:
            yield each
