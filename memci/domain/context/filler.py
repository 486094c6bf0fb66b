"""What was found and tells nothing (R2, R11): "thanks!", "ok", "好的"."""

from __future__ import annotations

from collections.abc import Sequence

from memci.domain.context.candidate import Source
from memci.domain.context.fusion import Ranked
from memci.domain.memory.small_talk import asks, can_answer, is_trivial


def filler_among(ranked: Sequence[Ranked], min_length: int) -> list[Ranked]:
    """Return the messages of a ranking that are courtesy, or name nothing in a few characters.

    One that may answer the question before it, found as well, is not among them. ``min_length``:
    characters, as for ``is_trivial``.
    """
    said = {r.candidate.key: r.candidate for r in ranked if r.candidate.source is Source.CHAT}
    speakers = {each.name for each in said.values() if each.name}

    def answers(seq: int) -> bool:
        question = said.get(seq - 1)
        return question is not None and can_answer(said[seq].text) and asks(question.text)

    return [
        each
        for each in ranked
        if each.candidate.source is Source.CHAT
        and is_trivial(each.candidate.text, min_length, speakers)
        and not answers(each.candidate.key)
    ]
