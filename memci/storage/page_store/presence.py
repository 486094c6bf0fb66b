"""Whether the folder of a page store is there, or ought to be (P14)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memci.errors import PageStoreError
from memci.storage.notes_kept import has_notes
from memci.storage.session import Database


@dataclass(frozen=True, slots=True)
class FolderPresence:
    """Tells a folder that has vanished from one that was never there.

    A disk that is not mounted would else look like a store without any text, and new texts would
    be written beside it.
    """

    folder: Path
    database: Database

    def check(self, *, held: bool = False) -> None:
        """Make the folder before its first text; ``PageStoreError`` when it has gone since.

        ``held``: it had texts a moment ago. Else all agents are looked at while it is not there:
        once, as a rule.
        """
        if self.folder.is_dir():
            return
        if held or has_notes(self.database):
            raise PageStoreError(
                "the folder of pages' texts is not there, though pages have texts in it: mount the"
                " disk that it is on, bring it back from a back-up, or set MEMCI_PAGE_FOLDER right;"
                " to go on without these texts, make it anew, empty"
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise PageStoreError(
                f"the folder of pages' texts cannot be made ({error.strerror}): see that"
                " MEMCI_PAGE_FOLDER can be written"
            ) from error
