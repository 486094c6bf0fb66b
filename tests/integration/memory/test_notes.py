"""Notes that an agent stores in its memory (R6, R20)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memci.domain.memory.parameters import MemoryParameters
from memci.language.detection import language_of
from memci.message import CorrectedMemory, Message, note_metadata
from memci.smallmodel.ports import TopicSegment
from memci.smallmodel.vector_space import Vectors
from memci.storage.network.node_history import origin_of
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same


def note(ada: AgentUnderTest, text: str, corrected: CorrectedMemory | None = None) -> int:
    """Store a note of the agent; return how many memories it superseded."""
    job = ada.say(text, role="assistant", metadata=note_metadata(corrected))
    return int(ada.create(job)["superseded"])


def corrects(ada: AgentUnderTest, content: str) -> CorrectedMemory:
    """Refer to a memory as a correction does."""
    (node,) = (each for each in ada.nodes("memory") if each.content == content)
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        origin = origin_of(connection, ada.agent_id, node.id)
    assert origin is not None
    return CorrectedMemory(origin.seqs, None if origin.span is None else tuple(origin.span))


def current(ada: AgentUnderTest) -> list[str]:
    return [each.content for each in ada.nodes("memory") if each.superseded_by is None]


def test_a_note_passes_every_filter_and_is_long_term(ada: AgentUnderTest):
    ada.parameters = MemoryParameters(simplemem_enabled=True, skip_trivial=True)
    ada.remember("ok")
    assert ada.nodes("memory") == []
    note(ada, "ok")
    (memory,) = ada.nodes("memory")
    assert memory.tier == "long"
    assert memory.expires_at is None


def test_a_correction_supersedes_only_what_it_names(ada: AgentUnderTest):
    ada.remember("The budget is five", "The fair is in Porto")
    assert note(ada, "The budget is nine", corrects(ada, "The budget is five")) == 1
    assert current(ada) == ["The fair is in Porto", "The budget is nine"]


def test_one_of_several_memories_of_a_message_is_corrected(ada: AgentUnderTest):
    ada.remember("The budget is five\n\nThe fair is in Porto")
    assert note(ada, "The budget is nine", corrects(ada, "The budget is five")) == 1
    assert current(ada) == ["The fair is in Porto", "The budget is nine"]


def test_a_correction_of_an_unknown_memory_supersedes_nothing(ada: AgentUnderTest):
    assert note(ada, "The budget is nine", CorrectedMemory((77,), None)) == 0
    assert note(ada, "The budget is ten", CorrectedMemory((2,), None)) == 0, "not itself"


def test_a_rebuilt_network_is_corrected_the_same(ada: AgentUnderTest):
    ada.remember("The budget is five [Grace]")
    assert note(ada, "The budget is nine [Grace]", corrects(ada, "The budget is five [Grace]")) == 1
    rebuilding = Rebuilding(ada)
    assert is_same(rebuilding.rebuilt())
    assert current(rebuilding.on_edition()) == ["The budget is nine [Grace]"]


def test_a_note_supersedes_like_a_user_message(ada: AgentUnderTest):
    ada.remember("I live in Paris.", role="assistant")
    assert note(ada, "I live in Rome now.") == 0, "what an assistant says is no belief"
    assert note(ada, "I live in Oslo now.") == 1


@pytest.mark.parametrize("at_once", [True, False], ids=["one job", "a job each"])
@pytest.mark.parametrize(
    ("asked", "noted", "answered", "quoting"),
    [
        (
            "What is the capital of Peru?", "The user likes green tea.", "Lima.",
            "[User: What is the capital of Peru?]\nAssistant: Lima.",
        ),
        (
            "秘鲁的首都是哪里？", "用户喜欢绿茶。", "利马。",
            "[用户: 秘鲁的首都是哪里？]\n助手: 利马。",
        ),
    ],
    ids=["en", "zh"],
)  # fmt: skip
def test_a_note_is_not_the_answer_to_a_question(
    ada: AgentUnderTest, at_once: bool, asked: str, noted: str, answered: str, quoting: str
):
    jobs = [
        ada.say(asked),
        ada.say(noted, role="assistant", metadata=note_metadata()),
        ada.say(answered, role="assistant"),
    ]
    for job in [ada.job(1, 3)] if at_once else jobs:
        ada.create(job)
    made = [(each.content, each.message_seqs) for each in ada.nodes("memory")]
    assert made == [(asked, [1]), (noted, [2]), (quoting, [1, 3])]


def test_notes_of_one_session_are_not_one_memory(ada: AgentUnderTest):
    class Joining:
        """Puts all messages into one topic segment."""

        def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
            del vectors
            text = "\n".join(each.text for each in messages)
            return [TopicSegment(text, tuple(each.seq for each in messages), language_of(text))]

    ada.models.segmenter = Joining()
    noted = ("The fair is in Porto", "The budget is five")
    ada.say(*noted, role="assistant", metadata=note_metadata())
    ada.say("Where is the fair?", "And when does it open?")
    ada.create(ada.job(1, 4))
    assert [(each.content, each.message_seqs) for each in ada.nodes("memory")] == [
        ("The fair is in Porto", [1]),
        ("The budget is five", [2]),
        ("Where is the fair?\nAnd when does it open?", [3, 4]),
    ]


def test_many_notes_do_not_hide_the_question_of_an_answer(ada: AgentUnderTest):
    ada.remember("What is the capital of Peru?")
    for number in range(12):
        note(ada, f"Fact {number} of the user [Ann]")
    ada.remember("Lima.", role="assistant")
    assert ada.nodes("memory")[-1].message_seqs == [1, 14]
