"""What the learned ranking knows of a candidate: scores relative to those of the others (R11).

No feature depends on the size of a corpus or on the unit of a score, so a ranking that was learned
on some corpora holds on others. Scores are in standard deviations of their own distribution, or in
logarithms of ranks.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from memci.domain.search.candidate import KEPT, SAID, Candidate, Key, Source
from memci.domain.search.hints import ASKING, Hints, has_answer
from memci.domain.search.passages import Passage

Floats: TypeAlias = npt.NDArray[np.float64]

# Candidates that the model orders; the others follow in the order of the plain sum.
MODELLED = 400
# Candidates whose tokens are compared with those of the question (E8).
COMPARED = 50
# The best of a channel, whose mean and deviation show how far the first ones stand out.
_HEAD = 50
# A neighbour that no channel found scores below the last one found, by deviations.
_UNFOUND = 0.2
_BEST_OF_SESSION = 3
_RANK_CONSTANT = 10

NAMES = (
    "dense_z", "dense_head_z", "dense_rank", "dense_stands_out",
    "words_z", "words_head_z", "words_rank", "words_of_best", "ranks", "channels_agree",
    "around_z", "around_of_best",
    "before", "after", "best_beside", "mean_around", "words_before", "words_after",
    "follows_question", "turns", "turn_before", "turn_after",
    "session", "session_words", "below_best_of_session",
    "tokens", "tokens_z", "tokens_gap", "tokens_known", "typical",
    "length", "relative_length", "asks",
    "speaker_named", "other_speaker_named", "time", "names", "answer_type",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is known of the best messages beside the scores of channels."""

    # The likeness of their tokens to those of the question, -1 to 1 (E8).
    tokens: dict[Key, float] = field(default_factory=dict)
    # The product of their vectors with the mean of all of them: what is like many texts is like the
    # question for no reason of its own.
    typical: dict[Key, float] = field(default_factory=dict)
    # The passage of a long one that is most like the question (E6).
    passages: dict[Key, Passage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Channels:
    """The scores of candidates, row by row: vectors, words, words around them, links."""

    candidates: Sequence[Candidate]
    dense: Floats
    words: Floats
    around: Floats
    linked: Floats
    messages: npt.NDArray[np.bool_]  # rows whose scores make the distribution
    floor: float  # the likeness of a vector that finds a candidate

    @classmethod
    def of(
        cls, candidates: Sequence[Candidate], around: Mapping[int, float], floor: float
    ) -> "Channels":
        """Read the scores; ``around`` has those of neighbourhoods, by position."""
        known = [each.dense for each in candidates if each.dense is not None]
        least = min(known, default=0.0)
        dense = [least if each.dense is None else each.dense for each in candidates]
        words = [each.lexical or 0.0 for each in candidates]
        own = np.array(words)
        beside = np.array([
            own_words if each.position is None else around.get(each.position, 0.0)
            for each, own_words in zip(candidates, words, strict=True)
        ])  # fmt: skip
        messages = np.array([each.source is Source.CHAT for each in candidates])
        if not messages.any():
            messages[:] = True
        words_of_one = _of_one_index(candidates, own)
        linked = np.array([each.linked or 0.0 for each in candidates])
        # A message is also found by the words around it.
        found = [
            each if not near else each._replace(lexical=(each.lexical or 0.0) + near)
            for each, near in zip(candidates, beside.tolist(), strict=True)
        ]
        return cls(found, np.array(dense), words_of_one, beside, linked, messages, floor)

    def plain_sum(self) -> Floats:
        """Return the sum of the channels, each in its own deviations."""
        both = self.deviations(self.dense) + self.deviations(self.words)
        return both + self.deviations(self.linked)

    def closeness(self) -> Floats:
        """Return how near each candidate comes to the best of each channel, 0 to 1, on average."""
        parts = [
            np.clip(scores / scores.max(), 0.0, 1.0)
            for scores in (self.dense, self.words)
            if scores.max() > 0
        ]
        mean: Floats = np.mean(parts, axis=0) if parts else np.zeros(len(self.candidates))
        return mean

    def deviations(self, scores: Floats) -> Floats:
        """Return scores in deviations of those of messages, from their mean."""
        return _deviations(scores, scores[self.messages])

    def best(self, most: int) -> list[int]:
        """Return the rows of the best candidates by the plain sum, best first."""
        return [int(row) for row in np.argsort(-self.plain_sum(), kind="stable")[:most]]


def _of_one_index(candidates: Sequence[Candidate], words: Floats) -> Floats:
    """Return BM25 scores on the scale of messages: scores of two indexes cannot be compared."""
    tops: dict[Source, float] = defaultdict(float)
    for each, score in zip(candidates, words, strict=True):
        source = Source.CHAT if each.source in KEPT else each.source
        tops[source] = max(tops[source], float(score))
    best = tops.get(Source.CHAT) or max(tops.values(), default=0.0)
    factors = [
        best / tops[each.source] if each.source not in KEPT and tops[each.source] > _LEAST else 1.0
        for each in candidates
    ]
    scaled: Floats = words * np.array(factors)
    return scaled


def features_of(
    channels: Channels, rows: Sequence[int], compared: Comparison, hints: Hints
) -> npt.NDArray[np.float32]:
    """Return the features of some candidates, shape (len(rows), len(NAMES))."""
    chosen = np.array(rows, dtype=np.int64)
    found = [channels.candidates[row] for row in rows]
    beside = _Beside(channels.candidates)
    of_all = {
        **_scores(channels),
        **_neighbours(channels, beside),
        **_turns(channels.candidates, beside),
        **_sessions(channels),
    }
    columns = {name: column[chosen] for name, column in of_all.items()}
    columns |= {**_compared(found, compared), **_texts(channels.candidates, found, hints)}
    return np.stack([columns[name] for name in NAMES], axis=1).astype(np.float32)


def _scores(channels: Channels) -> dict[str, Floats]:
    dense, words, around = channels.dense, channels.words, channels.around
    z = channels.deviations
    by_dense, by_words = _ranks(dense), _ranks(words)
    head = np.sort(dense)[::-1][:_HEAD]
    stands_out = (head[0] - head.mean()) / max(dense.std(), _LEAST)
    agree = 0.0
    if dense.std() > _LEAST and words.std() > _LEAST:
        agree = float(np.corrcoef(dense, words)[0, 1])
    return {
        "dense_z": z(dense),
        "dense_head_z": _deviations(dense, head),
        "dense_rank": np.log(by_dense),
        "dense_stands_out": np.full(len(dense), stands_out),
        "words_z": z(words),
        "words_head_z": _deviations(words, np.sort(words)[::-1][:_HEAD]),
        "words_rank": np.log(by_words),
        "words_of_best": words / max(words.max(), _LEAST),
        "ranks": (1 / (_RANK_CONSTANT + by_dense) + 1 / (_RANK_CONSTANT + by_words)),
        "channels_agree": np.full(len(dense), agree),
        "around_z": z(around),
        "around_of_best": around / max(around.max(), _LEAST),
    }


_LEAST = 1e-6
_FARTHEST = 10.0  # deviations: in a few candidates one may be far from all others


def _deviations(scores: Floats, of: Floats) -> Floats:
    deviations = (scores - of.mean()) / max(float(of.std()), _LEAST)
    clipped: Floats = np.clip(deviations, -_FARTHEST, _FARTHEST)
    return clipped


def _ranks(scores: Floats) -> Floats:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


class _Beside:
    """The rows of the candidates that were said some steps before or after others."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        """Read the positions; one without a position has no neighbours."""
        self._row_at = {
            each.position: row for row, each in enumerate(candidates) if each.position is not None
        }
        self._positions = [each.position for each in candidates]

    def rows(self, step: int) -> npt.NDArray[np.int64]:
        """Return the row ``step`` messages after each candidate, -1 if it is not there."""
        row_at = self._row_at
        return np.array([
            -1 if each is None else row_at.get(each + step, -1) for each in self._positions
        ])  # fmt: skip


def _neighbours(channels: Channels, beside: _Beside) -> dict[str, Floats]:
    """Return the scores of the two messages before and after; a position counts up by one."""
    dense = channels.deviations(channels.dense)
    words = channels.words / max(channels.words.max(), _LEAST)
    unfound = float(dense.min()) - _UNFOUND
    steps = {step: beside.rows(step) for step in (-2, -1, 1, 2)}
    near = {step: np.where(rows < 0, unfound, dense[rows]) for step, rows in steps.items()}
    said = {step: np.where(steps[step] < 0, 0.0, words[steps[step]]) for step in (-1, 1)}
    asks = _asks(channels.candidates)
    return {
        "before": near[-1],
        "after": near[1],
        "best_beside": np.maximum(near[-1], near[1]),
        "mean_around": np.mean(list(near.values()), axis=0),
        "words_before": said[-1],
        "words_after": said[1],
        "follows_question": np.where(steps[-1] < 0, 0.0, asks[steps[-1]]),
        "asks": asks,
    }


def _asks(candidates: Sequence[Candidate]) -> Floats:
    return np.array([each.text.rstrip().endswith(ASKING) for each in candidates], np.float64)


def _turns(candidates: Sequence[Candidate], beside: _Beside) -> dict[str, Floats]:
    """Return if another speaker said the messages before and after, and how often that is so.

    Where speakers take turns, neighbours tell of each other; in notes of one writer they do not.
    """
    numbers: dict[object, int] = {}
    speakers = np.array([
        numbers.setdefault((each.role, each.name), len(numbers)) for each in candidates
    ])  # fmt: skip
    before, after = beside.rows(-1), beside.rows(1)
    changes = (speakers[after] != speakers)[after >= 0]
    return {
        "turns": np.full(len(candidates), changes.mean() if len(changes) else 0.0),
        "turn_before": ((before >= 0) & (speakers[before] != speakers)).astype(np.float64),
        "turn_after": ((after >= 0) & (speakers[after] != speakers)).astype(np.float64),
    }


def _sessions(channels: Channels) -> dict[str, Floats]:
    """Return how good the rest of each candidate's session is."""
    dense = channels.deviations(channels.dense)
    words = channels.words / max(channels.words.max(), _LEAST)
    numbers: dict[object, int] = {}
    session = np.array([
        numbers.setdefault(each.session_id if each.source in SAID else row, len(numbers))
        for row, each in enumerate(channels.candidates)
    ])  # fmt: skip
    # The rows of each session together, the best first.
    order = np.lexsort((-dense, session))
    first = np.searchsorted(session[order], np.arange(len(numbers)))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - first[session[order]]
    best = np.zeros((len(numbers), _BEST_OF_SESSION + 1))
    is_best = place <= _BEST_OF_SESSION
    best[session[is_best], place[is_best]] = dense[is_best]
    size = np.bincount(session)
    # The best of the others: the next one takes the place of a row that is itself among the best.
    among = place < _BEST_OF_SESSION
    total = np.where(among, best.sum(axis=1)[session] - dense, best[:, :-1].sum(axis=1)[session])
    others = np.minimum(size[session] - 1, _BEST_OF_SESSION)
    most_words = np.zeros(len(numbers))
    np.maximum.at(most_words, session, words)
    return {
        "session": np.where(others > 0, total / np.maximum(others, 1), dense.min() - _UNFOUND),
        "session_words": most_words[session],
        "below_best_of_session": dense - best[session, 0],
    }


def _compared(found: Sequence[Candidate], compared: Comparison) -> dict[str, Floats]:
    keys = [each.id for each in found]
    tokens, typical = compared.tokens, compared.typical
    values = np.array(list(tokens.values()) or [0.0])
    # What was not compared is unlike; what has no tokens to compare is neither like nor unlike.
    least, middle = float(values.min()), float(values.mean())
    likeness = np.array([
        tokens.get(key, least if key in typical else middle) for key in keys
    ])  # fmt: skip
    means = np.array(list(typical.values()) or [0.0])
    mean = float(means.mean())
    return {
        "tokens": likeness,
        "tokens_z": _deviations(likeness, values),
        "tokens_gap": values.max() - likeness,
        "tokens_known": np.array([key in tokens for key in keys], dtype=np.float64),
        "typical": _deviations(np.array([typical.get(key, mean) for key in keys]), means),
    }


def _texts(
    candidates: Sequence[Candidate], found: Sequence[Candidate], hints: Hints
) -> dict[str, Floats]:
    lengths = np.array([math.log1p(len(each.text.encode())) for each in candidates])
    own = np.array([math.log1p(len(each.text.encode())) for each in found])
    fit, share = hints.time_fit, hints.entity_share
    named = np.array([each.name in hints.speakers for each in found], dtype=np.float64)
    return {
        "length": own,
        "relative_length": own - lengths.mean(),
        "speaker_named": named,
        "other_speaker_named": (1 - named) * float(bool(hints.speakers)),
        "time": np.array([
            fit(each.at, each.session_id) if fit is not None and each.source in SAID else 0.0
            for each in found
        ]),
        "names": np.array([share(each.text) if share is not None else 0.0 for each in found]),
        "answer_type": np.array(
            [has_answer(each.text, hints.answer_kind) for each in found], np.float64
        ),
    }  # fmt: skip
