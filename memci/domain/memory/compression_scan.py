"""The scan of a node, its outcome, the cursor of a pass, stored snapshots (M12, M17, M18).

A scan decides by a node's importance. The later decay of its links (M12.3) changes no other node's
importance in the pass, because a link counts for its source alone. So a scan depends on another one
only through nodes forgotten earlier.

Phrase and keywords only get shorter: they are taken from the old ones and from the remaining
content, never from a model, so that a compression costs one call.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from memci.domain.memory.node import NodeKind, importance
from memci.domain.memory.parameters import MemoryParameters
from memci.errors import SmallModelAnswerError
from memci.language.detection import Language


class Forgetting(StrEnum):
    """The reason why a node is forgotten (M27)."""

    NO_IMPORTANCE = "importance"  # no living node supports it
    TOO_SHORT = "threshold"  # its rest would be too short to understand
    SLOT_TAKEN = "slot"  # a new node needed its place (M19)
    SWITCHED = "switched"  # a rebuilt network replaced its network (M24)


@dataclass(frozen=True, slots=True)
class Protected:
    """A focus point: neither its content nor its links fade (M12.1)."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Its links fade; its content stays."""


@dataclass(frozen=True, slots=True)
class Compress:
    """Its links fade, and its content is shortened to at most ``target`` characters."""

    target: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """It is removed, with its own links."""

    reason: Forgetting


Verdict: TypeAlias = Protected | Unchanged | Compress | Forgotten


@dataclass(frozen=True, slots=True)
class ScannedNode:
    """The input of a scan; lengths are characters (Unicode code points)."""

    id: int
    kind: NodeKind
    length: int
    original_length: int
    pinned: bool = False


# Of each node: the strengths of its links to living nodes, by target.
Supports: TypeAlias = Mapping[int, Mapping[int, float]]


def scan(
    nodes: Iterable[ScannedNode],
    supports: Supports,
    focus: Collection[int],
    parameters: MemoryParameters,
) -> Iterator[tuple[ScannedNode, Verdict]]:
    """Scan nodes in order; a forgotten node no longer supports later ones."""
    forgotten: set[int] = set()
    for node in nodes:
        verdict: Verdict = Protected()
        if node.id not in focus:
            links = supports.get(node.id, {})
            strengths = [links[target] for target in links if target not in forgotten]
            verdict = judge(node, importance(strengths), parameters)
        if isinstance(verdict, Forgotten):
            forgotten.add(node.id)
        yield node, verdict


def judge(node: ScannedNode, node_importance: float, parameters: MemoryParameters) -> Verdict:
    """Return the verdict on a node that is no focus point (M12.4 to M12.6)."""
    if node.pinned:
        return Unchanged()
    if node_importance == 0:
        return Forgotten(Forgetting.NO_IMPORTANCE)
    if node.kind is NodeKind.ENTITY or node_importance >= 1:
        return Unchanged()
    target = math.floor(node.original_length * node_importance)
    if target < parameters.delete_threshold:
        return Forgotten(Forgetting.TOO_SHORT)
    cut = node.length - target
    worth_a_call = cut > 0 and cut >= parameters.min_shrink * node.length
    return Compress(target) if worth_a_call else Unchanged()


_WORD = re.compile(r"[^\W_]+")
_ASCII_WORD_EDGE = re.compile(r"[A-Za-z0-9]")


def check_compressed(answer: str, *, target: int, length: int) -> str:
    """Return a compressor's answer, trimmed, or raise ``SmallModelAnswerError`` (M13).

    It must not be empty, nor longer than ``target``, nor as long as its source.
    """
    text = answer.replace("\x00", "").strip()
    if not text:
        raise SmallModelAnswerError("the compressor gave an empty answer")
    if len(text) > target or len(text) >= length:
        raise SmallModelAnswerError(
            f"the compressor gave {len(text)} characters for {length}, at most {target} were asked"
        )
    return text


def shrunk_keywords(keywords: Sequence[str], content: str) -> tuple[str, ...]:
    """Return the keywords that the content still contains."""
    return tuple(word for word in keywords if _contains_word(word, content))


def shrunk_phrase(phrase: str, keywords: Sequence[str], content: str, language: Language) -> str:
    """Return a phrase for what is left of a content (M15), never longer than ``phrase``.

    ``keywords`` are those that the content still contains. If the content does not contain the
    words of the phrase any more, its beginning takes their place.
    """
    known = all(_contains_word(word, content) for word in _WORD.findall(phrase))
    room = min(len(phrase), _room(content))
    left = phrase if known else _beginning(content, len(phrase)) or content[:room].strip()
    return short_phrase(left, keywords, content, language)


# A phrase remains as a hint when its memory is forgotten, so it must not quote most of it.
_PHRASE_SHARE = 1 / 2
_SHORTEST_PHRASE = 4  # characters: a Chinese word or two


def _room(content: str) -> int:
    return max(_SHORTEST_PHRASE, math.floor(len(content) * _PHRASE_SHARE))


def short_phrase(phrase: str, keywords: Sequence[str], content: str, language: Language) -> str:
    """Return a phrase of at most half of ``content``, never longer than ``phrase`` (M15).

    A longer phrase gives way to the keywords, as many as fit, or else to its beginning. If neither
    has room, it is one keyword or word: of few words, one may remain.
    """
    room = _room(content)
    if len(phrase) <= room:
        return phrase
    room = min(room, len(phrase))
    separator = "、" if language is Language.CHINESE else ", "
    joined = ""
    for word in keywords:
        longer = joined + separator + word if joined else word
        if len(longer) <= room:
            joined = longer
    shorter = (word for word in keywords if len(word) < len(phrase))
    return joined or _beginning(phrase, room) or next(shorter, phrase)


def _beginning(text: str, length: int) -> str:
    """Return the first words of a text; of text without blanks, the first characters."""
    beginning = text[:length]
    if len(text) <= length or text[length].isspace():
        return beginning.strip()
    if " " in beginning or text[0].isascii():
        return beginning.rpartition(" ")[0].strip()
    return beginning


def _contains_word(word: str, content: str) -> bool:
    """Find a word without regard to case; an English one not inside another word."""
    pattern = re.escape(word)
    if _ASCII_WORD_EDGE.match(word):
        pattern = rf"(?<![A-Za-z0-9]){pattern}"
    if _ASCII_WORD_EDGE.match(word[-1:]):
        pattern = rf"{pattern}(?![A-Za-z0-9])"
    return re.search(pattern, content, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class NodeText:
    """The displayed and searched texts of a node."""

    content: str
    phrase: str
    keywords: tuple[str, ...]
    language: Language


@dataclass(frozen=True, slots=True)
class Compressed:
    """A compressed node; ``before`` is its former number of characters."""

    id: int
    text: NodeText
    before: int
    generic: bool  # its links get the generic name: little content is left


@dataclass
class Outcome:
    """Scanned nodes by verdict.

    ``kept`` includes the nodes that the pass gave up on, and those of which no shorter text would
    be true (``shortest``). ``waiting`` maps nodes whose model call failed to the time of the next
    try.
    """

    protected: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    given_up: list[int] = field(default_factory=list)
    shortest: list[int] = field(default_factory=list)
    compressed: list[Compressed] = field(default_factory=list)
    forgotten: dict[int, Forgetting] = field(default_factory=dict)
    waiting: dict[int, datetime] = field(default_factory=dict)

    @property
    def fading(self) -> list[int]:
        """Remaining nodes whose unlocked links decay."""
        return [*self.kept, *(each.id for each in self.compressed)]

    @property
    def scanned(self) -> int:
        """The number of nodes that the pass has finished."""
        return len(self.protected) + len(self.fading) + len(self.forgotten)


@dataclass(frozen=True, slots=True)
class PassCursor:
    """The state of a running pass, stored on the lane; removing it cancels the pass.

    ``request`` is the newest request for compression that the pass fulfils when it ends. ``fence``
    is that of the lease under which it last ran: another fence is another time slice.
    ``unavailable`` counts the small-model calls in a row that got no answer; ``mute``: the last of
    them were the embedder's, which is called first from then on. Until ``retry_at`` (aware UTC) the
    pass can only wait for the model.
    """

    number: int
    request: int
    fence: int
    unavailable: int = 0
    mute: bool = False
    retry_at: datetime | None = None

    def waits(self, now: datetime) -> bool:
        """Return True if all remaining work waits for a small model."""
        return self.retry_at is not None and now < self.retry_at


# The default size limit of the snapshots of one agent.
SNAPSHOT_BYTES = 4 * 1024 * 1024
# Each attempt drops at most about a fifth more than the previous one.
_COARSER = 1.25


def kept_snapshots(weights: Mapping[int, int], budget: int) -> list[int]:
    """Return the passes whose snapshots stay, ascending, within ``budget`` bytes in all.

    ``weights`` are bytes by pass. Distances between neighbours grow in proportion to their age, so
    a history of any length is covered from its first snapshot to its newest. The newest always
    stays, whatever its size; the first stays as long as both fit.
    """
    passes = sorted(weights)
    if len(passes) <= 1 or sum(weights.values()) <= budget:
        return passes
    ratio = 1 / (passes[-1] - passes[0])
    while ratio <= 1:
        kept = _spaced(passes, ratio)
        if sum(weights[each] for each in kept) <= budget:
            return kept
        ratio *= _COARSER
    ends = [passes[0], passes[-1]]
    return ends if sum(weights[each] for each in ends) <= budget else ends[1:]


def _spaced(passes: Sequence[int], ratio: float) -> list[int]:
    """Return the first, the last, and those at least ``ratio`` of their age before the next."""
    oldest, newest = passes[0], passes[-1]
    kept = [newest]
    for each in reversed(passes[1:-1]):
        if kept[-1] - each >= ratio * (newest - each):
            kept.append(each)
    if len(kept) > 1 and kept[-1] - oldest < ratio * (newest - oldest):
        kept.pop()
    return [oldest, *reversed(kept)]
