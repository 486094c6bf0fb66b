"""Topic segments of a job's messages: filtered, cut and annotated (M3, M4, R1, R2, M26)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np

from memci.domain.memory import message_filter
from memci.domain.memory.creation import AnnotatedSegment
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.passage import Passage, Span, solid_length, stretches
from memci.domain.memory.self_contained_text import question_answered_by, worded
from memci.domain.pages.tree import Viewer
from memci.errors import SmallModelAnswerError
from memci.jobs.index import MessageTexts
from memci.language.detection import language_of
from memci.language.names import key_entities
from memci.message import Message, Role
from memci.smallmodel.ports import (
    LONGEST_KEYWORD,
    LONGEST_PHRASE,
    MOST_ENTITIES,
    MOST_KEYWORDS,
    Annotation,
    Embedder,
    Judgement,
    ReadSentence,
    TokenEncoder,
    TopicSegment,
)
from memci.smallmodel.registry import SmallModels
from memci.smallmodel.vector_space import Vectors, VectorSpace
from memci.storage import receipts
from memci.storage.messages import Earlier, said_before
from memci.storage.search.index import Embedded, message_vectors
from memci.storage.session import Connection
from memci.storage.summaries import read_summary

# (session, user, seq of a note): no topic segment spans two of these. A note stands alone; all
# other messages have 0.
Conversation: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Background:
    """The messages of a job by conversation, each in their order, and what came before."""

    conversations: Mapping[Conversation, Sequence[Message]]
    earlier: Mapping[Conversation, Sequence[Earlier]]  # before the first message
    embedded: Embedded  # vectors of the earlier messages, by seq
    summaries: Mapping[Conversation, str] = field(default_factory=dict)  # of sessions (R3)

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

        ``together``: one memory was made of all of them, notes included.
        """
        groups = conversations(messages, together=together)
        firsts = {key: group[0] for key, group in groups.items() if not group[0].is_note}
        said = said_before(connection, agent_id, firsts.values(), reach)
        earlier: dict[Conversation, list[Earlier]] = {key: [] for key in groups}
        for key, first in firsts.items():
            earlier[key] = [each for each in said[first.seq] if can_be_memory(each.message)]
        seqs = [each.message.seq for group in earlier.values() for each in group]
        embedded = Embedded(*message_vectors(connection, agent_id, seqs, model), model)
        summaries: dict[Conversation, str] = {}
        for key in groups:
            session, user, _ = key
            viewer = Viewer(session or None, user or None)
            summary = read_summary(connection, agent_id, session or None, viewer)
            if summary is not None:
                summaries[key] = summary.text
        return cls(groups, earlier, embedded, summaries)


def can_be_memory(message: Message) -> bool:
    """Return True if a message has text and is no system prompt."""
    return message.role is not Role.SYSTEM and bool(message.text.strip())


def conversations(
    messages: Iterable[Message], *, together: bool = False
) -> dict[Conversation, list[Message]]:
    """Return the messages that can become memories by conversation, each in their order.

    A note is a conversation of its own, unless ``together``.
    """

    def conversation(message: Message) -> Conversation:
        alone = message.is_note and not together
        return message.session_id or "", message.user_id or "", message.seq if alone else 0

    memorable = sorted(filter(can_be_memory, messages), key=conversation)
    return {key: list(group) for key, group in groupby(memorable, key=conversation)}


# What was read in messages, by seq.
ReadSentences: TypeAlias = Mapping[int, Sequence[ReadSentence]]


def read_sentences(models: SmallModels, messages: Sequence[Message]) -> ReadSentences:
    """Read the sentences of messages."""
    read = models.sentences.read(messages)
    return {message.seq: own for message, own in zip(messages, read, strict=True)}


def refusals(
    texts: MessageTexts,
    sentences: ReadSentences,
    background: Background,
    parameters: MemoryParameters,
    wanted: Collection[int],
) -> dict[int, message_filter.FilterReason]:
    """Return why messages make no memory, by seq (R1, R2); ``wanted`` ones always make one."""
    refused = {}
    status = message_filter.Status
    known = dict(zip(background.embedded.keys, background.embedded.vectors, strict=True))
    none = np.zeros(texts.vectors.shape[1], dtype=np.float32)
    for key, messages in background.conversations.items():
        earlier = background.earlier[key]
        utterances = [
            _utterance(each.message, status.REMEMBERED if each.made else status.REFUSED)
            for each in earlier
        ]
        for each in messages:
            own = status.WANTED if each.seq in wanted else status.CANDIDATE
            # The probability for its most telling sentence.
            talk = min((one.worths["talk"] for one in sentences[each.seq]), default=0.0)
            utterances.append(_utterance(each, own, talk))
        rows = [known.get(each.message.seq, none) for each in earlier]
        vectors = np.vstack([*rows, texts.rows_of(messages)])
        similarity = _similarity(vectors, texts.space)
        reasons = message_filter.filter_reasons(utterances, similarity, parameters)
        for message, reason in zip(messages, reasons[len(earlier) :], strict=True):
            if reason is not None:
                refused[message.seq] = reason
    return refused


def _similarity(vectors: Vectors, space: VectorSpace) -> Callable[[int, int], float]:
    return lambda one, other: space.likeness(float(vectors[one] @ vectors[other]))


def _utterance(
    message: Message, status: message_filter.Status, talk: float = 0.0
) -> message_filter.Utterance:
    speaker = (message.role, message.name or "")
    calls = bool(message.tool_calls)
    return message_filter.Utterance(message.text, speaker, status, calls=calls, talk=talk)


# A user who repeats something makes a copy (M9).
_ECHOING = frozenset({Role.ASSISTANT, Role.TOOL})


def find_echoes(
    connection: Connection, agent_id: str, messages: Sequence[Message]
) -> frozenset[int]:
    """Return the seqs of messages that repeat what the agent was just given (M26).

    A receipt holds none of the words that were given: these are read from the messages, which
    never change, and from the memories as they are now.
    """
    said = {m.seq: message_filter.grams(m.text) for m in messages if m.role in _ECHOING}
    said = {seq: grams for seq, grams in said.items() if grams}
    if not said:
        return frozenset()
    given = receipts.earlier_receipts(connection, agent_id, min(said), max(said))
    if not given.receipts:
        return frozenset()
    seqs = sorted({seq for receipt in given.receipts for seq in receipt.messages})
    nodes = sorted({node for receipt in given.receipts for node in receipt.nodes})
    # Each given text is read once; of its 5-grams only those that were said are kept.
    relevant = frozenset(gram for grams in said.values() for gram in grams)
    in_messages, in_nodes = (
        {key: relevant.intersection(message_filter.grams(text)) for key, text in texts}
        for texts in (
            receipts.messages_given(connection, agent_id, seqs),
            receipts.memories_given(connection, agent_id, nodes),
        )
    )

    def grams_of(receipt: receipts.ReceiptReferences) -> Iterator[frozenset[message_filter.Gram]]:
        yield from (in_messages[seq] for seq in receipt.messages if seq in in_messages)
        yield from (in_nodes[node] for node in receipt.nodes if node in in_nodes)

    return frozenset(
        seq
        for seq, grams in said.items()
        if message_filter.is_echo(grams, (grams_of(receipt) for receipt in given.before(seq)))
    )


class Part(NamedTuple):
    """A message of a segment, and those of its sentences that the segment has."""

    message: Message
    sentences: Sequence[ReadSentence]


@dataclass(frozen=True, slots=True)
class Segments:
    """Annotated segments in the order of the messages, with a vector and a judgement each."""

    segments: list[AnnotatedSegment]
    vectors: Vectors
    judgements: list[Judgement]
    parts: list[Sequence[Part]]


@dataclass(frozen=True, slots=True)
class _Cut:
    """A segment that is not annotated yet."""

    segment: TopicSegment
    messages: Sequence[Message]  # cut down to the text of the segment
    question: Message | None  # that the segment answers
    span: Span
    parts: Sequence[Part]
    speakers: frozenset[str]  # names of those who speak in the conversation
    summary: str  # of the session so far


def annotated_segments(
    models: SmallModels,
    texts: MessageTexts,
    sentences: ReadSentences,
    background: Background,
    refused: Collection[int],
) -> Segments:
    """Cut the messages, without the ``refused`` ones, into segments; annotate and judge them."""
    cuts: list[_Cut] = []
    for key, messages in background.conversations.items():
        accepted = [message for message in messages if message.seq not in refused]
        if accepted:
            conversation = [*(each.message for each in background.earlier[key]), *messages]
            summary = background.summaries.get(key, "")
            cuts += _cuts(models, texts, sentences, accepted, conversation, summary)
    cuts.sort(key=lambda cut: cut.segment.seqs[0])
    segments = [cut.segment for cut in cuts]
    said = [segment.text for segment in segments]
    read = [[each for part in cut.parts for each in part.sentences] for cut in cuts]
    annotations = models.annotator.annotate(said, read)
    annotated = [_annotated(*each) for each in zip(cuts, annotations, strict=True)]
    # A summary helps to judge the segments of its session; it becomes no memory itself (R3).
    judgements = models.judge.judge(said, [cut.summary for cut in cuts], read)
    vectors = _vectors(models.embedder, texts, cuts)
    return Segments(annotated, vectors, judgements, [cut.parts for cut in cuts])


def _cuts(
    models: SmallModels,
    texts: MessageTexts,
    sentences: ReadSentences,
    messages: Sequence[Message],
    conversation: Sequence[Message],
    summary: str,
) -> Iterator[_Cut]:
    stated = messages[0].text.strip() if messages[0].stated else None
    if stated is None:
        cut = models.segmenter.segment(messages, texts.rows_of(messages))
        _check_cut(messages, cut)
    else:  # a note that stands alone; what a person states is one memory
        cut = [TopicSegment(stated, (messages[0].seq,), language_of(stated))]
    places = {message.seq: place for place, message in enumerate(conversation)}
    lengths = [solid_length(segment.text) for segment in cut]
    texts_by_seq = {message.seq: message.text for message in messages}
    speakers = frozenset(
        each.name for each in conversation if each.name and each.role is not Role.TOOL
    )
    for each, stretch in zip(cut, stretches(texts_by_seq, lengths), strict=True):
        if tuple(stretch.parts) != tuple(each.seqs):
            raise SmallModelAnswerError("the segmenter named other messages than its text is from")
        first = places[each.seqs[0]]
        question = question_answered_by(conversation[first], conversation[:first])
        cut_down = [
            replace(conversation[places[seq]], content=part, tool_calls=())
            for seq, part in stretch.parts.items()
        ]
        parts = [
            Part(conversation[places[seq]], _between(sentences[seq], *place))
            for seq, place in stretch.places.items()
        ]
        # With the original blanks, as the text is cut out again when it is restored (M24).
        segment = replace(each, text=stretch.text)
        yield _Cut(segment, cut_down, question, stretch.span, parts, speakers, summary)


def _between(sentences: Sequence[ReadSentence], start: int, stop: int) -> list[ReadSentence]:
    return [each for each in sentences if each.start < stop and each.stop > start]


def _check_cut(messages: Sequence[Message], cut: Sequence[TopicSegment]) -> None:
    """Check what M3 requires: no text lost, none invented, sources named."""
    seqs = {message.seq for message in messages}
    if not all(segment.seqs and seqs.issuperset(segment.seqs) for segment in cut):
        raise SmallModelAnswerError("the segmenter named messages that it was not given")
    if not all(segment.text.strip() for segment in cut):
        raise SmallModelAnswerError("the segmenter made a segment without text")
    given = "".join("".join(message.text.split()) for message in messages)
    if "".join("".join(segment.text.split()) for segment in cut) != given:
        raise SmallModelAnswerError("the segmenter lost or invented text")


def _annotated(cut: _Cut, annotation: Annotation) -> AnnotatedSegment:
    """Put a segment and its annotation together; cut the model's answers to their limits."""
    segment, first = cut.segment, cut.messages[0]
    keywords = _words(annotation.keywords)[:MOST_KEYWORDS]
    quoted = (cut.question.seq,) if cut.question else ()
    return AnnotatedSegment(
        text=worded(segment.text, cut.messages, segment.language, cut.question),
        seqs=segment.seqs,
        language=segment.language,
        phrase=_line(annotation.phrase)[:LONGEST_PHRASE].strip(),
        keywords=keywords,
        entities=key_entities(_words(annotation.entities)[:MOST_ENTITIES], keywords, cut.speakers),
        type=annotation.type,
        session_id=first.session_id,
        user_id=first.user_id,
        said_at=first.said_at,
        quoted=quoted,
        passages=(Passage(segment.seqs, cut.span, quoted),),
    )


def _words(words: Sequence[str]) -> tuple[str, ...]:
    lines = (_line(word) for word in words)
    return tuple(dict.fromkeys(line for line in lines if 0 < len(line) <= LONGEST_KEYWORD))


def _line(text: str) -> str:
    return " ".join(text.replace("\x00", "").split())


def _vectors(embedder: Embedder, texts: MessageTexts, cuts: Sequence[_Cut]) -> Vectors:
    """Pool the vectors of segments made of whole messages; embed those with parts of messages."""
    rows = {message.seq: row for row, message in enumerate(texts.messages)}
    weights = np.array([len(message.text) for message in texts.messages], dtype=np.float32)
    uses = Counter(seq for cut in cuts for seq in cut.segment.seqs)
    sums = np.zeros((len(cuts), texts.vectors.shape[1]), dtype=np.float32)
    totals = np.zeros(len(cuts), dtype=np.float32)
    parts = []
    for place, cut in enumerate(cuts):
        seqs = cut.segment.seqs
        own = [rows[seq] for seq in seqs]
        if texts.vectors[own].any(axis=1).all() and all(uses[seq] == 1 for seq in seqs):
            sums[place] = weights[own] @ texts.vectors[own]
            totals[place] = weights[own].sum()
        else:
            parts.append(place)
    vectors = texts.space.pooled(sums, totals)
    if isinstance(embedder, TokenEncoder):
        vectors[parts] = embedder.embed_parts(
            [[_place(part) for part in cuts[place].parts] for place in parts]
        )
    parts = np.flatnonzero(~vectors.any(axis=1)).tolist()
    vectors[parts] = embedder.embed([cuts[place].segment.text for place in parts])
    return vectors


def _place(part: Part) -> tuple[str, tuple[int, int]]:
    """Return the searched text of a part's message, and the place of the part in it."""
    searched = part.message.searched
    name = len(searched) - len(part.message.text)
    if not part.sentences:
        return searched, (0, 0)
    return searched, (name + part.sentences[0].start, name + part.sentences[-1].stop)
