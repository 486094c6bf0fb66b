"""Where topics change: P_k and WindowDiff of our segmenter against those that need no model.

P_k (Beeferman and others, 1999) is the share of wrong decisions whether two utterances, half a
true segment apart, are in one segment. WindowDiff (Pevzner and Hearst, 2002) compares the number
of boundaries between them. Lower is better; figures are means over the dialogues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import fmean

import numpy as np

from benchmarks.compare import Size
from benchmarks.dialogues import Dialogue, dialogues, messages_of
from benchmarks.report import Bar, Finding
from benchmarks.texttiling import Bag, bags_of, texttiling
from memci.config.settings import Settings
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.segmenter import OfflineSegmenter
from memci.smallmodel.offline.sentence_reader import OfflineSentenceReader
from memci.smallmodel.ports import Embedder, Segmenter

# The limit of P_k on a set, whatever the others reach.
_BARS = {"dialseg711": 0.30}
_QUICK = 60

Ends = Sequence[bool]


def measure(data: Path, *, size: Size) -> Iterator[Finding]:
    """Measure every set of dialogues in the folder ``segmentation``."""
    embedder = OfflineEmbedder(Settings().embedder_folder)
    segmenter = OfflineSegmenter(lambda: embedder.space, OfflineSentenceReader(embedder))
    for path in sorted((data / "segmentation").glob("*.json")):
        found = dialogues(path)[: size.pick(1, _QUICK, None)]
        bags = [bags_of(each.utterances) for each in found]
        ours = _score(found, _ours(found, segmenter, embedder))
        others = {
            name: _score(found, [cut(each) for each in bags]) for name, cut in _baselines().items()
        }
        yield from _findings(path.stem.removesuffix("_dev"), ours, others)


def _findings(
    name: str, ours: tuple[float, float], others: dict[str, tuple[float, float]]
) -> Iterator[Finding]:
    listed = "; ".join(
        f"{each}: P_k {p_k:.3f}, WindowDiff {difference:.3f}"
        for each, (p_k, difference) in others.items()
    )
    best = min((each for each in others if each != "no cut"), key=lambda each: others[each])
    for place, measured in enumerate(("P_k", "WindowDiff")):
        one, other = ours[place], others[best][place]
        yield Finding(
            f"segmentation, {name}",
            one,
            measured,
            baseline=other,
            against=f"the best of them, {best}",
            ratio=one / other,
            bar=Bar(0.999, at_most=True) if not place else None,
            note=listed if not place else "",
        )
    if name in _BARS:
        bar = Bar(_BARS[name], at_most=True, of="ours")
        yield Finding(f"segmentation, {name}", ours[0], "P_k", bar=bar)


def _ours(found: Sequence[Dialogue], segmenter: Segmenter, embedder: Embedder) -> list[Ends]:
    spoken = [messages_of(each.utterances) for each in found]
    vectors = iter(embedder.embed([each.searched for messages in spoken for each in messages]))
    answers: list[Ends] = []
    for messages in spoken:
        rows = np.stack([next(vectors) for _ in messages])
        lasts = {segment.seqs[-1] for segment in segmenter.segment(messages, rows)}
        answers.append([each.seq in lasts and each is not messages[-1] for each in messages])
    return answers


def _baselines() -> dict[str, Callable[[Sequence[Bag]], Ends]]:
    random = Random(0)
    return {
        "no cut": lambda bags: [False] * len(bags),
        "random": lambda bags: _random(len(bags), random),
        **{f"every {n}": lambda bags, n=n: _even(len(bags), n) for n in (4, 6, 8)},
        **{
            f"TextTiling, window {width}, {level:g} deviations": (
                lambda bags, width=width, level=level: texttiling(bags, width, level)
            )
            for width in (2, 5, 10)
            for level in (0.5, 1.0)
        },
    }


def _random(count: int, random: Random) -> Ends:
    most = min(random.randint(0, max(1, count // 4)), count - 1)
    chosen = set(random.sample(range(count - 1), most))
    return [at in chosen for at in range(count)]


def _even(count: int, every: int) -> Ends:
    return [(at + 1) % every == 0 and at + 1 < count for at in range(count)]


def _score(references: Sequence[Dialogue], answers: Sequence[Ends]) -> tuple[float, float]:
    """Return the mean P_k and WindowDiff."""
    scores = [errors(one.ends, other) for one, other in zip(references, answers, strict=True)]
    return fmean(p_k for p_k, _ in scores), fmean(difference for _, difference in scores)


def errors(reference: Ends, answer: Ends) -> tuple[float, float]:
    """Return P_k and WindowDiff of one dialogue."""
    count = len(reference)
    apart = max(2, round(count / (2 * (sum(reference) + 1))))
    if count <= apart:
        return 0.0, 0.0
    true, found = ([0, *accumulate(map(int, ends))] for ends in (reference, answer))
    pairs = [(true[i + apart] - true[i], found[i + apart] - found[i]) for i in range(count - apart)]
    return (
        fmean((one == 0) != (other == 0) for one, other in pairs),
        fmean(one != other for one, other in pairs),
    )
