"""The commands ``memci documents``, with a real worker, on a real folder under git."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.http.serving import Served
from tests.support import files
from tests.support.command_line import run, run_json


@pytest.fixture
def settings(working: Served, tmp_path: Path) -> dict[str, str]:
    return {"MEMCI_API_URL": working.url, "MEMCI_DATA_DIR": str(tmp_path / "state")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with files of many kinds; it is no repository yet."""
    root = tmp_path / "proj"
    files_written: dict[str, str | bytes] = {
        "README.md": "# Project\n\nIt counts ships.\n",
        "src/count.py": "def count(ships):\n    return len(ships)\n",
        "文档/说明.md": "# 说明\n\n数船的程序。\n",
        "report.pdf": files.pdf(),
        ".gitignore": "generated/\n*.log\n",
        "generated/out.md": "ignored",
        "run.log": "ignored",
        ".env": "TOKEN=secret",
        "deploy/server.pem": "secret",
        "logo.png": b"\x89PNG\r\n\x1a\n" + bytes(64),
        "four.bin": bytes(range(4)),
        "empty.txt": "",
        "package-lock.json": "{}",
    }
    for name, content in files_written.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


SENT = ["proj/README.md", "proj/report.pdf", "proj/src/count.py",
        "proj/文档/说明.md"]  # fmt: skip
LEFT_OUT = {
    "proj/.env": "looks like a secret", "proj/deploy/server.pem": "looks like a secret",
    "proj/empty.txt": "empty", "proj/logo.png": "neither text nor a document",
    "proj/package-lock.json": "written by a tool",
    "proj/.gitignore": "file for git, such as .gitignore",
    "proj/four.bin": "neither text nor a document",
}  # fmt: skip


def index(project: Path, agent: str, settings: dict[str, str]) -> Any:
    return run_json(
        "documents", "index", str(project), "--agent", agent, "--wait", settings=settings
    )


def git(project: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(project), *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("in_git", [True, False])
def test_ignored_files_and_secrets_are_left_out(
    project: Path, settings: dict[str, str], in_git: bool
):
    if in_git:
        git(project, "init", "-q")
        git(project, "add", "README.md")
    answer = index(project, f"walker-{in_git}", settings)
    assert sorted(answer["new"]) == sorted(SENT)
    assert answer["skipped"] == LEFT_OUT
    assert answer["refused"] == {}
    assert answer["ignored"] == 2  # a folder, and a file
    again = run(
        "documents", "index", str(project), "--agent", f"walker-{in_git}", settings=settings
    )
    assert again.returncode == 0
    assert "left out, ignored by git: 2 files and folders\n" in again.stderr


def test_a_folder_with_nothing_to_index_is_reported(tmp_path: Path, settings: dict[str, str]):
    (tmp_path / "bare").mkdir()
    done = run("documents", "index", str(tmp_path / "bare"), "--agent", "bare", settings=settings)
    assert (done.returncode, done.stdout) == (0, "there is nothing to index\n")
    (tmp_path / "bare" / "noise").write_bytes(bytes([200, 3, 255, 17, 1, 2]) * 50)
    done = run("documents", "index", str(tmp_path / "bare"), "--agent", "bare", settings=settings)
    assert (done.returncode, done.stdout) == (0, "there is nothing to index\n")
    assert "left out, neither text nor a document: bare/noise" in done.stderr


def test_changed_files_are_sent_and_deleted_ones_removed(project: Path, settings: dict[str, str]):
    index(project, "ada", settings)
    again = index(project, "ada", settings)
    assert (again["new"], again["changed"], again["removed"]) == ([], [], [])
    assert again["unchanged"] == len(SENT)
    (project / "README.md").write_text("# Project\n\nIt counts boats.\n")
    (project / "src/count.py").rename(project / "src/counting.py")
    (project / "report.pdf").unlink()
    answer = index(project, "ada", settings)
    assert answer["changed"] == ["proj/README.md"]
    assert answer["new"] == ["proj/src/counting.py"]
    assert sorted(answer["removed"]) == ["proj/report.pdf", "proj/src/count.py"]
    listed = run_json("documents", "list", "--agent", "ada", settings=settings)
    assert {each["state"] for each in listed} == {"ready"}
    assert len(listed) == len(SENT) - 1


def test_a_broken_file_is_reported_and_others_are_indexed(project: Path, settings: dict[str, str]):
    (project / "broken.docx").write_bytes(b"PK\x03\x04 broken")
    (project / "latin.txt").write_bytes("déjà vu à l'été".encode("latin-1"))
    done = run("documents", "index", str(project), "--agent", "bob", "--wait", settings=settings)
    assert done.returncode == 1
    assert "6 documents new" in done.stdout
    assert "refused, proj/broken.docx: this file is damaged" in done.stderr
    assert "left out, looks like a secret: proj/.env, proj/deploy/server.pem" in done.stderr
    listed = run("documents", "list", "--agent", "bob", settings=settings)
    assert "failed" in listed.stdout
    assert listed.stdout.count("ready") == 5
    again = run("documents", "index", str(project), "--agent", "bob", settings=settings)
    assert "0 documents new, 0 changed, 5 unchanged, 1 tried again, 0 removed" in again.stdout


def test_collections_from_the_command_line(project: Path, settings: dict[str, str]):
    to = ("--collection", "handbook")
    answer = run_json(
        "documents", "index", str(project), *to, "--as", "book", "--wait", settings=settings
    )
    assert "book/README.md" in answer["new"]
    one = run_json("documents", "index", str(project / "README.md"), *to, settings=settings)
    assert (one["new"], one["removed"]) == (["README.md"], [])
    (listed,) = [
        each
        for each in run_json("documents", "collections", settings=settings)
        if each["name"] == "handbook"
    ]
    assert listed["documents"] == len(SENT) + 1
    assert "handbook" in run("documents", "collections", settings=settings).stdout
    removed = run("documents", "remove", "book/src/", *to, settings=settings)
    assert removed.stdout == "1 document removed, 1 chunk\n"
    assert run_json("documents", "remove", "--all", *to, settings=settings)["documents"] == len(
        SENT
    )


def test_wrong_arguments_are_refused_with_a_reason(project: Path, settings: dict[str, str]):
    for arguments, message in (
        (("documents", "index", str(project)), "either --agent ID or --collection NAME"),
        (("documents", "index", str(project / "no"), "-a", "x"), "there is no such file or folder"),
        (
            ("documents", "index", str(project), str(project), "-a", "x", "--as", "y"),
            "--as names one",
        ),
        (("documents", "remove", "-a", "x"), "or --all"),
        (("documents", "remove", "", "-a", "x"), "or --all"),
    ):
        done = run(*arguments, settings=settings)
        assert done.returncode == 2, arguments
        assert message in done.stderr
    assert run("documents", "list", "-a", "nobody", settings=settings).returncode == 1


def test_a_link_out_of_the_folder_is_not_followed(project: Path, settings: dict[str, str]):
    (project.parent / "outside.md").write_text("private")
    (project / "link.md").symlink_to(project.parent / "outside.md")
    (project / "settings.txt").symlink_to(project / ".env")
    answer = index(project, "links", settings)
    assert answer["skipped"]["proj/link.md"] == "a link to another place"


def test_odd_names_are_indexed_once(project: Path, settings: dict[str, str]):
    (project / "back\\slash.md").write_text("It has a backslash.")
    (project / "blank.md ").write_text("It ends with a blank.")
    answer = index(project, "odd", settings)
    assert {"proj/back/slash.md", "proj/blank.md"} < {*answer["new"]}
    (project / "no\udcff.md").write_text("Its name is of no encoding.")
    (project / "two\nlines.md").write_text("Its name has two lines.")
    done = run("documents", "index", str(project), "--agent", "odd", "--json", settings=settings)
    again = json.loads(done.stdout)
    assert (done.returncode, len(again["refused"])) == (1, 2)
    assert (again["new"], again["changed"], again["removed"]) == ([], [], [])


def test_a_second_folder_of_the_same_name_needs_another_one(
    project: Path, settings: dict[str, str], tmp_path: Path
):
    index(project, "twice", settings)
    other = tmp_path / "other/proj"
    other.mkdir(parents=True)
    (other / "README.md").write_text("Another one.")
    done = run("documents", "index", str(other), "--agent", "twice", settings=settings)
    assert done.returncode != 0
    assert f"of {project}: use --as proj" in done.stderr
    to = ("--agent", "twice", "--as", "other")
    answer = run_json("documents", "index", str(other), *to, settings=settings)
    assert (answer["new"], answer["removed"]) == (["other/README.md"], [])
    assert (
        len(run_json("documents", "list", "--agent", "twice", settings=settings)) == len(SENT) + 1
    )
