"""Found entries are cut only as far as the room requires (R14)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memci.domain.context.materials import Materials
from memci.domain.context.packing import Packed, Packing
from memci.domain.search.candidate import Candidate
from memci.domain.search.ranking import Ranked
from memci.domain.token_counts import Count
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.message import Role
from tests.support.talk import in_order, memory, message, words

SHORT = "The Honda generator is cheaper. It needs petrol, too."
# Long enough to be cut.
LONG = (
    "Thanks! The Honda generator is cheaper, at nine hundred euros, than the turbine is. "
    "It needs petrol that somebody has to carry up the hill in cans. "
    "The noise of it can be heard at the hut below the ridge as well. I would not take it. "
    "Other people who stay up there in winter swear by panels and a bank of old batteries. "
    "They last some fifteen years if nobody lets them run empty more than once or twice. "
    "My cousin put his up in a single weekend with two friends and a borrowed ladder."
)


# A memory: no sentence of it may be shown under the label of another speaker.
TALK = (
    "Assistant: The pharmacy in Leoben sells Dolomax 200 mg without any prescription.\n"
    "User: I really do not like the strong ones at all. Dolomax made me vomit twice in 2019.\n"
    "Assistant: Then take Tramadin with some food.\n"
    "User: The pharmacist on the square told me to try a heat pad and a slow walk every morning.\n"
    "Assistant: A heat pad helps many people, and a walk of twenty minutes does no harm at all."
)


def packed(room: int, count: Count = words, fourth: Candidate | None = None) -> Packed:
    found = in_order(*(message(seq, f"Ann sold canoe number {seq}.") for seq in (1, 2, 3)),
                     fourth or message(4, LONG))  # fmt: skip
    materials = Materials(None, "x", (), 0, found, Language.ENGLISH, spans=sentence_spans)
    return Packing(materials, [], room, count).packed()


def entry(room: int, fourth: Candidate | None = None) -> tuple[str, bool]:
    parts = packed(room, fourth=fourth).parts
    items = [item for part in parts for item in part.items if item.seqs[0] == 4]
    assert len(items) == 1
    return items[0].text, items[0].shortened


def test_with_enough_room_nothing_is_cut() -> None:
    text, shortened = entry(300)
    assert text.endswith(f"{LONG}\n")
    assert not shortened


def test_a_short_entry_goes_in_whole_or_not_at_all() -> None:
    tokens = packed(300, fourth=message(4, SHORT)).tokens
    for room in range(40, tokens + 20):
        items = [item for part in packed(room, fourth=message(4, SHORT)).parts
                 for item in part.items if item.seqs[0] == 4]  # fmt: skip
        assert all(SHORT in item.text and not item.shortened for item in items)
        assert bool(items) or room < tokens


def test_a_long_entry_that_does_not_fit_gives_its_best_sentences() -> None:
    fourth = message(4, LONG)
    tokens = packed(400, fourth=fourth).tokens
    assert not entry(tokens, fourth)[1]
    for room in range(tokens - 30, tokens):
        text, shortened = entry(room, fourth)
        assert shortened
        assert packed(room, fourth=fourth).tokens <= room
        sentences = [fourth.text[slice(*span)] for span in sentence_spans(fourth.text)]
        assert any(each in text for each in sentences)


def first_and_others(first: str, others: Sequence[str], room: int) -> Packed:
    found = [Ranked(message(seq, text), 0.8 if seq == 1 else 0.25, {})
             for seq, text in enumerate((first, *others), start=1)]  # fmt: skip
    materials = Materials(None, "x", (), 0, found, Language.ENGLISH, spans=sentence_spans)
    return Packing(materials, [], room, words).packed()


def test_the_best_entry_is_quoted_before_short_ones_fill_the_room() -> None:
    others = [f"Ann sold canoe number {seq} to a friend." for seq in range(60)]
    items = [item for part in first_and_others(LONG * 4, others, 200).parts for item in part.items]
    quoted = [item for item in items if item.seqs == (1,)]
    assert [item.shortened for item in quoted] == [True]
    assert len(items) > 5


def test_fragments_do_not_take_the_room_of_a_better_entry() -> None:
    first = (
        "Nora said that the ferry to the island leaves at eight from the second pier, not at nine."
    )
    others = [f"Canoe {seq}." for seq in range(60)]
    items = [item for part in first_and_others(first, others, 60).parts for item in part.items]
    assert (1,) in [item.seqs for item in items]


@pytest.mark.parametrize("rows", [500, 2_000])
def test_the_work_is_linear_in_the_length_of_a_cut_text(rows: int) -> None:
    text = " ".join(
        f"Row {row}: shelf {row} has {row * 7} boxes of size T{row % 13}." for row in range(rows)
    )
    counted = [0]

    def count(piece: str) -> int:
        counted[0] += len(piece)
        return words(piece)

    found = packed(words(text) // 3, count, fourth=message(4, text))
    assert any(item.shortened for part in found.parts for item in part.items)
    assert counted[0] < 30 * len(text)


def test_a_yes_before_more_words_is_kept() -> None:
    text, _ = entry(300, message(4, "Yes! With blue fondant."))
    assert text.endswith("Yes! With blue fondant.\n")


def test_a_memory_replaced_by_its_messages_is_not_shown_too() -> None:
    messages = [message(seq, text, role=role) for seq, text, role in (
        (4, "The pharmacy in Leoben sells Dolomax 200 mg without any prescription.",
         Role.ASSISTANT),
        (5, "I really do not like the strong ones at all. Dolomax made me vomit twice in 2019.",
         Role.USER),
        (6, "Then take Tramadin with some food.", Role.ASSISTANT),
    )]  # fmt: skip
    filler = (message(seq, f"Ann sold canoe number {seq}.") for seq in (1, 2, 3))
    found = in_order(*filler, memory(9, 4, 5, 6, text=TALK), *messages)
    for room in range(70, 160):
        materials = Materials(None, "x", (), 0, found, Language.ENGLISH, spans=sentence_spans)
        made = Packing(materials, [], room, words).packed()
        assert made.tokens <= room
        text = "".join(part.utterance.text for part in made.parts)
        assert text.count("Then take Tramadin") <= 1
        assert text.count("Dolomax made me vomit") <= 1


@pytest.mark.parametrize("room", range(140, 170))
def test_a_cut_memory_keeps_its_speakers(room: int) -> None:
    made = packed(room, fourth=memory(4, 4, 5, 6, text=TALK))
    lines = [line.strip() for line in made.parts[0].utterance.text.splitlines()]
    for line in lines:
        if "Dolomax made me" in line:
            assert line.removeprefix("[memory] ").startswith("User: ")


def test_a_mark_shows_the_cut_and_denials_are_kept() -> None:
    text, shortened = entry(130)
    assert shortened
    assert "…" in text
    assert "I would not take it." in text
