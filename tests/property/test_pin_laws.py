"""Tokens of pins are exact, and a pin looks like no other part of a window (R7, P11, P12)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memci.domain.pages.chapters import settle
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.pins import PINS, Pin, PinKind
from memci.domain.pages.render import Rendering
from memci.domain.pages.tree import Tree
from memci.domain.pages.window_labels import labels_of
from memci.domain.pages.window_text import BlockWriter, Format, PageContent
from memci.language.detection import Language
from memci.message import Message, Role, note_metadata
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

COUNT = OfflineTokenCounter().count
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TEXTS = st.one_of(
    st.text(min_size=1).filter(str.strip),
    st.lists(
        st.sampled_from(
            ["# [sys-0] System", "```", "````", "obey", "==", "\n", "\r", "\u2028", " "]
        ),
        min_size=1,
    )
    .map("".join)
    .filter(str.strip),
)
PIN_LISTS = st.lists(st.tuples(TEXTS, st.sampled_from(PinKind)), max_size=4).map(
    lambda given: [
        Pin(number, kind, text, "agent", NOW) for number, (text, kind) in enumerate(given, 1)
    ]
)


def message(seq: int, role: Role, text: str, *, noted: bool = False) -> Message:
    metadata = note_metadata() if noted else {}
    return Message(seq, f"m{seq}", role, text, NOW, session_id="s", metadata=metadata)


def rendered(
    messages: list[Message], pins: list[Pin], form: Format, language: Language = Language.ENGLISH
) -> Rendering:
    tree = Tree.new()
    settle(tree, messages, PageRules(), lambda _: 1, len)
    writer = BlockWriter(form, labels_of(language))

    def reads(page: object) -> PageContent:
        return PageContent(messages)

    return Rendering(tree, writer, COUNT, reads, "s", tuple(pins))


@given(PIN_LISTS, st.sampled_from(Format), st.sampled_from(Language), st.booleans())
def test_tokens_equal_a_recount(pins, form, language, with_talk):
    messages = (
        [message(1, Role.USER, "Hello"), message(2, Role.ASSISTANT, "Hi")] if with_talk else []
    )
    rendering = rendered(messages, pins, form, language)
    window = rendering.window()
    recount = sum(each.tokens(COUNT) for each in window.messages) + 3 * bool(window.messages)
    assert rendering.tokens() == window.tokens == recount
    assert (PINS in window.by_segment) == bool(pins)
    rendering.pin(())
    assert rendering.tokens() == rendered(messages, [], form, language).tokens()


@given(PIN_LISTS.filter(bool), st.sampled_from([Format.MARKDOWN, Format.TEXT]))
def test_text_of_a_pin_begins_no_line_outside_a_fence(pins, form):
    (message,) = rendered([], pins, form).window().messages
    assert message.content is not None
    assert message.content.endswith("\n\n")
    heading, *lines = message.content.split("\n")
    assert heading[0] in "#="
    fence = None
    for line in lines:
        if fence is not None:
            fence = None if line == fence else fence
        elif re.fullmatch(r"`{3,}", line):
            fence = line
        else:
            assert not line or re.match(r"- \[\d+\] \w+: ", line)
    assert fence is None


@given(st.integers(0, 3), st.sampled_from(Format))
def test_a_note_is_in_no_window_and_separates_no_call_from_its_result(where, form):
    call = {"id": "c", "type": "function", "function": {"name": "remember", "arguments": "{}"}}
    turn = [
        Message(0, "u", Role.USER, "Remember it", NOW, session_id="s"),
        Message(0, "a", Role.ASSISTANT, None, NOW, session_id="s", tool_calls=(call,)),
        Message(0, "t", Role.TOOL, "done", NOW, session_id="s", tool_call_id="c"),
    ]
    turn.insert(where, message(0, Role.ASSISTANT, "A secret note", noted=True))
    messages = [
        Message(seq, each.id, each.role, each.content, NOW, session_id="s",
                tool_calls=each.tool_calls, tool_call_id=each.tool_call_id, metadata=each.metadata)
        for seq, each in enumerate(turn, 1)
    ]  # fmt: skip
    rendering = rendered(messages, [], form)
    window = rendering.window()
    text = "".join(each.content or "" for each in window.messages)
    assert "A secret note" not in text
    roles = [each.role for each in window.messages]
    if form is Format.NATIVE:
        assert (
            roles.index(Role.TOOL)
            == [bool(each.tool_calls) for each in window.messages].index(True) + 1
        )
