"""The lines of a packed memory stand below the label of their speaker (R14)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memci.domain.context.materials import Materials
from memci.domain.context.packing import Packed, Packing
from memci.domain.memory.self_contained_text import worded
from memci.domain.search.candidate import Source, message_candidate
from memci.domain.session.interaction import interactions
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.message import Message, Role
from tests.support.examples import examples
from tests.support.talk import BEGIN, in_order, memory, message, words

SPEAKERS = st.sampled_from(
    [(Role.USER, None), (Role.ASSISTANT, None), (Role.USER, "Ann"), (Role.USER, "Dr. Bo Li")]
)
LABELS = {
    Language.ENGLISH: {Role.USER: "User", Role.ASSISTANT: "Assistant"},
    Language.CHINESE: {Role.USER: "用户", Role.ASSISTANT: "助手"},
}
# Facts are numbered, so that each occurs once.
FACTS = {
    Language.ENGLISH: ("We sold f{}.", "I do not like f{} at all on any day of the week, Peter.",
                       "Does Mary know of f{}?", "Thanks, f{}!", "Great!", "No."),
    Language.CHINESE: ("昨天买了f{}。", "我一点也不喜欢那个又旧又贵的f{}。", "谢谢！",
                       "f{}在哪里？"),
}  # fmt: skip
NOTES = {Language.ENGLISH: "Note: ", Language.CHINESE: "备注："}


@st.composite
def talks(draw: st.DrawFn, language: Language, *, notes: bool) -> list[Message]:
    numbers = count(1)
    messages = []
    for seq in range(1, draw(st.integers(1, 5)) + 1):
        role, name = draw(SPEAKERS)
        text = ""
        for _ in range(draw(st.integers(1, 5))):
            text += draw(st.sampled_from(["\n", " "])) if text else ""
            if notes and (not text or text.endswith("\n")) and draw(st.booleans()):
                text += NOTES[language]
            text += draw(st.sampled_from(FACTS[language])).format(next(numbers))
        messages.append(Message(seq, f"m{seq}", role, text, BEGIN, name))
    return messages


def facts(text: str) -> list[str]:
    return re.findall(r"f\d+", text)


def owners(messages: Sequence[Message], language: Language) -> dict[str, str]:
    """The label of each fact's speaker in the memory; a single speaker may have none."""
    alone = len({(each.role, each.name) for each in messages}) == 1
    return {
        fact: each.name or ("" if alone else LABELS[language][each.role])
        for each in messages
        for fact in facts(each.text)
    }


def speakers_shown(packed: Packed, owner: dict[str, str]) -> list[tuple[str, str]]:
    """The facts of the shown memories, each with the speaker that a reader sees."""
    label = re.compile(
        "({})[:：]".format("|".join(map(re.escape, {*owner.values(), "Ann"} - {""})))
    )
    found = []
    items = [item for part in packed.parts for item in part.items]
    for item in items:
        if item.ranked is None or item.ranked.candidate.source is not Source.MEMORY:
            continue
        speaker = ""
        for line in item.text.splitlines():
            content = line.strip().removeprefix("[memory] ").removeprefix("[记忆] ")
            match = label.match(content)
            speaker = match[1] if match else speaker
            found += [(fact, speaker) for fact in facts(content)]
    return found


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), language=st.sampled_from(Language), known=st.booleans())
def test_each_fact_of_a_packed_memory_stands_below_its_speaker(
    data: st.DataObject, language: Language, known: bool
) -> None:
    # "Note:" is distinguished from a name only if the names are known.
    messages = data.draw(talks(language, notes=known))
    text = worded("\n".join(each.text for each in messages), messages, language)
    remembered = memory(1, *(each.seq for each in messages), text=text)
    other_candidates = [message_candidate(each) for each in messages if data.draw(st.booleans())]
    tool_results = [
        message(seq, "x", role=Role.TOOL) for seq in range(90, data.draw(st.integers(90, 94)))
    ]
    materials = Materials(
        None,
        data.draw(st.sampled_from([None, "Does Mary know?", "谁买了？"])),
        interactions(messages) if known else (),
        0,
        in_order(*tool_results, *data.draw(st.permutations([remembered, *other_candidates]))),
        language,
        spans=sentence_spans,
    )
    held = [message_candidate(each) for each in messages if data.draw(st.integers(0, 3)) == 0]
    packed = Packing(materials, held, data.draw(st.integers(40, 240)), words).packed()
    owner = owners(messages, language)
    for fact, speaker in speakers_shown(packed, owner):
        assert speaker == owner[fact], "".join(part.utterance.text for part in packed.parts)
