"""What can be set, sent, counted and run is documented, and what is documented is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from typer.main import get_command

from benchmarks.__main__ import PARTS, QUALITY_PARTS, RECALL
from memci.broker.names import COMPRESS_TASK, CREATE_TASK, read_task
from memci.cli.app import app
from memci.config.groups import LlmSettings
from memci.config.settings import Settings, load_settings
from memci.domain.job import JobKind
from memci.domain.memory.message_filter import FilterReason
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.parameters import PageRules
from memci.domain.parameters import settings_of
from memci.runtime import Runtime
from memci.schemas.editions import ComparisonRequest
from memci.schemas.memory_tools import SummaryRequest
from memci.schemas.messages import CompressArguments, CreateArguments, StoredArguments
from memci.schemas.pages import WindowRequest
from memci.schemas.reads import ContextRequest, RecallRequest, SearchRequest
from memci.schemas.sessions import HandoverRequest
from memci.telemetry.metrics import LANE_GAUGES, MODEL_COUNTERS, HttpMetrics
from tests.support.deployment import table
from tests.support.fleet import ROOT

DOCUMENTS = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "deploy/runbook.md"]
TASKS: dict[str, tuple[type[BaseModel], ...]] = {
    CREATE_TASK: (CreateArguments, StoredArguments),
    COMPRESS_TASK: (CompressArguments,),
    read_task("recall"): (RecallRequest,),
    read_task("search"): (SearchRequest,),
    read_task("assemble"): (ContextRequest,),
    read_task("window"): (WindowRequest,),
    read_task("summarise"): (SummaryRequest,),
    read_task("handover"): (HandoverRequest,),
    read_task("compare"): (ComparisonRequest,),
}


def first_words(document: str, column: str) -> list[str]:
    return [row[column].strip("`") for row in table(document, column)]


def settings() -> dict[str, str | None]:
    """The description of every setting, by its name."""
    found = {}
    for name, field in Settings.model_fields.items():
        match field.get_default(call_default_factory=True):
            case LlmSettings():
                described = LlmSettings.model_fields.items()
                found |= {f"{name}.{each}": of.description for each, of in described}
            case MemoryParameters() | PageRules() as parameters:
                declared = settings_of(parameters).items()
                found |= {f"{name}.{each}": of.description for each, of in declared}
            case _:
                found[name] = field.description
    return found


def test_an_operator_can_know_all_settings():
    assert len(settings()) <= 70
    assert [name for name, description in settings().items() if not description] == []


def test_every_kind_of_job_is_documented():
    settings = load_settings(database_url="postgresql://nowhere/x", broker_url="redis://nowhere")
    kinds = {*Runtime(settings).handlers, JobKind.UNREADABLE}
    assert set(first_words("docs/operations.md", "kind")) == kinds


def test_every_metric_is_documented():
    counted = {
        f"memci_{field.removesuffix('_s')}" + "_seconds" * field.endswith("_s")
        for field in LANE_GAUGES
    }
    counted |= {f"memci_model_{field}_total" for field in MODEL_COUNTERS}
    for family in HttpMetrics().registry.collect():
        if family.name.startswith("memci_"):
            counted.add(family.name + "_total" * (family.type == "counter"))
    counted.add("memci_database_up")
    assert set(first_words("docs/operations.md", "metric")) == counted


def test_every_benchmark_is_documented():
    parts = {*PARTS, *QUALITY_PARTS, RECALL}
    assert set(first_words("docs/benchmarks.md", "part")) == parts


def test_every_reason_why_no_memory_was_made_is_documented():
    assert set(first_words("docs/producers.md", "`memory_reason`")) == set(FilterReason)


def test_every_message_is_documented_with_its_arguments():
    documented = {
        row["task"].strip("`"): set(re.findall(r"`(\w+)`", row["arguments"]))
        for row in table("docs/producers.md", "task")
    }
    expected = {
        task: {"agent_id"}.union(*(shape.model_fields for shape in shapes)) - {"v"}
        for task, shapes in TASKS.items()
    }
    assert documented == expected


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_that_a_document_names_exist(document: Path):
    """With their options: `memci jobs list --state dead` and the like."""
    code = re.findall(r"`(memci [^`\n]+)`|^(memci .+)$", document.read_text(), re.MULTILINE)
    for line in {inline or own for inline, own in code}:
        words = [each for each in shlex.split(line, comments=True)[1:] if each != "…"]
        command: Any = get_command(app)
        while words and (commands := getattr(command, "commands", None)):
            if words[0].startswith("-") and command.invoke_without_command:
                break
            assert words[0] in commands, line
            command = commands[words.pop(0)]
        known = {option for each in command.params for option in each.opts}
        assert {word for word in words if word.startswith("-")} <= known, line


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_of_a_document_lead_somewhere(document: Path):
    for link in re.findall(r"\]\(([^)]+)\)", document.read_text()):
        path, _, chapter = link.partition("#")
        target = (document.parent / path) if path else document
        assert target.exists(), link
        if chapter:
            headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}
            assert chapter in anchors, link
