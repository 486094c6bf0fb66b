"""Sessions in the order of time, documents, collections, and the usage of models."""

from datetime import UTC, datetime

from starlette.responses import Response

from memci.api_keys import Scope
from memci.console.visit import Visit
from memci.reading.lists.listings import usage_of

_ROWS = 50
_MESSAGES = 200
_DAYS = 30


def _sessions(visit: Visit) -> Response:
    session = visit.given("session")  # it may have slashes, so it is no part of the path
    if session is not None or visit.given("all"):
        return _session(visit, session)
    listings, agent = visit.runtime.listings, visit.agent
    defaults, now = visit.runtime.settings.memory, datetime.now(UTC)
    listed = listings.sessions(agent, defaults, now=now, cursor=visit.given("cursor"), limit=_ROWS)
    summaries = listings.summaries(agent, session_id=None, cursor=None, limit=500).summaries
    return visit.page(
        "sessions.html",
        sessions=sorted(listed.sessions, key=lambda each: each.last_at, reverse=True),
        next_cursor=listed.next_cursor,
        summaries={each.session_id: each.text for each in summaries if each.text},
    )


def _session(visit: Visit, session: str | None) -> Response:
    listings, windows, agent = visit.runtime.listings, visit.runtime.windows, visit.agent
    messages = listings.messages(
        agent, session_id=session, cursor=visit.given("cursor"), limit=_MESSAGES
    )
    ids = {each.id for each in messages.messages}
    summaries = listings.summaries(agent, session_id=session, cursor=None, limit=20).summaries
    return visit.page(
        "session.html",
        session=session,
        messages=messages,
        summaries=[each for each in summaries if each.text],
        plan=windows.plan(agent, session),
        pins=[each for each in windows.pins(agent).pins if each.message in ids],
    )


def _documents(visit: Visit) -> Response:
    listings, prefix = visit.runtime.listings, visit.given("prefix") or ""
    listed = listings.documents(
        visit.agent, prefix=prefix, cursor=visit.given("cursor"), limit=_ROWS
    )
    return visit.page("documents.html", listed=listed, prefix=prefix)


def _collections(visit: Visit) -> Response:
    listed = visit.runtime.listings.collections(
        patterns=visit.request.state.agents, cursor=visit.given("cursor"), limit=_ROWS
    )
    return visit.page("collections.html", listed=listed)


def _usage(visit: Visit) -> Response:
    runtime = visit.runtime
    usage = usage_of(
        runtime.database,
        visit.agent,
        days=_DAYS,
        defaults=runtime.settings.memory,
        now=datetime.now(UTC),
    )
    return visit.page("usage.html", usage=usage, days=_DAYS)


PAGES = (
    ("/agents/{agent}/sessions", _sessions, Scope.READ),
    ("/agents/{agent}/documents", _documents, Scope.READ),
    ("/agents/{agent}/usage", _usage, Scope.READ),
    ("/collections", _collections, Scope.READ),
)
