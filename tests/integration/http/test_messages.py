from __future__ import annotations

import httpx

from tests.integration.http.serving import Served

MESSAGES = "/v1/agents/alice/messages"


def test_messages_are_stored_in_order_when_the_answer_arrives(
    http: httpx.Client, server: Served
) -> None:
    texts = ["one", "two", "三"]
    answer = http.post(MESSAGES, json={"messages": [{"role": "user", "content": c} for c in texts]})
    assert answer.status_code == 202
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() | {"job_id": ""} == {
        "job_id": "", "seq": 3, "accepted": 3, "duplicates": 0, "erased": [], "redacted": {},
    }  # fmt: skip
    assert server.messages("alice") == texts
    assert server.count("job WHERE kind = 'memci.memory.create'") == 1


def test_a_message_sent_again_is_a_duplicate(http: httpx.Client, server: Served) -> None:
    body = {"messages": [{"role": "user", "content": "x", "id": "m1"}]}
    first = http.post(MESSAGES, json=body).json()
    again = http.post(MESSAGES, json=body).json()
    assert (first["accepted"], again["accepted"], again["duplicates"]) == (1, 0, 1)
    assert again["seq"] == first["seq"]
    assert server.messages("alice") == ["x"]


def test_one_idempotency_key_is_one_request(http: httpx.Client, server: Served) -> None:
    body = {"messages": [{"role": "user", "content": "x"}]}
    answers = [
        http.post(MESSAGES, json=body, headers={"Idempotency-Key": "k-1"}).json() for _ in range(3)
    ]
    assert {answer["job_id"] for answer in answers} == {answers[0]["job_id"]}
    assert [answer["accepted"] for answer in answers] == [1, 0, 0]
    assert server.messages("alice") == ["x"]
    assert server.count("job") == 1


def test_one_key_for_two_requests_is_a_conflict(http: httpx.Client, server: Served) -> None:
    key = {"Idempotency-Key": "k-1"}
    http.post(MESSAGES, json={"messages": [{"role": "user", "content": "x"}]}, headers=key)
    answer = http.post(MESSAGES, json={"messages": [{"role": "user", "content": "y"}]}, headers=key)
    assert answer.status_code == 409
    assert answer.json()["type"] == "urn:memci:problem:conflict"
    assert server.messages("alice") == ["x"]


def test_remember_never_makes_no_memory_job(http: httpx.Client, server: Served) -> None:
    body = {"messages": [{"role": "user", "content": "x"}], "remember": "never"}
    assert http.post(MESSAGES, json=body).json()["job_id"] is None
    assert server.messages("alice") == ["x"]
    assert server.count("job WHERE kind = 'memci.memory.create'") == 0


def test_tool_calls_and_all_roles_are_accepted(http: httpx.Client, server: Served) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": "be brief", "timestamp": 1_700_000_000},
        {"role": "user", "content": "<|endoftext|>", "timestamp": 1_700_000_000_123},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "42", "tool_call_id": "c1", "metadata": {"a": [1, None]}},
        {"role": "user", "content": "later", "timestamp": "2099-01-01T00:00:00+08:00"},
    ]
    answer = http.post(MESSAGES, json={"messages": messages, "session_id": "会话"})
    assert answer.status_code == 202, answer.text
    assert server.messages("alice") == ["be brief", "<|endoftext|>", None, "42", "later"]


def test_openai_messages_are_accepted_if_nothing_is_lost(
    http: httpx.Client, server: Served
) -> None:
    parts = [{"type": "text", "text": "See"}, {"type": "text", "text": "this."}]
    empty = {"refusal": None, "annotations": [], "audio": None, "function_call": None}
    messages = [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": parts, "id": "m1"},
        {"role": "assistant", "content": "I do.", "tool_calls": None, "name": None, **empty},
    ]
    assert http.post(MESSAGES, json={"messages": messages}).status_code == 202
    listed = http.get(MESSAGES).json()["messages"]
    assert [(each["role"], each["content"]) for each in listed] == [
        ("system", "be brief"), ("user", "See\nthis."), ("assistant", "I do."),
    ]  # fmt: skip
    again = {"role": "user", "content": "See\nthis.", "id": "m1"}
    assert http.post(MESSAGES, json={"messages": [again]}).json()["duplicates"] == 1


def test_a_job_has_the_trace_of_its_caller(http: httpx.Client, server: Served) -> None:
    traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    body = {"messages": [{"role": "user", "content": "x"}]}
    http.post(MESSAGES, json=body, headers={"traceparent": traceparent})
    http.post(MESSAGES, json=body, headers={"traceparent": "00-zz"})
    assert server.count(f"job WHERE traceparent = '{traceparent}'") == 1
    assert server.count("job WHERE traceparent IS NULL") == 1


def test_requests_for_compression_coalesce(http: httpx.Client) -> None:
    assert http.post("/v1/agents/alice/compress").status_code == 404
    http.post("/v1/agents/alice/messages", json={"messages": [{"role": "user", "content": "x"}]})
    answers = [http.post("/v1/agents/alice/compress", json={"reason": "r"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert [answer.json() for answer in answers] == [
        {"round": 1, "coalesced": False},
        {"round": 2, "coalesced": True},
    ]
    assert http.post("/v1/agents/alice/compress").status_code == 202


def test_a_pass_can_be_cancelled(http: httpx.Client) -> None:
    assert http.post("/v1/agents/alice/compress/cancel").status_code == 404
    http.post("/v1/agents/alice/messages", json={"messages": [{"role": "user", "content": "x"}]})
    assert http.post("/v1/agents/alice/compress").json() == {"round": 1, "coalesced": False}
    assert http.post("/v1/agents/alice/compress/cancel").status_code == 200
    assert http.post("/v1/agents/alice/compress").json() == {"round": 2, "coalesced": False}
