"""Code of a model changes pages in a real database as a whole or not at all."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from memci.commands.attp.perform import AttpCommands
from memci.commands.attp.sandbox import Limits, Sandbox
from memci.commands.pages.perform import PageCommands, ToolRequest
from memci.commands.tools.tools import Tools
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.errors import NotFoundError, RefusedError
from memci.reading.context_window import Windows
from memci.schemas.attp import AttpAnswer, AttpStatus
from memci.schemas.tools.table import BY_NAME
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.archives import check_movable
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders
from tests.support.tools import tools_over

COUNTER = OfflineTokenCounter()
TWO = (
    'create_detail_page(name="Note", detail="Keep it.", parent="usr-0")\n'
    'hide_details(index="usr-1")\n'
)


class InterferingSandbox(Sandbox):
    """Changes pages while code of a model runs, ``times`` times."""

    commands: PageCommands
    times: int = 0

    def run(self, code, functions, *, seconds=None):
        outcome = super().run(code, functions, seconds=seconds)
        if self.times:
            self.times -= 1
            tool = BY_NAME["update_page"]
            request = tool.request(index="usr-2", name=f"Others were here {self.times}")
            self.commands.run("ada", Actor.DEVELOPER, [ToolRequest(tool, request)])
        return outcome


@pytest.fixture(scope="module")
def sandbox() -> Iterator[InterferingSandbox]:
    made = InterferingSandbox(Limits(seconds=4.0, calls=20), processes=1)
    yield made
    made.close()


@pytest.fixture
def pages(database) -> PageCommands:
    return PageCommands(database, PostgresPageStore(database), COUNTER, PageRules())


@pytest.fixture
def tools(pages, broker_url) -> Iterator[Tools]:
    with tools_over(pages, broker_url) as made:
        yield made


@pytest.fixture
def attp(tools, sandbox) -> AttpCommands:
    sandbox.commands = tools.pages
    return AttpCommands(tools, sandbox)


@pytest.fixture
def ada(database):
    agent = AgentUnderTest(database)
    for each in range(2):
        agent.say(f"Question {each}?", session="s1")
        agent.say(f"Answer {each}.", role="assistant", session="s1")
    return agent


def call(code: str) -> str:
    head = "thought = 'so'\n[tool_call]\nstatus = 'success'\ntarget = 'usr-1'\n"
    return f"{head}code = '''\n{code}\n'''"


def run(attp: AttpCommands, code: str) -> AttpAnswer:
    answer = attp.run("ada", call(code))
    content = tomllib.loads(answer.text)
    assert content["status"] == answer.status.value
    assert content.get("error") == answer.error
    return answer


def failed(attp: AttpCommands, code: str) -> str:
    before = window(attp)
    answer = run(attp, code)
    assert answer.status is AttpStatus.FAIL
    assert answer.error is not None
    assert answer.error.endswith("Nothing of this call was done.")
    assert window(attp) == before
    with pytest.raises(RefusedError, match="nothing to undo"):
        step(attp, "undo")
    return answer.error


def window(attp: AttpCommands) -> str:
    pages = attp.tools.pages
    shown = Windows(pages.database, pages.store, COUNTER, pages.rules).show("ada")
    return "".join(each.content or "" for each in shown.messages)


def step(attp: AttpCommands, name: str):
    tool = BY_NAME[name]
    return attp.tools.pages.run("ada", Actor.AGENT, [ToolRequest(tool, tool.request())])[0]


def test_all_operations_of_the_code_are_done(ada, attp):
    answer = run(attp, f'{TWO}__result__ = get_page(index="usr-3")["text"]')
    assert answer.result == "Keep it."
    assert answer.changes is not None
    assert answer.changes.pages == ["usr-3", "usr-1"]
    assert answer.changes.tokens_after != answer.changes.tokens_before
    content = tomllib.loads(answer.text)
    assert (content["target"], content["result"]) == ("usr-1", "Keep it.")
    assert content["changes"] == answer.changes.model_dump()
    shown = window(attp)
    assert COUNTER.count(shown) + 7 == answer.changes.tokens_after
    assert "[usr-3] Note (page, hidden" in shown
    assert "Answer 0." not in shown


def test_a_whole_call_is_one_step(ada, attp):
    before = window(attp)
    run(attp, TWO)
    after = window(attp)
    assert step(attp, "undo").operations == ["create_detail_page", "hide_details"]
    assert window(attp) == before
    step(attp, "redo")
    assert window(attp) == after


def test_reading_changes_nothing(ada, attp):
    answer = run(
        attp, '__result__ = [each["index"] for each in get_children(index="usr-0")["pages"]]'
    )
    assert answer.result == ["usr-1", "usr-2"]
    assert answer.changes is not None
    assert answer.changes.pages == []
    assert answer.changes.tokens_after == answer.changes.tokens_before
    with pytest.raises(RefusedError, match="nothing to undo"):
        step(attp, "undo")


@pytest.mark.parametrize(
    ("third", "error"),
    [
        ('move_page(source="usr-0", target="usr-1")', "PermissionError in line 3"),
        ('hide_details(index="usr-99")', "LookupError in line 3"),
        ('remove_page(index="sys-0")', "PermissionError in line 3"),
        ('update_page(index="usr-1")', "ValueError in line 3"),
        ('try:\n  hide_details(index="usr-99")\nexcept BaseException:\n  pass', "in line 4"),
        ("1 / 0", "ZeroDivisionError in line 3"),
        ("while True: pass", "TimeoutError"),
        ("'a' * 10**10", "MemoryError in line 3"),
        ("__result__ = {1, 2}", "use sorted"),
        ("import os", "ImportError in line 3"),
        ("hide_details(idnex='usr-1')", "ValueError in line 3 (hide_details(idnex='usr-1'))"),
        ("hide_details(idnex='usr-1')", "there is no such argument: use index"),
        ("hide_details()", "index: required, but not given"),
        ("hide_details('usr-1', index='usr-1')", "index is given twice"),
        ("hide_details('usr-1', 2)", "hide_details takes index, not 2 values"),
        ("hide_detail(index='usr-1')", "did you mean hide_details?"),
        ("create_segment(id='mine', name='Mine')", "create_segment is for developers alone"),
        ("undo()", "undo cannot be called by code"),
        ("for n in range(30): get_page(index='usr-1')", "more than 20 calls"),
    ],
)
def test_a_call_that_fails_changes_nothing(ada, attp, third: str, error: str):
    assert error in failed(attp, f"{TWO}{third}")


def test_code_can_catch_errors_of_reads(ada, attp):
    code = (
        'try:\n  get_page(index="usr-9")\nexcept LookupError as error:\n  __result__ = str(error)'
    )
    assert "there is no page 'usr-9'" in str(run(attp, code + f"\n{TWO}").result)
    assert "[usr-3] Note" in window(attp)


def test_arguments_may_be_positional(ada, attp):
    assert run(attp, 'hide_details("usr-1")').status is AttpStatus.SUCCESS
    assert "Answer 0." not in window(attp)


def test_code_is_run_again_if_others_change_pages_meanwhile(ada, attp, sandbox):
    sandbox.times = 1
    answer = run(attp, f'{TWO}__result__ = get_page(index="usr-2")["page"]["name"]')
    assert answer.result == "Others were here 0"
    assert "[usr-3] Note" in window(attp)
    assert "[usr-4]" not in window(attp)


def test_code_fails_if_others_change_pages_at_each_try(ada, attp, sandbox):
    sandbox.times = 1_000
    try:
        answer = run(attp, TWO)
    finally:
        sandbox.times = 0
    assert "were changed by others meanwhile" in (answer.error or "")
    assert "[usr-3]" not in window(attp)


def test_a_text_that_is_no_attp_is_reported(ada, attp):
    answer = attp.run("ada", "I cannot do that.")
    assert answer.status is AttpStatus.FAIL
    assert "this is no ATTP" in tomllib.loads(answer.text)["error"]


def test_a_model_may_give_up(ada, attp):
    answer = attp.run("ada", "[tool_call]\nstatus = 'fail'\nmessage = '做不到'\ntarget = 'usr-1'")
    assert (answer.status, answer.error, answer.target) == (AttpStatus.FAIL, "做不到", "usr-1")


def test_an_unknown_agent_is_not_found(attp):
    with pytest.raises(NotFoundError):
        attp.run("nobody", call("1"))


def test_a_call_keeps_the_window_within_its_limit(ada, pages, tools, sandbox):
    small = PageCommands(pages.database, pages.store, COUNTER, PageRules(window_max_tokens=400))
    attp = AttpCommands(replace(tools, pages=small), sandbox)
    lines = [
        f'create_detail_page(name="N{n}", detail="{"word " * 60}", parent="usr-0")'
        for n in range(5)
    ]
    opened = [f'expand_details(index="usr-{n + 3}")' for n in range(5)]
    answer = run(attp, "\n".join([*lines, *opened]))
    assert answer.status is AttpStatus.SUCCESS
    assert answer.changes is not None
    assert answer.changes.collapsed
    assert tomllib.loads(answer.text)["changes"]["collapsed"] == answer.changes.collapsed


def test_concurrent_calls_all_succeed(ada, tools):
    sandbox = Sandbox(Limits(seconds=60.0), processes=4)  # enough time to repeat what conflicts
    attp = AttpCommands(tools, sandbox)

    def note(number: int) -> AttpAnswer:
        return run(attp, f'create_detail_page(name="N{number}", detail="d", parent="usr-0")')

    try:
        with ThreadPoolExecutor(4) as threads:
            done = list(threads.map(note, range(12)))
    finally:
        sandbox.close()
    assert [each.error for each in done] == [None] * 12
    made = {page for each in done if each.changes for page in each.changes.pages}
    assert made == {f"usr-{number}" for number in range(3, 15)}


def test_code_changes_memory_and_pages_together_or_not_at_all(ada, attp):
    code = 'noted = remember(text="The budget is 500 euros.")\npin(text="Be brief")\n'
    failed = run(attp, f'{code}hide_details(index="usr-77")')
    assert failed.status is AttpStatus.FAIL
    assert ada.rows("SELECT 1 FROM message WHERE agent_id = %s AND role = 'assistant'"
                    " AND metadata IS NOT NULL") == []  # fmt: skip
    done = run(attp, f'{code}hide_details(index="usr-1")\n__result__ = noted["message"]')
    assert done.status is AttpStatus.SUCCESS, done.text
    note = ada.row("SELECT id, content FROM message WHERE agent_id = %s AND metadata IS NOT NULL")
    assert (note.id, note.content) == (done.result, "The budget is 500 euros.")
    assert ada.row("SELECT text FROM pin WHERE agent_id = %s").text == "Be brief"
    listed = run(attp, '__result__ = filter_memory(what="messages", limit=1)["found"][0]["text"]')
    assert listed.result == "The budget is 500 euros."
    erased = run(attp, 'erase(messages=["m1"])')
    assert "cannot be called by code" in erased.text


@pytest.mark.parametrize(
    "code",
    [
        "__result__ = 1",
        'get_page(index="usr-1")',
        'remember(text="Ada likes tea.")',
        'hide_details(index="usr-1")',
        "auto_collapse(max_tokens=1)",
        "auto_collapse(max_tokens=100000)",
    ],
)
@pytest.mark.parametrize("most", [100, 8_000])
def test_every_call_returns_the_tokens_above_the_limit(ada, tools, sandbox, code, most):
    ada.say("word " * 400, session="s1")
    pages = replace(tools.pages, rules=PageRules(window_max_tokens=most))
    small = AttpCommands(replace(tools, pages=pages), sandbox)
    sandbox.commands = pages
    done = run(small, code).changes
    assert done is not None
    shown = Windows(pages.database, pages.store, COUNTER, pages.rules).show("ada")
    assert done.over == shown.over
    assert (done.over > 0) is (most == 100)


NOTE = 'made = create_detail_page(name="Note", detail="Keep it.", parent="usr-0")["page"]["index"]'
TWICE = {
    "made, filed away, and another one hidden and opened": f"""{NOTE}
create_contents_page(name="Old", parent="usr-0", children=[made])
hide_details("usr-1")
expand_details("usr-1")""",
    "hidden and moved": """
folder = create_contents_page(name="Old", parent="usr-0")["page"]["index"]
hide_details("usr-1")
move_page("usr-1", folder)""",
    "made and removed": f"""{NOTE}
remove_page(made)
hide_details("usr-1")""",
}


@pytest.mark.parametrize("code", TWICE.values(), ids=TWICE)
def test_several_operations_on_a_page_in_a_call_are_one_change(ada, attp, code):
    pages = Folders(attp.tools.pages.database, attp.tools.pages.store)
    pages.do("update_page", index="usr-2", name="Before")
    before = window(attp)
    assert run(attp, code).status is AttpStatus.SUCCESS
    after = window(attp)
    check_movable(attp.tools.pages.database, "ada")
    for _ in range(2):
        undone = pages.undo()
        assert len(set(undone.changed)) == len(undone.changed)
        assert window(attp) == before
        assert pages.redo().changed == undone.changed
        assert window(attp) == after
    pages.undo()
    assert pages.undo().changed == ["usr-2"]


def test_a_call_without_effect_is_no_step(ada, attp):
    pages = Folders(attp.tools.pages.database, attp.tools.pages.store)
    pages.do("update_page", index="usr-1", name="Before")
    pages.do("expand_details", index="usr-1")
    run(attp, 'hide_details("usr-1")\nexpand_details("usr-1")')
    assert pages.undo().operations == ["expand_details"]


def test_a_call_writes_a_limited_number_of_notes(ada, attp, monkeypatch):
    monkeypatch.setattr(attp.sandbox, "limits", replace(attp.sandbox.limits, notes=3))
    write = 'for n in range({}): create_detail_page(name=f"N{{n}}", detail="x", parent="usr-0")'
    assert "more than 3 notes" in failed(attp, write.format(4))
    assert run(attp, write.format(3)).status is AttpStatus.SUCCESS
