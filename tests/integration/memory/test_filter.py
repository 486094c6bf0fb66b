"""Filters decide which messages become memories (R1 to R4), on a real database."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memci.domain.memory.node import NodeType
from memci.domain.memory.parameters import MemoryParameters
from memci.message import Remember
from memci.smallmodel.ports import Annotation, Judgement
from tests.support.mailbox import Mailbox
from tests.support.network import AgentUnderTest

FACT = "My sister [Ada] moved to [Lisbon] in May"
OTHER = "The rent is far too high in [Oslo] anyway"
THIRD = "The train to [Porto] leaves before noon"
MADE = ("made", None)
TRIVIAL = ("filtered", "trivial")
REPEATED = ("filtered", "repeated")


def test_small_talk_makes_no_memory_and_stores_the_reason(ada: AgentUnderTest) -> None:
    result = ada.remember("Hello there!", FACT, "Thanks!")
    assert ada.memory_states() == [TRIVIAL, MADE, TRIVIAL]
    assert [node.content for node in ada.nodes("memory")] == [FACT]
    assert (result["messages"], result["filtered"]) == (3, 2)


def test_filtered_messages_are_stored_and_searchable(ada: AgentUnderTest) -> None:
    ada.remember("Thanks!")
    assert ada.nodes() == []
    (message,) = ada.rows("SELECT content, indexed FROM message WHERE agent_id = %s")
    assert tuple(message) == ("Thanks!", True)
    assert ada.rows("SELECT 1 FROM message_vector WHERE agent_id = %s")
    assert ada.rows("SELECT 1 FROM message_term WHERE agent_id = %s AND term = 'thanks'")


def test_a_repetition_in_the_same_session_is_filtered(ada: AgentUnderTest) -> None:
    ada.remember(FACT)
    ada.remember(OTHER, FACT)
    assert ada.memory_states() == [MADE, MADE, REPEATED]


@pytest.mark.parametrize(
    "elsewhere", [{"session": "s2"}, {"user": "bob"}, {"name": "Bob"}, {"role": "assistant"}]
)
def test_a_repetition_in_another_session_or_by_another_speaker_is_kept(
    ada: AgentUnderTest, elsewhere: dict[str, str]
) -> None:
    ada.remember(FACT)
    ada.remember(FACT, **elsewhere)
    assert ada.memory_states() == [MADE, MADE]


def test_a_repetition_without_a_session_is_filtered_too(ada: AgentUnderTest) -> None:
    ada.remember(FACT, session=None)
    ada.remember(FACT, session=None)
    assert ada.memory_states() == [MADE, REPEATED]


def test_a_repetition_after_two_windows_is_kept(ada: AgentUnderTest) -> None:
    ada.parameters = MemoryParameters(window_size=2, window_stride=1)
    ada.remember(FACT)
    for number in range(5):
        ada.remember(f"Topic{number} about [Gardening{number}] of all sorts")
    ada.remember(FACT)
    assert ada.memory_states()[-1] == MADE


def test_a_repetition_of_a_message_that_must_not_be_remembered_is_kept(ada: AgentUnderTest) -> None:
    ada.say(FACT, remember="never")
    ada.remember(FACT)
    assert ada.memory_states() == [("none", None), MADE]


def test_a_long_text_pasted_twice_is_filtered_and_still_found(ada: AgentUnderTest) -> None:
    text = "word " * 2_000
    ada.remember(text)
    ada.remember(text)
    assert ada.memory_states() == [MADE, REPEATED]
    one, other = ada.rows(
        "SELECT embedding::real[] AS v FROM message_vector WHERE agent_id = %s ORDER BY seq"
    )
    assert one.v == pytest.approx(other.v, abs=0.01)


def test_talk_that_names_nothing_has_low_information(ada: AgentUnderTest) -> None:
    ada.remember("so I guess we will just see how it goes then")
    assert ada.memory_states() == [("filtered", "low_information")]


def test_memories_are_linked_across_filtered_messages(ada: AgentUnderTest) -> None:
    ada.remember("One thing about [Grace]", "Thanks!", "Two things about [Luigi]")
    ada.remember("Hi!", "Three things about [Oslo]", session="s1")
    one, two, three = (ada.memories()[word].id for word in ("One", "Two", "Three"))
    links = ada.links()
    assert links[one, two].relation == links[two, three].relation == "next"
    assert links[two, one].relation == links[three, two].relation == "previous"


def test_chinese_memories_are_linked_across_filtered_messages(ada: AgentUnderTest) -> None:
    ada.remember("一 昨天和[小明]去公园看花", "好的，谢谢！", "二 今天[小明]去图书馆借书")
    assert ada.memory_states() == [MADE, TRIVIAL, MADE]
    one, two = (ada.memories()[word].id for word in ("一", "二"))
    assert (ada.links()[one, two].relation, ada.links()[two, one].relation) == ("下文", "上文")


def test_a_segment_without_entity_takes_its_best_keyword_and_never_a_pronoun(
    ada: AgentUnderTest,
) -> None:
    words = Annotation("phrase", ("she", "rent", "flat"), ("it",), NodeType.SEMANTIC)
    ada.models.annotator.annotate = lambda texts, _: [words for _ in texts]
    ada.remember("Thanks!", "She pays far too much rent for it")
    assert ada.focus() == ["rent"]


class TestRequestedById:
    def test_a_filtered_message_requested_by_id_becomes_a_memory(
        self, ada: AgentUnderTest, mailbox: Mailbox
    ) -> None:
        mailbox.append("Thanks, dear!", FACT, ids=["m1", "m2"])
        mailbox.run()
        assert ada.memory_states() == [TRIVIAL, MADE]
        assert mailbox.ask("m1", "m2")
        assert ada.memory_states() == [("pending", None), MADE]
        mailbox.run()
        assert ada.memory_states() == [MADE, MADE]
        assert [node.content for node in ada.nodes("memory")] == [FACT, "Thanks, dear!"]

    def test_a_stored_message_is_filtered_when_it_is_first_requested(
        self, ada: AgentUnderTest, mailbox: Mailbox
    ) -> None:
        mailbox.append("Thanks!", ids=["m1"], remember=Remember.NEVER)
        mailbox.run()
        mailbox.ask("m1")
        mailbox.run()
        assert ada.memory_states() == [TRIVIAL]

    def test_a_redelivered_request_does_not_override_the_filter(
        self, ada: AgentUnderTest, mailbox: Mailbox
    ) -> None:
        mailbox.append("Thanks!", ids=["m1"], remember=Remember.NEVER)
        mailbox.run()
        mailbox.ask("m1")
        job_id = mailbox.waiting()[-1].id
        mailbox.run()
        assert not mailbox.ask("m1", job_id=job_id)
        assert ada.memory_states() == [TRIVIAL]


class TestParameters:
    @pytest.mark.parametrize(
        ("values", "states"),
        [
            ({"simplemem_enabled": False}, [MADE, MADE, MADE]),
            ({"skip_trivial": False}, [MADE, MADE, REPEATED]),
            ({"novelty_threshold": 0.0}, [TRIVIAL, MADE, MADE]),
            ({"min_content_length": 0}, [TRIVIAL, MADE, REPEATED]),
            ({}, [TRIVIAL, MADE, REPEATED]),
        ],
    )
    @pytest.mark.parametrize("own", [False, True])
    def test_each_switch_holds_globally_and_for_one_agent(
        self,
        ada: AgentUnderTest,
        values: dict[str, object],
        states: list[tuple[str, str | None]],
        *,
        own: bool,
    ) -> None:
        if own:
            ada.set_parameters(values)
        else:
            ada.parameters = MemoryParameters().with_values(values)
        ada.remember("Thanks!", FACT, FACT)
        assert ada.memory_states() == states

    def test_min_content_length_can_be_set_for_one_agent(self, ada: AgentUnderTest) -> None:
        ada.set_parameters({"min_content_length": 60})
        ada.remember("so I guess we will just see how it goes then", FACT)
        assert ada.memory_states() == [TRIVIAL, MADE]


class TestTiers:
    def test_the_term_of_a_short_term_memory_begins_at_receipt(self, ada: AgentUnderTest) -> None:
        ada.remember(FACT)
        (node,) = ada.nodes("memory")
        (message,) = ada.rows("SELECT received_at FROM message WHERE agent_id = %s")
        assert node.tier == "short"
        assert node.expires_at == message.received_at + timedelta(hours=24)

    def test_a_memory_of_enough_worth_is_long_term(self, ada: AgentUnderTest) -> None:
        ada.parameters = MemoryParameters(long_term_importance_threshold=5.0)
        ada.remember(FACT)
        (node,) = ada.nodes("memory")
        assert (node.tier, node.expires_at) == ("long", None)

    def test_eligible_memories_of_high_worth_are_long_term(self, ada: AgentUnderTest) -> None:
        ada.models.judge.script = [
            Judgement(eligible=True, worth=6.0),
            Judgement(eligible=False, worth=9.0),
            Judgement(eligible=True, worth=5.9),
        ]
        ada.remember(FACT, OTHER, THIRD)
        tiers = {node.content: (node.tier, node.worth) for node in ada.nodes("memory")}
        assert tiers == {FACT: ("long", 6.0), OTHER: ("short", 9.0), THIRD: ("short", 5.9)}
        assert ada.models.judge.requests == [FACT, OTHER, THIRD]

    def test_the_judge_gets_the_session_summary_of_the_user(self, ada: AgentUnderTest) -> None:
        for session, user, users in (("s1", "", ["u1", "u2"]), ("s1", "u1", ["u1"])):
            ada.execute(
                "INSERT INTO summary (agent_id, session_id, user_id, users, through_seq, text)"
                " VALUES (%s, %s, %s, %s, 1, %s)",
                session, user, users, f"About moving, for {user or 'all'}",
            )  # fmt: skip
        ada.remember(FACT, user="u1")
        ada.remember(OTHER, user="u3")
        ada.remember(THIRD)
        ada.remember("We moved to [Bergen] in winter", session="s2")
        assert ada.models.judge.told == [
            "About moving, for u1", "", "About moving, for all", "",
        ]  # fmt: skip
        assert not any("About moving" in node.content for node in ada.nodes("memory"))

    def test_without_tiers_everything_is_long_term(self, ada: AgentUnderTest) -> None:
        ada.set_parameters({"tiered_memory_enabled": False})
        ada.remember(FACT)
        assert {node.tier for node in ada.nodes()} == {"long"}

    def test_entities_have_no_tier_of_their_own(self, ada: AgentUnderTest) -> None:
        ada.remember(FACT)
        assert {(node.tier, node.expires_at) for node in ada.nodes("entity")} == {("long", None)}


class TestWording:
    def test_a_memory_names_its_speaker_and_its_day(self, ada: AgentUnderTest) -> None:
        ada.remember("I met [Grace] yesterday", name="Ann")
        (node,) = ada.nodes("memory")
        assert node.content == "Ann: I met [Grace] yesterday (2025-12-31)"
        assert node.original_length == len(node.content)
        assert ada.rows("SELECT 1 FROM node_term WHERE agent_id = %s AND term = 'ann'")

    def test_a_short_answer_quotes_its_question_across_jobs(self, ada: AgentUnderTest) -> None:
        ada.remember("Nice. Do you like it in [Oslo]?", role="assistant")
        ada.remember("Yes, since 2016")
        question, answer = ada.nodes("memory")
        assert question.content == "Nice. Do you like it in [Oslo]?"
        assert answer.content == "[Assistant: Do you like it in [Oslo]?]\nUser: Yes, since 2016"
        assert list(answer.message_seqs) == [1, 2]
        assert ada.memory_states() == [MADE, MADE]

    def test_a_question_that_must_not_be_remembered_is_not_quoted(
        self, ada: AgentUnderTest
    ) -> None:
        ada.say("Do you like it in [Oslo]?", role="assistant", remember="never")
        ada.remember("Yes, since 2016")
        (answer,) = ada.nodes("memory")
        assert answer.content == "Yes, since 2016"

    def test_nothing_is_made_that_quotes_a_question_erased_meanwhile(
        self, ada: AgentUnderTest
    ) -> None:
        ada.remember("Nice. Do you like it in [Oslo]?", role="assistant")
        effect = ada.creation().prepare(ada.say("Yes, since 2016"))
        ada.execute("DELETE FROM message WHERE agent_id = %s AND seq = 1")
        with ada.lease().effect() as connection:
            effect(connection)
        assert len(ada.nodes("memory")) == 1
        assert ada.memory_states() == [("filtered", "erased")]


def test_two_prepared_effects_of_one_job_make_the_same_memories(ada: AgentUnderTest) -> None:
    job = ada.say("Hi!", FACT, FACT, "Thanks!", OTHER)
    first, second = (ada.creation().prepare(job) for _ in range(2))
    for effect in (first, second):
        with ada.lease().effect() as connection:
            effect(connection)
    assert ada.memory_states() == [TRIVIAL, MADE, REPEATED, TRIVIAL, MADE]
    assert len(ada.nodes("memory")) == 2
