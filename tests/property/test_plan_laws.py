"""Laws of key messages and plans (R7), for any conversation."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.pages.automatic_pins import bound_to, pinned
from memci.domain.pages.key_messages import LONGEST, key_sentences
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.pins import Maker, Pin, PinKind
from memci.domain.session.plan import MOST_STEPS, StepState, finished_message_seqs
from memci.domain.session.plan_tracker import follow, plan_signs
from memci.language.sentences import normalized_words, sentence_spans
from memci.message import Message, Role
from tests.support.agent_talk import CHINESE, ENGLISH
from tests.support.examples import examples

NOW = datetime(2026, 1, 1, tzinfo=UTC)
STEPS = [
    *("Here is the plan:", "1. Read the code", "2. Write the tests", "3. Ship it", "Step 1: Go"),
    *("- [x] Read the code", "- [ ] Write the tests", "一、读代码", "二、写测试", "第一步：读代码"),
    *("Step 1 is done.", "Moving on to step 2.", "Skip step 3.", "All steps are done.", "```"),
    *(
        "完成了第一步。",
        "开始第二步。",
        "计划如下：",
        "This step is done.",
        "\n",
        "Step 99 is done.",
    ),
]
SAID = st.lists(
    st.one_of(
        st.sampled_from([said for said, _ in (*ENGLISH, *CHINESE)]), st.sampled_from(STEPS),
        st.text(max_size=40),
    ),
    max_size=8,
).map("\n".join)  # fmt: skip
TALK = st.lists(st.tuples(SAID, st.sampled_from([Role.USER, Role.ASSISTANT])), max_size=12)
many = settings(max_examples=examples(300))


def messages_of(talk):
    return [
        Message(seq, f"m{seq}", role, text, NOW, session_id="s")
        for seq, (text, role) in enumerate(talk, 1)
    ]


def keys_of(message):
    """Every third sentence is of no kind."""
    kinds = [None, PinKind.TASK, PinKind.CONSTRAINT]
    spans = enumerate(sentence_spans(message.text))
    return key_sentences(message, [(start, stop, kinds[at % 3]) for at, (start, stop) in spans])


@many
@given(SAID)
def test_key_sentences_are_parts_of_the_message_and_none_is_found_twice(said):
    (message,) = messages_of([(said, Role.USER)])
    found = keys_of(message)
    assert all(said[each.start : each.end] == each.text for each in found)
    assert all(len(each.text) <= LONGEST for each in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert len({normalized_words(each.text) for each in found}) == len(found)
    assert found == keys_of(message)


def findings(talk, last=0):
    found = []
    for message in messages_of(talk):
        for key in keys_of(message):
            span, session = (key.start, key.end), bound_to(key.kind, "s")
            number = last + len(found) + 1
            found.append(
                Pin(
                    number, key.kind, key.text, Maker.DETECTOR, NOW, message.seq, "u", span, session
                )
            )
    return found


RULES = st.builds(
    PageRules, key_messages_max=st.integers(0, 5), key_messages_max_tokens=st.integers(0, 120),
    max_pins=st.integers(0, 6), pins_max_tokens=st.integers(0, 200),
)  # fmt: skip


def numbers(pins):
    return [each.number for each in pins]


@many
@given(TALK, RULES, st.data())
def test_pins_do_not_depend_on_how_findings_are_split(talk, rules, data):
    found, own = findings(talk, last=1), Pin(1, PinKind.NOTE, "mine", Maker.AGENT, NOW)
    whole = pinned(found, [own], [], rules, len)
    at = data.draw(st.integers(0, len(found)))
    pins = [own]
    for part in (found[:at], found[at:]):
        done = pinned(part, pins, [], rules, len)
        pins = [each for each in pins if each.number not in done.taken_down] + list(done.added)
    assert pins == [own, *whole.added]
    assert own in pins
    assert len(pins) - 1 <= rules.key_messages_max
    assert sum(len(each.text) for each in pins[1:]) <= rules.key_messages_max_tokens
    again = pinned(pins[1:], pins, [], rules, len)
    assert (again.added, again.taken_down) == ((), ())


@many
@given(TALK, RULES)
def test_refused_findings_are_not_pinned(talk, rules):
    found = findings(talk)
    done = pinned(found, [], found, rules, len)
    assert (done.added, done.taken_down) == ((), ())


@many
@given(TALK)
def test_a_plan_is_sound_after_each_message(talk):
    plan = None
    for message in messages_of(talk):
        signs = plan_signs(message)
        before, plan = plan, follow(plan, message, signs, None)
        if not signs:
            assert plan is before
        if plan is None:
            continue
        assert 1 <= len(plan.steps) <= MOST_STEPS
        pending = [each for each in plan.steps if each.state is StepState.PENDING]
        active = [each for each in plan.steps if each.state is StepState.ACTIVE]
        assert active or not pending
        for each in plan.steps:
            assert each.said_seq <= message.seq
            if each.last_seq is not None:
                assert each.first_seq is not None
                assert each.first_seq <= each.last_seq <= message.seq
                assert each.state.is_over
        spans = finished_message_seqs(plan)
        assert all(one.stop < other.start for one, other in pairwise(spans))
        assert all(span.stop <= each.first_seq for span in spans for each in active)
        assert all(plan.made_seq < span.start for span in spans)


@many
@given(TALK)
def test_a_repeated_list_is_the_same_plan(talk):
    messages = messages_of(talk)
    plan = None
    for message in messages:
        plan = follow(plan, message, plan_signs(message), None)
        listing = plan_signs(message).listing
        if plan is not None and listing and plan.made_seq == message.seq:
            again = follow(plan, message, plan_signs(message), None)
            assert again.made_seq == plan.made_seq
            assert {each.text for each in plan.steps} <= {each.text for each in again.steps}
