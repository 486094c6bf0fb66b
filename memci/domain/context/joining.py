"""Messages and the memories made of them, found together (R11, R14)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from memci.domain.context.candidate import KEPT, Candidate, Source
from memci.domain.context.fusion import Ranked, by_rank
from memci.domain.context.plan_text import steps_listed

# What the best memory adds to the score of its messages, and how near the best of them must come.
_LENT = 0.1
_NEARLY = 0.5


def joined(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Let memories lend their score to their messages, and leave the room to them.

    Verbatim beats node (R14): where a message of a memory was found, its words are what is shown,
    and the memory only says that it is about the matter. It stays a hit where none of its messages
    was found nearly as well.
    """
    memories = [each for each in ranked if each.candidate.source is Source.MEMORY]
    if not memories:
        return list(ranked)
    messages = {each.candidate.key: each for each in ranked if each.candidate.source is Source.CHAT}
    best = _best_memories(memories)
    top = max(each.score for each in memories)
    lent = [_lent(each, best.get(each.candidate.key), top) for each in messages.values()]
    kept = [each for each in memories if _tells_more(each, messages)]
    return sorted([*lent, *kept, *_others(ranked)], key=by_rank)


def by_score(ranked: Ranked) -> float:
    """Return how well something was found where scores of channels were summed."""
    return ranked.score


def by_words(ranked: Ranked) -> float:
    """Return how well it was found where ranks were: those of hundreds are nearly the same.

    What is kept is found by its words alone, and scored as messages are.
    """
    return ranked.candidate.lexical or 0.0


def unrepeated(
    ranked: Sequence[Ranked], found: Callable[[Ranked], float] = by_score
) -> list[Ranked]:
    """Leave the room of what is kept to the messages that it tells of (R14).

    A page, a summary, a pin or a step stays a hit where none of its messages was ``found`` nearly
    as well; what tells of no message stays. What was noted of a plan when it was made gives way to
    the plan's steps, which say how far they have come.
    """
    kept = [each for each in ranked if each.candidate.source in KEPT]
    if not kept:
        return list(ranked)
    ranked = _without_plans_noted(ranked, [each.candidate for each in kept])
    said = [
        (each.candidate, found(each)) for each in ranked if each.candidate.source is Source.CHAT
    ]
    repeated = {each.key for each in kept if _is_repeated(each.candidate, found(each), said)}
    return [each for each in ranked if each.key not in repeated]


def _without_plans_noted(ranked: Sequence[Ranked], kept: Iterable[Candidate]) -> Sequence[Ranked]:
    steps = [each for each in kept if each.source is Source.PLAN]
    told = {about[0] for each in steps if each.kept and (about := each.kept.about)}

    def is_noted(one: Candidate) -> bool:
        return one.source is Source.CHAT and one.key in told and bool(steps_listed(one.text))

    return [each for each in ranked if not is_noted(each.candidate)] if told else ranked


def _is_repeated(kept: Candidate, well: float, said: Iterable[tuple[Candidate, float]]) -> bool:
    return any(as_well >= _NEARLY * well and _tells_of(kept, each) for each, as_well in said)


def _tells_of(kept: Candidate, message: Candidate) -> bool:
    about = kept.kept.about if kept.kept else None
    if about is None or kept.session_id != message.session_id:
        return False
    return about[0] <= message.key <= about[1]


def _best_memories(memories: Sequence[Ranked]) -> dict[int, Ranked]:
    """Return, of each message, the best memory of it."""
    best: dict[int, Ranked] = {}
    for each in sorted(memories, key=by_rank, reverse=True):
        best.update(dict.fromkeys(each.candidate.seqs, each))
    return best


def _lent(message: Ranked, memory: Ranked | None, top: float) -> Ranked:
    if memory is None or top <= 0:
        return message
    found = message.candidate._replace(memory=memory.candidate.key)
    return Ranked(found, message.score + _LENT * memory.score / top, message.ranks)


def _tells_more(memory: Ranked, messages: Mapping[int, Ranked]) -> bool:
    found = (messages[seq].score for seq in memory.candidate.seqs if seq in messages)
    return max(found, default=0.0) < _NEARLY * memory.score


def _others(ranked: Sequence[Ranked]) -> list[Ranked]:
    known = (Source.CHAT, Source.MEMORY)
    return [each for each in ranked if each.candidate.source not in known]
