"""An agent with several users: a window shows no texts of other users (R5)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memci.domain.pages.permission import Actor
from memci.domain.pages.window_text import Format
from memci.errors import NotFoundError, RefusedError, TooLargeError
from memci.reading.context_window import Windows
from tests.support.two_users import COUNTER, RULES, SAYS, WORDS, World


@pytest.mark.parametrize("form", list(Format))
@pytest.mark.parametrize("language", list(SAYS))
def test_a_window_has_only_texts_of_its_own_user(database, tools, language, form):
    world = World(database, tools, language)
    for settled in (False, True):
        for session, other in (("a", "b"), ("b", "a")):
            shown = world.window(session, form)
            # Two interactions are shown; the Contents Page has a line for each of three others.
            assert all(f"{SAYS[language][session]} {number}" in shown for number in range(5))
            assert WORDS[language][other] not in shown
            assert not any(f"[{index}]" in shown for index in world.of(other))
        if not settled:
            world.pages.settle("ada")
            world.folder("a", world.note("a"))
            world.note("b")


def test_pages_without_user_are_shown_to_all(world):
    world.ada.say("Be kind.", role="system", session="a")
    note = world.note(None, "House rules", Actor.DEVELOPER)
    for session in ("a", "b"):
        assert "Be kind." in world.window(session)
        assert f"[{note}] House rules" in world.window(session)
        assert world.do(session, "get_page", index=note).text == "For all"


def test_a_session_whose_messages_have_no_user_shows_all_pages(world):
    world.ada.say("What did they all say?", session="c")
    assert "swordfish" in world.window("c")
    assert "Winifred" in world.window("c")


def test_a_session_without_messages_shows_only_shared_pages(world):
    note = world.note(None, "House rules", Actor.DEVELOPER)
    shown = world.window("new")
    assert note in shown
    assert "swordfish" not in shown
    assert "Winifred" not in shown


@pytest.mark.parametrize("settled", [True, False])
def test_a_message_without_user_belongs_to_the_user_of_its_session(world, settled):
    world.ada.say("And one thing more", session="b")
    world.ada.say("Let me look at swordfish", role="assistant", session="a")
    world.ada.say("It is in the kitchen", role="tool", session="a")
    if settled:
        world.pages.settle("ada")
    assert "And one thing more" in world.window("b")
    assert "It is in the kitchen" in world.window("a")
    for session, other in (("a", "Winifred"), ("b", "swordfish")):
        assert other not in world.window(session)


def test_users_in_one_session_share_no_page(world):
    for user, text in (("alice", "I love figs"), ("bob", "I hate figs"), ("alice", "Me, too")):
        world.ada.say(text, session="both", user=user)
    shown = world.window("both")
    assert "I love figs" in shown
    assert "Me, too" in shown
    assert "I hate figs" not in shown


def test_pins_of_a_user_are_shown_only_to_that_user(world):
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


def test_a_message_pinned_by_a_developer_is_shown_to_its_user(world):
    found = world.do("a", "filter_memory", what="messages", role="user", limit=1).found
    world.do("b", "pin", Actor.DEVELOPER, message=found[0].messages[0])
    assert "Pinned" in world.window("a")
    assert "Pinned" not in world.window("b")
    assert "swordfish" not in world.window("b")


def test_a_pinned_message_of_another_user_takes_no_room_in_the_window(world):
    theirs = found_ids(world, "a")[0]
    done = world.do("b", "pin", Actor.DEVELOPER, message=theirs)
    assert done.tokens_after == done.tokens_before


@pytest.mark.parametrize("rules", [replace(RULES, max_pins=2)])
def test_no_window_has_more_pins_than_the_rules_allow(world):
    """Pins of a user and pins for all count together, whoever pins them."""
    brief, mine = {"text": "Be brief"}, found_ids(world, "a")
    world.do("a", "pin", text="Alice is ill")
    world.do(None, "pin", Actor.DEVELOPER, **brief)
    for session, given in (("b", brief), ("b", {"message": mine[0]}), ("a", brief)):
        with pytest.raises(RefusedError, match="no more texts than 2 can be pinned"):
            world.do(session, "pin", Actor.DEVELOPER, **given)
    world.do("b", "pin", text="Bob is well")
    with pytest.raises(RefusedError, match="no more texts than 2 can be pinned"):
        world.do("b", "pin", text="Bob is very well")
    world.do("a", "unpin", pin=1)
    world.do("b", "pin", Actor.DEVELOPER, message=mine[0])


@pytest.mark.parametrize("rules", [replace(RULES, pins_max_tokens=40)])
def test_no_window_has_longer_pins_than_the_rules_allow(world):
    world.do("a", "pin", text="Alice is ill, and has been for all of the long week until today")
    with pytest.raises(TooLargeError, match="40 is the most"):
        world.do("b", "pin", Actor.DEVELOPER, text="Bob is well, and has been for all of it, too")
    world.do("b", "pin", text="Bob is well, and has been for all of it, too")


def found_ids(world, session):
    listed = world.do(session, "filter_memory", what="messages", role="user").found
    return [each.messages[0] for each in listed]


def test_no_window_names_collapsed_pages_of_other_users(world):
    mine, shared = world.note("a"), world.note(None, actor=Actor.DEVELOPER, name="House rules")
    for index in (mine, shared):
        world.do("a", "expand_details", index=index)
    assert {mine, shared} <= {*world.do("a", "auto_collapse", max_tokens=1).collapsed}
    for session in ("a", "b"):
        line = world.window(session).splitlines()[0]
        assert line.startswith("# Collapsed")
        assert shared in line
        assert (mine in line) == (session == "a")
