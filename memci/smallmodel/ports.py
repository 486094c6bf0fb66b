"""The tasks of small models: one Protocol per task.

An adapter is stateless to its caller, safe to call from several threads, and deterministic if it is
offline. It raises ``SmallModelUnavailableError`` when a retry may help and
``SmallModelAnswerError`` when not. A model's answer is data: callers check lengths and ids.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from memci.domain.memory.node import NodeType
from memci.domain.pages.interaction_outline import Outline
from memci.domain.pages.pins import PinKind
from memci.domain.search.late_interaction import QuestionTokens
from memci.domain.token_counts import Count
from memci.language.detection import Language
from memci.language.sentences import Span
from memci.message import Message
from memci.smallmodel.vector_space import Vectors, VectorSpace


@dataclass(frozen=True, slots=True)
class TopicSegment:
    """A semantically whole cut of messages (M3).

    ``seqs`` are its messages, ascending. A long message may be in several segments, each with its
    own part of the text. The segments of one call contain every character of every message's text
    once, in order, except white space at the seams.
    """

    text: str
    seqs: tuple[int, ...]
    language: Language


# Limits of an annotation: characters, and numbers of words.
LONGEST_PHRASE, LONGEST_KEYWORD = 80, 64
MOST_KEYWORDS, MOST_ENTITIES = 12, 4


@dataclass(frozen=True, slots=True)
class Annotation:
    """The annotation of a text (M4), within the limits above.

    ``phrase``: a summary in a few words. ``keywords``: nouns or pronouns that name a thing or a
    field, best first. ``entities``: the key entities among them, best first, never a pronoun.
    """

    phrase: str
    keywords: tuple[str, ...]
    entities: tuple[str, ...]
    type: NodeType


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a text for the long term (R3)."""

    eligible: bool  # it holds a decision, a preference, a fact, a plan, a lesson or a correction
    worth: float  # 0 to 10


class Segmenter(Protocol):
    """Cuts messages into topic segments (M3)."""

    def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        """Cut ``messages`` (ascending seq); messages without text give nothing.

        ``vectors`` are those of the messages' texts, shape (len(messages), d), zero rows for
        messages without text: one embedding pass serves cutting, messages and nodes.
        """
        ...


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence at [start, stop) of a message's text, in characters.

    ``key``: its kind if it is a key message (R7). ``types``: how likely a memory of it is of each
    type; the rest of 1 is small talk and questions (M4). ``worths``: how likely it is talk, trifle,
    remark, fact, life or vital (R3). ``news``: how likely it ends what was told before (R6).
    """

    start: int
    stop: int
    key: PinKind | None
    types: Mapping[NodeType, float]
    worths: Mapping[str, float]
    news: float


class Annotator(Protocol):
    """Annotates texts (M4)."""

    def annotate(
        self, texts: Sequence[str], sentences: Sequence[Sequence[ReadSentence]] = ()
    ) -> list[Annotation]:
        """Annotate each text by itself; as many answers as texts, in their order.

        ``sentences``: none, or of each text those that were read in its messages.
        """
        ...


class RelationNamer(Protocol):
    """Names the relation of a memory to a focus point (M6)."""

    def names(self, text: str, focus: Sequence[str], language: Language) -> list[str]:
        """Return a relation such as "about" or "关于" for each focus point, in their order.

        In ``language``; 1 to 32 characters each.
        """
        ...


class SentenceReader(Protocol):
    """Reads what the sentences of messages are."""

    def read(self, messages: Sequence[Message]) -> list[list[ReadSentence]]:
        """Return the sentences of each message in order; none for a message without text."""
        ...


class TextPair(NamedTuple):
    """An older and a newer text, each with its speaker: "Ann: I live in Bern".

    The bits are those of each message's tokens (E8), empty where none are known. ``news``: how
    likely the newer text ends anything.
    """

    older: str
    newer: str
    older_bits: Sequence[bytes] = ()
    newer_bits: Sequence[bytes] = ()
    news: float = 0.5


class ChangeReader(Protocol):
    """Reads which facts hold no more (R6)."""

    @property
    def bits_of(self) -> str:
        """The embedder whose bits it reads; "" for none."""
        ...

    def ended(self, pairs: Sequence[TextPair]) -> list[list[Span]]:
        """Return the clauses of each older text that hold no more once the newer one is said.

        Spans are [start, stop) in characters of the older text, some of its
        ``spans_without_labels``.
        """
        ...


class Compressor(Protocol):
    """Shortens texts (M12)."""

    @property
    def at_once(self) -> int:
        """Number of texts whose calls are counted together, before the first call (M13).

        1 if a call costs something, because a process that dies has counted all of them.
        """
        ...

    def compress(self, text: str, target: int) -> str:
        """Return ``text`` in at most ``target`` characters (Unicode code points)."""
        ...


class Judge(Protocol):
    """Judges texts for the long term (R3)."""

    def judge(
        self,
        texts: Sequence[str],
        summaries: Sequence[str] = (),
        sentences: Sequence[Sequence[ReadSentence]] = (),
    ) -> list[Judgement]:
        """Judge each text by itself; as many answers as texts, in their order.

        ``summaries``: none, or for each text its session's summary ("" if there is none), which
        helps to understand the text and is not judged itself. ``sentences``: as for an annotator.
        """
        ...


class Summarizer(Protocol):
    """Outlines interactions (P6, P7), and summarises sessions (R8)."""

    def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
        """Return the name, the description and a line for each message of an interaction.

        ``messages``: at least one, ascending seq, none of the system's. ``language`` is that of
        the roles at the beginning of lines; other text is in the messages' language. ``count``
        counts tokens: at most 24 for the name, 60 for the description and 40 for a line.
        """
        ...

    def summarize(self, messages: Sequence[Message], previous: str, target: int) -> str:
        """Return a summary of at most ``target`` characters, in place of the ``previous`` one.

        ``messages`` (ascending seq) are those since ``previous`` ("" at first). The summary keeps
        decisions, and one line for each tool result. It is empty only if there is nothing to
        summarise, or ``target`` is 0.
        """
        ...


class QueryPlanner(Protocol):
    """Plans the searches for a question that needs several (R10)."""

    def plan(self, text: str, language: Language) -> list[str]:
        """Return at most 4 questions that together ask for the same as ``text``, in ``language``.

        Each has 1 to 300 characters and differs from ``text``. Empty if one search is enough.
        """
        ...


@runtime_checkable
class Loads(Protocol):
    """An adapter that takes long to load, and can do so before its first call."""

    def load(self) -> None:
        """Load, without a call that costs anything."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors whose cosine is their similarity."""

    @property
    def model(self) -> str:
        """The model's name, stored with every vector."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in one vector."""
        ...

    @property
    def space(self) -> VectorSpace:
        """The space of its vectors, to compare and to pool them."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of texts to be found, shape (len(texts), dimension)."""
        ...

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of questions, shape (len(texts), dimension).

        Some models embed a question in another way than a text.
        """
        ...


@runtime_checkable
class TokenEncoder(Protocol):
    """An embedder that also gives the vectors of tokens, as sign bits (E8).

    The bits of a text are its tokens' one after another, each of the same number of bytes.
    """

    def encode(self, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        """Return the vectors of ``embed``, and the bits of each text's tokens."""
        ...

    def embed_parts(self, parts: Sequence[Sequence[tuple[str, Span]]]) -> Vectors:
        """Return unit vectors of parts of texts, a row for each; texts just encoded cost nothing.

        ``parts``: of each its texts, and [start, stop) in characters of each. A row is zero if
        the embedder does not read that far into the texts.
        """
        ...

    def encode_question(self, text: str) -> tuple[Vectors, QuestionTokens]:
        """Return the vector of a question, shape (dimension,), and its tokens."""
        ...


class TokenCounter(Protocol):
    """Counts tokens exactly, as the named tokenizer does."""

    @property
    def tokenizer(self) -> str:
        """The tokenizer's name, such as ``o200k_base``."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of ``text``; special tokens count as ordinary text."""
        ...

    def pieces(self, text: str) -> list[str]:
        """Cut ``text`` between tokens: the tokens of the pieces are those of the text."""
        ...


class Lexicon(Protocol):
    """Turns text into the terms of the lexical index (R12)."""

    def terms(self, text: str) -> list[str]:
        """Return terms in order, with repeats: English stems, pairs of Chinese characters.

        No term is longer than 64 characters.
        """
        ...
