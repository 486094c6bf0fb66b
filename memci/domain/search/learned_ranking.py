"""Ranks candidates by a model that was trained on conversations with known evidence (R11).

``data/ranking.json`` is the model, ``data/ranking.md`` says what it was trained on.
"""

from collections.abc import Collection, Sequence
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from memci.domain.search.boosted_trees import BoostedTrees
from memci.domain.search.candidate import SAID, Candidate, Channel
from memci.domain.search.features import MODELLED, Channels, Comparison, features_of
from memci.domain.search.hints import Hints, count_words
from memci.domain.search.ranking import Ranked, by_rank, channel_ranks, favour_order

# The weights of the plain sum of both channels, and of the time that a question names, beside the
# model: they hold where the training knew nothing alike. Chosen on sets that are not in training.
_PLAIN = 0.3
_TIME = 3.0
# A score is the logistic function of the distance from the best, which gets that of ``_BEST``. The
# sum of the trees has no zero of its own: only differences within a question mean anything.
_SLOPE = 0.6
_BEST = 1.5
# Words: a shorter text says little to a question that names only a time.
_SAYS_WORDS = 4


@cache
def ranking_model() -> BoostedTrees:
    """Return the model."""
    return BoostedTrees.read(
        resources.files(__package__).joinpath("data", "ranking.json").read_text("utf-8")
    )


def rank_hits(
    scores: Channels,
    channels: Collection[Channel],
    compared: Comparison,
    hints: Hints,
) -> list[Ranked]:
    """Return the ranking of hits; a score, 0 to 1, is relative to the best one.

    Hits are found by a channel, or by the time or a symbol of the question. What is said at a time
    comes first if the question names only times, and so does code that the question names: up to 2
    is added to their scores.
    """
    found = scores.candidates
    if not found:
        return []
    ranks = channel_ranks(found, channels, scores.floor)
    ranked = []
    for each, score in zip(found, _scored(scores, channels, compared, hints), strict=True):
        own, named = ranks.get(each.id, {}), is_named(each, hints)
        if own or named or hints.timed.has(each):
            lead = 1.0 if named else 0.0
            if hints.timed.leads(each):
                lead = 1.0 + min(1.0, count_words(each.text) / _SAYS_WORDS)
            passage = compared.passages.get(each.id)
            quoted = each if passage is None else each._replace(passage=passage)
            ranked.append(Ranked(quoted, float(score) + lead, own))
    if hints.order is not None:
        near = scores.closeness().tolist()
        closeness = {each.id: share for each, share in zip(found, near, strict=True)}
        ranked = favour_order(ranked, closeness, hints.order, hints.time_fit)
    return sorted(ranked, key=by_rank)


def is_named(each: Candidate, hints: Hints) -> bool:
    """Return True for code whose symbol the question names."""
    if hints.names_symbol is None or each.extract is None:
        return False
    return each.extract.symbol is not None and hints.names_symbol(each.extract.symbol)


def _scored(
    scores: Channels, channels: Collection[Channel], compared: Comparison, hints: Hints
) -> Sequence[float]:
    plain = scores.plain_sum()
    order = np.argsort(-plain, kind="stable")
    best, others = order[:MODELLED], order[MODELLED:]
    # Of links alone the model knows nothing.
    learned: npt.NDArray[np.floating] = np.zeros(len(best))
    if set(channels) != {Channel.BFS}:
        learned = ranking_model().predict(features_of(scores, best.tolist(), compared, hints))
    time = np.array([_time_of(scores.candidates[row], hints) for row in best])
    odds = learned + _PLAIN * plain[best] + _TIME * time
    found = np.zeros(len(plain))
    found[best] = 1.0 / (1.0 + np.exp(_SLOPE * (odds.max() - odds) - _BEST))
    # The others follow in the order of the plain sum.
    found[others] = found[best].min() / (1.0 + np.arange(1, len(others) + 1))
    return list(found)


def _time_of(each: Candidate, hints: Hints) -> float:
    """Return the square of the fit: the day before the one that is meant is much worse."""
    if hints.time_fit is None or each.source not in SAID:
        return 0.0
    return hints.time_fit(each.at, each.session_id) ** 2
