"""An agent with several users: a window shows nobody what another one has said (R5)."""

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


def test_users_who_share_a_session_share_no_page(world):
    for user, text in (("alice", "I love figs"), ("bob", "I hate figs"), ("alice", "Me, too")):
        world.ada.say(text, session="both", user=user)
    shown = world.window("both")
    assert "I love figs" in shown
    assert "Me, too" in shown
    assert "I hate figs" not in shown


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


@pytest.mark.parametrize("rules", [replace(RULES, max_pins=2)])
def test_nobody_is_shown_more_pins_than_the_rules_allow(world):
    """Whoever pins, and wherever: each user's and those for all count together."""
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
def test_nobody_is_shown_longer_pins_than_the_rules_allow(world):
    world.do("a", "pin", text="Alice is ill, and has been for all of the long week until today")
    with pytest.raises(TooLargeError, match="40 is the most"):
        world.do("b", "pin", Actor.DEVELOPER, text="Bob is well, and has been for all of it, too")
    world.do("b", "pin", text="Bob is well, and has been for all of it, too")


def found_ids(world, session):
    listed = world.do(session, "filter_memory", what="messages", role="user").found
    return [each.messages[0] for each in listed]


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
