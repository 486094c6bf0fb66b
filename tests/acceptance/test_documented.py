"""The documentation is complete, and what it names exists."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest

from memci.config.groups import ModelTask
from memci.domain.memory.message_filter import FilterReason
from memci.domain.pages.page import Permission
from tests.support.deployment import settings_named_in, table
from tests.support.documented import DOCS, PAGES, README, WRITTEN, check_memci
from tests.support.fleet import ROOT

OTHER_PAGES = [
    ROOT / name
    for name in (
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "deploy/runbook.md",
        "examples/README.md",
    )
]
MOST_CHARACTERS = 82_000
LONGEST_LINE = 120


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module")
def generated() -> Mapping[str, str]:
    made: Mapping[str, str] = runpy.run_path(str(DOCS / "generate.py"))["generated"]()
    return made


def test_the_reference_is_up_to_date(generated):
    """``make docs`` writes it."""
    for name, text in generated.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"run make docs: {name}"
    made = {path.name for path in (DOCS / "reference").iterdir()}
    assert made == {Path(name).name for name in generated if name.startswith("reference/")}


def test_every_setting_says_what_it_is_for(generated):
    lines = re.sub(r"\n  +", " ", generated["reference/settings.md"]).splitlines()
    assert [line for line in lines if line.startswith("- ") and line[-1] not in ".?"] == []


def test_the_documentation_can_be_read_in_an_hour():
    to_read = [
        path for path in WRITTEN if path.name != "durability.md"
    ]  # a report to look things up
    assert sum(len(path.read_text(encoding="utf-8")) for path in to_read) <= MOST_CHARACTERS


@pytest.mark.parametrize("path", [*PAGES, *OTHER_PAGES], ids=name_of)
def test_lines_are_not_too_long(path: Path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > LONGEST_LINE and "ACL SETUSER" not in line] == []


@pytest.mark.parametrize("path", [*WRITTEN, *OTHER_PAGES], ids=name_of)
def test_commands_that_a_page_names_exist(path: Path):
    """Also their options, as in `memci jobs list --state dead`."""
    for line in re.findall(r"`(memci [^`\n]+)`", path.read_text(encoding="utf-8")):
        check_memci([each for each in shlex.split(line) if each != "…"])


@pytest.mark.parametrize("path", [*WRITTEN, *OTHER_PAGES], ids=name_of)
def test_targets_of_make_that_a_page_names_exist(path: Path):
    named = set(re.findall(r"`make (?:[A-Z_]+=\S+ )?([a-z-]+)", path.read_text(encoding="utf-8")))
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert named <= {line.split()[1] for line in listed.stdout.splitlines()}


@pytest.mark.parametrize("path", [*WRITTEN, *OTHER_PAGES], ids=name_of)
def test_settings_that_a_page_names_exist(path: Path, generated):
    known = set(re.findall(r"MEMCI_[A-Z0-9_<>]+", generated["reference/settings.md"]))
    known |= {"MEMCI_CONFIG", "MEMCI_BENCH_DATA", "MEMCI_TEST_RABBITMQ_URL"}
    known |= {
        each.replace("<TASK>", task.upper()) for each in known for task in get_args(ModelTask)
    }
    named = {each.rstrip("_") for each in settings_named_in(path)}
    assert {each for each in named if not any(one.startswith(each) for one in known)} == set()


@pytest.mark.parametrize("path", [*PAGES, *OTHER_PAGES], ids=name_of)
def test_links_of_a_page_have_a_target(path: Path):
    for link in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        name, _, chapter = link.partition("#")
        if "//" in name:
            continue
        target = (path.parent / name) if name else path
        assert target.exists(), link
        if chapter:
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}
            assert chapter in anchors, link


def test_every_page_can_be_reached_from_the_readme():
    reached, waiting = set(), [README]
    while waiting:
        path = waiting.pop()
        if path not in reached and path.suffix == ".md":
            reached.add(path)
            links = re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8"))
            waiting += [(path.parent / link).resolve() for link in links if "//" not in link]
    assert [path for path in PAGES if path not in reached] == []


def test_modules_that_the_architecture_names_exist():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w/{])(?:[a-z_]+/)*(?:[a-z_]+/|[a-z_]+\.py)", text))
    assert len(named) > 40
    missing = [
        name
        for name in named
        if not any(any(place.glob(f"**/{name}")) for place in (ROOT / "memci", ROOT / "workers"))
        and not (ROOT / name).exists()
    ]
    assert missing == []


def test_every_reason_why_no_memory_was_made_is_documented():
    rows = table("docs/how-to/debug.md", "`memory_reason`")
    assert {row["`memory_reason`"].strip("`") for row in rows} == set(FilterReason)


def test_every_permission_is_documented():
    rows = table("docs/explanation/pages.md", "permission")
    assert {row["permission"].strip("`") for row in rows} == set(Permission)


def test_the_glossary_stays_short():
    rows = table("docs/glossary.md", "word")
    assert len(rows) <= 60
    assert sum("**own**" in row["standard term"] for row in rows) <= 20
