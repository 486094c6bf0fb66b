"""Random texts that look natural to an index, to fill agents without a model.

Content words follow Zipf's law, between function words; vectors are near topics, like those of
sentences. Corpora of different seeds differ; one seed always gives the same corpus.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import numpy.typing as npt

from memci.domain.search.late_interaction import QuestionTokens
from memci.language.word_lists import ENGLISH_STOP_WORDS
from memci.message import Message, Role
from memci.smallmodel.offline.e5_embedder import DIMENSION
from memci.smallmodel.vector_space import Vectors

SESSION_MESSAGES = 20
_VOCABULARY = 30_000
_SYLLABLES = ("ka", "lo", "mer", "tin", "sa", "vor", "di", "pel", "ru", "gan", "oth", "ely", "ush")
_QUESTION_WORDS = 8
_TOPICS = 60
# Share of function words in English, and lengths of turns in a conversation.
_FUNCTION_SHARE = 0.45
_MEAN_WORDS = 22
_MOST_WORDS = 120
_CHARACTERS = 4  # of a token
# Parts of a vector: common to all, of its topic, and its own. Cosines of two vectors are then like
# those of the built-in embedder: 0.84 on average, 0.89 within a topic.
_COMMON, _TOPIC, _OWN = 0.917, 0.22, 0.33
_BEGAN = datetime(2025, 1, 1, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The messages of one agent: ``texts`` in order, their unit vectors (n, d), and token bits."""

    texts: Sequence[str]
    vectors: Vectors
    tokens: Sequence[bytes]

    @classmethod
    def written(cls, count: int, seed: int) -> Corpus:
        """Write so many texts."""
        random = np.random.default_rng(seed)
        texts = list(_texts(random, count))
        vectors = _vectors(random, count)
        return cls(texts, vectors, [_bits(random, text).tobytes() for text in texts])

    def messages(self) -> list[Message]:
        """Return the texts as messages of a user and an assistant, twenty a session and a day."""
        return [
            Message(
                seq,
                f"m{seq}",
                Role.USER if seq % 2 else Role.ASSISTANT,
                text,
                _said_at(seq),
                session_id=session_of(seq),
            )
            for seq, text in enumerate(self.texts, start=1)
        ]

    def questions(self, count: int, seed: int) -> Iterator[tuple[str, Vectors, QuestionTokens]]:
        """Ask about random texts: eight rare words of one, a vector near it, and token bits."""
        random = np.random.default_rng(seed)
        for place in random.integers(len(self.texts), size=count):
            telling = [w for w in self.texts[place].split() if w not in ENGLISH_STOP_WORDS]
            # A short text has fewer; then words of the next texts are used.
            for text in (*self.texts[place + 1 :], *self.texts[:place]):
                if len(set(telling)) >= _QUESTION_WORDS:
                    break
                telling += [w for w in text.split() if w not in ENGLISH_STOP_WORDS]
            words = random.permutation(list(dict.fromkeys(telling)))[:_QUESTION_WORDS]
            near = self.vectors[place] + 0.6 * _unit(random.standard_normal((1, DIMENSION)))[0]
            question = " ".join(words)
            bits = _bits(random, question)
            tokens = QuestionTokens(bits, np.ones(len(bits), dtype=np.float32))
            yield question, (near / np.linalg.norm(near)).astype(np.float32), tokens


def _bits(random: np.random.Generator, text: str) -> npt.NDArray[np.uint8]:
    """Return random sign bits for the tokens of a text, shape (tokens, bytes)."""
    return random.integers(256, size=(len(text) // _CHARACTERS + 1, DIMENSION // 8), dtype=np.uint8)


def session_of(seq: int) -> str:
    """Return the session of the message with this seq."""
    return f"s{(seq - 1) // SESSION_MESSAGES}"


def _said_at(seq: int) -> datetime:
    day, place = divmod(seq - 1, SESSION_MESSAGES)
    return _BEGAN + timedelta(days=day % 3_000, minutes=place)


def _texts(random: np.random.Generator, count: int) -> Iterator[str]:
    words = np.array(_words())
    functions = np.array(sorted(word for word in ENGLISH_STOP_WORDS if len(word) > 1))
    ranks = np.arange(1, len(words) + 1) + 2.7  # Mandelbrot's shift: no word is in every text
    chances = (1 / ranks) / (1 / ranks).sum()
    lengths = random.lognormal(np.log(_MEAN_WORDS) - 0.18, 0.6, count).astype(int)
    for length in np.clip(lengths, 4, _MOST_WORDS):
        chosen = words[random.choice(len(words), size=length, p=chances)]
        between = random.random(length) < _FUNCTION_SHARE
        chosen = np.where(between, functions[random.integers(len(functions), size=length)], chosen)
        yield " ".join(chosen)


@functools.cache
def _words() -> tuple[str, ...]:
    """Return the words of all corpora."""
    random = Random(7)
    made: dict[str, None] = {}
    while len(made) < _VOCABULARY:
        made["".join(random.choices(_SYLLABLES, k=random.randint(2, 5)))] = None
    return tuple(made)


def _vectors(random: np.random.Generator, count: int) -> Vectors:
    common, topics = (
        _unit(random.standard_normal((1, DIMENSION))),
        _unit(random.standard_normal((_TOPICS, DIMENSION))),
    )
    # A topic lasts for about a session.
    of = np.repeat(random.integers(_TOPICS, size=count // SESSION_MESSAGES + 1), SESSION_MESSAGES)
    own = _unit(random.standard_normal((count, DIMENSION), dtype=np.float32))
    return _unit(_COMMON * common + _TOPIC * topics[of[:count]] + _OWN * own)


def _unit(vectors: np.ndarray) -> Vectors:
    scaled: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return scaled
