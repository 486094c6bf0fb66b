"""Pages and the context window over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from memci.schemas.tools.table import TOOLS, About
from tests.integration.http.serving import Served


class Pages:
    """Pages of one agent."""

    def __init__(self, client: httpx.Client, agent: str) -> None:
        self._client = client
        self._agent = agent

    def say(self, *texts: str, session: str = "s1") -> None:
        roles = ["user", "assistant"]
        messages = [
            {"role": roles[number % 2], "content": text} for number, text in enumerate(texts)
        ]
        self.post_messages({"messages": messages, "session_id": session})

    def post_messages(self, body: dict[str, Any]) -> None:
        answer = self._client.post(f"/{self._agent}/messages", json=body | {"remember": "never"})
        assert answer.status_code == 202

    def append(self, *messages: dict[str, Any]) -> None:
        body = {"messages": messages, "session_id": "s1", "remember": "never"}
        answer = self._client.post(f"/{self._agent}/messages", json=body)
        assert answer.status_code == 202, answer.text

    def post(self, operation: str, **fields: Any) -> httpx.Response:
        return self._client.post(f"/{self._agent}/pages/{operation}", json=fields)

    def call(self, operation: str, **fields: Any) -> Any:
        answer = self.post(operation, **fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def get(self, path: str, **query: Any) -> Any:
        answer = self._client.get(f"/{self._agent}{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def put(self, path: str, **fields: Any) -> None:
        answer = self._client.put(f"/{self._agent}{path}", json=fields)
        assert answer.status_code == 200, answer.text

    def status(self, path: str) -> int:
        return self._client.get(f"/{self._agent}{path}").status_code

    @property
    def window(self) -> str:
        return "".join(each["content"] for each in self.get("/window")["messages"])


@pytest.fixture
def pages(server: Served) -> Iterator[Callable[[str], Pages]]:
    """Return a function that gives the pages of an agent."""
    with httpx.Client(base_url=f"{server.url}/v1/agents") as client:
        yield lambda agent: Pages(client, agent)


@pytest.fixture
def alice(pages: Callable[[str], Pages]) -> Pages:
    made = pages("alice")
    made.say("How do I sort a list in Go?", "Use the slices package.")
    return made


def test_messages_are_in_the_window(alice: Pages):
    window = alice.get("/window")
    assert [each["role"] for each in window["messages"]] == ["user"]
    assert "## [usr-1] How do I sort a list in Go? (page, expanded)" in alice.window
    assert "Use the slices package." in alice.window
    assert window["by_segment"]["usr"] == window["tokens"] - 3
    assert (window["session_id"], window["collapsed"], window["over"]) == ("s1", [], 0)


def test_every_tool_about_pages_has_a_path(server: Served):
    paths = httpx.get(f"{server.url}/openapi.json").json()["paths"]
    for tool in TOOLS:
        if tool.about is About.PAGES:
            described = paths[f"/v1/agents/{{agent}}/pages/{tool.name}"]["post"]
            assert described["operationId"] == tool.name


def test_a_note_is_made_read_moved_found_removed_and_restored(alice: Pages):
    folder = alice.call("create_contents_page", name="Go", parent="usr-0")["page"]
    assert (folder["index"], folder["kind"], folder["expanded"]) == ("usr-2", "contents", False)
    note = alice.call("create_detail_page", name="Lesson", detail="Sort is stable.", parent="usr-0")
    index = note["page"]["index"]
    assert note["tokens_after"] > note["tokens_before"]
    moved = alice.call("move_page", source=index, target="usr-2")
    assert (moved["page"]["parent"], moved["page"]["lifecycle"]) == ("usr-2", "hot_archived")
    assert alice.get(f"/pages/{index}")["text"] == "Sort is stable."
    (found,) = alice.call("find_pages", query="lessons learned")["pages"]
    assert found["index"] == index
    assert [each["index"] for each in alice.call("get_ancestors", index=index)["pages"]] == [
        "usr-2", "usr-0",
    ]  # fmt: skip
    alice.call("remove_page", index="usr-2")
    assert "[usr-2]" not in alice.window
    assert alice.get(f"/pages/{index}")["page"]["lifecycle"] == "cold_archived"
    (cold,) = alice.call("find_pages", query="lesson")["pages"]
    assert cold["lifecycle"] == "cold_archived"
    alice.call("restore_page", index="usr-2", parent="usr-0")
    alice.call("expand_details", index=index)
    assert "Sort is stable." in alice.window


def test_the_tree_is_listed_in_order(alice: Pages):
    alice.call("create_contents_page", name="Go", parent="usr-0", children=["usr-1"])
    alice.call("create_detail_page", name="Rule", detail="Be brief.", parent="sys-0")
    tree = alice.get("/pages")
    assert [each["index"] for each in tree["pages"]] == [
        "sys-0", "sys-1", "usr-0", "usr-2", "usr-1",
    ]  # fmt: skip
    assert [(each["id"], each["permission"]) for each in tree["segments"]] == [
        ("sys", "READ_ONLY"),
        ("usr", "READ_WRITE"),
    ]


def test_a_developer_writes_the_system_prompt_before_the_first_message(
    pages: Callable[[str], Pages],
):
    bob = pages("bob")
    assert bob.status("/window") == 404
    made = bob.call("create_detail_page", name="Prompt", detail="You are kind.", parent="sys-0")
    assert made["page"]["expanded"], "of sys all is seen"
    (system,) = bob.get("/window")["messages"]
    assert system["role"] == "system"
    assert "You are kind." in system["content"]
    bob.say("Hello")
    assert [each["role"] for each in bob.get("/window")["messages"]] == ["system", "user"]


@pytest.mark.parametrize("permission", ["READ_ONLY", "SYSTEM_MANAGED"])
def test_developers_fill_segments_that_models_only_read(alice: Pages, permission: str):
    alice.call("create_segment", id="docs", name="Documents", permission=permission)
    page = {"name": "A", "detail": "a", "parent": "docs-0"}
    index = alice.call("create_detail_page", **page)["page"]["index"]
    folder = {"name": "F", "parent": "docs-0"}
    made = alice.call("create_contents_page", **folder)["page"]["index"]
    for name, fields in (
        ("create_detail_page", page),
        ("create_contents_page", folder),
        ("move_page", {"source": index, "target": made}),
        ("remove_page", {"index": index}),
    ):
        assert alice.post(f"../tools/{name}", **fields).status_code == 403, name
        alice.call(name, **fields)


def test_segments_of_developers_have_their_own_limit(alice: Pages):
    root = alice.call(
        "create_segment", id="docs", name="Documents", kind="tool", permission="READ_ONLY",
        max_tokens=200,
    )["page"]  # fmt: skip
    assert root["index"] == "docs-0"
    again = alice.post("create_segment", id="docs", name="Documents")
    assert (again.status_code, "already" in again.json()["detail"]) == (409, True)
    made = alice.call("create_detail_page", name="A", detail="word " * 400, parent="docs-0")
    small = alice.call("create_detail_page", name="B", detail="word " * 60, parent="docs-0")
    other = alice.call("create_detail_page", name="C", detail="word " * 90, parent="docs-0")
    assert alice.call("expand_details", index=small["page"]["index"])["collapsed"] == []
    assert alice.call("expand_details", index=other["page"]["index"])["collapsed"] == ["docs-2"]
    assert "word" in alice.get("/window")["messages"][1]["content"], "what was just opened stays"
    refused = alice.post("expand_details", index=made["page"]["index"])
    assert (refused.status_code, "of 200 can be free" in refused.json()["detail"]) == (403, True)
    assert "word" in alice.get("/window")["messages"][1]["content"], "and stays open"
    assert alice.get("/window")["by_segment"]["docs"] <= 200


def test_auto_collapse_lists_the_pages_that_it_hid(alice: Pages):
    for number in range(3):
        alice.say(f"Question {number}?", "word " * 100)
    before = alice.get("/window")["tokens"]
    done = alice.call("auto_collapse", max_tokens=250)
    assert done["collapsed"] == ["usr-2", "usr-3"], "not usr-1: it is short"
    assert done["tokens_before"] == before
    assert done["tokens_after"] == alice.get("/window")["tokens"] <= 250
    tight = alice.call("auto_collapse", max_tokens=10)
    assert tight["over"] == tight["tokens_after"] - 10 > 0


def test_an_opened_page_stays_open_during_its_interaction(alice: Pages):
    """The window exceeds the share at which pages are hidden, but not the limit."""
    alice.call("create_detail_page", name="Long", detail="word " * 150, parent="usr-0")
    alice.say("Look it up")
    alice.call("expand_details", index="usr-2")
    alice.put("/settings", window_max_tokens=alice.get("/window")["tokens"] + 20)
    body = {"messages": [{"role": "assistant", "content": "It is open"}], "session_id": "s1"}
    alice.post_messages(body)
    assert "[usr-2] Long (page, expanded)" in alice.window
    alice.say("And now something else", "Fine.")
    assert "[usr-2] Long (page, hidden" in alice.window


def test_a_window_for_a_smaller_budget_changes_nothing(alice: Pages):
    alice.say("word " * 100, "Fine.")
    alice.say("Another?", "Fine.")
    whole = alice.get("/window")
    small = alice.get("/window", budget_tokens=whole["tokens"] - 20)
    assert small["collapsed"] == ["usr-2"]
    assert small["tokens"] <= whole["tokens"] - 20
    assert alice.get("/window") == whole


def test_an_agent_may_have_its_own_window_settings(alice: Pages):
    for number in range(3):
        alice.say(f"Question {number}?", "word " * 30)
    assert alice.get("/settings")["parameters"]["active_pages"] == 8
    alice.put("/settings", active_pages=2, window_max_tokens=300)
    alice.say("Question 3?")
    pages = alice.get("/pages")["pages"]
    chapter = [each["name"] for each in pages if each["parent"] == "usr-0"]
    assert chapter == ["Contents Page", "Question 2?", "Question 3?"]
    above = alice.call("get_ancestors", index="usr-1")["pages"]
    assert [each["name"] for each in above] == ["Contents Page", "Conversation"]
    assert alice.get("/window")["tokens"] <= 300


def test_each_session_has_its_own_window(alice: Pages):
    alice.say("Quite another thing", session="s2")
    assert "Quite another thing" in alice.window
    assert "Go?" not in alice.window
    first = alice.get("/window", session_id="s1")
    assert "Go?" in first["messages"][0]["content"]


def test_undo_and_redo_need_an_operation_of_the_agent(alice: Pages):
    alice.call("hide_details", index="usr-1")
    for operation in ("undo", "redo"):
        refused = alice.post(operation)
        assert refused.status_code == 403
        assert "nothing" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("operation", "fields", "status", "says"),
    [
        ("move_page", {"source": "usr-0", "target": "usr-0"}, 403, "root"),
        ("move_page", {"source": "usr-9", "target": "usr-0"}, 404, "usr-9"),
        ("move_page", {"source": "usr-1"}, 422, "target"),
        ("move_page", {"source": "usr-1", "target": "sys-0"}, 403, "segment"),
        ("expand_details", {"index": "../etc"}, 422, "index"),
        ("expand_details", {"index": "usr-1", "depth": 2}, 422, "depth"),
        ("create_detail_page", {"name": "", "detail": "x", "parent": "usr-0"}, 422, "name"),
        ("create_detail_page", {"name": "a", "detail": "x", "parent": "usr-1"}, 403, "folder"),
        ("create_segment", {"id": "Up", "name": "x"}, 422, "id"),
        ("recall_page", {"index": "usr-1"}, 403, "archive"),
        ("restore_page", {"index": "usr-1", "parent": "usr-0"}, 403, "not removed"),
        ("update_page", {"index": "usr-1"}, 422, "name"),
        ("auto_collapse", {"max_tokens": 0}, 422, "max_tokens"),
        ("get_page", {"index": "usr-77"}, 404, "usr-77"),
    ],
)
def test_refused_operations_say_why_and_change_nothing(
    alice: Pages, operation: str, fields: dict[str, Any], status: int, says: str
):
    before = alice.get("/window"), alice.get("/pages")
    refused = alice.post(operation, **fields)
    assert refused.status_code == status, refused.text
    assert says in refused.text
    assert (alice.get("/window"), alice.get("/pages")) == before


def test_pages_of_an_unknown_agent_are_not_found(pages: Callable[[str], Pages]):
    nobody = pages("nobody")
    for path in ("/window", "/pages", "/pages/usr-1"):
        assert nobody.status(path) == 404
    assert nobody.post("undo").status_code in {403, 404}
    assert nobody.post("find_pages", query="x").status_code == 404


def test_a_tool_result_without_its_call_is_no_separate_message(alice: Pages):
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    alice.append(
        {"role": "user", "content": "Look!"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "Wait."},
        {"role": "tool", "content": "42 lines", "tool_call_id": "c1"},
    )
    window = alice.get("/window", format="native")
    assert {each["role"] for each in window["messages"]} == {"user", "assistant"}
    assert all("tool_calls" not in each for each in window["messages"])
    text = "".join(each["content"] for each in window["messages"])
    assert "```tool\n42 lines\n```" in text
    assert "look({})" in text
    alice.append({"role": "tool", "content": "43 lines", "tool_call_id": "c1"})
    assert "43 lines" in "".join(
        each["content"] for each in alice.get("/window", format="native")["messages"]
    )


@pytest.mark.parametrize(
    ("path", "query"),
    [("/window", {}), ("/pages", {}), ("/pages", {"lifecycle": "cold_archived"})],
)
def test_a_session_without_messages_is_reported_as_new(
    alice: Pages, path: str, query: dict[str, str]
):
    assert alice.get(path, **query)["new_session"] is False
    for session, new in (("s1", False), ("nosuch", True)):
        answer = alice.get(path, **query, session_id=session)
        assert (answer["session_id"], answer["new_session"]) == (session, new)
    moved = alice.post("pin_page?session_id=nosuch", index="usr-1").json()
    assert (moved["new_session"], moved["new_agent"]) == (True, False)
    assert alice.call("unpin_page", index="usr-1")["new_session"] is False


def test_the_first_page_of_an_agent_reports_a_new_agent(pages: Callable[[str], Pages]):
    begun = pages("adda")
    note = {"name": "A", "detail": "x", "parent": "usr-0"}
    assert begun.call("create_detail_page", **note)["new_agent"] is True
    assert begun.call("create_detail_page", **note)["new_agent"] is False
    assert begun.get("/window")["new_session"] is False, "none is named"
