"""Pins and plans after erasures, imports, rebuilds and replays (R7, M24, M25)."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.archives import another_database, export_agent, import_agent
from tests.support.databases import Databases
from tests.support.erasing import Eraser, found_in_database
from tests.support.mailbox import Mailbox
from tests.support.naming import PagesUnderTest
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding
from tests.support.tracking import TrackingUnderTest

MARK = "zyzzyva"
RULE = f"Never commit to the {MARK} branch."
PLAN = f"Plan:\n1. Read {MARK}\n2. Write the tests\n3. Ship it"


@pytest.fixture
def tracking(ada: AgentUnderTest) -> TrackingUnderTest:
    ada.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
    return TrackingUnderTest(ada)


@pytest.mark.parametrize("unpinned", [False, True])
@pytest.mark.parametrize("what", ["messages", "session", "agent"])
def test_pins_and_plans_of_erased_messages_are_erased(
    ada: AgentUnderTest,
    tracking: TrackingUnderTest,
    eraser: Eraser,
    superuser: psycopg.Connection,
    what: str,
    unpinned: bool,
) -> None:
    ada.say(RULE, session="s2")
    ada.say(PLAN, role="assistant", session="s2")
    tracking.run()
    if unpinned:
        PagesUnderTest(ada).do("unpin", pin=1)
    assert {each.split(".")[0] for each in found_in_database(superuser, MARK)} >= {"plan_step"}
    if what == "agent":
        eraser.erase_agent()
    elif what == "session":
        eraser.erase(session="s2")
    else:
        eraser.erase("m1", "m2")
    assert found_in_database(superuser, MARK) == []
    assert ada.rows("SELECT FROM pin WHERE agent_id = %s AND message_seq IS NOT NULL") == []
    assert ada.rows("SELECT FROM plan WHERE agent_id = %s") == []
    assert (tracking.pins(), tracking.plan("s2")) == ([], None)


def test_a_step_is_erased_with_the_message_that_added_it(
    ada: AgentUnderTest, tracking: TrackingUnderTest, eraser: Eraser
) -> None:
    ada.say("Plan:\n1. Read the code\n2. Ship it", role="assistant")
    ada.say(f"- [x] Read the code\n- [ ] Ship it\n- [ ] Tell {MARK}", role="assistant")
    tracking.run()
    assert tracking.states() == ["done", "active", "pending"]
    eraser.erase("m2")
    plan = tracking.plan()
    assert plan is not None
    assert [each.text for each in plan.steps] == ["Read the code", "Ship it"]


def test_an_archive_contains_pins_and_plans(
    ada: AgentUnderTest, tracking: TrackingUnderTest, databases: Databases
) -> None:
    ada.say(RULE, "I prefer small pull requests.", session="s1")
    ada.say(PLAN, role="assistant", session="s1")
    tracking.run()
    PagesUnderTest(ada).do("unpin", pin=2)
    archive = export_agent(ada.database)
    with another_database(databases) as database:
        import_agent(database, archive)
        copy = AgentUnderTest(database, known=True)
        copied = TrackingUnderTest(copy)
        assert copied.pins() == tracking.pins()
        assert copied.plan() == tracking.plan()
        assert copied.run() == {"looked_at": 0, "pinned": 0, "plans": 0}
        copy.say("I prefer small pull requests.", session="s1")
        copied.run()
        assert copied.texts() == [RULE]  # the other one stays unpinned


def test_a_rebuild_changes_no_pins_and_no_plans(ada: AgentUnderTest, mailbox: Mailbox) -> None:
    tracking = TrackingUnderTest(ada)
    mailbox.append(f"{RULE} [Ann]", "We went to the lake yesterday, all of us. [Ann]")
    mailbox.run()
    ada.say(PLAN, role="assistant", remember="never")
    tracking.run()
    before = tracking.pins(), tracking.plan()
    assert before[0]
    rebuilding = Rebuilding(ada)
    rebuilding.rebuilt()
    rebuilding.switch()
    assert (tracking.pins(), tracking.plan()) == before
    tracking.run()
    assert (tracking.pins(), tracking.plan()) == before
