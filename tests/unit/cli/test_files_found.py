"""Which files `memci documents index` finds, their names, and which documents it removes."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memci.cli.indexing.file_finder import Found, Skip, find
from memci.cli.indexing.upload import KnownFolders, names_without_file
from memci.errors import ConflictError, InvalidInputError

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose owner is subject to its permissions."""
    above = Path(tempfile.mkdtemp(prefix="memci-found-"))
    root = above / "docs"
    for name in ("a.md", "b.md", "sub/c.md", "sub/deep/d.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"text of {name}")
    above.chmod(0o755)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", str(NOBODY), str(above)], check=True)
    yield root
    shutil.rmtree(above)


@contextmanager
def as_its_owner() -> Iterator[None]:
    """Run as the owner of the folder, because the superuser can read everything."""
    before = os.geteuid()
    if before:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def found_in(*folders: Path, called: str | None = None) -> Found:
    found = Found()
    for each in folders:
        find(each, found, called=called, max_bytes=1_000)
    return found


INDEXED = ["docs/a.md", "docs/b.md", "docs/sub/c.md", "docs/sub/deep/d.md", "docs2/a.md"]


def test_only_documents_without_a_file_are_removed(folder: Path):
    (folder / "a.md").unlink()
    (folder / "sub/deep/d.md").write_text("")
    found = found_in(folder)
    assert sorted(found.files) == ["docs/b.md", "docs/sub/c.md"]
    assert names_without_file(INDEXED, found) == ["docs/a.md", "docs/sub/deep/d.md"]
    shutil.rmtree(folder / "sub")
    assert names_without_file(INDEXED, found_in(folder)) == [
        "docs/a.md",
        "docs/sub/c.md",
        "docs/sub/deep/d.md",
    ]


@pytest.mark.parametrize("in_git", [True, False])
def test_unreadable_files_are_reported_and_their_documents_kept(
    folder: Path, in_git: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(folder.parent))  # git reads its settings there
    (folder / "b.md").chmod(0)
    (folder / "sub").chmod(0)
    (folder / "a.md").unlink()
    (folder / "new.md").write_text("new")
    with as_its_owner():
        if in_git:
            subprocess.run(["git", "-C", str(folder), "init", "-q"], check=True)
        found = found_in(folder)
        assert names_without_file(INDEXED, found) == ["docs/a.md"]
    (folder / "sub").chmod(0o755)
    assert sorted(found.files) == ["docs/new.md"]
    assert found.skipped["docs/b.md"] is Skip.UNREADABLE
    assert {why for name, why in found.skipped.items() if "/sub/" in name} == {Skip.UNREADABLE}


def test_a_folder_with_an_unreadable_gitignore_is_skipped_and_its_documents_kept(folder: Path):
    (folder / "sub/.gitignore").write_text("c.md")
    (folder / "sub/.gitignore").chmod(0)
    with as_its_owner():
        found = found_in(folder)
    assert sorted(found.files) == ["docs/a.md", "docs/b.md"]
    assert found.skipped == {"docs/sub/": Skip.UNREADABLE}
    assert names_without_file(INDEXED, found) == []


@pytest.mark.timeout(20)
def test_named_pipes_are_not_read(folder: Path):
    """Nobody writes to them, so reading one would take for ever."""
    pipe = folder / "pipe.md"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInputError, match="no pipes and devices"):
        found_in(pipe)
    with pytest.raises(InvalidInputError, match="no pipes and devices"):
        found_in(Path(os.devnull))
    os.mkfifo(folder / "sub" / ".gitignore")
    found = found_in(folder)
    assert set(found.files) == {"docs/a.md", "docs/b.md"}
    assert found.unread == {"docs/sub/"}


def test_a_folder_without_files_removes_nothing(folder: Path):
    """The mount point of a missing disk is an empty folder."""
    shutil.rmtree(folder)
    folder.mkdir()
    with pytest.raises(InvalidInputError, match="memci documents remove docs/"):
        names_without_file(INDEXED, found_in(folder))
    assert names_without_file([], found_in(folder)) == []


def test_found_names_are_the_names_of_documents(folder: Path):
    for name in ("x\\y.md", "end.md ", "end.md", "sub\\c.md", " begin.md"):
        (folder / name).write_text(name)
    found = found_in(folder)
    assert sorted(found.files) == [
        "docs/ begin.md", "docs/a.md", "docs/b.md", "docs/end.md", "docs/sub/c.md",
        "docs/sub/deep/d.md", "docs/x/y.md",
    ]  # fmt: skip
    assert found.files["docs/end.md"].name == "end.md"
    assert found.files["docs/sub/c.md"].parent.name == "sub"
    assert found.skipped == {"docs/end.md ": Skip.SAME, "docs/sub\\c.md": Skip.SAME}
    for called in ("./docs", "docs/", "docs"):
        assert [*found_in(folder, called=called).roots] == ["docs/"]


def test_links_to_themselves_are_skipped(folder: Path):
    (folder / "loop.md").symlink_to("loop.md")
    assert found_in(folder).skipped == {"docs/loop.md": Skip.UNREADABLE}
    with pytest.raises(InvalidInputError, match=r"loop\.md"):
        found_in(folder / "loop.md")


def test_two_folders_with_one_name_are_refused(folder: Path, tmp_path: Path):
    other = tmp_path / "docs"
    other.mkdir()
    with pytest.raises(InvalidInputError, match="both called docs"):
        found_in(folder, other)
    assert [*found_in(folder, folder).roots] == ["docs/"]


def test_a_folder_with_the_name_of_another_folder_is_refused(folder: Path, tmp_path: Path):
    other = tmp_path / "docs"
    other.mkdir()
    known = KnownFolders(tmp_path / "state/indexed", "alice")
    held: set[str] = set()

    def check(root: Path, *, called: bool = False, known: KnownFolders = known) -> None:
        known.check(found_in(root), lambda prefix: prefix in held, called=called)

    check(folder)
    held.add("docs/")
    check(folder)
    with pytest.raises(ConflictError, match=f"of {folder}: use --as docs"):
        check(other)
    check(folder)
    check(other, called=True)
    check(other)
    with pytest.raises(ConflictError, match=f"of {other}"):
        check(folder)
    elsewhere = KnownFolders(tmp_path / "state/indexed", "bob")
    with pytest.raises(ConflictError, match="not indexed from here"):
        check(folder, known=elsewhere)
    held.clear()
    check(folder, known=elsewhere)
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
