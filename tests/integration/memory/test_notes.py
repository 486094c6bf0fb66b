"""What an agent notes for its memory itself (R6, R20)."""

from __future__ import annotations

import json

from memci.domain.memory.note import Corrected, note_metadata
from memci.domain.memory.parameters import MemoryParameters
from memci.storage.origins import origin_of
from tests.support.network import AgentUnderTest
from tests.support.rebuilding import Rebuilding, is_same


def note(ada: AgentUnderTest, text: str, corrected: Corrected | None = None) -> int:
    """Have the agent note something; return how many memories that superseded."""
    job = ada.say(text, role="assistant")
    ada.execute(
        "UPDATE message SET metadata = said::jsonb"
        " FROM (SELECT %s AS agent, %s AS said, %s::bigint AS at) AS note"
        " WHERE agent_id = agent AND seq = at",
        json.dumps(note_metadata(corrected)),
        job.first_seq,
    )
    return int(ada.create(job)["superseded"])


def what_is(ada: AgentUnderTest, content: str) -> Corrected:
    """Name a memory as a correction does."""
    (node,) = (each for each in ada.nodes("memory") if each.content == content)
    with ada.database.agent_snapshot(ada.agent_id) as connection:
        origin = origin_of(connection, ada.agent_id, node.id)
    assert origin is not None
    return Corrected(origin.seqs, None if origin.span is None else tuple(origin.span))


def holds(ada: AgentUnderTest) -> list[str]:
    return [each.content for each in ada.nodes("memory") if each.superseded_by is None]


def test_a_note_passes_every_filter_and_is_meant_to_last(ada: AgentUnderTest):
    ada.parameters = MemoryParameters(simplemem_enabled=True, skip_trivial=True)
    ada.remember("ok")
    assert ada.nodes("memory") == []
    note(ada, "ok")
    (memory,) = ada.nodes("memory")
    assert memory.tier == "long"
    assert memory.expires_at is None


def test_a_correction_supersedes_only_what_it_names(ada: AgentUnderTest):
    ada.remember("The budget is five", "The fair is in Porto")
    assert note(ada, "The budget is nine", what_is(ada, "The budget is five")) == 1
    assert holds(ada) == ["The fair is in Porto", "The budget is nine"]


def test_one_of_several_memories_of_a_message_is_corrected(ada: AgentUnderTest):
    ada.remember("The budget is five\n\nThe fair is in Porto")
    assert note(ada, "The budget is nine", what_is(ada, "The budget is five")) == 1
    assert holds(ada) == ["The fair is in Porto", "The budget is nine"]


def test_what_was_forgotten_or_never_was_is_corrected_by_nothing(ada: AgentUnderTest):
    assert note(ada, "The budget is nine", Corrected((77,), None)) == 0
    assert note(ada, "The budget is ten", Corrected((2,), None)) == 0, "not itself"


def test_a_rebuilt_network_is_corrected_the_same(ada: AgentUnderTest):
    ada.remember("The budget is five [Grace]")
    assert note(ada, "The budget is nine [Grace]", what_is(ada, "The budget is five [Grace]")) == 1
    rebuilding = Rebuilding(ada)
    assert is_same(rebuilding.rebuilt())
    assert holds(rebuilding.beside()) == ["The budget is nine [Grace]"]


def test_what_an_agent_notes_is_believed_as_what_people_say_is(ada: AgentUnderTest):
    ada.remember("I live in Paris.", role="assistant")
    assert note(ada, "I live in Rome now.") == 0, "what an assistant says is no belief"
    assert note(ada, "I live in Oslo now.") == 1
