"""An agent with several users: tools for memory look at what a session's own user has said (R5)."""

from __future__ import annotations

import pytest

from memci.commands.tools.caller import Caller, session_caller
from memci.commands.tools.memory_reads import summary_request
from memci.domain.pages.permission import Actor
from memci.errors import NotFoundError, RefusedError
from memci.schemas.memory_tools import Summarise
from tests.support.network import AgentUnderTest
from tests.support.two_users import SAYS


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


def test_what_is_summed_up_is_ones_own(world):
    with world.pages.database.agent_snapshot("ada") as connection:
        place = session_caller(connection, "ada", "b")
        seqs = connection.exec_driver_sql(
            "SELECT seq FROM message WHERE agent_id = 'ada' AND user_id = 'bob'"
        ).scalars()
        own = set(seqs)
    assert set(summary_request(world.pages, place, Summarise()).request.seqs) == own
    asked = summary_request(world.pages, place, Summarise(page="usr-0")).request
    assert set(asked.seqs) == own
    alone = Caller("ada", None, "bob")  # messages of no session
    assert set(summary_request(world.pages, alone, Summarise()).request.seqs) == own
    with pytest.raises(NotFoundError):
        summary_request(world.pages, place, Summarise(page=world.of("a")[0]))


def test_a_session_s_summary_has_what_names_no_user_where_all_is_one_user_s(world):
    def summed(session):
        with world.pages.database.agent_snapshot("ada") as connection:
            place = session_caller(connection, "ada", session)
        return set(summary_request(world.pages, place, Summarise()).request.seqs)

    before = summed("b")
    world.ada.say("It is in the kitchen", role="assistant", session="b")
    said = summed("b")
    assert len(said - before) == 1
    world.ada.say("Here is alice", session="b", user="alice")
    world.ada.say("And bob", session="b", user="bob")
    assert len(summed("b") & said) == len(before), "now it may be said to either"
