"""What memci asks of small models: one Protocol per task.

An adapter is stateless to its caller, safe to call from several threads, and deterministic
where it is offline. It raises ``SmallModelUnavailableError`` when a call is worth repeating and
``SmallModelAnswerError`` when it is not. What a model answers is data: callers check lengths
and ids themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from memci.domain.context.token_budget import Count
from memci.domain.memory.node import NodeType
from memci.domain.pages.outline import Outline
from memci.language.detection import Language
from memci.language.worth import Judgement
from memci.message import Message

# Shape (n, dimension), unit length rows.
Vectors: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TopicSegment:
    """A semantically whole cut of messages (M3).

    ``seqs`` are the messages that it came from, ascending; a long message may lie in several
    segments, and then each holds its own part of the text. Over all segments of one call every
    character of every message's text is there once, in order, save white space at the seams.
    """

    text: str
    seqs: tuple[int, ...]
    language: Language


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a text is about (M4).

    ``phrase``: a few words that sum it up, at most 80 characters. ``keywords``: nouns or pronouns
    that name a thing or a field, best first, at most 12, none longer than 64 characters.
    ``entities``: the key entities among them, best first, at most 4, never a pronoun.
    """

    phrase: str
    keywords: tuple[str, ...]
    entities: tuple[str, ...]
    type: NodeType


class Segmenter(Protocol):
    """Cuts messages into topic segments (M3)."""

    def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        """Cut ``messages`` (ascending seq); messages without text give nothing.

        ``vectors`` are those of the messages' texts, shape (len(messages), d), zero rows for
        messages without text: one embedding pass serves cutting, messages and nodes.
        """
        ...


class Annotator(Protocol):
    """Says what texts are about (M4)."""

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """Annotate each text by itself; as many answers as texts, in their order."""
        ...


class RelationNamer(Protocol):
    """Names how a memory relates to a focus point (M6)."""

    def names(self, text: str, focus: Sequence[str], language: Language) -> list[str]:
        """Return a relation such as "about" or "关于" for each focus point, in their order.

        In ``language``; 1 to 32 characters each.
        """
        ...


class Compressor(Protocol):
    """Says the same in fewer characters (M12)."""

    @property
    def at_once(self) -> int:
        """Texts of which the calls are counted together, before the first is made (M13).

        1 where a call costs something: a process that dies in the middle has counted them all.
        """
        ...

    def compress(self, text: str, target: int) -> str:
        """Return at most ``target`` characters (Unicode code points) of what ``text`` says."""
        ...


class Judge(Protocol):
    """Says what is worth keeping for the long term (R3)."""

    def judge(self, texts: Sequence[str], summaries: Sequence[str] = ()) -> list[Judgement]:
        """Judge each text by itself; as many answers as texts, in their order.

        ``summaries``: none, or for each text its session's summary ("" where there is none); it
        helps to understand the text and is not judged itself.
        """
        ...


class Summarizer(Protocol):
    """Says in brief what was said: in an interaction (P6, P7), or in a session so far (R8)."""

    def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
        """Return what an interaction is called and was about, and a line for each message.

        ``messages``: at least one, ascending seq, none of the system's. ``language`` is that of
        the roles that lines begin with; the rest is in the messages' own. ``count`` counts tokens:
        at most 24 for the name, 60 for the description and 40 for a line.
        """
        ...

    def summarize(self, messages: Sequence[Message], previous: str, target: int) -> str:
        """Return a summary of at most ``target`` characters, in place of the ``previous`` one.

        ``messages`` (ascending seq) are those said since ``previous`` was made ("" at first). It
        keeps decisions, and one line for each tool result. Empty only when there is nothing to
        sum up, or ``target`` is 0.
        """
        ...


class QueryPlanner(Protocol):
    """Says what to search for, to answer a question that needs several things (R10)."""

    def plan(self, text: str, language: Language) -> list[str]:
        """Return at most 4 questions that together ask what ``text`` asks, in ``language``.

        None of them is ``text`` itself; each has 1 to 300 characters. Empty: ``text`` needs no more
        than one search.
        """
        ...


@runtime_checkable
class Loads(Protocol):
    """An adapter that takes long to get ready, and can do so before its first call."""

    def load(self) -> None:
        """Get ready, without a call that costs anything."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors whose cosine is their similarity."""

    @property
    def model(self) -> str:
        """The model's name, stored beside every vector."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in one vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), dimension); an empty list gives shape (0, d).

        A text longer than the model reads is the mean of its windows.
        """
        ...


class TokenCounter(Protocol):
    """Counts tokens exactly, as the named tokenizer does."""

    @property
    def tokenizer(self) -> str:
        """The tokenizer's name, such as ``o200k_base``."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text``; text that looks like a special token counts as ordinary text."""
        ...

    def pieces(self, text: str) -> list[str]:
        """Cut ``text`` where no token of it can lie across: its tokens are those of the pieces."""
        ...


class Lexicon(Protocol):
    """Turns text into the terms of the lexical index (R12)."""

    def terms(self, text: str) -> list[str]:
        """Return terms in order, with repeats: English stems, Chinese words' character pairs.

        No term is longer than 64 characters.
        """
        ...
