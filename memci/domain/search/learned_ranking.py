"""Ranks candidates by a model that was trained on conversations with known evidence (R11).

``data/ranking.json`` is the model, ``data/ranking.md`` says what it was trained on.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import resources

import numpy as np

from memci.domain.search.boosted_trees import BoostedTrees
from memci.domain.search.candidate import SAID, Candidate, Channel, Key
from memci.domain.search.features import MODELLED, Channels, features_of
from memci.domain.search.hints import Hints, count_words
from memci.domain.search.ranking import Ranked, by_rank, channel_ranks, favour_order

# The weights of the plain sum of both channels, and of the time that a question names, beside the
# model: they hold where the training knew nothing alike. Chosen on sets that are not in training.
_PLAIN = 0.3
_TIME = 1.5
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
    tokens: Mapping[Key, float],
    hints: Hints,
) -> list[Ranked]:
    """Return the ranking of hits; a score estimates the probability that a hit is evidence.

    Hits are found by a channel, or by the time or a symbol of the question. ``tokens`` has the
    likeness of the tokens of those that were compared. What is said at a time comes first if the
    question names only times, and so does code that the question names.
    """
    found = scores.candidates
    if not found:
        return []
    ranks = channel_ranks(found, channels)
    ranked = []
    for each, score in zip(found, _probabilities(scores, tokens, hints), strict=True):
        own, named = ranks.get((each.source, each.key), {}), is_named(each, hints)
        if own or named or hints.timed.has(each):
            lead = 1.0 if named else 0.0
            if hints.timed.leads(each):
                lead = 1.0 + min(1.0, count_words(each.text) / _SAYS_WORDS)
            ranked.append(Ranked(each, float(score) + lead, own))
    if hints.order is not None:
        keys = [(each.source, each.key) for each in found]
        closeness = dict(zip(keys, scores.closeness().tolist(), strict=True))
        ranked = favour_order(ranked, closeness, hints.order, hints.time_fit)
    return sorted(ranked, key=by_rank)


def is_named(each: Candidate, hints: Hints) -> bool:
    """Return True for code whose symbol the question names."""
    if hints.names_symbol is None or each.extract is None:
        return False
    return each.extract.symbol is not None and hints.names_symbol(each.extract.symbol)


def _probabilities(scores: Channels, tokens: Mapping[Key, float], hints: Hints) -> Sequence[float]:
    plain = scores.plain_sum()
    order = np.argsort(-plain, kind="stable")
    best, others = order[:MODELLED], order[MODELLED:]
    learned = ranking_model().predict(features_of(scores, best.tolist(), tokens, hints))
    found = np.zeros(len(plain))
    time = np.array([_time_of(scores.candidates[row], hints) for row in best])
    odds = learned + _PLAIN * (plain[best] - 2.0) + _TIME * time
    found[best] = 1.0 / (1.0 + np.exp(-odds))
    # The others follow in the order of the plain sum.
    found[others] = found[best].min() / (1.0 + np.arange(1, len(others) + 1))
    return list(found)


def _time_of(each: Candidate, hints: Hints) -> float:
    if hints.time_fit is None or each.source not in SAID:
        return 0.0
    return hints.time_fit(each.at, each.session_id)
