"""Questions to an agent's memory: a context, two of them side by side, and a search."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response

from memci.api_keys import Scope
from memci.broker.names import ReadUse
from memci.console.visit import Visit
from memci.domain.search.candidate import Channel, Source
from memci.errors import MemciError
from memci.message import Role
from memci.schemas.problems import problem_of
from memci.schemas.reads import ContextAnswer, ContextRequest, SearchAnswer, SearchRequest

_CHARACTERS = 400  # of a left-out text
# Fields of a context whose two settings can differ.
_SETTINGS = ("budget", "k", "recent", "as_of")


def _ask(visit: Visit, use: ReadUse, body: BaseModel) -> dict[str, Any]:
    request = body.model_dump(mode="json", exclude_unset=True)
    return visit.runtime.reads.call(use, visit.agent, request)


def _context(visit: Visit) -> Response:
    query = visit.given("query")
    endings = ("_a", "_b") if visit.given("compare") else ("_a",)
    sides = [_side(visit, query, ending) for ending in endings] if query else []
    return visit.page(
        "context.html",
        query=query or "",
        session=visit.given("session") or "",
        user=visit.given("user") or "",
        compare=len(endings) > 1,
        settings=_SETTINGS,
        sides=sides,
    )


def _side(visit: Visit, query: str, ending: str) -> dict[str, Any]:
    """Return one context with its reasons; or what is wrong with its settings."""
    try:
        request = visit.asked(
            ContextRequest,
            query=query,
            session_id=visit.given("session"),
            user_id=visit.given("user"),
            budget_tokens=visit.number("budget" + ending),
            k=visit.number("k" + ending),
            recent=visit.number("recent" + ending),
            as_of=visit.given("as_of" + ending),
            explain=True,
        )
        answer = ContextAnswer.model_validate(_ask(visit, "assemble", request))
    except MemciError as error:
        return {"problem": problem_of(error), "answer": None}
    explained: Any = answer.explain or {}
    sections: dict[str, float] = {}
    for item in answer.items:
        sections[item.section] = sections.get(item.section, 0) + item.tokens
    return {
        "problem": None,
        "answer": answer,
        "items": list(zip(answer.items, explained["items"], strict=True)),
        "sections": sections,
        "left_out": _with_texts(visit, explained["left_out"]),
        "timings": explained["timings_ms"],
    }


def _with_texts(visit: Visit, left_out: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the beginning of their messages to entries that were left out."""
    ids = {each for entry in left_out for each in entry["message_ids"][:1]}
    found = visit.runtime.listings.messages_named(visit.agent, ids) if ids else []
    texts = {each.id: each.content or "" for each in found}
    return [
        {
            **entry,
            "text": next((texts[i][:_CHARACTERS] for i in entry["message_ids"] if i in texts), ""),
        }
        for entry in left_out
    ]


def _search(visit: Visit) -> Response:
    query, problem, answer = visit.given("query"), None, None
    filters = {
        "since": visit.given("since"),
        "until": visit.given("until"),
        "roles": visit.given("role"),
        "sessions": visit.given("session"),
        "names": visit.given("name"),
    }
    if query:
        try:
            request = visit.asked(
                SearchRequest,
                query=query,
                k=visit.number("k"),
                user_id=visit.given("user"),
                sources=visit.given("source"),
                channels=visit.given("channel"),
                filters={name: value for name, value in filters.items() if value},
                explain=True,
            )
            answer = SearchAnswer.model_validate(_ask(visit, "search", request))
        except MemciError as error:
            problem = problem_of(error)
    return visit.page(
        "search.html",
        query=query or "",
        answer=answer,
        problem=problem,
        sources=[each.value for each in Source],
        channels=[each.value for each in Channel],
        roles=[each.value for each in Role],
    )


PAGES = (
    ("/agents/{agent}/context", _context, Scope.READ),
    ("/agents/{agent}/search", _search, Scope.READ),
)
