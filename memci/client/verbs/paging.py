"""The context window, and the pages that it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from memci.client.exchange import Flow, ask, exchange
from memci.client.options import PageOptions, SeenOptions, WindowOptions
from memci.client.verbs.agent_requests import AnswerT, Asking
from memci.schemas.pages import PageText, PageTree, WindowAnswer
from memci.schemas.tools import BY_NAME, Tool


class PagingVerbs(Asking):
    """Looks at the window and its pages, and changes them with the tools there are."""

    def window(self, **options: Unpack[WindowOptions]) -> Flow[WindowAnswer]:
        """Return the window of a session as messages for a model; none: of the last message."""
        return self._get("/window", WindowAnswer, options)

    def pages(self, **options: Unpack[PageOptions]) -> Flow[PageTree]:
        """Return the tree of a session, or what was removed, the latest first."""
        return self._get("/pages", PageTree, options)

    def page(self, index: str) -> Flow[PageText]:
        """Return a page and what it holds, in whichever state it is."""
        return self.use(BY_NAME["get_page"], {"index": index}, PageText)

    def use(
        self,
        tool: Tool,
        asked: Mapping[str, Any],
        answer: type[AnswerT],
        **seen: Unpack[SeenOptions],
    ) -> Flow[AnswerT]:
        """Ask something of a tool; what changes pages is not sent again if it may have arrived."""
        request = exchange(
            "POST",
            f"{self._path}/pages/{tool.name}",
            body=asked if tool.request.model_fields else None,
            params=seen,
            repeatable=not tool.changes,
        )
        return ask(request, answer, self._habits.retries)
