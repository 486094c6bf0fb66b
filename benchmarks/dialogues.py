"""Reads public conversations: topic segments, and questions with their evidence."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from memci.language import chinese_words
from memci.language.detection import Language
from memci.language.word_weights import weigh
from memci.message import Message, Role

_WHEN = datetime(2026, 1, 1, tzinfo=UTC)
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + "‘’“”–—…", " "))
_DROPPED = frozenset(("a", "an", "the", "and"))
# Longer answers are opinions and lists; adversarial (5) and open (3) questions have none.
_LONGEST_ANSWER = 6
_ANSWERED = frozenset((1, 2, 4))
_CLAUSE_END = re.compile("[，。！？；,!?]")
_OF_HIMSELF = re.compile("(?:今天|昨天|最近)?我")
_ASKS_OR_THANKS = re.compile("吗|什么|觉得|谢谢|感谢")
_MOST_NOUNS = 3


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Utterances, and for each whether a topic segment ends after it."""

    utterances: tuple[str, ...]
    ends: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance; ``session`` numbers are those of the source."""

    id: str
    session: int
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """Words that answer a question, and the turns that have them."""

    words: frozenset[str]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, questions about them, and statements of users about themselves."""

    turns: tuple[Turn, ...]
    cases: tuple[Case, ...]
    statements: tuple[Case, ...] = ()

    def sessions(self) -> Iterator[list[Turn]]:
        """Yield the turns of each session."""
        for _, turns in groupby(self.turns, key=lambda turn: turn.session):
            yield list(turns)


def messages_of(texts: Sequence[str]) -> list[Message]:
    """Return the texts of two who take turns as messages of one session, as a job gets them."""
    return [
        Message(seq, str(seq), (Role.USER, Role.ASSISTANT)[(seq - 1) % 2], text, _WHEN)
        for seq, text in enumerate(texts, start=1)
    ]


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that count in an answer."""
    return frozenset(text.lower().translate(_PUNCTUATION).split()) - _DROPPED


def dialogues(path: Path) -> list[Dialogue]:
    """Read ``[{"utterances": […], "segments": [lengths]}, …]``."""
    return [_dialogue(each["utterances"], each["segments"]) for each in _read(path)]


def locomo(path: Path) -> list[Conversation]:
    """Read LoCoMo's file; the caption of a shared photo counts as spoken text."""
    return [_locomo(each["conversation"], each["qa"]) for each in _read(path)]


def memorybank(path: Path) -> list[Conversation]:
    """Read Chinese exchanges, which have questions without answers.

    So the words of a question that are in its evidence must survive. Since questions are few and
    use common words, each statement of a user about himself is a case as well; its words are its
    nouns by the dictionary.
    """
    return [_memorybank(each["exchanges"], each["questions"]) for each in _read(path)]


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _dialogue(utterances: Sequence[str], lengths: Sequence[int]) -> Dialogue:
    ends = [False] * len(utterances)
    end = 0
    for length in lengths[:-1]:
        end += length
        ends[end - 1] = True
    return Dialogue(tuple(utterances), tuple(ends))


def _locomo(source: dict[str, Any], asked: Sequence[dict[str, Any]]) -> Conversation:
    numbers = sorted(int(key[8:]) for key in source if re.fullmatch(r"session_\d+", key))
    turns = tuple(
        Turn(each["dia_id"], number, f"{each['speaker']}: {_said(each)}")
        for number in numbers
        for each in source[f"session_{number}"]
    )
    known = {turn.id for turn in turns}
    cases = []
    for question in asked:
        words = words_of(str(question.get("answer", "")))
        pairs = [_EVIDENCE.findall(each) for each in question["evidence"]]
        evidence = [f"D{int(s)}:{int(n)}" for found in pairs for s, n in found]
        if question["category"] in _ANSWERED and 0 < len(words) <= _LONGEST_ANSWER:
            cases.append(Case(words, tuple(each for each in evidence if each in known)))
    return Conversation(turns, tuple(cases))


def _said(turn: dict[str, Any]) -> str:
    text, caption = turn["text"].strip(), turn.get("blip_caption")
    return f"{text} [photo: {caption.strip()}]" if caption else text


def _memorybank(
    exchanges: Sequence[dict[str, Any]], asked: Sequence[dict[str, Any]]
) -> Conversation:
    turns = tuple(
        Turn(each["id"], int(each["id"][1:].split(":")[0]), f"{each['user']}\n{each['assistant']}")
        for each in exchanges
    )
    text = {turn.id: turn.text for turn in turns}
    cases = []
    for question in asked:
        evidence = tuple(question["evidence"])
        evidence_text = "\n".join(text[each] for each in evidence)
        telling = {w.text for w in weigh(question["question"], Language.CHINESE) if w.weight > 0}
        words = frozenset(word for word in telling if len(word) > 1 and word in evidence_text)
        if words:
            cases.append(Case(words, evidence))
    statements = [
        Case(words, (each["id"],)) for each in exchanges for words in _statements(each["user"])
    ]
    return Conversation(turns, tuple(cases), tuple(statements))


def _statements(text: str) -> Iterator[frozenset[str]]:
    """Yield the first nouns of each clause in which the speaker speaks about himself."""
    for clause in _CLAUSE_END.split(text):
        if _OF_HIMSELF.match(clause) and not _ASKS_OR_THANKS.search(clause):
            tagged = chinese_words.tagged_words(clause)
            nouns = [each.text for each in tagged if each.tag.startswith("n")]
            if words := frozenset([each for each in nouns if len(each) > 1][:_MOST_NOUNS]):
                yield words
