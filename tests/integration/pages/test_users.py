"""An agent with several users: nobody is shown what another one has said (R5)."""

from __future__ import annotations

from typing import Any

import pytest

from memci.commands.attp.perform import AttpCommands
from memci.commands.attp.sandbox import Limits, Sandbox
from memci.commands.pages.perform import PageCommands
from memci.commands.tools.place import Place, place_in
from memci.commands.tools.summarise import summary_request
from memci.commands.tools.tools import Tools
from memci.domain.pages.block import Format
from memci.domain.pages.permission import Actor
from memci.domain.pages.rules import PageRules
from memci.errors import NotFoundError, RefusedError, TooLargeError
from memci.reading.window import Windows
from memci.shapes.memory_tools import Summarise
from memci.shapes.window import WindowRequest
from memci.smallmodel.offline.tokens import OfflineTokenCounter
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.network import AgentUnderTest
from tests.support.tools import tools_over

COUNTER = OfflineTokenCounter()
RULES = PageRules(active_pages=2)
SAYS = {
    "en": {"a": "The safe opens with swordfish", "b": "My sister is called Winifred"},
    "zh": {"a": "保险箱的密码是海马", "b": "我妹妹叫小桃"},
}
WORDS = {"en": {"a": "swordfish", "b": "Winifred"}, "zh": {"a": "海马", "b": "小桃"}}


class World:
    """An agent that has spoken with two users, each in a session of her own."""

    def __init__(self, database: Any, tools: Tools, language: str = "en") -> None:
        self.ada = AgentUnderTest(database)
        self.tools, self.pages = tools, tools.pages
        self.language = language
        for number in range(5):
            for session, user in (("a", "alice"), ("b", "bob")):
                said = f"{SAYS[language][session]} {number}"
                self.ada.say(said, session=session, user=user)
                self.ada.say(f"{said}.", role="assistant", session=session, user=user)

    def do(self, session: str | None, tool: str, actor: Actor = Actor.AGENT, **given: Any) -> Any:
        return self.tools.run("ada", actor, tool, given, session_id=session)

    def note(self, session: str | None, name: str = "", actor: Actor = Actor.AGENT) -> str:
        text = SAYS[self.language][session] if session else "For all"
        made = self.do(
            session, "create_detail_page", actor, name=name or text, detail=text, parent="usr-0"
        )
        return str(made.page.index)

    def folder(self, session: str | None, *children: str, actor: Actor = Actor.AGENT) -> str:
        given = {"name": "Folder", "parent": "usr-0", "children": list(children)}
        return str(self.do(session, "create_contents_page", actor, **given).page.index)

    def window(self, session: str | None, form: Format = Format.MARKDOWN) -> str:
        windows = Windows(self.pages.database, self.pages.store, COUNTER, RULES)
        shown = windows.show("ada", WindowRequest(session_id=session, format=form))
        return "\n".join(each.content or "" for each in shown.messages)

    def of(self, session: str) -> list[str]:
        """Pages of a user, as a developer finds them."""
        word = WORDS[self.language][session]
        found = self.do(None, "find_pages", Actor.DEVELOPER, query=word, limit=50).pages
        return [each.index for each in found]


@pytest.fixture
def tools(database, broker_url):
    pages = PageCommands(database, PostgresPageStore(database), COUNTER, RULES)
    with tools_over(pages, broker_url) as made:
        yield made


@pytest.fixture
def world(database, tools) -> World:
    return World(database, tools)


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("language", list(SAYS))
def test_a_window_has_the_words_of_its_own_user_alone(database, tools, language, form):
    world = World(database, tools, language)
    for settled in (False, True):
        for session, other in (("a", "b"), ("b", "a")):
            shown = world.window(session, form)
            # Two interactions are open; of three others the Contents Page has a line.
            assert all(f"{SAYS[language][session]} {number}" in shown for number in range(5))
            assert WORDS[language][other] not in shown
            assert not any(f"[{index}]" in shown for index in world.of(other))
        if not settled:
            world.pages.settle("ada")
            world.folder("a", world.note("a"))
            world.note("b")


def test_pages_of_nobody_in_particular_are_seen_by_all(world):
    world.ada.say("Be kind.", role="system", session="a")
    note = world.note(None, "House rules", Actor.DEVELOPER)
    for session in ("a", "b"):
        assert "Be kind." in world.window(session)
        assert f"[{note}] House rules" in world.window(session)
        assert world.do(session, "get_page", index=note).text == "For all"


def test_a_session_of_nobody_sees_all_as_reads_do(world):
    world.ada.say("What did they all say?", session="c")
    assert "swordfish" in world.window("c")
    assert "Winifred" in world.window("c")


def test_a_session_in_which_nobody_has_spoken_sees_what_all_see(world):
    note = world.note(None, "House rules", Actor.DEVELOPER)
    shown = world.window("new")
    assert note in shown
    assert "swordfish" not in shown
    assert "Winifred" not in shown


@pytest.mark.parametrize("settled", [True, False])
def test_a_message_that_names_no_user_is_of_the_one_that_its_session_is_with(world, settled):
    world.ada.say("And one thing more", session="b")
    world.ada.say("Let me look at swordfish", role="assistant", session="a")
    world.ada.say("It is in the kitchen", role="tool", session="a")
    if settled:
        world.pages.settle("ada")
    assert "And one thing more" in world.window("b")
    assert "It is in the kitchen" in world.window("a")
    for session, other in (("a", "Winifred"), ("b", "swordfish")):
        assert other not in world.window(session)


def found(world, session, **asked):
    return [each.text for each in world.do(session, "filter_memory", limit=50, **asked).found]


@pytest.mark.parametrize("settled", [True, False])
def test_tools_know_whose_a_session_is_when_its_last_message_names_no_user(world, settled):
    world.ada.say("Let me look", role="assistant", session="b")
    world.ada.say("It is in the kitchen", role="tool", session="b")
    if settled:
        world.pages.settle("ada")
    said = found(world, "b", what="messages")
    assert any("Winifred" in each for each in said)
    assert not any("swordfish" in each for each in said)
    theirs = world.do("a", "filter_memory", what="messages", role="user", limit=1).found[0]
    for tool in ("pin", "erase", "summarise"):
        given = {"message": theirs.messages[0]} if tool == "pin" else {"messages": theirs.messages}
        with pytest.raises(NotFoundError, match="not stored"):
            world.do("b", tool, **given)
    world.do("b", "remember", text="The sister is tall")
    assert "The sister is tall" in found(world, "b", what="messages")
    assert "The sister is tall" not in found(world, "a", what="messages")


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("session", ["b", None])
def test_tools_know_what_names_no_user_in_a_session_with_one_user_alone(world, session, settled):
    if session is None:
        world.ada.say("Where is the key?", session=None, user="bob")
    job = world.ada.say("It is in the kitchen", role="assistant", session=session)
    kitchen = f"m{job.first_seq}"
    if settled:
        world.pages.settle("ada")
    assert "It is in the kitchen" in world.window(session)
    assert "It is in the kitchen" in found(world, session, what="messages")
    assert "It is in the kitchen" not in found(world, "a", what="messages")
    with pytest.raises(NotFoundError, match="not stored"):
        world.do("a", "pin", message=kitchen)
    assert world.do(session, "pin", message=kitchen).pin == 1
    assert world.do(session, "erase", messages=[kitchen]).messages == 1


def test_what_names_no_user_is_nobody_s_alone_where_two_have_spoken(world):
    world.ada.say("Here is alice", session="b", user="alice")
    job = world.ada.say("It is in the kitchen", role="assistant", session="b")
    world.pages.settle("ada")
    kitchen = f"m{job.first_seq}"

    def check() -> None:
        assert "It is in the kitchen" not in found(world, "b", what="messages")
        with pytest.raises(NotFoundError, match="not stored"):
            world.do("b", "pin", message=kitchen)

    check()
    world.ada.say("And bob again", session="b", user="bob")
    check()
    world.pages.settle("ada")
    # What another has said may be erased, and what was answered stay.
    world.do("b", "remember", text="The sister is tall")
    said = f"m{job.first_seq - 1}"
    world.ada.execute("DELETE FROM message WHERE agent_id = %s AND id = %s", said)
    check()


LOOKS = [
    ("filter_memory", {"what": "messages"}),
    ("search", {"query": "swordfish"}),
    ("recall", {"keywords": ["swordfish"]}),
    ("summarise", {}),
    ("summarise", {"messages": ["m1"]}),
    ("pin", {"message": "m1"}),
    ("erase", {"messages": ["m1"]}),
    ("update", {"memory": 1, "text": "x"}),
]


@pytest.mark.parametrize(("tool", "given"), LOOKS)
def test_where_nobody_has_spoken_nobody_s_memory_is_looked_at(world, tool, given):
    world.do("new", "remember", text="Somebody will come")  # said to nobody
    with pytest.raises(RefusedError, match="nobody has said anything in this session"):
        world.do("new", tool, **given)
    for each in SAYS["en"].values():
        assert each not in world.window("new")


def test_an_agent_without_users_looks_at_its_memory_in_any_session(database, tools):
    ada = AgentUnderTest(database)
    ada.say("The safe opens with swordfish", session="a")
    looked = tools.run("ada", Actor.AGENT, "filter_memory", {"what": "messages"}, session_id="new")
    assert [each.text for each in looked.found] == ["The safe opens with swordfish"]


def test_users_who_share_a_session_share_no_page(world):
    for user, text in (("alice", "I love figs"), ("bob", "I hate figs"), ("alice", "Me, too")):
        world.ada.say(text, session="both", user=user)
    shown = world.window("both")
    assert "I love figs" in shown
    assert "Me, too" in shown
    assert "I hate figs" not in shown


WAYS = [
    ("get_page", {"index": "{}"}),
    ("get_children", {"index": "{}"}),
    ("get_parent", {"index": "{}"}),
    ("get_ancestors", {"index": "{}"}),
    ("expand_details", {"index": "{}"}),
    ("hide_details", {"index": "{}"}),
    ("remove_page", {"index": "{}"}),
    ("recall_page", {"index": "{}"}),
    ("pin_page", {"index": "{}"}),
    ("unpin_page", {"index": "{}"}),
    ("update_page", {"index": "{}", "name": "Mine"}),
    ("move_page", {"source": "{}", "target": "usr-0"}),
    ("move_page", {"source": "OWN", "target": "{}"}),
    ("restore_page", {"index": "{}", "parent": "usr-0"}),
    ("create_detail_page", {"name": "n", "detail": "d", "parent": "{}"}),
    ("create_contents_page", {"name": "n", "parent": "{}"}),
    ("create_contents_page", {"name": "n", "parent": "usr-0", "children": ["{}"]}),
]


@pytest.mark.parametrize(("tool", "given"), WAYS)
def test_no_tool_knows_a_page_of_another_user(world, tool, given):
    own = world.note("b")
    removed = world.note("a", "Removed")
    folder = world.folder("a", world.note("a"))
    world.do("a", "remove_page", index=removed)

    def refusal(index: str) -> str:
        def filled(value: Any) -> Any:
            if isinstance(value, list):
                return [filled(each) for each in value]
            return value.replace("OWN", own).replace("{}", index)

        with pytest.raises(NotFoundError) as refused:
            world.do("b", tool, **{name: filled(value) for name, value in given.items()})
        return str(refused.value).replace(index, "…")

    unknown = refusal("usr-999")
    for index in {*world.of("a"), removed, folder}:
        assert refusal(index) == unknown


@pytest.mark.parametrize("language", list(SAYS))
def test_only_own_pages_are_found_and_listed(database, tools, language):
    world = World(database, tools, language)
    removed = world.note("a")
    world.do("a", "remove_page", index=removed)
    every = world.do(None, "get_children", Actor.DEVELOPER, index="usr-0").pages
    (archive,) = (each.index for each in every if each.name in {"Contents Page", "目录页"})
    for session, other in (("a", "b"), ("b", "a")):
        word = WORDS[language][other]
        assert world.do(session, "find_pages", query=word, limit=50).pages == []
        (shown,) = [
            each
            for each in world.do(session, "get_children", index="usr-0").pages
            if each.index == archive
        ]
        inside = world.do(session, "get_children", index=archive).pages
        assert shown.children == len(inside) == 3
        assert all(WORDS[language][session] in each.name for each in inside)
    assert len(world.do(None, "get_children", Actor.DEVELOPER, index=archive).pages) == 6


def test_a_shared_folder_holds_for_each_user_what_is_hers(world):
    folder = world.folder(None, actor=Actor.DEVELOPER)
    mine, other = world.note("a", "A's"), world.note("b", "B's")
    world.do("a", "move_page", source=mine, target=folder)
    world.do("b", "move_page", source=other, target=folder)
    assert f"[{folder}] Folder (folder, hidden, 1 inside" in world.window("b")
    world.do("b", "expand_details", index=folder)
    assert "B's" in world.window("b")
    assert "A's" not in world.window("b")
    for tool, given in (
        ("remove_page", {"index": folder}),
        ("move_page", {"source": folder, "target": world.folder("b")}),
        ("update_page", {"index": folder, "name": "Winifred"}),
    ):
        with pytest.raises(RefusedError, match="only a developer"):
            world.do("b", tool, **given)
    removed = world.do(None, "remove_page", Actor.DEVELOPER, index=folder)
    assert removed.changed


def test_what_all_see_no_agent_takes_from_them_in_a_user_s_session(world):
    rules = world.note(None, "House rules", Actor.DEVELOPER)
    shared = world.folder(None, actor=Actor.DEVELOPER)
    mine = world.folder("a")
    taken = [
        ("remove_page", {"index": rules}),
        ("move_page", {"source": rules, "target": mine}),
        ("move_page", {"source": rules, "target": shared}),
        ("create_contents_page", {"name": "Mine", "parent": "usr-0", "children": [rules]}),
    ]
    for tool, given in taken:
        with pytest.raises(RefusedError, match=f"all users see {rules}: only a developer"):
            world.do("a", tool, **given)
    assert rules in world.window("b")
    # Its own it files where all see it, and takes out again.
    own = world.note("a")
    for target in (shared, mine):
        world.do("a", "move_page", source=own, target=target)
    # What a developer puts into a user's folder is hers.
    world.do(None, "move_page", Actor.DEVELOPER, source=rules, target=mine)
    assert world.do("a", "remove_page", index=rules).changed
    with pytest.raises(RefusedError, match="name a folder that all see"):
        world.do("a", "restore_page", index=rules, parent=mine)
    world.do("a", "restore_page", index=rules, parent="usr-0")
    assert rules in world.window("b")


def test_what_is_pinned_of_a_user_is_shown_to_nobody_else(world):
    texts = {"a": "Alice is ill", "b": "Bob is well", None: "Be brief"}
    pins = {
        session: world.do(session, "pin", Actor.AGENT if session else Actor.DEVELOPER, text=text)
        for session, text in texts.items()
    }
    for session, other in (("a", "b"), ("b", "a")):
        shown = world.window(session)
        assert texts[session] in shown
        assert "Be brief" in shown
        assert texts[other] not in shown
        number = pins[other].pin
        with pytest.raises(NotFoundError, match=f"nothing is pinned as {number}"):
            world.do(session, "unpin", pin=number)
    windows = Windows(world.pages.database, world.pages.store, COUNTER, RULES)
    listed = {each.text: each.user_id for each in windows.pins("ada").pins}
    assert listed == {"Alice is ill": "alice", "Bob is well": "bob", "Be brief": None}
    world.do("b", "unpin", Actor.DEVELOPER, pin=pins["a"].pin)
    assert texts["a"] not in world.window("a")


def test_a_user_s_message_that_a_developer_pins_is_that_user_s(world):
    found = world.do("a", "filter_memory", what="messages", role="user", limit=1).found
    world.do("b", "pin", Actor.DEVELOPER, message=found[0].messages[0])
    assert "Pinned" in world.window("a")
    assert "Pinned" not in world.window("b")
    assert "swordfish" not in world.window("b")


def test_a_user_s_message_that_is_pinned_elsewhere_is_not_of_that_window(world):
    theirs = found_ids(world, "a")[0]
    done = world.do("b", "pin", Actor.DEVELOPER, message=theirs)
    assert done.tokens_after == done.tokens_before


def test_nobody_is_shown_more_pins_than_the_rules_allow(world):
    """Whoever pins, and wherever: each user's and those for all count together."""
    world.ada.set_parameters({"max_pins": 2})
    rules, mine = {"text": "Be brief"}, found_ids(world, "a")
    world.do("a", "pin", text="Alice is ill")
    world.do(None, "pin", Actor.DEVELOPER, **rules)
    for session, given in (("b", rules), ("b", {"message": mine[0]}), ("a", rules)):
        with pytest.raises(RefusedError, match="no more texts than 2 can be pinned"):
            world.do(session, "pin", Actor.DEVELOPER, **given)
    world.do("b", "pin", text="Bob is well")
    with pytest.raises(RefusedError, match="no more texts than 2 can be pinned"):
        world.do("b", "pin", text="Bob is very well")
    world.do("a", "unpin", pin=1)
    world.do("b", "pin", Actor.DEVELOPER, message=mine[0])


def test_nobody_is_shown_longer_pins_than_the_rules_allow(world):
    world.ada.set_parameters({"pins_max_tokens": 40})
    world.do("a", "pin", text="Alice is ill, and has been for all of the long week until today")
    with pytest.raises(TooLargeError, match="40 is the most"):
        world.do("b", "pin", Actor.DEVELOPER, text="Bob is well, and has been for all of it, too")
    world.do("b", "pin", text="Bob is well, and has been for all of it, too")


def found_ids(world, session):
    listed = world.do(session, "filter_memory", what="messages", role="user").found
    return [each.messages[0] for each in listed]


def test_what_is_summed_up_is_ones_own(world):
    with world.pages.database.agent_snapshot("ada") as connection:
        place = place_in(connection, "ada", "b")
        seqs = connection.exec_driver_sql(
            "SELECT seq FROM message WHERE agent_id = 'ada' AND user_id = 'bob'"
        ).scalars()
        own = set(seqs)
    assert set(summary_request(world.pages, place, Summarise()).request.seqs) == own
    asked = summary_request(world.pages, place, Summarise(page="usr-0")).request
    assert set(asked.seqs) == own
    alone = Place("ada", None, "bob")  # messages of no session
    assert set(summary_request(world.pages, alone, Summarise()).request.seqs) == own
    with pytest.raises(NotFoundError):
        summary_request(world.pages, place, Summarise(page=world.of("a")[0]))


def test_a_session_s_summary_has_what_names_no_user_where_all_is_one_user_s(world):
    def summed(session):
        with world.pages.database.agent_snapshot("ada") as connection:
            place = place_in(connection, "ada", session)
        return set(summary_request(world.pages, place, Summarise()).request.seqs)

    before = summed("b")
    world.ada.say("It is in the kitchen", role="assistant", session="b")
    said = summed("b")
    assert len(said - before) == 1
    world.ada.say("Here is alice", session="b", user="alice")
    world.ada.say("And bob", session="b", user="bob")
    assert len(summed("b") & said) == len(before), "now it may be said to either"


def test_each_user_undoes_her_own_steps(world):
    mine, other = world.note("a"), world.note("b")
    assert world.do("b", "undo").changed == [other]
    with pytest.raises(RefusedError, match="nothing to undo"):
        world.do("b", "undo")
    assert world.do("a", "undo").changed == [mine]
    assert world.do("b", "redo").changed == [other]
    with pytest.raises(RefusedError, match="nothing to redo"):
        world.do("b", "redo")
    assert world.do("a", "redo").changed == [mine]
    # What one does ends what she has undone, and nothing of the other's.
    world.do("b", "undo")
    world.do("a", "undo")
    world.note("a")
    with pytest.raises(RefusedError, match="nothing to redo"):
        world.do("a", "redo")
    assert world.do("b", "redo").changed == [other]


def test_nobody_is_told_what_was_collapsed_of_others(world):
    mine, shared = world.note("a"), world.note(None, actor=Actor.DEVELOPER, name="House rules")
    for index in (mine, shared):
        world.do("a", "expand_details", index=index)
    assert {mine, shared} <= {*world.do("a", "auto_collapse", max_tokens=1).collapsed}
    for session in ("a", "b"):
        told = world.window(session).splitlines()[0]
        assert told.startswith("# Collapsed")
        assert shared in told
        assert (mine in told) == (session == "a")


def test_code_of_a_model_sees_no_more(world):
    sandbox = Sandbox(Limits(seconds=2.0, calls=20), processes=1)
    try:
        attp = AttpCommands(world.tools, sandbox)
        hidden = world.of("a")[0]

        def run(code: str) -> str:
            text = f"status = 'success'\ntarget = 't'\ncode = '''\n{code}\n'''\n"
            call = f"thought = 'x'\n[tool_call]\n{text}"
            return attp.run("ada", call, session_id="b").text

        assert "Winifred" in run('__result__ = find_pages(query="Winifred")')
        assert "swordfish" not in run('__result__ = find_pages(query="swordfish")')
        told = run(f'__result__ = get_page(index="{hidden}")')
        assert "there is no page" in told
        assert "swordfish" not in told
    finally:
        sandbox.close()


def test_a_developer_sees_all(world):
    for session in ("a", "b"):
        for index in world.of(session):
            page = world.do("b", "get_page", Actor.DEVELOPER, index=index).page
            assert page.user_id == {"a": "alice", "b": "bob"}[session]
