"""What was found and tells nothing (R2, R11): "thanks!", "ok", "好的"."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from memci.domain.context.candidate import Candidate, Source
from memci.domain.context.fusion import Ranked
from memci.domain.memory.small_talk import asks, can_answer, is_trivial, tells_much


class Filler:
    """The messages of a ranking that are courtesy, or name nothing in a few characters.

    One that may answer the question before it, found as well, is not among them. Each is looked at
    when it is asked for, since most of a ranking never comes into question.
    """

    def __init__(self, ranked: Iterable[Ranked], min_length: int) -> None:
        """Take a ranking; ``min_length``: characters, as for ``is_trivial``."""
        self._ranked = ranked
        self._min_length = min_length

    def has(self, ranked: Ranked) -> bool:
        """Tell whether one of the ranking is filler."""
        one = ranked.candidate
        return (
            one.source is Source.CHAT
            and one.key in self._said
            and not tells_much(one.text)
            and is_trivial(one.text, self._min_length, self._speakers)
            and not self._answers(one)
        )

    @cached_property
    def _said(self) -> dict[int, Candidate]:
        found = (each.candidate for each in self._ranked)
        return {one.key: one for one in found if one.source is Source.CHAT}

    @cached_property
    def _speakers(self) -> set[str]:
        return {one.name for one in self._said.values() if one.name}

    def _answers(self, one: Candidate) -> bool:
        question = self._said.get(one.key - 1)
        return question is not None and can_answer(one.text) and asks(question.text)
