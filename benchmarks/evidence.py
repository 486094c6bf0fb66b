"""The share of the evidence that reads return, for one question and for many."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from pydantic import BaseModel

from memci.domain.search.candidate import Channel, Source

BUDGETS = (500, 1_000, 2_000, 4_000)
WANTED = 0.9  # the share of the evidence that a context must hold


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant of requests: options that replace their defaults."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def request(self, shape: type[BaseModel], **fields: Any) -> Any:
        """Return a request of this shape, with the options that it knows."""
        own = {name: value for name, value in self.options.items() if name in shape.model_fields}
        return shape(**{**own, **fields})


def without(name: str, shape: type[BaseModel]) -> Variant:
    """Return the default without one channel or source; ``shape`` has the defaults."""
    for option, kind in (("channels", Channel), ("sources", Source)):
        if name in set(kind):
            default = shape.model_fields[option].default
            return Variant(f"without {name}", {option: tuple(x for x in default if x != name)})
    known = ", ".join([*Channel, *Source])
    raise ValueError(f"--without {name}: there is no such channel or source; there are {known}")


def with_options(text: str, shapes: Sequence[type[BaseModel]]) -> Variant:
    """Return the default with options given as ``k=5;depth=2``, each a JSON value."""
    options: dict[str, Any] = {}
    for each in text.split(";"):
        name, _, value = each.partition("=")
        if not any(name in shape.model_fields for shape in shapes):
            raise ValueError(f"--with {each}: requests have no option {name!r}")
        options[name] = json.loads(value)
    return Variant(f"with {text}", options)


@dataclass(frozen=True, slots=True)
class Row:
    """One question: shares of its evidence, 0 to 1, among ten hits and inside each budget.

    ``answered``: whether all words of its short answer are inside the budget; None: it has none.
    """

    category: int
    among_ten: float
    found: Mapping[int, float]
    answered: Mapping[int, bool] | None


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over questions; ``whole`` is the share of questions with all their evidence."""

    questions: int
    among_ten: float
    found: Mapping[int, float]
    whole: Mapping[int, float]
    answered: Mapping[int, float] | None

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Summary:
        """Compute the means; there must be a row."""
        short = [row.answered for row in rows if row.answered is not None]
        return cls(
            len(rows),
            fmean(row.among_ten for row in rows),
            {budget: fmean(row.found[budget] for row in rows) for budget in BUDGETS},
            {budget: fmean(row.found[budget] == 1 for row in rows) for budget in BUDGETS},
            {budget: fmean(each[budget] for each in short) for budget in BUDGETS}
            if short
            else None,
        )


def share(evidence: frozenset[str], held: frozenset[str]) -> float:
    """Return the share of the evidence that is held, 0 to 1."""
    return len(evidence & held) / len(evidence)


def tokens_needed(found: Mapping[int, float], wanted: float = WANTED) -> float | None:
    """Return the tokens in which ``wanted`` of the evidence is found; None: not in the largest.

    Between two budgets, the share is interpolated linearly; with 0 tokens it is 0.
    """
    tokens, before = 0, 0.0
    for budget, now in sorted(found.items()):
        if now >= wanted:
            return tokens + (budget - tokens) * (wanted - before) / (now - before)
        tokens, before = budget, now
    return None
