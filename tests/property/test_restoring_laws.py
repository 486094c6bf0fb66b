"""A forgotten memory is restored word for word (M24)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.domain.memory.creation import AnnotatedSegment, Focus, focus_after, linked_entities
from memci.domain.memory.passage import details_of, passages
from memci.jobs.index import MessageTexts
from memci.jobs.restore_memory import original_text
from memci.jobs.segments import (
    Background,
    annotated_segments,
    conversations,
    read_sentences,
)
from memci.language.detection import language_of
from memci.language.names import Entity
from memci.message import Message, Role
from memci.smallmodel.ports import TopicSegment
from memci.smallmodel.vector_space import Vectors
from memci.storage.search.index import Embedded
from tests.support.examples import examples
from tests.support.models import ScriptedModels
from tests.support.pure_network import segment

BEGIN = datetime(2026, 3, 6, 9, tzinfo=UTC)
SAID = st.sampled_from([
    "Where did you move last week?", "Oslo", "Yes, since 2016", "No.\n\nNo.", "Do  you\tlike it?",
    "I saw Ann yesterday. She was at the lake, and then we left on Friday.", "ok\u3000ok ", "?",
    "你上周五搬到哪里了？", "奥斯陆", "是的，两年了", "我昨天见到小明。他说：\n\n下周一来。",
    "好 好\n好",
]) | st.text("ab .?\n我？。", min_size=1, max_size=30)  # fmt: skip
SPEAKERS = st.tuples(st.sampled_from(Role), st.sampled_from([None, "Ann", "小明"]))
CALL = {"function": {"name": "find", "arguments": "{ }"}}


@st.composite
def talks(draw: st.DrawFn) -> list[Message]:
    said = draw(st.lists(st.tuples(SAID, SPEAKERS, st.booleans()), min_size=1, max_size=6))
    return [
        Message(
            seq=seq,
            id=f"m{seq}",
            role=role,
            content=text,
            said_at=BEGIN + timedelta(days=seq),
            name=name,
            session_id="s1",
            tool_calls=(CALL,) if calls else (),
        )
        for seq, (text, (role, name), calls) in enumerate(said, 1)
    ]


@dataclass
class CutsAnywhere:
    """A segmenter that cuts anywhere and puts one blank, or none, between all characters."""

    data: st.DataObject

    def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        del vectors
        solid = [(m.seq, each) for m in messages for each in m.text if not each.isspace()]
        inner = self.data.draw(st.sets(st.integers(1, max(1, len(solid) - 1)), max_size=4))
        ends = [0, *sorted(at for at in inner if at < len(solid)), len(solid)]
        blank = self.data.draw(st.sampled_from(["", " ", "\n\n"]))
        return [self._segment(solid[one:other], blank) for one, other in pairwise(ends)]

    def _segment(self, piece: list[tuple[int, str]], blank: str) -> TopicSegment:
        text = blank.join(each for _, each in piece)
        return TopicSegment(text, tuple(dict.fromkeys(seq for seq, _ in piece)), language_of(text))


def made_of(talk: list[Message], data: st.DataObject) -> list[AnnotatedSegment]:
    """The segments that a creation annotates before it writes memories."""
    models: Any = ScriptedModels()
    models.segmenter = CutsAnywhere(data)
    embedder = models.embedder
    nothing = Embedded([], np.zeros((0, embedder.dimension), dtype=np.float32), embedder.model)
    groups = conversations(talk)
    background = Background(groups, {place: [] for place in groups}, nothing)
    texts = MessageTexts.read(talk, nothing, embedder, models.lexicon)
    refused = data.draw(st.sets(st.sampled_from([each.seq for each in talk])))
    sentences = read_sentences(models, talk)
    return annotated_segments(models, texts, sentences, background, refused).segments


@settings(max_examples=examples(500))
@given(talk=talks(), data=st.data())
def test_a_memory_is_restored_word_for_word(talk: list[Message], data: st.DataObject) -> None:
    by_seq = {each.seq: each for each in talk}
    for made in made_of(talk, data):
        seqs = (*made.quoted, *made.seqs)
        known = passages(seqs, details_of(made.passages))
        original = original_text({seq: by_seq[seq] for seq in seqs}, known)
        assert original.text == made.text
        assert [part.seq for part in original.parts] == list(made.seqs)
        assert known == made.passages


NAMES = st.lists(st.sampled_from("abcdefg"), max_size=5, unique=True)


@settings(max_examples=examples(500))
@given(focus=NAMES, about=st.lists(NAMES, min_size=1, max_size=3), limit=st.integers(0, 6))
def test_a_restored_memory_displaces_no_current_focus(
    focus: list[str], about: list[list[str]], limit: int
) -> None:
    now: Focus = tuple(map(Entity.named, focus[:limit]))
    for names in about:
        restored = replace(segment("told long ago", names), restored=True)
        after = focus_after(now, restored, limit)
        assert after[len(after) - len(now) :] == now
        assert len(after) <= limit
        assert {each.key for each in linked_entities(after, restored)} >= set(names)
        now = after
