"""Parameters of one agent's memory network (memory-network.md, "Parameters")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Self

from memci.domain.agent import check_all, replaced
from memci.domain.usage import Budget
from memci.errors import InvalidInputError
from memci.language.hit_limits import HitLimits

# The calendar ends: what would outlast it lasts as long as anybody can tell.
_LONGEST_HOURS = 365_000 * 24


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
    summarization_enabled: bool = True  # off: sessions get no summaries (R8)
    summary_threshold: int = 8_000  # tokens beyond the last summary from which there is a new one
    preserve_recent: int = 4  # latest interactions that it leaves out
    summary_max_tokens: int = 800  # of one summary, however long its session is
    long_term_importance_threshold: float = 6.0  # worth from which a memory is long-term at once
    query_analysis_enabled: bool = True  # off: a question is searched as it is (R10)
    k_min: int = 3  # hits that each source offers for a simple question …
    k_max: int = 15  # … and for the most complex one
    complexity_threshold: float = 0.5  # of 0 to 1; up to it a question is simple
    prompt_cache_enabled: bool = True  # what lists begin with is kept; off: the best first (R13)

    def __post_init__(self) -> None:
        """Check every value against its range."""
        check_all(self)
        if self.k_max < self.k_min:
            raise InvalidInputError(
                f"expected at least k_min, which is {self.k_min}", field="k_max"
            )

    @property
    def bounds(self) -> HitLimits:
        """How many hits each source offers for a question."""
        return HitLimits(self.k_min, self.k_max, self.complexity_threshold)

    @property
    def short_term(self) -> timedelta:
        """How long a memory is short-term, from receipt (R3); a thousand years at most."""
        return _lasting(self.short_term_ttl_hours)

    @property
    def session_silence(self) -> timedelta:
        """After how long without a message a session ends (R5); a thousand years at most."""
        return _lasting(self.session_silence_hours)

    @property
    def drops_on_visit(self) -> bool:
        """Whether links to a forgotten node go once a recall has reported it (M15)."""
        return self.dangling_links == "drop_on_visit"

    @property
    def budget(self) -> Budget:
        """What language models may take for the agent in a day."""
        return Budget(self.llm_tokens_per_day, self.llm_cost_per_day)

    def with_values(self, values: Mapping[str, object]) -> Self:
        """Return a copy with some values replaced; an unknown name is an error."""
        return replaced(self, values)


def _lasting(hours: float) -> timedelta:
    return timedelta(hours=min(hours, _LONGEST_HOURS))
