"""Summaries of an agent's sessions, listed (R8)."""

from __future__ import annotations

from memci.reading.page import names_after, names_cursor
from memci.shapes.summary import SummaryAnswer, SummaryList
from memci.storage.erasure.gone import snapshot_of
from memci.storage.session import Database
from memci.storage.summaries import StoredSummary, list_summaries


class SummaryListings:
    """Reads the summaries of one agent."""

    def __init__(self, database: Database) -> None:
        """Take where it all is."""
        self._database = database

    def summaries(
        self, agent_id: str, *, session_id: str | None, cursor: str | None, limit: int
    ) -> SummaryList:
        """List summaries by session, of one session or of all."""
        session, user = names_after(cursor, 2)
        with snapshot_of(self._database, agent_id) as connection:
            found = list_summaries(
                connection, agent_id, only=session_id, after=(session, user), limit=limit + 1
            )
        page, last = found[:limit], found[limit - 1] if len(found) > limit else None
        return SummaryList(
            summaries=[_answer(each) for each in page],
            next_cursor=last and names_cursor(last.session_id or "", last.user_id or ""),
        )


def _answer(summary: StoredSummary) -> SummaryAnswer:
    return SummaryAnswer.model_validate(
        {name: getattr(summary, name) for name in SummaryAnswer.model_fields}
    )
