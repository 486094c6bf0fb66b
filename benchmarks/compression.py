"""Share of questions that a shortened text still answers.

A question counts if the texts with its evidence have all words of its answer. It is answered if
all these words are still there after each text was shortened. Texts are windows of ten turns, and
the topic segments of memci's segmenter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean

import numpy as np

from benchmarks.compare import Size, alternate, say
from benchmarks.dialogues import Case, Conversation, locomo, memorybank, messages_of, words_of
from benchmarks.extracts import Centroid, RareSentences, head
from benchmarks.report import Bar, Finding
from memci.config.settings import Settings
from memci.language.detection import Language
from memci.smallmodel.offline.compressor import OfflineCompressor
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.segmenter import OfflineSegmenter
from memci.smallmodel.offline.sentence_reader import OfflineSentenceReader
from memci.smallmodel.ports import Embedder
from memci.smallmodel.vector_space import Vectors

SHARES = (0.5, 0.3, 0.1)
_WINDOW = 10
_CHAIN = 10  # compressions, one after the other
_NODES_PER_S = 300
_FEWEST_CHARACTERS = 200  # of a node whose compression is timed

Shorten = Callable[[str, int], str]
Places = Mapping[str, str]  # a turn's id → the text that holds it


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of an answer, and the texts that have them."""

    words: frozenset[str]
    texts: tuple[str, ...]
    language: Language

    def is_answered_by(self, texts: Sequence[str]) -> bool:
        """Tell whether all words are there."""
        joined = "\n".join(texts)
        if self.language is Language.CHINESE:
            return all(word in joined for word in self.words)
        return self.words <= words_of(joined)


def measure(data: Path, *, size: Size) -> Iterator[Finding]:
    """Measure survival in English and Chinese, chains of compressions, and speed."""
    built_in, ours = OfflineEmbedder(Settings().embedder_folder), OfflineCompressor()
    embedder, reader = _Remembering(built_in), OfflineSentenceReader(built_in)
    for pattern, read, language in (
        ("locomo*.json", locomo, Language.ENGLISH),
        ("memorybank_cn*.json", memorybank, Language.CHINESE),
    ):
        for path in sorted(data.glob(pattern)):
            # The Chinese conversations are few and short.
            found = read(path)[: size.pick(1, 2, None) if language is Language.ENGLISH else None]
            say(f"{path.name}: {sum(len(each.turns) for each in found)} turns")
            name = path.stem.removesuffix("_dev")
            turns = [turn.text for each in found for turn in each.turns]
            rare = RareSentences(turns)
            for unit, cut in (
                ("windows", _windows),
                ("segments", _Cutter(embedder, reader).segments),
            ):
                places = [(each, cut(each)) for each in found]
                asked = _asked([(each.cases, held) for each, held in places], language)
                stated = _asked([(each.statements, held) for each, held in places], language)
                texts = sorted({text for each in asked + stated for text in each.texts})
                others = {"head": head, "centroid": Centroid(embedder, texts)}
                for share in SHARES:
                    title = f"compression, {name} {unit} to {share:.0%}"
                    yield _survival(title, asked, share, ours.compress, others, rare)
                    if stated:
                        title = f"compression, {name} told, {unit} to {share:.0%}"
                        yield _survival(title, stated, share, ours.compress, others, rare)
                yield _chain(f"compression, {name} {unit}", asked, ours.compress)
            yield _speed(
                name, found, _Cutter(embedder, reader), ours.compress, rare, size.pick(1, 3, 7)
            )


class _Remembering:
    """An embedder with a cache."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}
        self.model, self.dimension, self.space = embedder.model, embedder.dimension, embedder.space

    def embed(self, texts: Sequence[str]) -> Vectors:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        self._known.update(zip(new, self._embedder.embed(new), strict=True))
        found = [self._known[text] for text in texts]
        return np.stack(found) if found else np.zeros((0, self.dimension), dtype=np.float32)

    embed_questions = embed


class _Cutter:
    """Cuts conversations as memory creation does."""

    def __init__(self, embedder: Embedder, reader: OfflineSentenceReader) -> None:
        self._embedder = embedder
        self._segmenter = OfflineSegmenter(lambda: embedder.space, reader)

    def segments(self, conversation: Conversation) -> Places:
        places: dict[str, str] = {}
        for turns in conversation.sessions():
            messages = messages_of([turn.text for turn in turns])
            vectors = self._embedder.embed([message.searched for message in messages])
            for segment in self._segmenter.segment(messages, vectors):
                for seq in segment.seqs:
                    place = turns[seq - 1].id
                    # A long turn may be in several segments.
                    places[place] = "\n".join(filter(None, [places.get(place), segment.text]))
        return places


def _windows(conversation: Conversation) -> Places:
    places: dict[str, str] = {}
    for turns in conversation.sessions():
        for start in range(0, len(turns), _WINDOW):
            window = turns[start : start + _WINDOW]
            places |= dict.fromkeys([t.id for t in window], "\n".join(t.text for t in window))
    return places


def _asked(
    conversations: Iterable[tuple[Sequence[Case], Places]], language: Language
) -> list[Asked]:
    found = []
    for cases, places in conversations:
        for case in cases:
            texts = tuple(dict.fromkeys(places[each] for each in case.evidence if each in places))
            asked = Asked(case.words, texts, language)
            if asked.is_answered_by(texts):
                found.append(asked)
    return found


def _answered(asked: Sequence[Asked], shorten: Shorten, share: float) -> float:
    """Return the percentage of questions that shortened texts answer."""
    texts = {text for each in asked for text in each.texts}
    shorter = {text: shorten(text, int(share * len(text))) for text in texts}
    assert all(len(shorter[text]) <= int(share * len(text)) for text in texts)
    answered = [each.is_answered_by([shorter[text] for text in each.texts]) for each in asked]
    return 100 * fmean(answered)


def _survival(
    title: str,
    asked: Sequence[Asked],
    share: float,
    ours: Shorten,
    others: Mapping[str, Shorten],
    rare: Shorten,
) -> Finding:
    kept = _answered(asked, ours, share)
    scores = {name: _answered(asked, shorten, share) for name, shorten in others.items()}
    best = max(scores, key=lambda name: scores[name])
    scores["rare sentences"] = _answered(asked, rare, share)
    return Finding(
        title,
        kept,
        "% answered",
        baseline=scores[best],
        against=best,
        ratio=kept / scores[best] if scores[best] else None,
        bar=Bar(1.001),
        note="; ".join([f"{len(asked)} questions", *(f"{n}: {s:.1f}" for n, s in scores.items())]),
    )


def _chain(title: str, asked: Sequence[Asked], ours: Shorten) -> Finding:
    """Compare ten small compressions, as in ten passes, with one."""
    share = SHARES[1]

    def step_by_step(text: str, room: int) -> str:
        length = len(text)
        for step in range(1, _CHAIN + 1):
            text = ours(text, int(length * (room / length) ** (step / _CHAIN)))
        return text

    often, once = (_answered(asked, each, share) for each in (step_by_step, ours))
    return Finding(
        f"{title} to {share:.0%} in {_CHAIN} steps",
        often,
        "% answered",
        baseline=once,
        against="at once",
        ratio=often / once,
        bar=Bar(0.9),
    )


def _speed(
    name: str,
    conversations: Sequence[Conversation],
    cutter: _Cutter,
    ours: Shorten,
    rare: Shorten,
    runs: int,
) -> Finding:
    texts = {text for each in conversations for text in cutter.segments(each).values()}
    nodes = list(islice((t for t in sorted(texts) if len(t) >= _FEWEST_CHARACTERS), 600))
    work = list(zip(nodes, cycle(SHARES), strict=False))

    def rate(shorten: Shorten) -> float:
        began = time.perf_counter()
        for text, share in work:
            shorten(text, int(share * len(text)))
        return len(work) / (time.perf_counter() - began)

    def bare(text: str, room: int) -> str:
        return rare(text[: 4 * room], room)

    rate(ours)
    compared = alternate(lambda: rate(ours), lambda: rate(bare), runs, "compression")
    return compared.finding(
        f"compression without embedding, {name}",
        "nodes/s",
        "head cut and rare sentences",
        Bar(_NODES_PER_S, of="ours"),
        f"{len(nodes)} nodes of {fmean(map(len, nodes)):.0f} characters",
    )
