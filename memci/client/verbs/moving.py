"""What leaves for good, or for another server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from memci.client.files import read_manifest
from memci.client.flow import Flow, answered, ask, exchange
from memci.client.options import ErasureOptions, PreviewOptions
from memci.client.verbs.asking import AnswerT, Asking
from memci.errors import InvalidInputError
from memci.shapes.agent import ReceiptAnswer
from memci.shapes.archive import ArchiveManifest, ImportAnswer
from memci.shapes.erasure import ErasurePreview

# A large agent takes its time.
_ERASING_S = 300.0
_TRANSFER_S = 1_800.0


class MovingVerbs(Asking):
    """Erases, exports and imports."""

    def preview_erasure(self, **which: Unpack[PreviewOptions]) -> Flow[ErasurePreview]:
        """Return what would go with these messages; erases nothing."""
        return self._erase("POST", "/erase", ErasurePreview, {**which, "preview": True})

    def erase(self, **which: Unpack[ErasureOptions]) -> Flow[ReceiptAnswer]:
        """Erase messages or a session for good, with everything that was made of them."""
        return self._erase("POST", "/erase", ReceiptAnswer, which)

    def erase_agent(self) -> Flow[ReceiptAnswer]:
        """Erase all that the agent holds, for good."""
        return self._erase("DELETE", "", ReceiptAnswer)

    def export(self, path: Path | str, *, overwrite: bool = False) -> Flow[ArchiveManifest]:
        """Save the agent as one archive; return what that says about itself.

        Raises ``InvalidInputError`` for a file that is there, unless it may be replaced.
        """
        target = Path(path)
        if target.exists() and not overwrite:
            raise InvalidInputError(f"{target} is there already: name another file", field="path")
        request = exchange("POST", f"{self._path}/export", extra_timeout_s=_TRANSFER_S)
        yield from answered(replace(request, save_to=target), self._habits.retries)
        return read_manifest(target)

    def import_(self, path: Path | str) -> Flow[ImportAnswer]:
        """Make this agent, which must hold nothing yet, of an archive."""
        source = Path(path)
        read_manifest(source)
        request = exchange(
            "POST",
            f"{self._path}/import",
            extra_timeout_s=_TRANSFER_S,
            # What arrived and was not answered has made an agent, which is in its own way now.
            repeatable=False,
        )
        headers = {
            "Content-Type": "application/zip",
            "Content-Length": str(source.stat().st_size),
        }
        sent = replace(request, body=source, headers=headers)
        answer = yield from ask(sent, ImportAnswer, self._habits.retries)
        return answer

    def _erase(
        self,
        method: str,
        path: str,
        answer: type[AnswerT],
        body: Mapping[str, Any] | None = None,
    ) -> Flow[AnswerT]:
        request = exchange(
            method,
            self._path + path,
            body=body,
            extra_timeout_s=_ERASING_S,
            repeatable=body is not None,  # what is erased twice was there once
        )
        return ask(request, answer, self._habits.retries)
