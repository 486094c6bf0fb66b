"""Reads on the command line and their filters, against real workers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memci import Memci
from memci.embedded import Postgres, Redis
from memci.errors import NotFoundError
from memci.schemas.trials import RecordedQuestion
from tests.integration.http.serving import served_by_workers
from tests.support.command_line import run, run_json

MESSAGES = [
    {"id": "van", "role": "user", "name": "Kim", "content": "The van is parked in garage B2.",
     "timestamp": "2026-11-01T09:00:00Z", "metadata": {"tags": ["van"], "project": "move"}},
    {"id": "bike", "role": "user", "name": "Lee", "content": "The bike is parked at the library.",
     "timestamp": "2026-11-02T09:00:00Z", "metadata": {"tags": ["bike"], "floor": 3}},
    {"id": "car", "role": "assistant", "content": "So the car alone is parked in the street.",
     "timestamp": "2026-11-03T09:00:00Z"},
]  # fmt: skip
QUERY = "Where is it parked?"


@pytest.fixture(scope="module")
def settings(
    shared_postgres: Postgres, process_redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """Settings for a server that knows where things are parked; reads wait for the models."""
    servers, folder = (shared_postgres, process_redis), tmp_path_factory.mktemp("reading")
    with ExitStack() as stack:
        running, _ = stack.enter_context(
            served_by_workers(
                servers, folder, "memci.read,memci.lane", app="workers", http_read_timeout_ms=60_000
            )
        )
        with Memci(running.url) as memci:
            memci.agent("ada").remember(MESSAGES, session_id="s1")
        yield {"MEMCI_API_URL": running.url}


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], {"van", "bike", "car"}),
        (["--until", "2026-11-01"], {"van"}),
        (["--since", "2026-11-02"], {"bike", "car"}),
        (["--since", "2026-11-02", "--until", "2026-11-02"], {"bike"}),
        (["--as-of", "2026-11-02T12:00:00Z"], {"van", "bike"}),
        (["--role", "assistant"], {"car"}),
        (["--name", "Kim", "--name", "Lee"], {"van", "bike"}),
        (["--name", "kim"], set()),
        (["--tag", "bike"], {"bike"}),
        (["--metadata", "project=move"], {"van"}),
        (["--metadata", "floor=3"], {"bike"}),
        (["--metadata", 'floor="3"'], set()),
        (["--type", "procedural", "--source", "memory"], set()),
        (["--session", "s2"], set()),
    ],
)
def test_filters_of_a_search(settings: dict[str, str], options: list[str], found: set[str]):
    answer = run_json(
        "search", QUERY, "-a", "ada", "--source", "chat", "-k", "9", *options, settings=settings
    )
    assert {each for hit in answer["hits"] for each in hit["message_ids"]} == found


@pytest.mark.timeout(180)
def test_budget_channels_and_times_of_a_search(settings: dict[str, str]):
    ask = ("search", "Was it parked on the last day?", "-a", "ada", "--source", "chat")
    few = run_json(*ask, "--budget", "12", settings=settings)
    assert len(few["hits"]) == 1
    ranks = run_json(*ask, "--channel", "lexical", settings=settings)
    assert {tuple(hit["channels"]) for hit in ranks["hits"]} == {("lexical",)}
    yesterday = ("search", "What was parked yesterday?", "-a", "ada", "--explain")
    answer = run_json(*yesterday, "--now", "2026-11-03T12:00:00Z", settings=settings)
    assert "2026-11-02" in json.dumps(answer["explain"]["analysis"])
    printed = run(*yesterday, "--now", "2026-11-03", settings=settings)
    assert "\ntimings_ms: {" in printed.stdout


@pytest.mark.timeout(180)
def test_a_context_with_filters(settings: dict[str, str], tmp_path: Path):
    recorded = tmp_path / "asked.jsonl"
    answer = run_json(
        "context", QUERY, "-a", "ada", "--recent", "0", "--source", "chat", "--channel", "lexical",
        "-k", "1", "--as-of", "2026-11-02T12:00:00Z", "--now", "2026-11-03",
        "--record", str(recorded), settings=settings,
    )  # fmt: skip
    ids = {each for item in answer["items"] for each in item["message_ids"]}
    assert len(ids) == 1
    assert ids < {"van", "bike"}
    again = RecordedQuestion.model_validate_json(recorded.read_text())
    assert (again.k, list(again.sources), list(again.channels)) == (1, ["chat"], ["lexical"])
    assert again.as_of is not None
    assert (again.as_of.day, again.now and again.now.day) == (2, 3)


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("--metadata", "project", "--metadata: expected NAME=VALUE, not 'project'"),
        ("--since", "soon", "since"),
        ("--now", "soon", "now"),
    ],
)
def test_invalid_options_are_wrong_use(
    settings: dict[str, str], option: str, value: str, complaint: str
):
    done = run("search", QUERY, "-a", "ada", option, value, settings=settings)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr


@pytest.mark.timeout(180)
def test_an_unknown_collection_is_named(settings: dict[str, str]):
    done = run("search", QUERY, "-a", "ada", "--collection", "no-such", settings=settings)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("memci: there is no collection no-such: ")
    with Memci(settings["MEMCI_API_URL"]) as memci, pytest.raises(NotFoundError, match="no-such"):
        memci.agent("ada").search(QUERY, collections=["no-such"])
    # A context is made without it.
    done = run("context", QUERY, "-a", "ada", "--collection", "no-such", settings=settings)
    assert done.returncode == 0, done.stderr
