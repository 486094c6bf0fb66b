"""Parameters of one agent's memory network (memory-network.md, "Parameters")."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf
from typing import Literal, Self

from memci.domain.usage import Budget
from memci.errors import InvalidInputError

# Lowest and highest value of each number, both allowed unless OPEN names the parameter.
RANGES: dict[str, tuple[float, float]] = {
    "focus_limit": (0, 100),
    "decay_rate": (0, 1),
    "link_initial_strength": (0, 1),
    "link_break_threshold": (0, 1),
    "delete_threshold": (1, inf),
    "time_slice": (100, inf),
    "max_retries": (1, 100),
    "default_search_depth": (0, 10),
    "node_capacity": (0, inf),
    "min_shrink": (0, 1),
    "related_links": (0, 100),
    "related_threshold": (-1, 1),
    "llm_tokens_per_day": (0, inf),
    "llm_cost_per_day": (0, inf),
    "window_size": (1, 100),
    "window_stride": (1, 100),
    "novelty_threshold": (0, 1),
    "min_content_length": (0, inf),
    "consolidation_interval": (1, inf),
    "short_term_ttl_hours": (0, inf),
    "session_silence_hours": (0, inf),
    "long_term_importance_threshold": (0, 10),
}
OPEN = frozenset({"decay_rate", "short_term_ttl_hours", "session_silence_hours"})
CHOICES: dict[str, tuple[str, ...]] = {
    "compression_base": ("original", "current"),
    "dangling_links": ("keep", "drop_on_visit"),
}
SWITCHES = frozenset({"simplemem_enabled", "skip_trivial", "tiered_memory_enabled"})


@dataclass(frozen=True, slots=True)
class MemoryParameters:
    """How one network remembers and forgets.

    Checked when made; ``InvalidInputError`` names the field.
    """

    focus_limit: int = 5  # focus points an agent has at most, LRU
    decay_rate: float = 0.97  # a link's strength is multiplied by it at each scan of its source
    link_initial_strength: float = 0.5  # of a new ordinary link
    link_break_threshold: float = 0.01  # below it a link breaks
    delete_threshold: int = 5  # characters; a shorter target forgets the node
    time_slice: int = 30_000  # ms; one agent's turn at compression
    max_retries: int = 15  # small-model calls in all for one compression
    default_search_depth: int = 2  # BFS layers out from the focus points
    node_capacity: int = 10_000  # slots; 0 = unbounded
    compression_base: Literal["original", "current"] = "original"
    min_shrink: float = 0.10  # no model call for a cut smaller than this share of the length
    related_links: int = 2  # links to similar older memories
    related_threshold: float = 0.6  # … from this cosine on
    dangling_links: Literal["keep", "drop_on_visit"] = "keep"
    llm_tokens_per_day: int = 0  # then the offline models take over, until midnight UTC; 0 = any
    llm_cost_per_day: float = 0.0  # the same in US dollars
    simplemem_enabled: bool = True  # R1, R2, R5's merging; off: every segment makes a memory
    window_size: int = 10  # messages that are judged together (R1)
    window_stride: int = 5  # … and how far the next window lies
    novelty_threshold: float = 0.35  # a window that tells less that is new makes no memory (R2)
    skip_trivial: bool = True  # greetings, thanks and acknowledgements make no memory
    min_content_length: int = 20  # characters; shorter messages that name nothing are trivial
    consolidation_interval: int = 50  # new memories after which alike ones are merged (R5)
    tiered_memory_enabled: bool = True  # off: every memory is long-term at once (R3, R5)
    short_term_ttl_hours: float = 24.0  # from receipt; then a short-term memory is judged anew
    session_silence_hours: float = 24.0  # without a message a session ends after them
    long_term_importance_threshold: float = 6.0  # worth from which a memory is long-term at once

    def __post_init__(self) -> None:
        """Check every value against its range."""
        for each in fields(self):
            _check(each.name, getattr(self, each.name), whole=each.type == "int")

    @property
    def drops_on_visit(self) -> bool:
        """Whether links to a forgotten node go once a recall has reported it (M15)."""
        return self.dangling_links == "drop_on_visit"

    @property
    def budget(self) -> Budget:
        """What language models may take for the agent in a day."""
        return Budget(self.llm_tokens_per_day, self.llm_cost_per_day)

    def with_values(self, values: dict[str, object]) -> Self:
        """Return a copy with some values replaced; an unknown name is an error."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in values:
            if name not in known:
                raise InvalidInputError(
                    f"unknown parameter; known are {', '.join(sorted(known))}", field=name
                )
        return type(self)(**{**known, **values})


def _check(name: str, value: object, *, whole: bool) -> None:
    if name in SWITCHES:
        if not isinstance(value, bool):
            raise InvalidInputError("expected true or false", field=name)
        return
    if name in CHOICES:
        if value not in CHOICES[name]:
            raise InvalidInputError(f"expected one of {', '.join(CHOICES[name])}", field=name)
        return
    low, high = RANGES[name]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInputError("expected a number", field=name)
    if whole and not isinstance(value, int):
        raise InvalidInputError("expected a whole number", field=name)
    inside = low < value < high if name in OPEN else low <= value <= high
    if not inside:
        raise InvalidInputError(range_of(name), field=name)


def range_of(name: str, most: float = inf) -> str:
    """Say what a number has to be, both ends of it; none is above ``most``."""
    low, high = RANGES[name][0], min(RANGES[name][1], most)
    if name in OPEN:
        return f"expected a number above {low:g}" + (f" and below {high:g}" if high < inf else "")
    if high == inf:
        return f"expected a number of {low:g} or more"
    return f"expected a number between {low:g} and {high:.12g}"
