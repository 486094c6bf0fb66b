"""From messages of a job to annotated topic segments with their vectors (M3, M4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeAlias

import numpy as np

from memci.domain.memory.creation import AnnotatedSegment
from memci.domain.memory.passage import Passage, Span, solid_length, stretches
from memci.domain.memory.wording import leans_on, worded
from memci.domain.pages.tree import Viewer
from memci.errors import SmallModelAnswerError
from memci.jobs.message_texts import MessageTexts, unit_rows
from memci.language.names import key_entities
from memci.language.worth import Judgement
from memci.message import Message, Role
from memci.smallmodel.ports import Annotation, TopicSegment, Vectors
from memci.smallmodel.registry import SmallModels
from memci.storage.messages import Earlier, said_before
from memci.storage.search_index import Embedded, message_vectors
from memci.storage.session import Connection
from memci.storage.summaries import read_summary

# Session and user: no topic segment spans two of either. The seq of a note, which was said to
# nobody and stands alone; 0 for all else.
Conversation: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Background:
    """The messages of a job by conversation, each in their order, and what was said before.

    ``earlier`` is what came before the first message of each, with vectors by seq; ``summaries``
    tell what their sessions were about so far, where that was summed up (R3).
    """

    conversations: Mapping[Conversation, Sequence[Message]]
    earlier: Mapping[Conversation, Sequence[Earlier]]
    embedded: Embedded
    summaries: Mapping[Conversation, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        connection: Connection,
        agent_id: str,
        messages: Iterable[Message],
        reach: int,
        model: str,
        *,
        together: bool = False,
    ) -> Background:
        """Read at most ``reach`` messages before each conversation, and none before a note.

        ``together``: a memory was made of all of them, of notes among them, too.
        """
        groups = conversations(messages, together=together)
        firsts = {place: group[0] for place, group in groups.items() if not group[0].is_note}
        said = said_before(connection, agent_id, firsts.values(), reach)
        earlier: dict[Conversation, list[Earlier]] = {place: [] for place in groups}
        for place, first in firsts.items():
            earlier[place] = [each for each in said[first.seq] if tells(each.message)]
        seqs = [each.message.seq for group in earlier.values() for each in group]
        embedded = Embedded(*message_vectors(connection, agent_id, seqs, model), model)
        return cls(groups, earlier, embedded, _summaries(connection, agent_id, groups))


def _summaries(
    connection: Connection, agent_id: str, places: Iterable[Conversation]
) -> dict[Conversation, str]:
    """Return what is summed up of these conversations' sessions in sight of their users."""
    found: dict[Conversation, str] = {}
    for place in places:
        session, user, _ = place
        viewer = Viewer(session or None, user or None)
        summary = read_summary(connection, agent_id, session or None, viewer)
        if summary is not None:
            found[place] = summary.text
    return found


def tells(message: Message) -> bool:
    """Tell whether a message can become a memory: it has text and is no system prompt.

    A system prompt says what an agent is to be; it is not a memory of what happened.
    """
    return message.role is not Role.SYSTEM and bool(message.text.strip())


def conversations(
    messages: Iterable[Message], *, together: bool = False
) -> dict[Conversation, list[Message]]:
    """Return the messages that can become memories by conversation, each in their order.

    A note is one by itself, unless what was told in one memory is taken ``together``.
    """

    def conversation(message: Message) -> Conversation:
        alone = message.is_note and not together
        return message.session_id or "", message.user_id or "", message.seq if alone else 0

    told = sorted(filter(tells, messages), key=conversation)
    return {key: list(group) for key, group in groupby(told, key=conversation)}


_LONGEST_PHRASE = 80
_LONGEST_KEYWORD = 64
_MOST_KEYWORDS = 12
_MOST_ENTITIES = 4
# Characters. Embedding such a text both whole and in parts would take twice as long.
_LONG = 4_000


@dataclass(frozen=True, slots=True)
class Segments:
    """Annotated segments in the order of what was said, a vector and a judgement for each."""

    segments: list[AnnotatedSegment]
    vectors: Vectors
    judgements: list[Judgement]

    def parts(self) -> Iterator[tuple[int, str, Vectors]]:
        """Return (seq, text, vector) of segments, once for each message that they came from."""
        for segment, vector in zip(self.segments, self.vectors, strict=True):
            for seq in segment.seqs:
                yield seq, segment.text, vector


def is_long(message: Message) -> bool:
    """Tell whether a message lies in so many segments that its vector is pooled from theirs."""
    return len(message.text) > _LONG and tells(message)


@dataclass(frozen=True, slots=True)
class _Cut:
    """A segment, what of each message it came from, and the question that it leans on.

    ``speakers`` are the names of those who speak with each other, ``about`` what their session was
    about so far.
    """

    segment: TopicSegment
    messages: Sequence[Message]
    question: Message | None
    span: Span
    speakers: frozenset[str]
    about: str = ""


def annotated_segments(
    models: SmallModels, texts: MessageTexts, background: Background, refused: Collection[int]
) -> Segments:
    """Cut the messages into segments, annotate and judge them, save the ``refused`` ones (R2).

    No segment spans sessions or users.
    """
    cuts: list[_Cut] = []
    for key, messages in background.conversations.items():
        before = [each.message for each in background.earlier[key]]
        kept = [message for message in messages if message.seq not in refused]
        if kept:
            about = background.summaries.get(key, "")
            cuts += [
                replace(each, about=about)
                for each in _cuts(models, texts, kept, [*before, *messages])
            ]
    cuts.sort(key=lambda cut: cut.segment.seqs[0])
    segments = [cut.segment for cut in cuts]
    said = [segment.text for segment in segments]
    annotations = models.annotator.annotate(said)
    annotated = [_annotated(*each) for each in zip(cuts, annotations, strict=True)]
    # A summary helps to judge what is said beside it, and is made into no memory itself (R3).
    judgements = models.judge.judge(said, [cut.about for cut in cuts])
    return Segments(annotated, _vectors(models, texts, segments), judgements)


def _cuts(
    models: SmallModels,
    texts: MessageTexts,
    messages: Sequence[Message],
    conversation: Sequence[Message],
) -> Iterator[_Cut]:
    cut = models.segmenter.segment(messages, texts.rows_of(messages))
    _check_cut(messages, cut)
    places = {message.seq: place for place, message in enumerate(conversation)}
    lengths = [solid_length(segment.text) for segment in cut]
    texts_by_seq = {message.seq: message.text for message in messages}
    speakers = frozenset(
        each.name for each in conversation if each.name and each.role is not Role.TOOL
    )
    for segment, stretch in zip(cut, stretches(texts_by_seq, lengths), strict=True):
        if tuple(stretch.parts) != tuple(segment.seqs):
            raise SmallModelAnswerError("the segmenter named other messages than its text is from")
        first = places[segment.seqs[0]]
        question = leans_on(conversation[first], conversation[:first])
        parts = [
            replace(conversation[places[seq]], content=part, tool_calls=())
            for seq, part in stretch.parts.items()
        ]
        # Blanks are what they were: so it is cut out again the same when it is restored (M24).
        told = replace(segment, text=stretch.text)
        yield _Cut(told, parts, question, stretch.span, speakers)


def _check_cut(messages: Sequence[Message], cut: Sequence[TopicSegment]) -> None:
    """Hold the segmenter to what M3 promises: no text lost, none invented, sources named."""
    seqs = {message.seq for message in messages}
    if not all(segment.seqs and seqs.issuperset(segment.seqs) for segment in cut):
        raise SmallModelAnswerError("the segmenter named messages that it was not given")
    if not all(segment.text.strip() for segment in cut):
        raise SmallModelAnswerError("the segmenter made a segment without text")
    given = "".join("".join(message.text.split()) for message in messages)
    if "".join("".join(segment.text.split()) for segment in cut) != given:
        raise SmallModelAnswerError("the segmenter lost or invented text")


def _annotated(cut: _Cut, annotation: Annotation) -> AnnotatedSegment:
    """Put a segment and its annotation together; what a model answers is cut to its limits."""
    segment, first = cut.segment, cut.messages[0]
    keywords = _words(annotation.keywords)[:_MOST_KEYWORDS]
    quoted = (cut.question.seq,) if cut.question else ()
    return AnnotatedSegment(
        text=worded(segment.text, cut.messages, segment.language, cut.question),
        seqs=segment.seqs,
        language=segment.language,
        phrase=_line(annotation.phrase)[:_LONGEST_PHRASE].strip(),
        keywords=keywords,
        entities=key_entities(_words(annotation.entities)[:_MOST_ENTITIES], keywords, cut.speakers),
        type=annotation.type,
        session_id=first.session_id,
        user_id=first.user_id,
        said_at=first.said_at,
        quoted=quoted,
        passages=(Passage(segment.seqs, cut.span, quoted),),
    )


def _words(words: Sequence[str]) -> tuple[str, ...]:
    lines = (_line(word) for word in words)
    return tuple(dict.fromkeys(line for line in lines if 0 < len(line) <= _LONGEST_KEYWORD))


def _line(text: str) -> str:
    return " ".join(text.replace("\x00", "").split())


def _vectors(models: SmallModels, texts: MessageTexts, cuts: Sequence[TopicSegment]) -> Vectors:
    """Pool the vectors of segments made of whole messages; embed parts of messages anew."""
    rows = {message.seq: row for row, message in enumerate(texts.messages)}
    weights = np.array([len(message.text) for message in texts.messages], dtype=np.float32)
    uses = Counter(seq for cut in cuts for seq in cut.seqs)
    vectors = np.zeros((len(cuts), texts.vectors.shape[1]), dtype=np.float32)
    parts = []
    for place, cut in enumerate(cuts):
        own = [rows[seq] for seq in cut.seqs]
        whole = texts.vectors[own].any(axis=1).all() and all(uses[seq] == 1 for seq in cut.seqs)
        if whole:
            vectors[place] = weights[own] @ texts.vectors[own]
        else:
            parts.append(place)
    vectors[parts] = models.embedder.embed([cuts[place].text for place in parts])
    return unit_rows(vectors)
