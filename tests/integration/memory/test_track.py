"""A job of the lane pins key messages and follows plans (R7)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memci.domain.pages.parameters import PageRules
from memci.domain.session.plan import finished_message_seqs
from memci.jobs.index import MessageIndexing
from tests.support.agent_talk import CHINESE, ENGLISH
from tests.support.naming import PagesUnderTest
from tests.support.network import AgentUnderTest
from tests.support.tracking import TrackingUnderTest

NEVER = "Never commit directly to the main branch."
TASK = "I need you to migrate our billing service from MySQL to Postgres."
TABLES = "I prefer small pull requests over large ones."
STEPS = "Here is the plan:\n1. Read the code\n2. Write the tests\n3. Ship it"
READ, TESTED, SHIPPED = ("done", "active", "pending"), ("done", "done", "active"), ("done",) * 3
ROOMY = PageRules(key_messages_max=100, key_messages_max_tokens=10_000)


@pytest.fixture
def ada(database):
    return AgentUnderTest(database)


@pytest.fixture
def tracking(ada):
    return TrackingUnderTest(ada)


@pytest.fixture
def pages(ada):
    return PagesUnderTest(ada)


def test_sentences_are_pinned_and_not_their_messages(ada, tracking):
    ada.say(f"Thanks! {NEVER} How are you?")
    assert tracking.run() == {"looked_at": 1, "pinned": 1, "plans": 0}
    (pin,) = tracking.pins()
    assert (pin.text, pin.by, pin.kind, pin.message_seq) == (NEVER, "detector", "constraint", 1)
    assert pin.span == (8, 8 + len(NEVER))


def test_windows_show_the_pins(ada, tracking, pages):
    ada.say(NEVER)
    tracking.run()
    assert f"- [1] constraint: {NEVER}" in pages.shown(session_id="s1")


def test_a_repeated_job_changes_nothing(ada, tracking):
    ada.say(NEVER, TASK)
    tracking.run()
    before = tracking.pins()
    assert tracking.run() == {"looked_at": 0, "pinned": 0, "plans": 0}
    ada.execute("DELETE FROM tracking WHERE agent_id = %s")
    assert tracking.run()["pinned"] == 0
    assert tracking.pins() == before


def test_the_same_words_are_pinned_once(ada, tracking):
    ada.say(NEVER, "never commit directly to the main branch!", f"I said: hello. {NEVER}")
    tracking.run()
    assert tracking.texts() == [NEVER]


@pytest.mark.parametrize("talk", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_the_same_is_found_with_every_batch_size(database, talk):
    found = []
    for most in (1, 7, 200):
        ada = AgentUnderTest(database, f"ada{most}")
        tracking = TrackingUnderTest(ada, ROOMY, most)
        ada.say(*(text for text, _ in talk))
        tracking.run_all()
        found.append(tracking.texts())
        assert [each.number for each in tracking.pins()] == list(range(1, len(found[-1]) + 1))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 8


def test_an_unpinned_key_message_is_not_pinned_again(ada, tracking, pages):
    ada.say(NEVER)
    tracking.run()
    pages.do("unpin", pin=1)
    assert tracking.pins() == []
    ada.say(NEVER)
    tracking.run()
    ada.execute("DELETE FROM tracking WHERE agent_id = %s")
    tracking.run()
    assert tracking.pins() == []


def test_a_contradicting_key_message_replaces_the_old_pin(ada, tracking, pages):
    ada.say("Our budget is $4,800.", NEVER)
    tracking.run()
    ada.say("Our budget is $6,200 now.")
    tracking.run()
    assert tracking.texts() == [NEVER, "Our budget is $6,200 now."]
    assert "constraint: Our budget is $4,800." not in pages.shown(session_id="s1")
    ada.say("Our budget is $4,800.")
    tracking.run()
    assert tracking.texts() == [NEVER, "Our budget is $4,800."], "it may be said again"


def test_a_key_message_does_not_replace_that_of_another_user(ada, tracking):
    ada.say("My budget is $4,800.", user="ann")
    ada.say("My budget is $6,200.", user="bob")
    tracking.run()
    assert len(tracking.texts()) == 2


def test_only_detected_pins_give_way(ada, pages):
    tracking = TrackingUnderTest(ada, PageRules(key_messages_max=2))
    pages.do("pin", text="the agent's own")
    ada.say(NEVER, TABLES, "Keep the summary under 200 words.")
    tracking.run()
    assert tracking.texts() == ["the agent's own", TABLES, "Keep the summary under 200 words."]
    ada.say(NEVER)  # it gave way, and nobody unpinned it
    tracking.run()
    assert tracking.texts()[-1] == NEVER


def test_detected_pins_stay_within_their_token_limit(ada):
    tracking = TrackingUnderTest(ada, PageRules(key_messages_max_tokens=30))
    ada.say(NEVER, TABLES)
    tracking.run()
    assert tracking.texts() == [NEVER]


def test_a_pin_of_the_agent_replaces_a_detected_pin(ada):
    rules = PageRules(max_pins=2)
    tracking, pages = TrackingUnderTest(ada, rules), PagesUnderTest(ada, rules)
    ada.say(NEVER, TABLES)
    tracking.run()
    pages.do("pin", text="mine")
    assert tracking.texts() == [TABLES, "mine"]


def test_users_see_only_their_own_key_messages(ada, tracking, pages):
    ada.say(NEVER, session="a", user="alice")
    ada.say(TABLES, session="b", user="bob")
    tracking.run()
    assert NEVER in pages.shown(session_id="a")
    assert NEVER not in pages.shown(session_id="b")
    ada.say(NEVER, session="b", user="bob")  # both users have said it
    tracking.run()
    assert NEVER in pages.shown(session_id="b")


def test_a_message_without_a_user_belongs_to_the_user_of_its_session(ada, tracking):
    ada.say("Hello.", session="a", user="alice")
    ada.say(NEVER, session="a")
    tracking.run()
    assert [each.user_id for each in tracking.pins()] == ["alice"]


def test_a_task_is_shown_in_its_session_and_a_rule_in_all(ada, tracking, pages):
    ada.say(TASK, NEVER, session="a")
    ada.say("Hello.", session="b")
    tracking.run()
    assert TASK in pages.shown(session_id="a")
    shown = pages.shown(session_id="b")
    assert NEVER in shown
    assert TASK not in shown


def test_a_plan_is_a_task_unless_the_speaker_has_a_name(ada, tracking):
    plan = "We need to plan a website for the bake sale."
    ada.say(plan, name="Ann")
    ada.say(plan, name="Ben", role="assistant")
    tracking.run()
    assert tracking.texts() == []
    ada.say(plan)
    tracking.run()
    assert tracking.texts() == [plan]


def test_tracking_can_be_disabled(ada):
    off = PageRules(key_messages_enabled=False, plan_tracking_enabled=False)
    tracking = TrackingUnderTest(ada, off)
    ada.say(NEVER)
    ada.say(STEPS, role="assistant")
    assert tracking.run() == {"looked_at": 2, "pinned": 0, "plans": 0}
    assert tracking.plan() is None


def test_a_message_erased_during_the_job_is_not_pinned(ada, tracking):
    ada.say(NEVER)
    effect = tracking.begin()
    ada.execute("DELETE FROM message WHERE agent_id = %s")
    assert tracking.write(effect)["pinned"] == 0


def test_two_concurrent_jobs_pin_once(ada, tracking):
    ada.say(NEVER)
    first, second = tracking.begin(), tracking.begin()
    tracking.write(first)
    assert tracking.write(second) == {"looked_at": 0, "pinned": 0, "plans": 0}
    assert tracking.texts() == [NEVER]
    assert tracking.waiting() == 1


def tell(ada: AgentUnderTest, *texts: str) -> None:
    for text in texts:
        ada.say("Go on.")
        ada.say(text, role="assistant")


PROGRESS: Sequence[tuple[Sequence[str], Sequence[str]]] = (
    ([STEPS], ("active", "pending", "pending")),
    ([STEPS, "Step 1 is done."], READ),
    ([STEPS, "Step 1 is done.", "I finished step 2."], TESTED),
    ([STEPS, "All steps are done."], SHIPPED),
    (["计划如下：\n一、读代码\n二、写测试\n三、上线", "完成了第一步。"], READ),
    (["第一步：读代码\n第二步：写测试\n第三步：上线", "第一步、完成了，开始第二步。"], READ),
)  # fmt: skip


@pytest.mark.parametrize("most", [1, 3, 200])
@pytest.mark.parametrize(("texts", "states"), PROGRESS)
def test_plans_are_followed(ada, texts, states, most):
    tracking = TrackingUnderTest(ada, most=most)
    tell(ada, *texts)
    tracking.run_all()
    assert tracking.states() == list(states)


def test_messages_during_an_active_step_belong_to_it(ada, tracking):
    tell(ada, STEPS, "Step 1 is done.", "Working on it.")
    tracking.run()
    plan = tracking.plan()
    assert plan is not None
    assert finished_message_seqs(plan) == (range(3, 5),)


def test_a_new_plan_replaces_the_old_one_which_stays_stored(ada, tracking):
    tell(ada, STEPS, "New plan:\n1. Call Luigi\n2. Book a table")
    tracking.run()
    plan = tracking.plan()
    assert plan is not None
    assert [each.text for each in plan.steps] == ["Call Luigi", "Book a table"]
    assert [row.made_seq for row in ada.rows("SELECT made_seq FROM plan WHERE agent_id = %s")] == [
        2,
        4,
    ]


def test_each_session_has_a_plan_of_its_own(ada, tracking):
    ada.say(STEPS, role="assistant", session="a")
    ada.say("My plan:\n1. Eat\n2. Sleep", role="assistant", session="b")
    ada.say("Step 1 is done.", role="assistant", session="b")
    tracking.run()
    assert tracking.states("a") == ["active", "pending", "pending"]
    assert tracking.states("b") == ["done", "active"]


def test_nobody_sees_another_users_plan(ada, tracking):
    ada.say(STEPS, session=None, user="alice")
    ada.say("Hello.", session=None, user="bob")
    tracking.run()
    assert tracking.plan(None, "bob") is None
    assert tracking.plan(None, "alice") is not None


def test_a_job_is_requested_if_there_may_be_key_messages(ada, tracking):
    ada.remember("We went to the lake yesterday, and it was cold.")
    assert tracking.waiting() == 0
    ada.remember(NEVER)
    ada.remember(TABLES)
    assert tracking.waiting() == 1


def test_messages_that_are_not_remembered_are_tracked_too(ada, tracking):
    indexing = MessageIndexing(ada.database, ada.models, 100_000)
    effect = indexing.prepare(ada.say(NEVER, remember="never"))
    tracking.write(effect)
    assert tracking.waiting() == 1


def test_a_plan_belongs_to_the_user_of_the_session_at_that_time(ada, tracking):
    """A message of another user before the job runs changes nothing."""
    ada.say("Please plan it.", user="ann", remember="never")
    ada.say(STEPS, role="assistant", remember="never")
    ada.say("Good morning.", user="bob", remember="never")
    assert tracking.run()["plans"] == 1
    (plan,) = ada.rows("SELECT user_id FROM plan WHERE agent_id = %s")
    assert plan.user_id == "ann"


def test_a_pin_that_is_over_gives_way_at_the_next_finding(ada, tracking):
    ada.say(f"Hi! {TABLES}")
    tracking.run()
    ada.execute(
        "INSERT INTO ended_fact (agent_id, node_id, replaced_by, told_by, seqs, parts, until)"
        " VALUES (%s, 1, 1, 1, '{1}', ARRAY[%s], now())",
        TABLES.rstrip("."),
    )
    (pin,) = tracking.pins()
    assert pin.is_over
    assert "(until " in pin.text
    ada.say(NEVER)
    tracking.run()
    assert [each.text for each in tracking.pins()] == [NEVER]
