"""ATTP over HTTP, and the page that explains it to the model."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.integration.http.serving import Served
from tests.integration.http.test_pages import Pages

HIDE = """\
Sure.

```toml
thought = "It is long"

[tool_call]
status = "success"
target = "usr-1"
code = '''
__result__ = hide_details(index="usr-1")["page"]["expanded"]
'''
```
"""


class Model(Pages):
    """Pages of one agent, and answers of its model in ATTP."""

    def code(self, code: str) -> Any:
        return self.call("attp", text=f"[tool_call]\nstatus = 'success'\ncode = '''\n{code}\n'''")

    def switch(self, *, on: bool) -> None:
        self.put("/settings", attp=on)

    @property
    def system(self) -> str:
        messages = self.get("/window")["messages"]
        return "".join(each["content"] for each in messages if each["role"] == "system")


@pytest.fixture
def models(server: Served) -> Iterator[Callable[[str], Model]]:
    """Return a function that gives the model of an agent."""
    with httpx.Client(base_url=f"{server.url}/v1/agents") as client:
        yield lambda agent: Model(client, agent)


@pytest.fixture
def alice(models: Callable[[str], Model]) -> Model:
    made = models("alice")
    made.say("How do I sort a list in Go?", "Use the slices package.", "And a map?")
    return made


def test_code_in_an_answer_of_the_model_is_run(alice: Model):
    answer = alice.call("attp", text=HIDE)
    assert (answer["status"], answer["result"], answer["error"]) == ("success", False, None)
    assert answer["changes"]["pages"] == ["usr-1"]
    assert answer["changes"]["tokens_after"] == alice.get("/window")["tokens"]
    document = tomllib.loads(answer["text"])
    assert document["status"] == "success"
    assert document["changes"] == answer["changes"]
    assert "Use the slices package." not in alice.window
    assert alice.call("undo")["operations"] == ["hide_details"]
    assert "Use the slices package." in alice.window


def test_errors_are_returned_to_the_model(alice: Model):
    answer = alice.call("attp", text="no")
    assert (answer["status"], answer["changes"]) == ("fail", None)
    assert "[tool_call]" in answer["error"]
    answer = alice.code('hide_details(index="usr-1")\nremove_page(index="usr-0")')
    assert "PermissionError in line 2" in tomllib.loads(answer["text"])["error"]
    assert "Use the slices package." in alice.window


def test_the_error_for_a_long_answer_is_toml(alice: Model):
    answer = alice.call("attp", text="x" * 100_001)
    assert answer["status"] == "fail"
    document = tomllib.loads(answer["text"])
    assert "at most 100000 characters, got 100001: do less in one call" in document["error"]


@pytest.mark.parametrize("body", [{}, {"text": 3}, {"text": "x", "more": 1}])
def test_invalid_bodies_are_refused(alice: Model, body: dict[str, Any]):
    assert alice.post("attp", **body).status_code == 422


def test_an_unknown_agent_is_not_found(models: Callable[[str], Model]):
    assert models("nobody").post("attp", text=HIDE).status_code == 404


def test_a_page_of_sys_explains_attp_while_attp_is_on(alice: Model):
    assert "hide_details(index)" not in alice.window
    alice.switch(on=True)
    assert "[sys-1] Tools (ATTP) (page, expanded" in alice.system
    assert "- hide_details(index): Close a page" in alice.system
    alice.code('hide_details(index="usr-1")')
    alice.say("And by two keys?", "Use SortFunc.")
    assert alice.system.count("[sys-1] Tools (ATTP)") == 1
    assert "[sys-2]" not in alice.window
    page = alice.get("/pages/sys-1")
    assert page["page"]["name"] == "Tools (ATTP)"
    assert "- hide_details(index): Close a page" in page["text"]
    alice.switch(on=False)
    assert "ATTP" not in alice.window


def test_the_page_that_explains_attp_cannot_be_changed(alice: Model):
    alice.switch(on=True)
    for operation, more in {
        "remove_page": {"index": "sys-1"},
        "hide_details": {"index": "sys-1"},
        "move_page": {"source": "sys-1", "target": "sys-0"},
        "update_page": {"index": "sys-1", "name": "x"},
    }.items():
        arguments = ", ".join(f"{name}={value!r}" for name, value in more.items())
        refused = alice.post(operation, **more)
        assert refused.status_code == 403
        for error in (refused.json()["detail"], alice.code(f"{operation}({arguments})")["error"]):
            assert "sys-1 explains ATTP" in error
            assert "attp is on in the agent's settings" in error
    assert "[sys-1] Tools (ATTP) (page, expanded)" in alice.system


def test_the_page_that_explains_attp_is_in_the_agent_s_language(models: Callable[[str], Model]):
    bo = models("bo")
    bo.switch(on=True)
    bo.say("怎样给列表排序？", "用 sort 函数。")
    assert "[sys-1] 工具协议（ATTP）" in bo.system
    assert "- hide_details(index)：隐藏页面" in bo.system
