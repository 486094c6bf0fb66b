"""Memory tools that read or erase: recall, search, filter_memory, summarise, erase (R20)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memci.broker.names import ReadUse
from memci.broker.read_calls import Reads
from memci.broker.wakeup import Wakeups
from memci.commands import edit_memories, erase
from memci.commands.erase import ErasureSelection
from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.commands.pages.workspace import OperationContext
from memci.commands.tools.caller import Caller, session_caller
from memci.domain.memory.recall import Miss, forgotten_entry, miss_entry
from memci.domain.pages.page import Page
from memci.domain.pages.permission import Actor
from memci.domain.pages.tree import Viewer
from memci.errors import NotFoundError
from memci.language.detection import Language, language_of
from memci.language.times.calendar import at_offset
from memci.schemas.base import Answer
from memci.schemas.reads import RecallAnswer, SearchAnswer
from memci.schemas.tools import memory as shapes
from memci.schemas.tools.memory import FilterMemory, Found, FoundList, Summarise, SummaryRequest
from memci.storage.agents import snapshot_of
from memci.storage.pages.texts import open_note_texts, shown_messages
from memci.storage.reading.messages import filtered_messages, latest_seqs
from memci.storage.reading.nodes import filtered_memories, read_node
from memci.storage.reading.recall import seen
from memci.storage.reading.snapshot_state import progress
from memci.storage.search.find import Restriction
from memci.storage.session import Connection
from memci.storage.summaries import read_summary

# What a model can do after a miss.
_NEXT = {
    Language.ENGLISH: {
        Miss.NEVER_KNOWN: "search looks at all that was said, remembered or not",
        Miss.FORGOTTEN: "search may still find what was said about it",
        Miss.PENDING: "search may find them already; or recall again in a moment",
        Miss.OUT_OF_REACH: "recall with a greater depth, or focus on it first, or search",
    },
    Language.CHINESE: {
        Miss.NEVER_KNOWN: "search 会查找说过的一切，无论是否记住",
        Miss.FORGOTTEN: "search 也许还能找到当时说过的话",
        Miss.PENDING: "search 也许已能找到；也可以稍后再 recall",
        Miss.OUT_OF_REACH: "用更大的 depth 再 recall，或先用 focus 转向它，或用 search",
    },
}
_JOINT = {Language.ENGLISH: "; ", Language.CHINESE: "；"}


def found_from_recall(answer: RecallAnswer, keywords: Sequence[str]) -> FoundList:
    """Return the results of a recall, with a note on misses in the keywords' language."""
    notes = [forgotten_entry(each.relation, each.hint) for each in answer.forgotten]
    if answer.miss is not None:
        language = language_of(" ".join(keywords))
        step = _NEXT[language][answer.miss]
        notes.append(f"{miss_entry(answer.miss, language)}{_JOINT[language]}{step}")
    found = [
        Found(
            memory=each.node_id,
            messages=each.message_ids,
            said_at=moment(each.said_at),
            text=each.content,
            replaced_by=each.superseded_by,
        )
        for each in answer.memories
    ]
    return FoundList(found=found, note="\n".join(notes) or None)


def found_from_search(answer: SearchAnswer) -> FoundList:
    """Return the results of a search."""
    found = [
        Found(
            memory=each.node_id,
            messages=each.message_ids,
            said_at=moment(each.created_at),
            text=each.text,
            replaced_by=each.superseded_by,
            page=each.page,
        )
        for each in answer.hits
    ]
    return FoundList(found=found)


def moment(at: datetime | None) -> str:
    """Return a time to the minute, with its offset if it is not UTC; a model need not know more."""
    if at is None:
        return ""
    clock = at if at.utcoffset() else at.replace(tzinfo=None)
    return clock.isoformat(" ", "minutes")


def filter_memory(connection: Connection, caller: Caller, request: FilterMemory) -> FoundList:
    """Return memories or messages that meet all criteria, as far as the caller may see them."""
    restriction = Restriction(
        since=request.since,
        until=request.until,
        roles=() if request.role is None else (request.role,),
        names=() if request.name is None else (request.name,),
        sessions=() if request.session is None else (request.session,),
        types=() if request.type is None else (request.type,),
        user_id=caller.user_id,
        session_id=caller.session_id,
        metadata=request.metadata,
    )
    agent_id, after, most = caller.agent_id, request.after, request.limit + 1
    if request.what == "memories":
        restriction = replace(restriction, session_id=request.session or caller.session_id)
        rows = filtered_memories(connection, agent_id, restriction, after=after, limit=most)
        found = [
            Found(
                memory=row.id,
                messages=row.message_ids,
                said_at=moment(row.said_at and at_offset(row.said_at, row.said_offset)),
                text=row.content,
                replaced_by=row.superseded_by,
            )
            for row in rows
        ]
        numbers = [row.id for row in rows]
    else:
        messages = filtered_messages(connection, agent_id, restriction, after=after, limit=most)
        found = [
            Found(
                messages=[each.id],
                by=each.name or each.role.value,
                said_at=moment(each.said_at),
                text=each.text,
            )
            for each in messages
        ]
        numbers = [each.seq for each in messages]
    more = numbers[request.limit - 1] if len(found) > request.limit else None
    return FoundList(found=found[: request.limit], more=more)


# Limits of what one summary reads, newest first: messages, notes and characters of notes.
_MOST = 2_000
_MOST_NOTES = 200
_MOST_CHARACTERS = 200_000
_PAGES_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """The request to a worker."""

    request: SummaryRequest
    is_partial: bool = False  # there is more than is read at once


def summary_request(pages: PageCommands, caller: Caller, request: Summarise) -> SummaryInput:
    """Return the request to a worker; raises ``NotFoundError`` for no such page or message."""
    if request.page is not None:
        return _page_summary(pages, caller, request.page, request.max_tokens)
    with snapshot_of(pages.database, caller.agent_id) as connection:
        if request.messages is not None:
            seqs = caller.message_seqs(connection, request.messages)
            return SummaryInput(SummaryRequest(seqs=tuple(seqs), max_tokens=request.max_tokens))
        session, user = caller.session_id, caller.user_id
        seqs = latest_seqs(
            connection, caller.agent_id, session_id=session, user_id=user, most=_MOST
        )
        previous = None
        if session is not None:
            viewer = Viewer(session, user, is_new=caller.is_new)
            previous = read_summary(connection, caller.agent_id, session, viewer)
    return SummaryInput(
        SummaryRequest(
            previous=previous.text if previous else "",
            seqs=tuple(seq for seq in seqs if previous is None or seq > previous.through_seq),
            max_tokens=request.max_tokens,
        )
    )


def _page_summary(pages: PageCommands, caller: Caller, index: str, max_tokens: int) -> SummaryInput:
    session = caller.session_id
    with pages.dry_run(caller.agent_id, Actor.AGENT, session_id=session) as context:
        subtree = context.rendering.visible.subtree(context.page(index))
        details = [each for each in subtree if not each.is_folder]
        seqs = _newest_seqs(context, details)
    # After the transaction: it must not wait for a remote store.
    notes = [page for page in details if page.text_version is not None]
    texts = _newest_texts(pages, caller.agent_id, notes)
    request = SummaryRequest(
        seqs=tuple(seqs[:_MOST]),
        texts=tuple(texts[each.index] for each in notes if texts.get(each.index)),
        max_tokens=max_tokens,
    )
    complete = sum(map(len, texts.values())) < _MOST_CHARACTERS and len(texts) == len(notes)
    return SummaryInput(request, is_partial=len(seqs) > _MOST or not complete)


def _newest_seqs(context: OperationContext, pages: Iterable[Page]) -> list[int]:
    """Return the newest messages of pages, latest first; more than ``_MOST`` if there are more."""
    ends = [(page.span.last_seq, page) for page in pages if page.span is not None]
    waiting = [page for _, page in sorted(ends, key=lambda each: each[0])]
    seqs: list[int] = []
    while waiting and len(seqs) <= _MOST:
        some = [waiting.pop() for _ in waiting[-_PAGES_AT_ONCE:]]
        by_page = shown_messages(context.connection, context.agent_id, some)
        seqs += [each.seq for messages in by_page.values() for each in messages]
    return sorted(set(seqs), reverse=True)


def _newest_texts(pages: PageCommands, agent_id: str, notes: Iterable[Page]) -> dict[str, str]:
    """Return the texts of the newest notes by index; the last one may be cut."""
    newest = sorted(notes, key=lambda each: each.place, reverse=True)[:_MOST_NOTES]
    texts: dict[str, str] = {}
    room = _MOST_CHARACTERS
    with open_note_texts(pages.database, pages.store, agent_id) as reader:
        for page in newest:
            texts[page.index] = reader.read(page).text[:room]
            room -= len(texts[page.index])
            if not room:
                break
    return texts


# A read waits so long for memories of the latest messages; they may lag behind much longer.
_WAIT_MS = 1_000
_PARTIAL = "There is more on these pages than is read at once: this is of the newest"


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """Runs memory tools that read or erase, partly by asking context workers."""

    pages: PageCommands
    reads: Reads
    wakeups: Wakeups

    def run(self, agent_id: str, call: ToolRequest, *, session_id: str | None) -> Answer:
        """Run a tool; raises ``NotFoundError`` for no agent, and what the tool raises."""
        with snapshot_of(self.pages.database, agent_id) as connection:
            caller = session_caller(connection, agent_id, session_id)
            caller.check_visible(connection)
            if isinstance(call.request, shapes.FilterMemory):
                return filter_memory(connection, caller, call.request)
            seq = progress(connection, agent_id).message_seq
        match call.request:
            case shapes.Recall() as request:
                fields = request.model_dump() | {"format": "structured"}
                answer = self._ask("recall", caller, fields, seq)
                return found_from_recall(RecallAnswer.model_validate(answer), request.keywords)
            case shapes.Search() as request:
                times = request.model_dump(
                    mode="json", include={"since", "until"}, exclude_none=True
                )
                fields = {"query": request.query, "k": request.limit, "filters": times}
                answer = self._ask("search", caller, fields, seq)
                return found_from_search(SearchAnswer.model_validate(answer))
            case shapes.Summarise() as request:
                return self._summarise(caller, request)
            case shapes.Forget(memory=memory):
                return self._forget(caller, memory)
            case shapes.Erase() as request:
                return self._erase(caller, request)
            case _:
                raise AssertionError(f"{call.tool.name} does not read memory")

    def _ask(
        self, use: ReadUse, caller: Caller, fields: Mapping[str, Any], seq: int
    ) -> dict[str, Any]:
        viewer = {"session_id": caller.session_id, "user_id": caller.user_id}
        request = {**fields, **viewer, "min_seq": seq, "wait_ms": _WAIT_MS}
        return self.reads.call(use, caller.agent_id, request, wait_ms=_WAIT_MS)

    def _summarise(self, caller: Caller, request: shapes.Summarise) -> shapes.Summary:
        summary = summary_request(self.pages, caller, request)
        body = summary.request.model_dump(mode="json")
        answer = self.reads.call("summarise", caller.agent_id, body)
        note = _PARTIAL if summary.is_partial else None
        return shapes.Summary.model_validate(answer).model_copy(update={"note": note})

    def _forget(self, caller: Caller, memory: int) -> shapes.Forgot:
        with snapshot_of(self.pages.database, caller.agent_id) as connection:
            caller.check_visible(connection)
            sight = Restriction(session_id=caller.session_id, user_id=caller.user_id)
            lives = read_node(connection, caller.agent_id, memory) is not None
            if not lives or not seen(connection, caller.agent_id, [memory], sight):
                raise NotFoundError(
                    f"there is no memory {memory}: search or recall tells their numbers"
                )
        edit_memories.delete(self.pages.database, self.wakeups, caller.agent_id, [memory])
        return shapes.Forgot(memory=memory)

    def _erase(self, caller: Caller, request: shapes.Erase) -> shapes.Erased:
        with snapshot_of(self.pages.database, caller.agent_id) as connection:
            caller.message_seqs(connection, request.messages)
        selection = ErasureSelection(request.messages)
        receipt = erase.run_on_pages(self.pages, self.wakeups, caller.agent_id, selection)
        body: dict[str, Any] = receipt.body
        return shapes.Erased(
            messages=len(body["message_ids"]),
            memories=body["memories"],
            again=body["again"],
            receipt=str(receipt.id),
        )
