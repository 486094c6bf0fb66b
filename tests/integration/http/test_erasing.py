"""Erasing over HTTP: permissions, refusals and answers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from memci import Memci
from memci.api_keys import new_key
from memci.errors import ErasedError, NotFoundError
from memci.storage.network.edits import withhold
from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served

MESSAGES = [{"role": "user", "content": f"number {n}", "id": f"m{n}"} for n in (1, 2, 3)]


@pytest.fixture
def ada(http: httpx.Client) -> httpx.Client:
    """A client of a server where the agent ada has three messages in a session."""
    answer = http.post("/v1/agents/ada/messages", json={"messages": MESSAGES, "session_id": "s"})
    assert answer.status_code == 202
    return http


def erase(http: httpx.Client, **body: Any) -> httpx.Response:
    return http.post("/v1/agents/ada/erase", json=body)


def test_messages_are_erased_and_refused(ada: httpx.Client, server: Served) -> None:
    receipt = erase(ada, message_ids=["m2"]).json()
    assert (receipt["kind"], receipt["body"]["message_ids"]) == ("erasure", ["m2"])
    assert ada.get(f"/v1/agents/ada/receipts/{receipt['id']}").json() == receipt
    listed = ada.get("/v1/agents/ada/messages").json()["messages"]
    assert [(each["seq"], each["id"]) for each in listed] == [(1, "m1"), (3, "m3")]

    again = ada.post("/v1/agents/ada/messages", json={"messages": [
        {"role": "user", "content": "new", "id": "m4"}, MESSAGES[1],
    ]})  # fmt: skip
    problem = again.json()
    assert (again.status_code, problem["type"]) == (409, "urn:memci:problem:erased")
    assert problem["field"] == "messages[1]"
    assert "'m2' was erased" in problem["detail"]
    assert [each["field"] for each in problem["errors"]] == ["messages[1]"]
    assert server.messages("ada") == ["number 1", "number 3"]


def test_the_index_of_a_shown_page_is_given_to_no_other_page(ada: httpx.Client) -> None:
    """The window shows new messages on pages before the pages are stored (P1)."""
    messages = [
        {"role": "assistant", "content": "Done.", "id": "m4"},
        {"role": "user", "content": "number 5", "id": "m5"},
    ]
    ada.post("/v1/agents/ada/messages", json={"messages": messages, "session_id": "s"})
    before = ada.get("/v1/agents/ada/window").json()["messages"][0]["content"]
    assert "[usr-2] number 5" in before
    erase(ada, message_ids=["m1", "m2", "m3", "m4"])
    after = ada.get("/v1/agents/ada/window").json()["messages"][0]["content"]
    assert "[usr-2] number 5" in after
    assert "[usr-1]" not in after


def test_erased_messages_are_skipped_on_request(ada: httpx.Client, server: Served) -> None:
    erase(ada, message_ids=["m1", "m3"])
    new = {"role": "user", "content": "number 4", "id": "m4"}
    request = {"messages": [*MESSAGES, new], "skip_erased": True}
    answer = ada.post("/v1/agents/ada/messages", json=request).json()
    assert (answer["accepted"], answer["duplicates"], answer["seq"]) == (1, 1, 4)
    assert answer["erased"] == ["m1", "m3"]
    assert answer["job_id"] is not None
    assert server.messages("ada") == ["number 2", "number 4"]
    again = ada.post("/v1/agents/ada/messages", json=request).json()
    assert (again["accepted"], again["duplicates"], again["erased"]) == (0, 2, ["m1", "m3"])


def test_only_erased_messages_store_nothing(ada: httpx.Client, server: Served) -> None:
    jobs = len(ada.get("/v1/agents/ada/jobs").json()["jobs"])
    assert ada.delete("/v1/agents/ada").status_code == 200
    request = {"messages": MESSAGES, "skip_erased": True}
    for headers in ({}, {"Idempotency-Key": "k"}):
        answer = ada.post("/v1/agents/ada/messages", json=request, headers=headers).json()
        assert (answer["accepted"], answer["job_id"]) == (0, None)
        assert answer["erased"] == ["m1", "m2", "m3"]
    assert ada.get("/v1/agents/ada").status_code == 404
    assert server.count("job") == 0 < jobs


def test_a_repeated_request_with_erased_messages_is_refused(http: httpx.Client) -> None:
    """The request gives its messages no ids."""
    request = {"messages": [{"role": "user", "content": "hello"}]}
    key = {"Idempotency-Key": "k"}
    assert http.post("/v1/agents/ada/messages", json=request, headers=key).status_code == 202
    (message,) = http.get("/v1/agents/ada/messages").json()["messages"]
    assert erase(http, message_ids=[message["id"]]).status_code == 200
    assert http.post("/v1/agents/ada/messages", json=request, headers=key).status_code == 409


def test_a_query_finds_what_reads_do_not_show(ada: httpx.Client, server: Served) -> None:
    with server.runtime.database.agent_transaction("ada") as connection:
        withhold(connection, "ada", {2: [(0, 8)]})
    preview = erase(ada, query="number 2", preview=True)
    assert preview.json()["message_ids"] == ["m2"]
    pinned = ada.post("/v1/agents/ada/pins", json={"message": "m2"})
    assert (pinned.status_code, "pin a text" in pinned.text) == (409, True)


def test_a_preview_lists_what_would_be_erased(ada: httpx.Client) -> None:
    found = erase(ada, session_id="s", preview=True).json()
    assert found["message_ids"] == ["m1", "m2", "m3"]
    assert [each["excerpt"] for each in found["messages"]] == ["number 1", "number 2", "number 3"]
    assert len(ada.get("/v1/agents/ada/messages").json()["messages"]) == 3


ONE_OF = "one of message_ids, page_indexes or pins, session_id and query"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, ONE_OF),
        (
            {"message_ids": ["m1"], "session_id": "s"},
            ONE_OF,
        ),
        ({"query": "number"}, "preview"),
        ({"message_ids": []}, "message_ids"),
    ],
)
def test_a_request_must_name_exactly_one_selection(
    ada: httpx.Client, body: dict[str, Any], expected: str
) -> None:
    answer = erase(ada, **body)
    assert answer.status_code == 422
    assert expected in answer.text
    assert len(ada.get("/v1/agents/ada/messages").json()["messages"]) == 3


def test_unknown_messages_erase_nothing(ada: httpx.Client) -> None:
    assert erase(ada, message_ids=["m1", "m9"]).status_code == 404
    assert erase(ada, session_id="t").status_code == 404
    assert ada.post("/v1/agents/eve/erase", json={"message_ids": ["m1"]}).status_code == 404
    assert ada.delete("/v1/agents/eve").status_code == 404
    assert len(ada.get("/v1/agents/ada/messages").json()["messages"]) == 3


LONG = "We talked about the weather in the harbour for a very long time. " * 5


@pytest.mark.parametrize(
    ("query", "proposed"),
    [
        ("phone number", ["m5"]),
        ("the PHONES numbered", ["m5"]),
        ("submarine quantum", []),
        ("phone submarine", []),
        ("电话号码", ["m6"]),
        ("电话号码 潜水艇", []),
        ("猫", ["m7"]),
        ("猫 北京", ["m7"]),
        ("猫 电话", []),
        ("!?", []),
        ("number", ["m1", "m2", "m3", "m5"]),
    ],
)
def test_a_query_proposes_messages_with_all_of_its_words(
    ada: httpx.Client, query: str, proposed: list[str]
) -> None:
    """No worker runs, so these messages are in no index."""
    texts = [
        f"{LONG} Phone me.", f"{LONG} His phone has the number 555.", "我的电话号码是五五五。",
        "我在北京养了一只猫。",
    ]  # fmt: skip
    more = [
        {"role": "user", "content": text, "id": f"m{at}"} for at, text in enumerate(texts, start=4)
    ]
    assert ada.post("/v1/agents/ada/messages", json={"messages": more}).status_code == 202
    found = erase(ada, query=query, preview=True).json()
    assert found["message_ids"] == proposed
    if proposed == ["m5"]:
        assert "phone has the number 555" in found["messages"][0]["excerpt"][:80]
    newest = erase(ada, query=query, preview=True, k=1).json()["message_ids"]
    assert newest == proposed[-1:]


def test_an_erased_agent_can_start_again(ada: httpx.Client) -> None:
    assert ada.put("/v1/agents/ada/settings", json={"focus_limit": 2}).status_code == 200
    receipt = ada.delete("/v1/agents/ada").json()
    assert receipt["body"]["rows"]["message"] == 3
    assert ada.get("/v1/agents").json()["agents"] == []
    for path in ("/v1/agents/ada/pause", "/v1/agents/ada/resume", "/v1/agents/ada/compress"):
        assert ada.post(path).status_code == 404, path
    assert ada.get("/v1/agents/ada").status_code == 404
    assert ada.delete("/v1/agents/ada").status_code == 404
    assert ada.get("/v1/agents/ada/jobs").status_code == 404
    assert ada.get("/v1/agents/ada/settings").status_code == 404
    assert ada.get(f"/v1/agents/ada/receipts/{receipt['id']}").json() == receipt

    new = {"role": "user", "content": "another life", "id": "m4"}
    answer = ada.post("/v1/agents/ada/messages", json={"messages": [new]}).json()
    assert (answer["seq"], answer["accepted"]) == (4, 1)
    assert ada.get("/v1/agents/ada/settings").json()["changed"] == []
    (line,) = ada.get("/v1/agents").json()["agents"]
    assert (line["agent_id"], line["messages"]) == ("ada", 1)


def test_only_an_admin_key_may_erase(serve: Serve) -> None:
    write, write_key = new_key("writer", scope="write")
    admin, admin_key = new_key("admin", scope="admin")
    server = serve(api_keys=(write_key, admin_key))
    path = f"{server.url}/v1/agents/ada"
    for key, status in ((write, 403), (admin, 404)):
        headers = {"Authorization": f"Bearer {key}"}
        body = {"message_ids": ["m1"]}
        assert httpx.post(f"{path}/erase", json=body, headers=headers).status_code == status
        assert httpx.delete(path, headers=headers).status_code == status


def test_the_python_client_erases(server: Served) -> None:
    with Memci(server.url) as memci:
        ada = memci.agent("ada")
        ada.remember(MESSAGES, session_id="s")
        assert ada.preview_erasure(message_ids=["m1"]).message_ids == ["m1"]
        receipt = ada.erase(message_ids=["m1"])
        assert isinstance(receipt.id, UUID)
        assert ada.receipt(receipt.id) == receipt
        with pytest.raises(ErasedError) as refused:
            ada.remember([MESSAGES[0]])
        assert refused.value.field == "messages[0]"
        assert ada.remember([MESSAGES[0]], skip_erased=True).erased == ["m1"]
        assert ada.erase(session_id="s").body["message_ids"] == ["m2", "m3"]
        assert ada.erase_agent().body["erased"] == "agent"
        with pytest.raises(NotFoundError):
            ada.about()


def test_a_query_finds_notes_and_they_are_erased_by_their_indexes(ada: httpx.Client) -> None:
    note = {"name": "A plan", "detail": "Count to number nine.", "parent": "usr-0"}
    made = ada.post("/v1/agents/ada/pages/create_detail_page", json=note).json()
    index = made["page"]["index"]
    found = erase(ada, query="nine", preview=True).json()
    assert (found["message_ids"], found["page_indexes"], found["pages"]) == ([], [index], 1)
    (entry,) = found["own_words"]
    assert (entry["index"], entry["removed"]) == (index, True)
    assert "number nine" in entry["excerpt"]
    assert ada.get("/v1/agents/ada").json()["pages"] == 2
    receipt = erase(ada, page_indexes=[index]).json()
    assert (receipt["body"]["page_indexes"], receipt["body"]["pages"]) == ([index], 1)
    assert ada.get("/v1/agents/ada").json()["pages"] == 1
    assert erase(ada, query="nine", preview=True).json()["page_indexes"] == []
    missing = erase(ada, page_indexes=["usr-99"])
    assert missing.status_code == 404
    assert "usr-99" in missing.json()["detail"]
    wrong = erase(ada, page_indexes=["../etc"])
    assert wrong.status_code == 422


def test_a_query_finds_pinned_texts_and_they_are_erased_by_their_numbers(
    ada: httpx.Client,
) -> None:
    pins = "/v1/agents/ada/pins"
    texts = ("Never count to nine.", "数到九为止", "Count to ten.")
    numbers = [ada.post(pins, json={"text": each}).json()["pin"] for each in texts]
    ada.post(pins, json={"message": "m1"})
    for query, number in (("counting to nine", numbers[0]), ("数到九", numbers[1])):
        found = erase(ada, query=query, preview=True).json()
        assert (found["message_ids"], found["page_indexes"]) == ([], [])
        assert found["pins"] == [number]
        assert found["pinned"] == [{"pin": number, "excerpt": texts[number - 1]}]
    assert erase(ada, query="count", k=1, preview=True).json()["pins"] == [numbers[2]]
    listed = ada.get(pins).json()["pins"]
    assert [each["pin"] for each in listed] == [*numbers, 4], "nothing was erased"
    assert erase(ada, query="number 1", preview=True).json()["pins"] == [], "that is a message"

    receipt = erase(ada, pins=numbers[:2], message_ids=["m1"]).json()

    assert receipt["body"]["pins"] == numbers[:2]
    assert [each["pin"] for each in ada.get(pins).json()["pins"]] == [numbers[2]]
    assert erase(ada, pins=numbers[:1]).json()["body"]["pins"] == [], "it is gone already"
    assert ada.post(pins, json={"text": "More"}).json()["pin"] == 5
    missing = erase(ada, pins=[99])
    assert (missing.status_code, "pinned as 99" in missing.json()["detail"]) == (404, True)
    assert erase(ada, pins=[0]).status_code == 422
