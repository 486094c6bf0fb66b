"""`memci settings compare`: recorded questions under two settings, on a real database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from memci.cli import app
from memci.embedded import Postgres, Redis
from memci.reading.context import ContextReader
from memci.schemas.reads import ContextRequest
from memci.storage.network.edits import withhold
from memci.storage.session import Database
from tests.integration.http.serving import Served, served_by_workers
from tests.support.command_line import run, run_json
from tests.support.stored import Reader, Stored

RunHere: TypeAlias = Callable[..., tuple[int, str, str]]

# The lexical channel loads no model.
_WORDS = '[request]\nchannels = ["lexical"]\nsources = ["chat"]\n'


@pytest.fixture
def settings(database_url: str) -> dict[str, str]:
    return {"MEMCI_DATABASE_URL": database_url}


@pytest.fixture
def run_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> RunHere:
    """Return a function that runs a command in this process: code, output and errors."""
    monkeypatch.setenv("MEMCI_DATABASE_URL", database_url)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["memci", *arguments])
        code = app.run()
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def alice(database: Database) -> Iterator[Stored]:
    reader = Reader(database)
    yield Stored(reader, "alice")
    reader.activity.close()


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Settings with and without recent turns, and two questions."""
    texts = {
        "few.toml": f"{_WORDS}recent = 0\n",
        "many.toml": f"{_WORDS}recent = 8\n",
        "asked.jsonl": "\n".join(
            json.dumps({"agent": "alice", "budget_tokens": 1_000, "session_id": "s9", **each})
            for each in (
                {"query": "Where is the cello?", "evidence": ["m1", "m3"]},
                {"query": "And the telescope?"},
            )
        ),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: str(tmp_path / name) for name in texts}


def store_talk(alice: Stored) -> None:
    alice.say("The cello stands at Marta's house in Ghent.", session="s1")
    alice.say("The telescope is on the roof of the old harbour.", session="s2")
    alice.say("Tomorrow it is brought to the workshop.", session="s9")


def arguments_of(files: dict[str, str]) -> tuple[str, ...]:
    return files["few.toml"], files["many.toml"], "--questions", files["asked.jsonl"]


def compare(files: dict[str, str], settings: dict[str, str]) -> Any:
    return run_json("settings", "compare", *arguments_of(files), settings=settings)


def test_compare_reports_what_each_setting_finds(
    alice: Stored, files: dict[str, str], settings: dict[str, str]
) -> None:
    store_talk(alice)
    found = compare(files, settings)
    cello, telescope = found["trials"]
    assert cello["first"]["message_ids"] == ["m1"]
    assert sorted(cello["second"]["message_ids"]) == ["m1", "m3"]
    assert (cello["first"]["recall"], cello["second"]["recall"]) == (0.5, 1.0)
    assert cello["both"] == ["m1"]
    assert cello["first"]["tokens"] < cello["second"]["tokens"] <= 1_000
    assert telescope["first"]["message_ids"] == ["m2"]
    assert telescope["second"]["recall"] is None
    assert (found["first"]["name"], found["first"]["recall"]) == ("few.toml", 0.5)
    assert (found["second"]["name"], found["second"]["recall"]) == ("many.toml", 1.0)
    assert (found["overlap"], found["with_evidence"]) == (0.5, 1)
    for side in ("first", "second"):
        assert 0 < found[side]["p50_ms"] <= found[side]["p95_ms"]
        assert found[side]["as_recorded"] is None


def test_compare_prints_where_the_settings_differ(
    alice: Stored, files: dict[str, str], run_here: RunHere
) -> None:
    store_talk(alice)
    code, output, errors = run_here("settings", "compare", *arguments_of(files))
    assert (code, errors) == (0, "")
    assert "2 questions; 50% of all messages are in both contexts" in output
    assert "evidence found, of 1 question" in output
    assert output.index("Where is the cello?") < output.index("And the telescope?")
    assert "many.toml: 2 messages, " in output
    assert "evidence 2 of 2, only here m3" in output
    _, short, _ = run_here("settings", "compare", *arguments_of(files), "--limit", "1")
    assert "And the telescope?" not in short
    assert "and 1 more that differ; --limit shows them" in short


def test_compare_stores_nothing(
    alice: Stored, database: Database, files: dict[str, str], settings: dict[str, str]
) -> None:
    store_talk(alice)
    compare(files, settings)
    with database.agent_snapshot("alice") as connection:
        receipts = connection.exec_driver_sql("SELECT count(*) FROM receipt").scalar_one()
        read_at = connection.exec_driver_sql("SELECT read_at FROM lane").scalar_one()
    assert (receipts, read_at) == (0, None)


@pytest.mark.parametrize(
    ("changed", "text", "complaint"),
    [
        ("few.toml", "queue_leas_ms = 3\n", "few.toml is no setting and does nothing"),
        ("few.toml", "queue_leas_ms = 3\n", "; did you mean 'queue_lease_ms'?"),
        ("few.toml", "recnt = 4\n", "'recnt' in "),
        ("few.toml", "[simplemem]\nenabld = true\n", "did you mean 'simplemem.enabled'?"),
        (
            "few.toml",
            "qqqq = 1\n",
            "is no setting and does nothing; see docs/reference/settings.md",
        ),
        ("few.toml", "port = -1\n", "few.toml: wrong settings: MEMCI_PORT"),
        ("few.toml", "port\n", "is not TOML"),
        ("many.toml", "[request]\nchanels = []\n", "'chanels' is no option of [request]; there"),
        ("many.toml", "[request]\nk = 0\n", "many.toml: [request] k: expected"),
        ("asked.jsonl", "\n", "has no questions: `memci context QUERY"),
        ("asked.jsonl", '{"agent": "a b", "budget_tokens": 9}', "line 1: agent: "),
        ("asked.jsonl", "\n{}", "line 2: "),
    ],
)
def test_errors_are_reported_with_their_place(
    run_here: RunHere, files: dict[str, str], changed: str, text: str, complaint: str
) -> None:
    Path(files[changed]).write_text(text)
    code, output, errors = run_here("settings", "compare", *arguments_of(files))
    assert (code in (1, 2), output) == (True, "")
    assert complaint in errors
    assert files[changed] in errors
    assert len(errors.splitlines()) == 1


def test_an_unknown_agent_is_reported(run_here: RunHere, files: dict[str, str]) -> None:
    code, _, errors = run_here("settings", "compare", *arguments_of(files))
    assert code == 1
    assert "alice" in errors


@pytest.fixture
def served(
    shared_postgres: Postgres, process_redis: Redis, tmp_path: Path
) -> Iterator[tuple[Served, dict[str, str]]]:
    """A server with a context worker, and settings for commands."""
    with served_by_workers(
        (shared_postgres, process_redis), tmp_path, "memci.read",
        app="tests.support.network_worker_app",
    ) as (server, workers):  # fmt: skip
        database_url = workers.environment["MEMCI_DATABASE_URL"]
        yield server, {"MEMCI_API_URL": server.url, "MEMCI_DATABASE_URL": database_url}


def test_questions_are_recorded_with_their_results(
    served: tuple[Served, dict[str, str]], files: dict[str, str], tmp_path: Path
) -> None:
    server, settings = served
    store_talk(Stored(Reader(server.runtime.database), "alice"))
    recorded = tmp_path / "recorded.jsonl"
    for query in ("Where is the cello?", "在哪里?"):
        done = run(
            "context", query, "--agent", "alice", "--budget", "900", "--session", "s9",
            "--record", str(recorded), settings=settings,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in recorded.read_text("utf-8").splitlines()]
    assert [line["query"] for line in lines] == ["Where is the cello?", "在哪里?"]
    assert {(line["agent"], line["budget_tokens"], line["session_id"]) for line in lines} == {
        ("alice", 900, "s9")
    }
    assert recorded.stat().st_mode & 0o077 == 0
    found = compare({**files, "asked.jsonl": str(recorded)}, settings)
    cello = found["trials"][0]
    assert sorted(cello["recorded"]) == ["m1", "m3"]
    # Recent turns give the recorded result; without them there is less.
    assert found["second"]["as_recorded"] == 1.0
    assert found["first"]["as_recorded"] < 1.0


def test_past_questions_are_asked_again_as_of_then(
    alice: Stored, run_here: RunHere, files: dict[str, str]
) -> None:
    for number, text in enumerate(("The cello stands in Ghent.", "It rains in Lisbon."), 1):
        alice.say(text, session=f"s{number}", said_at=datetime(2026, 3, number, tzinfo=UTC))
    arguments = (files["few.toml"], files["many.toml"], "--agent", "alice")
    code, _, errors = run_here("settings", "compare", *arguments)
    assert code == 1
    assert "agent alice has no past questions" in errors
    reads = ContextReader(*alice.reader.parts)
    context = reads.run("alice", ContextRequest(query="Where is the cello?", budget_tokens=500))
    reads.run("alice", ContextRequest(query="Nobody said this.", budget_tokens=500))
    # As an agent does: it records the question together with the answer.
    asked = alice.say("Where is the cello?", session="s3", said_at=datetime.now(UTC))
    alice.say("The cello is in Ghent.", "assistant", session="s3", said_at=datetime.now(UTC))
    code, output, errors = run_here("settings", "compare", *arguments, "--json")
    assert (code, errors) == (0, "")
    (trial,) = json.loads(output)["trials"]
    assert trial["query"] == "Where is the cello?"
    assert trial["first"]["message_ids"] == ["m1"]
    assert trial["recorded"] == [each for item in context.items for each in item.message_ids]
    with alice.reader.database.agent_transaction("alice") as connection:
        withhold(connection, "alice", {asked: [(4, 19)]})
    _, _, errors = run_here("settings", "compare", *arguments)
    assert "agent alice has no past questions" in errors, "reads do not show it any more"


def test_questions_come_from_a_file_or_an_agent(run_here: RunHere, files: dict[str, str]) -> None:
    for others in ((), ("--questions", files["asked.jsonl"], "--agent", "alice")):
        code, _, errors = run_here(
            "settings", "compare", files["few.toml"], files["many.toml"], *others
        )
        assert code == 2
        assert "give either --questions FILE or --agent ID" in errors
