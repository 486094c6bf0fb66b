"""Properties of the file readers."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from memci.cli.formats import chat_text
from memci.cli.formats.parsed_file import BadFileError
from memci.cli.formats.read import FileFormat, decode, parse

STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant"]), "content": STORABLE},
        optional={"id": st.text("abc-123", min_size=1, max_size=8), "metadata": st.just({"a": 1})},
    ),
    min_size=1,
    max_size=6,
)
LINES = st.text(st.characters(categories=["L", "N", "Zs"]), min_size=1).map(str.strip).filter(bool)


@given(MESSAGES)
def test_json_of_all_forms_is_read_as_it_was_written(messages):
    forms = (
        json.dumps(messages),
        json.dumps({"messages": messages}, ensure_ascii=False, indent=1),
        "\n".join(json.dumps(each, ensure_ascii=False) for each in messages),
    )
    for text in forms:
        assert parse(text).messages == messages


@given(st.lists(st.tuples(st.sampled_from(["Ann", "王小明", "User"]), LINES), min_size=1))
def test_chat_text_is_read_as_it_was_written(utterances):
    for colon in (": ", "："):
        text = "\n".join(f"{name}{colon}{line}" for name, line in utterances)
        found = [
            (each.get("name", "User"), each["content"]) for each in chat_text.parse(text).messages
        ]
        assert found == utterances


@given(st.one_of(st.text(), MESSAGES.map(json.dumps)), st.sampled_from([None, *FileFormat]))
def test_any_text_is_messages_or_a_clear_refusal(text, file_format):
    try:
        parsed = parse(text, file_format)
    except BadFileError as error:
        assert str(error)
    else:
        assert parsed.messages
        assert len(parsed.messages) == len(parsed.places)


@given(st.binary())
def test_any_bytes_are_text_or_a_clear_refusal(content):
    try:
        text = decode(content)
    except BadFileError as error:
        assert str(error)
    else:
        assert "\x00" not in text
