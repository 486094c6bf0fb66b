"""The catalogue of the console: complete in both languages, without a text that nobody shows."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from pathlib import Path
from string import Formatter

import pytest

from memci.console.charts import bar, line
from memci.console.words import LANGUAGES, Words, catalogue
from memci.domain.context.message_list import LeftOut, Section
from memci.domain.documents import DocumentState
from memci.domain.job import JobKind, JobSource, JobState
from memci.domain.memory.message_filter import FilterReason
from memci.domain.memory.node import NodeEvent, NodeKind, NodeTier, NodeType, RemovalReason
from memci.domain.pages.pins import Maker, PinKind
from memci.domain.pages.tree import PageState
from memci.domain.search.candidate import Channel, Source
from memci.domain.session.plan import StepState
from memci.message import Role
from memci.schemas.problems import KINDS
from memci.telemetry.metrics import LANE_GAUGES

TEMPLATES = {
    each.name: each.read_text(encoding="utf-8")
    for each in files("memci.console").joinpath("templates").iterdir()
}
PROBLEMS = {each.type for each in KINDS} - {"unauthorized"}
GROUPS = {
    "section": Section, "why": LeftOut, "document": DocumentState,
    "job_state": JobState, "job_source": JobSource,
    "job_kind": [value for name, value in vars(JobKind).items() if name.isupper()],
    "filter": FilterReason, "event": NodeEvent, "kind": NodeKind, "tier": NodeTier,
    "type": NodeType, "removal": RemovalReason, "version": RemovalReason, "maker": Maker,
    "pin": PinKind, "page": PageState, "channel": Channel, "source": Source, "step": StepState,
    "role": Role, "problem": PROBLEMS, "advice": PROBLEMS, "gauge": LANE_GAUGES,
}  # fmt: skip


def test_every_text_is_there_in_every_language() -> None:
    for name, texts in catalogue().items():
        assert len(texts) == len(LANGUAGES), name
        assert all(texts), name
        fields = [{part[1] for part in Formatter().parse(each) if part[1]} for each in texts]
        assert fields[0] == fields[1], name


def test_every_text_of_a_template_is_there_and_used() -> None:
    # Names that a template puts together, such as t("gauge." ~ name), use their whole group.
    used, groups = set(), {"common"}
    for template in TEMPLATES.values():
        used |= set(re.findall(r"""\bt\(["']([\w.-]+)["'](?!\s*~)""", template))
        used |= set(re.findall(r"""["'](nav\.\w+|context\.setting_[ab])["']""", template))
        groups |= set(re.findall(r"""\bt(?:\.known)?\(["'](\w+)[."'](?:["']?\s*~|,)""", template))
        groups |= set(re.findall(r"""t\.has\(["'](\w+)\.""", template))
    assert not used - catalogue().keys()
    dynamic = {"nav", *groups}
    unused = {
        name
        for name in catalogue().keys() - used
        if name.partition(".")[0] not in dynamic or "." not in name
    }
    for name in unused:
        assert re.search(rf"""["']{re.escape(name)}["']""", "".join(TEMPLATES.values())), name


@pytest.mark.parametrize("group", GROUPS)
def test_every_word_of_the_api_has_a_text(group: str) -> None:
    for word in GROUPS[group]:
        assert f"{group}.{word}" in catalogue(), word


def test_details_that_have_a_text_are_those_that_the_code_says() -> None:
    package = Path(str(files("memci")))
    code = "".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    details = [each for each in catalogue() if each.startswith("detail.")]
    assert details
    assert [each for each in details if f'"{each.removeprefix("detail.")}"' not in code] == []


def test_a_word_without_a_text_is_shown_itself() -> None:
    assert Words("en").known("role", "narrator") == "narrator"
    assert Words("zh").known("role", "user") == "用户"


def test_templates_have_no_inline_script_and_switch_off_no_escaping() -> None:
    for name, template in TEMPLATES.items():
        for forbidden in (
            "|safe",
            "Markup",
            "autoescape false",
            " style=",
            "<style",
            "javascript:",
        ):
            assert forbidden not in template, (name, forbidden)
        assert not re.search(r"\son\w+=", template), name
        assert all(" src=" in each for each in re.findall(r"<script[^>]*>", template)), name


def test_the_scripts_of_others_are_those_that_were_released() -> None:
    vendor = files("memci.console").joinpath("static").joinpath("vendor")
    listed = dict(
        reversed(each.split()) for each in vendor.joinpath("SHA256SUMS").read_text().splitlines()
    )
    scripts = [each for each in vendor.iterdir() if each.name.endswith(".js")]
    assert {each.name for each in scripts} == set(listed)
    for each in scripts:
        assert hashlib.sha256(each.read_bytes()).hexdigest() == listed[each.name]


def test_charts() -> None:
    parts = bar({"pins": 25, "memory": 50}, 100)
    assert [(each.left, each.width) for each in parts] == [(0, 25), (25, 50)]
    assert sum(each.width for each in bar({"a": 3, "b": 1}, 2)) == pytest.approx(100)
    assert bar({}, 0) == []
    assert line([0, 1, 2], highest=1) == "0.00,100.00 50.00,50.00 100.00,0.00"
    assert line([5], highest=1) == "0.00,0.00 100.00,0.00"
    assert line([], highest=1) == ""
