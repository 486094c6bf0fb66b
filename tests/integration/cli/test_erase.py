"""``memci erase``, against the real API."""

from __future__ import annotations

import json
import os
import subprocess

import httpx
import pytest

from memci import Memci
from tests.integration.http.serving import Served
from tests.support.command_line import MEMCI, environment, run, run_json

MESSAGES = [{"role": "user", "content": f"number {n}", "id": f"m{n}"} for n in (1, 2, 3)]


@pytest.fixture
def settings(server: Served) -> dict[str, str]:
    with Memci(server.url) as memci:
        memci.agent("ann").remember(MESSAGES, session_id="s")
    return {"MEMCI_API_URL": server.url}


def stored(server: Served) -> list[str | None]:
    return server.messages("ann")


def test_a_preview_is_shown_and_without_a_terminal_yes_is_needed(
    server: Served, settings: dict[str, str]
) -> None:
    printed = run("erase", "m1", "--agent", "ann", "--preview", settings=settings)
    assert "number 1" in printed.stdout
    refused = run("erase", "m1", "--agent", "ann", settings=settings)
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert len(stored(server)) == 3
    assert run_json(
        "erase", "--session", "s", "--agent", "ann", "--preview", settings=settings
    )["message_ids"] == ["m1", "m2", "m3"]  # fmt: skip


def test_other_data_that_would_be_erased_is_shown(server: Served, settings: dict[str, str]) -> None:
    body = {"id": "1", "checkpoint": {"kind": "json", "body": "e30="}}
    url = f"{server.url}/v1/agents/ann/threads/s/checkpoints"
    assert httpx.post(url, json=body).is_success
    printed = run("erase", "--session", "s", "-a", "ann", "--preview", settings=settings)
    assert "\nand 1 checkpoint\n" in printed.stdout
    assert (
        "other      1 checkpoint\n"
        in run("agents", "show", "--agent", "ann", settings=settings).stdout
    )


def test_messages_a_session_and_an_agent_are_erased(
    server: Served, settings: dict[str, str]
) -> None:
    done = run("erase", "m1", "--agent", "ann", "--yes", settings=settings)
    assert (done.returncode, "erased for good" in done.stdout) == (0, True)
    assert stored(server) == ["number 2", "number 3"]
    receipt = run_json("erase", "--session", "s", "-a", "ann", "-y", settings=settings)
    assert receipt["body"]["message_ids"] == ["m2", "m3"]
    receipt = run_json("erase", "--all", "-a", "ann", "-y", settings=settings)
    assert receipt["body"]["erased"] == "agent"
    assert run("agents", "show", "--agent", "ann", settings=settings).returncode == 1


def test_a_query_that_finds_nothing_says_so_and_erases_nothing(
    server: Served, settings: dict[str, str]
) -> None:
    done = run("erase", "--query", "submarine number", "-a", "ann", "--yes", settings=settings)
    assert (done.returncode, done.stdout) == (0, "nothing found; nothing was erased\n")
    assert len(stored(server)) == 3
    done = run("erase", "--query", "number 2", "-a", "ann", "--yes", settings=settings)
    assert (done.returncode, stored(server)) == (0, ["number 1", "number 3"])


def test_notes_are_found_by_their_words_and_erased(
    server: Served, settings: dict[str, str]
) -> None:
    note = {"name": "A plan", "detail": "Shut the reactor number 2.", "parent": "usr-0"}
    with httpx.Client(base_url=server.url) as http:
        made = http.post("/v1/agents/ann/pages/create_detail_page", json=note).json()
    index = made["page"]["index"]
    query = ("erase", "--query", "reactor", "-a", "ann")
    printed = run(*query, "--preview", settings=settings)
    assert "Shut the reactor" in printed.stdout
    assert run_json(*query, "--preview", settings=settings)["page_indexes"] == [index]
    receipt = run_json(*query, "-y", settings=settings)
    assert receipt["body"]["page_indexes"] == [index]
    assert len(stored(server)) == 3
    done = run("erase", "--page", "usr-1", "m1", "-a", "ann", "-y", settings=settings)
    assert (done.returncode, len(stored(server))) == (0, 2)


def test_pinned_texts_are_found_by_their_words_and_erased(
    server: Served, settings: dict[str, str]
) -> None:
    with Memci(server.url) as memci:
        ann = memci.agent("ann")
        for text in ("Shut the reactor at night.", "Be kind."):
            ann.pin(text=text)
        query = ("erase", "--query", "reactor", "-a", "ann")
        assert "Shut the reactor" in run(*query, "--preview", settings=settings).stdout
        done = run(*query, "-y", settings=settings)
        assert "pins removed and erased for good: 1\nreceipt " in done.stdout
        assert [each.text for each in ann.pins().pins] == ["Be kind."]
        receipt = run_json("erase", "--pin", "2", "-a", "ann", "-y", settings=settings)
        assert receipt["body"]["pins"] == [2]
        assert ann.pins().pins == []


def test_an_erased_folder_stays_without_its_name(server: Served, settings: dict[str, str]) -> None:
    with Memci(server.url) as memci:
        index = memci.agent("ann").create_contents_page("usr-0", name="Plans of Eve").page.index
    erase = ("erase", "--page", index, "-a", "ann", "-y")
    printed = run(*erase, "--preview", settings=settings)
    assert "name erased" in printed.stdout
    done = run(*erase, settings=settings)
    assert (done.returncode, done.stderr) == (0, "")
    assert "erased for good: name and description of 1 page\n" in done.stdout
    again = run(*erase, settings=settings)
    assert "nothing found; nothing was erased" in again.stdout


@pytest.mark.parametrize("wrong", [[], ["m1", "--all"], ["--session", "s", "--query", "x"]])
def test_exactly_one_selection_is_needed(
    server: Served, settings: dict[str, str], wrong: list[str]
) -> None:
    refused = run("erase", *wrong, "--agent", "ann", "--yes", settings=settings)
    assert (refused.returncode, "--all" in refused.stderr) == (2, True)
    assert len(stored(server)) == 3


@pytest.mark.parametrize(("answer", "code", "remaining"), [("n", 1, 3), ("y", 0, 2)])
def test_on_a_terminal_erase_asks_for_confirmation(
    server: Served, settings: dict[str, str], answer: str, code: int, remaining: int
) -> None:
    ours, theirs = os.openpty()
    try:
        process = subprocess.Popen(
            [*MEMCI, "erase", "m1", "--agent", "ann"],
            env=environment(**settings),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        os.write(ours, f"{answer}\n".encode())
        output, question = process.communicate(timeout=60)
    finally:
        os.close(ours)
        os.close(theirs)
    assert "number 1" in output.decode()
    assert "Erase 1 message for good?" in question.decode()
    assert (process.returncode, len(stored(server))) == (code, remaining)


def test_a_file_with_erased_messages_is_sent_without_them(
    server: Served, settings: dict[str, str]
) -> None:
    run("erase", "m1", "m3", "--agent", "ann", "--yes", settings=settings)
    lines = [*MESSAGES, {"role": "user", "content": "number 4", "id": "m4"}]
    file = "".join(f"{json.dumps(each)}\n" for each in lines)
    sent = run("remember", "-", "--agent", "ann", settings=settings, standard_input=file)
    assert sent.returncode == 0, sent.stderr
    assert sent.stdout.startswith("1 message stored")
    assert "1 was stored before" in sent.stdout
    assert "left out, erased for good: line 1, line 3" in sent.stderr
    assert stored(server) == ["number 2", "number 4"]
