"""Found entries are cut only as far as the room requires (R14)."""

from __future__ import annotations

import pytest

from memci.domain.context.materials import Materials
from memci.domain.context.packing import Packed, pack
from memci.domain.search.candidate import Candidate
from memci.domain.token_counts import Count
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.message import Role
from tests.support.talk import in_order, memory, message, words

# The fourth and later entries are cut.
LONG = (
    "Thanks! The Honda generator is cheaper, at nine hundred euros, than the turbine is. "
    "It needs petrol that somebody has to carry up the hill in cans. "
    "The noise of it can be heard at the hut below the ridge as well. I would not take it."
)


# A memory: no sentence of it may be shown under the label of another speaker.
TALK = (
    "Assistant: The pharmacy in Leoben sells Dolomax 200 mg without any prescription.\n"
    "User: I really do not like the strong ones at all. Dolomax made me vomit twice in 2019.\n"
    "Assistant: Then take Tramadin with some food."
)


def packed(room: int, count: Count = words, fourth: Candidate | None = None) -> Packed:
    found = in_order(*(message(seq, f"Ann sold canoe number {seq}.") for seq in (1, 2, 3)),
                     fourth or message(4, LONG))  # fmt: skip
    materials = Materials(None, "x", (), 0, found, Language.ENGLISH, spans=sentence_spans)
    return pack(materials, [], room, count)


def entry(room: int, fourth: Candidate | None = None) -> tuple[str, bool]:
    parts = packed(room, fourth=fourth).parts
    items = [item for part in parts for item in part.items if item.seqs[0] == 4]
    assert len(items) == 1
    return items[0].text, items[0].shortened


def test_with_enough_room_nothing_is_cut() -> None:
    text, shortened = entry(300)
    assert text.endswith(f"{LONG}\n")
    assert not shortened


def test_courtesy_is_the_first_to_be_cut() -> None:
    tokens = packed(300).tokens
    assert entry(tokens) == entry(300)
    text, shortened = entry(tokens - 1)
    assert text.endswith(f"] {LONG.removeprefix('Thanks! ')}\n")
    assert shortened


@pytest.mark.parametrize("fourth", [message(4, LONG), memory(4, 4, 5, 6, text=TALK)])
def test_every_sentence_with_room_is_kept(fourth: Candidate) -> None:
    text = fourth.text
    sentences = [text[slice(*span)] for span in sentence_spans(text)]
    for room in range(80, 200):
        text_shown, shortened = entry(room, fourth)
        kept = {each for each in sentences if each in text_shown}
        free = room - packed(room, fourth=fourth).tokens
        # In addition to its words a sentence may need a mark and a label.
        missing = [each for each in sentences if each not in text_shown and each != "Thanks!"]
        assert all(free < words(each) + 6 for each in missing), (room, free, text_shown)
        assert shortened is (len(kept) < len(sentences))


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


def test_memories_are_cut_and_kept_like_messages() -> None:
    remembered = memory(4, 4, 5, 6, text=TALK)
    assert entry(300, remembered) == (
        "[memory] " + TALK.replace("\n", "\n  ") + "\n", False
    )  # fmt: skip
    tokens = packed(300, fourth=remembered).tokens
    assert not entry(tokens, remembered)[1]
    assert entry(tokens - 1, remembered)[1]


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
        made = pack(materials, [], room, words)
        assert made.tokens <= room
        text = "".join(part.utterance.text for part in made.parts)
        assert text.count("Then take Tramadin") <= 1
        assert text.count("Dolomax made me vomit") <= 1


@pytest.mark.parametrize("room", range(60, 90))
def test_a_cut_memory_keeps_its_speakers(room: int) -> None:
    made = packed(room, fourth=memory(4, 4, 5, 6, text=TALK))
    lines = [line.strip() for line in made.parts[0].utterance.text.splitlines()]
    for line in lines:
        if "Dolomax made me" in line:
            assert line.removeprefix("[memory] ").startswith("User: ")


@pytest.mark.parametrize("room", [80, 90])
def test_with_little_room_a_mark_shows_the_cut_and_denials_are_kept(room: int) -> None:
    text, shortened = entry(room)
    assert shortened
    assert "…" in text
    assert "I would not take it." in text
    assert packed(room).tokens <= room


def test_restored_sentences_of_one_entry_remove_no_other_entry() -> None:
    """A text may have more tokens than its lines together: here, up to one a line."""
    entries = [
        {seq for part in packed(room, lambda text: len(text) // 4).parts
         for item in part.items for seq in item.seqs}
        for room in range(40, 160)
    ]  # fmt: skip
    assert entries[0] < {1, 2, 3, 4}
    first = entries.index({1, 2, 3, 4})
    assert entries[first:] == [{1, 2, 3, 4}] * len(entries[first:])
