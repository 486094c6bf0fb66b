"""An agent with several users: tools for memory read only the session's user (R5)."""

from __future__ import annotations

import pytest

from memci.commands.tools.caller import Caller, session_caller
from memci.commands.tools.memory_reads import summary_request
from memci.domain.pages.permission import Actor
from memci.errors import NotFoundError, RefusedError
from memci.schemas.tools.memory import Summarise
from tests.support.network import AgentUnderTest
from tests.support.two_users import SAYS


def found(world, session, **fields):
    return [each.text for each in world.do(session, "filter_memory", limit=50, **fields).found]


@pytest.mark.parametrize("settled", [True, False])
def test_tools_know_the_user_of_a_session_whose_last_message_has_none(world, settled):
    world.ada.say("Let me look", role="assistant", session="b")
    world.ada.say("It is in the kitchen", role="tool", session="b")
    if settled:
        world.pages.settle("ada")
    texts = found(world, "b", what="messages")
    assert any("Winifred" in each for each in texts)
    assert not any("swordfish" in each for each in texts)
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
def test_messages_without_user_in_a_session_of_one_user_are_of_that_user(world, session, settled):
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


def test_messages_without_user_in_a_session_of_two_users_are_of_neither(world):
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
    # The message of the other user may be erased before the answer.
    world.do("b", "remember", text="The sister is tall")
    message_id = f"m{job.first_seq - 1}"
    world.ada.execute("DELETE FROM message WHERE agent_id = %s AND id = %s", message_id)
    check()


READS = [
    ("filter_memory", {"what": "messages"}),
    ("search", {"query": "swordfish"}),
    ("recall", {"keywords": ["swordfish"]}),
    ("summarise", {}),
    ("summarise", {"messages": ["m1"]}),
    ("pin", {"message": "m1"}),
    ("erase", {"messages": ["m1"]}),
    ("update", {"memory": 1, "text": "x"}),
]


@pytest.mark.parametrize(("tool", "given"), READS)
def test_in_a_session_without_messages_no_memory_is_read(world, tool, given):
    world.do("new", "remember", text="Somebody will come")  # without a user
    with pytest.raises(RefusedError, match="nobody has said anything in this session"):
        world.do("new", tool, **given)
    for each in SAYS["en"].values():
        assert each not in world.window("new")


def test_an_agent_without_users_reads_its_memory_in_any_session(database, tools):
    ada = AgentUnderTest(database)
    ada.say("The safe opens with swordfish", session="a")
    answer = tools.run("ada", Actor.AGENT, "filter_memory", {"what": "messages"}, session_id="new")
    assert [each.text for each in answer.found] == ["The safe opens with swordfish"]


def test_a_summary_has_only_messages_of_its_own_user(world):
    with world.pages.database.agent_snapshot("ada") as connection:
        place = session_caller(connection, "ada", "b")
        seqs = connection.exec_driver_sql(
            "SELECT seq FROM message WHERE agent_id = 'ada' AND user_id = 'bob'"
        ).scalars()
        own = set(seqs)
    assert set(summary_request(world.pages, place, Summarise()).request.seqs) == own
    request = summary_request(world.pages, place, Summarise(page="usr-0")).request
    assert set(request.seqs) == own
    alone = Caller("ada", None, "bob")  # messages of no session
    assert set(summary_request(world.pages, alone, Summarise()).request.seqs) == own
    with pytest.raises(NotFoundError):
        summary_request(world.pages, place, Summarise(page=world.of("a")[0]))


def test_a_summary_has_messages_without_user_in_a_session_of_one_user(world):
    def summarised(session):
        with world.pages.database.agent_snapshot("ada") as connection:
            place = session_caller(connection, "ada", session)
        return set(summary_request(world.pages, place, Summarise()).request.seqs)

    before = summarised("b")
    world.ada.say("It is in the kitchen", role="assistant", session="b")
    after = summarised("b")
    assert len(after - before) == 1
    world.ada.say("Here is alice", session="b", user="alice")
    world.ada.say("And bob", session="b", user="bob")
    assert len(summarised("b") & after) == len(before), "now it may be said to either"
