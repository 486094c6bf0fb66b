"""What the sentence model reads, judged on sentences whose writer saw neither it nor its training.

``training/sentences/guide.md`` says how they are labelled.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memci.message import Message, Role
from memci.smallmodel.offline import change_model, sentence_model
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.e5_files import FOLDER
from memci.smallmodel.offline.sentence_model import FILE, Tokens
from memci.smallmodel.offline.sentence_reader import OfflineSentenceReader
from tests.support.models import built_in_reader

JUDGED = Path(__file__).parents[3] / "training" / "sentences"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def user_says(seq: int, text: str) -> Message:
    return Message(seq, f"m{seq}", Role.USER, text, NOW)


@cache
def judged(language: str) -> tuple[dict[str, Any], ...]:
    files = [JUDGED / f"judged_{language}{part}_sentences.jsonl" for part in ("", "_second")]
    lines = [each for file in files for each in file.read_text("utf-8").splitlines()]
    return tuple(map(json.loads, lines))


def f1(wanted: list[bool], found: list[bool]) -> float:
    right = sum(one and other for one, other in zip(wanted, found, strict=True))
    return 2 * right / (sum(wanted) + sum(found))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_key_messages_of_users_are_found_in_both_languages(language: str):
    rows = [row for row in judged(language) if row["by"] == "user"]
    messages = [user_says(seq, row["text"]) for seq, row in enumerate(rows, 1)]
    kinds = [
        next((each.key for each in read if each.key is not None), None)
        for read in built_in_reader().read(messages)
    ]
    wanted = [row["key"] != "none" for row in rows]
    assert f1(wanted, [kind is not None for kind in kinds]) >= 0.85
    both = [(row["key"], kind) for row, kind in zip(rows, kinds, strict=True) if kind]
    assert sum(one == other for one, other in both) >= 0.8 * len(both)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_types_and_worth_of_sentences_are_found_in_both_languages(language: str):
    rows = [row for row in judged(language) if row["by"] == "user"]
    messages = [user_says(seq, row["text"]) for seq, row in enumerate(rows, 1)]
    read = [found[0] for found in built_in_reader().read(messages)]
    types = [
        max(each.types, key=lambda name: each.types[name])
        if sum(each.types.values()) > 0.5
        else "none"
        for each in read
    ]
    right = sum(str(one) == row["type"] for one, row in zip(types, rows, strict=True))
    assert right >= 0.88 * len(rows)
    kept = [sum(each.worths[name] for name in ("fact", "life", "vital")) >= 0.4 for each in read]
    assert f1([row["worth"] in {"fact", "life", "vital"} for row in rows], kept) >= 0.85


def test_a_sentence_is_read_at_its_place_in_the_text_without_the_name():
    said = "Hi there! I'm allergic to nuts.\n\n我对花生过敏。谢谢"
    message = Message(1, "m", Role.USER, said, NOW, name="Ann")
    (read,) = built_in_reader().read([message])
    assert [said[each.start : each.stop] for each in read] == [
        "Hi there!",
        "I'm allergic to nuts.",
        "我对花生过敏。",
        "谢谢",
    ]


def test_sentences_beyond_one_run_are_read_in_passages():
    rule = "Remember that I am allergic to nuts."
    said = "The weather was fine that day. " * 120 + rule
    (read,) = built_in_reader().read([user_says(1, said)])
    assert said[read[-1].start : read[-1].stop] == rule
    assert read[-1].key is not None
    assert all(one.stop <= other.start for one, other in pairwise(read))


def test_a_message_without_text_has_no_sentences():
    assert built_in_reader().read([user_says(1, " "), user_says(2, "")]) == [[], []]
    assert built_in_reader().read([]) == []


def test_what_was_just_encoded_is_not_read_again(monkeypatch: pytest.MonkeyPatch):
    embedder: OfflineEmbedder = built_in_reader()._embedder
    text = "Never deploy on a Friday."
    embedder.encode([text])

    def no_run(*_: object) -> Tokens:
        raise AssertionError

    monkeypatch.setattr("memci.smallmodel.offline.sentence_model.tokens_of", no_run)
    (read,) = OfflineSentenceReader(embedder).read([user_says(1, text)])
    assert read[0].key is not None
    monkeypatch.undo()


@pytest.mark.parametrize("name", ["Dr. X", "小明！", "Yahoo! Inc", "Dr. X\nB"])
def test_a_name_with_a_full_stop_is_no_sentence(name: str):
    message = Message(1, "m", Role.USER, "I like tea. We met in Oslo.", NOW, name)
    (read,) = built_in_reader().read([message])
    places = [(each.start, each.stop) for each in read]
    assert all(0 <= start < stop <= len(message.text) for start, stop in places)
    assert {stop for _, stop in places} == {11, len(message.text)}
    (changes,) = built_in_reader().topic_changes([message])
    assert len(changes) == len(read)


def test_the_folder_of_the_model_is_named_anew_when_its_weights_change():
    data = resources.files(sentence_model.__package__) / "data"
    content = b"".join((data / name).read_bytes() for name in (FILE, change_model.FILE))
    # The converted model holds these weights: raise the number in FOLDER with the digest.
    assert (FOLDER, sha256(content).hexdigest()[:8]) == ("multilingual-e5-small-15", "2f01405a")
