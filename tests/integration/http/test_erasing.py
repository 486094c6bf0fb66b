"""Erasing over HTTP: who may, what is refused, and what is answered."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from memci import Memci
from memci.api_keys import new_key
from memci.errors import ErasedError, NotFoundError
from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served

MESSAGES = [{"role": "user", "content": f"number {n}", "id": f"m{n}"} for n in (1, 2, 3)]


@pytest.fixture
def told(http: httpx.Client) -> httpx.Client:
    """An agent with three messages in a session."""
    answer = http.post("/v1/agents/ada/messages", json={"messages": MESSAGES, "session_id": "s"})
    assert answer.status_code == 202
    return http


def erase(http: httpx.Client, **body: Any) -> httpx.Response:
    return http.post("/v1/agents/ada/erase", json=body)


def test_messages_are_erased_and_refused(told: httpx.Client, server: Served) -> None:
    receipt = erase(told, message_ids=["m2"]).json()
    assert (receipt["kind"], receipt["body"]["message_ids"]) == ("erasure", ["m2"])
    assert told.get(f"/v1/agents/ada/receipts/{receipt['id']}").json() == receipt
    listed = told.get("/v1/agents/ada/messages").json()["messages"]
    assert [(each["seq"], each["id"]) for each in listed] == [(1, "m1"), (3, "m3")]

    again = told.post("/v1/agents/ada/messages", json={"messages": [
        {"role": "user", "content": "new", "id": "m4"}, MESSAGES[1],
    ]})  # fmt: skip
    problem = again.json()
    assert (again.status_code, problem["type"]) == (409, "urn:memci:problem:erased")
    assert problem["field"] == "messages[1]"
    assert "'m2' was erased" in problem["detail"]
    assert [each["field"] for each in problem["errors"]] == ["messages[1]"]
    assert server.messages("ada") == ["number 1", "number 3"]


def test_an_index_that_was_only_seen_is_given_to_no_other_page(told: httpx.Client) -> None:
    """What is said is seen on pages before they are stored (P1)."""
    said = [
        {"role": "assistant", "content": "Done.", "id": "m4"},
        {"role": "user", "content": "number 5", "id": "m5"},
    ]
    told.post("/v1/agents/ada/messages", json={"messages": said, "session_id": "s"})
    seen = told.get("/v1/agents/ada/window").json()["messages"][0]["content"]
    assert "[usr-2] number 5" in seen
    erase(told, message_ids=["m1", "m2", "m3", "m4"])
    left = told.get("/v1/agents/ada/window").json()["messages"][0]["content"]
    assert "[usr-2] number 5" in left
    assert "[usr-1]" not in left


def test_erased_ones_are_left_out_on_request(told: httpx.Client, server: Served) -> None:
    erase(told, message_ids=["m1", "m3"])
    new = {"role": "user", "content": "number 4", "id": "m4"}
    request = {"messages": [*MESSAGES, new], "skip_erased": True}
    answer = told.post("/v1/agents/ada/messages", json=request).json()
    assert (answer["accepted"], answer["duplicates"], answer["seq"]) == (1, 1, 4)
    assert answer["erased"] == ["m1", "m3"]
    assert answer["job_id"] is not None
    assert server.messages("ada") == ["number 2", "number 4"]
    again = told.post("/v1/agents/ada/messages", json=request).json()
    assert (again["accepted"], again["duplicates"], again["erased"]) == (0, 2, ["m1", "m3"])


def test_a_request_of_erased_ones_alone_leaves_nothing(told: httpx.Client, server: Served) -> None:
    jobs = len(told.get("/v1/agents/ada/jobs").json()["jobs"])
    assert told.delete("/v1/agents/ada").status_code == 200
    request = {"messages": MESSAGES, "skip_erased": True}
    for headers in ({}, {"Idempotency-Key": "k"}):
        answer = told.post("/v1/agents/ada/messages", json=request, headers=headers).json()
        assert (answer["accepted"], answer["job_id"]) == (0, None)
        assert answer["erased"] == ["m1", "m2", "m3"]
    assert told.get("/v1/agents/ada").status_code == 404
    assert server.count("job") == 0 < jobs


def test_the_same_request_again_is_refused_too(http: httpx.Client) -> None:
    """Its messages have no ids of their own."""
    request = {"messages": [{"role": "user", "content": "hello"}]}
    key = {"Idempotency-Key": "k"}
    assert http.post("/v1/agents/ada/messages", json=request, headers=key).status_code == 202
    (message,) = http.get("/v1/agents/ada/messages").json()["messages"]
    assert erase(http, message_ids=[message["id"]]).status_code == 200
    assert http.post("/v1/agents/ada/messages", json=request, headers=key).status_code == 409


def test_a_preview_says_what_would_go(told: httpx.Client) -> None:
    found = erase(told, session_id="s", preview=True).json()
    assert found["message_ids"] == ["m1", "m2", "m3"]
    assert [each["excerpt"] for each in found["messages"]] == ["number 1", "number 2", "number 3"]
    assert len(told.get("/v1/agents/ada/messages").json()["messages"]) == 3


ONE_OF = "one of message_ids, page_indexes or pins, session_id and query"


@pytest.mark.parametrize(
    ("body", "told_of"),
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
def test_what_names_nothing_or_too_much_is_refused(
    told: httpx.Client, body: dict[str, Any], told_of: str
) -> None:
    answer = erase(told, **body)
    assert answer.status_code == 422
    assert told_of in answer.text
    assert len(told.get("/v1/agents/ada/messages").json()["messages"]) == 3


def test_unknown_messages_erase_nothing(told: httpx.Client) -> None:
    assert erase(told, message_ids=["m1", "m9"]).status_code == 404
    assert erase(told, session_id="t").status_code == 404
    assert told.post("/v1/agents/eve/erase", json={"message_ids": ["m1"]}).status_code == 404
    assert told.delete("/v1/agents/eve").status_code == 404
    assert len(told.get("/v1/agents/ada/messages").json()["messages"]) == 3


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
def test_a_query_proposes_what_holds_all_of_its_words(
    told: httpx.Client, query: str, proposed: list[str]
) -> None:
    """It asks no worker; none has put these messages into an index."""
    said = [
        f"{LONG} Phone me.", f"{LONG} His phone has the number 555.", "我的电话号码是五五五。",
        "我在北京养了一只猫。",
    ]  # fmt: skip
    more = [
        {"role": "user", "content": text, "id": f"m{at}"} for at, text in enumerate(said, start=4)
    ]
    assert told.post("/v1/agents/ada/messages", json={"messages": more}).status_code == 202
    found = erase(told, query=query, preview=True).json()
    assert found["message_ids"] == proposed
    if proposed == ["m5"]:
        assert "phone has the number 555" in found["messages"][0]["excerpt"][:80]
    newest = erase(told, query=query, preview=True, k=1).json()["message_ids"]
    assert newest == proposed[-1:]


def test_an_agent_is_erased_and_begins_anew(told: httpx.Client) -> None:
    assert told.put("/v1/agents/ada/settings", json={"focus_limit": 2}).status_code == 200
    receipt = told.delete("/v1/agents/ada").json()
    assert receipt["body"]["rows"]["message"] == 3
    assert told.get("/v1/agents").json()["agents"] == []
    for path in ("/v1/agents/ada/pause", "/v1/agents/ada/resume", "/v1/agents/ada/compress"):
        assert told.post(path).status_code == 404, path
    assert told.get("/v1/agents/ada").status_code == 404
    assert told.delete("/v1/agents/ada").status_code == 404
    assert told.get("/v1/agents/ada/jobs").status_code == 404
    assert told.get("/v1/agents/ada/settings").status_code == 404
    assert told.get(f"/v1/agents/ada/receipts/{receipt['id']}").json() == receipt

    new = {"role": "user", "content": "another life", "id": "m4"}
    answer = told.post("/v1/agents/ada/messages", json={"messages": [new]}).json()
    assert (answer["seq"], answer["accepted"]) == (4, 1)
    assert told.get("/v1/agents/ada/settings").json()["changed"] == []
    (line,) = told.get("/v1/agents").json()["agents"]
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


def test_a_query_finds_notes_and_they_are_erased_by_their_indexes(told: httpx.Client) -> None:
    note = {"name": "A plan", "detail": "Count to number nine.", "parent": "usr-0"}
    made = told.post("/v1/agents/ada/pages/create_detail_page", json=note).json()
    index = made["page"]["index"]
    found = erase(told, query="nine", preview=True).json()
    assert (found["message_ids"], found["page_indexes"], found["pages"]) == ([], [index], 1)
    (shown,) = found["own_words"]
    assert (shown["index"], shown["goes"]) == (index, True)
    assert "number nine" in shown["excerpt"]
    assert told.get("/v1/agents/ada").json()["pages"] == 2
    receipt = erase(told, page_indexes=[index]).json()
    assert (receipt["body"]["page_indexes"], receipt["body"]["pages"]) == ([index], 1)
    assert told.get("/v1/agents/ada").json()["pages"] == 1
    assert erase(told, query="nine", preview=True).json()["page_indexes"] == []
    missing = erase(told, page_indexes=["usr-99"])
    assert missing.status_code == 404
    assert "usr-99" in missing.json()["detail"]
    wrong = erase(told, page_indexes=["../etc"])
    assert wrong.status_code == 422


def test_a_query_finds_pinned_texts_and_they_are_erased_by_their_numbers(
    told: httpx.Client,
) -> None:
    pins = "/v1/agents/ada/pins"
    texts = ("Never count to nine.", "数到九为止", "Count to ten.")
    numbers = [told.post(pins, json={"text": each}).json()["pin"] for each in texts]
    told.post(pins, json={"message": "m1"})
    for query, number in (("counting to nine", numbers[0]), ("数到九", numbers[1])):
        found = erase(told, query=query, preview=True).json()
        assert (found["message_ids"], found["page_indexes"]) == ([], [])
        assert found["pins"] == [number]
        assert found["pinned"] == [{"pin": number, "excerpt": texts[number - 1]}]
    assert erase(told, query="count", k=1, preview=True).json()["pins"] == [numbers[2]]
    listed = told.get(pins).json()["pins"]
    assert [each["pin"] for each in listed] == [*numbers, 4], "nothing was erased"
    assert erase(told, query="number 1", preview=True).json()["pins"] == [], "that is a message"

    receipt = erase(told, pins=numbers[:2], message_ids=["m1"]).json()

    assert receipt["body"]["pins"] == numbers[:2]
    assert [each["pin"] for each in told.get(pins).json()["pins"]] == [numbers[2]]
    assert erase(told, pins=numbers[:1]).json()["body"]["pins"] == [], "it is gone already"
    assert told.post(pins, json={"text": "More"}).json()["pin"] == 5
    missing = erase(told, pins=[99])
    assert (missing.status_code, "pinned as 99" in missing.json()["detail"]) == (404, True)
    assert erase(told, pins=[0]).status_code == 422
