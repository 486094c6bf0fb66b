"""Parameters of one agent's memory network (memory-network.md, "Parameters")."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from memci.domain.parameter_definitions import Parameters, Range, setting
from memci.domain.usage import Budget
from memci.errors import InvalidInputError
from memci.language.hit_limits import HitLimits
from memci.language.redaction import ALL, Redacted

# Longer than any calendar: timedelta overflows above it.
_LONGEST_HOURS = 365_000 * 24
_SHARE = Range(0, 1)


@dataclass(frozen=True, slots=True)
class MemoryParameters(Parameters):
    """The parameters of one network.

    The constructor checks every value; ``InvalidInputError`` names the field.
    """

    focus_limit: int = setting(
        5, "Focus points of an agent, at most; the least recently used one goes.", Range(0, 100)
    )
    decay_rate: float = setting(
        0.97,
        "Factor of a link's strength each time its source is scanned.",
        Range(0, 1, is_open=True),
    )
    link_initial_strength: float = setting(0.5, "Strength of a new ordinary link.", _SHARE)
    link_break_threshold: float = setting(0.01, "Strength below which a link breaks.", _SHARE)
    delete_threshold: int = setting(
        5, "Characters. A memory that would become shorter is forgotten.", Range(1)
    )
    time_slice: int = setting(
        30_000,
        "Milliseconds of an agent's turn at a compress worker while other agents wait.",
        Range(100),
    )
    max_retries: int = setting(
        15, "Calls of small models in all for one compression.", Range(1, 100)
    )
    default_search_depth: int = setting(
        2, "Layers out from the focus points that a recall visits.", Range(0, 10)
    )
    node_capacity: int = setting(10_000, "Memories of an agent, at most. `0`: no limit.", Range(0))
    dangling_links: Literal["keep", "drop_on_visit"] = setting(
        "keep",
        "`keep`: a link to a forgotten memory stays as a hint. `drop_on_visit`: all links to it go"
        " soon after a recall has named it.",
        choices=("keep", "drop_on_visit"),
    )
    redact: str = setting(
        "",
        "What placeholders replace in messages before they are stored, with commas between:"
        f" {', '.join(f'`{each}`' for each in Redacted)}, or `{ALL}`. Empty: nothing.",
        words=(*Redacted, ALL),
    )
    llm_tokens_per_day: int = setting(
        0,
        "Tokens that language models may use for an agent in a day (UTC). Above it the offline"
        " models work until midnight. `0`: no limit.",
        Range(0),
    )
    llm_cost_per_day: float = setting(
        0.0, "The same limit in US dollars, as far as prices are known. `0`: no limit.", Range(0)
    )
    simplemem_enabled: bool = setting(
        True,
        "`false`: no message is filtered and no memories are merged; each topic segment makes a"
        " memory.",
    )
    window_size: int = setting(10, "Messages that are judged together.", Range(1, 100))
    window_stride: int = setting(
        5, "Messages from the start of one window to the next.", Range(1, 100)
    )
    novelty_threshold: float = setting(
        0.35,
        "Messages with less new information than this (0 to 1) make no memory; they stay stored"
        " and searchable. `0`: none is left out for that.",
        _SHARE,
    )
    skip_trivial: bool = setting(True, "Greetings, thanks and acknowledgements make no memory.")
    min_content_length: int = setting(
        20, "Characters. A shorter message that names nothing is trivial.", Range(0)
    )
    consolidation_interval: int = setting(
        50, "New memories after which memories that say the same are merged.", Range(1)
    )
    tiered_memory_enabled: bool = setting(True, "`false`: every memory is long-term at once.")
    short_term_ttl_hours: float = setting(
        24.0,
        "Hours from receipt after which a short-term memory is judged again. Nothing is deleted.",
        Range(0, is_open=True),
    )
    summarization_enabled: bool = setting(True, "`false`: sessions get no summaries.")
    summary_threshold: int = setting(
        8_000, "Tokens of a session after its last summary that start a new one.", Range(1)
    )
    preserve_recent: int = setting(
        4,
        "Latest interactions of a session that its summary leaves out until the session ends.",
        Range(0, 1_000),
    )
    long_term_importance_threshold: float = setting(
        6.0, "A memory of this worth (0 to 10) is long-term at once.", Range(0, 10)
    )
    query_analysis_enabled: bool = setting(
        True, "Read names, times and the expected number of hits from a question."
    )
    k_min: int = setting(3, "Hits of each source for a simple question.", Range(1, 200))
    k_max: int = setting(
        15, "Hits of each source for the most complex question; at least `k_min`.", Range(1, 200)
    )
    complexity_threshold: float = setting(
        0.5, "Complexity (0 to 1) up to which a question is simple.", _SHARE
    )
    prompt_cache_enabled: bool = setting(
        True,
        "A context begins with what changes least, so that a provider's prompt cache can reuse it."
        " `false`: the best hits come first.",
    )

    # Constants. Only tests give other values.
    min_shrink: float = 0.10  # share of the length; no model is called for a smaller cut
    related_links: int = 2  # links from a new memory to similar older ones
    related_threshold: float = 0.55  # likeness above which a memory is similar
    session_silence_hours: float = 24.0  # a session ends after this time without a message
    summary_max_tokens: int = 800  # of one summary

    def __post_init__(self) -> None:
        """Check every value against its range."""
        Parameters.__post_init__(self)
        if self.k_max < self.k_min:
            raise InvalidInputError(
                f"expected at least k_min, which is {self.k_min}", field="k_max"
            )

    @property
    def bounds(self) -> HitLimits:
        """The limits of the number of hits from each source."""
        return HitLimits(self.k_min, self.k_max, self.complexity_threshold)

    @property
    def short_term(self) -> timedelta:
        """The length of the short term, from receipt (R3); a thousand years at most."""
        return timedelta(hours=min(self.short_term_ttl_hours, _LONGEST_HOURS))

    @property
    def session_silence(self) -> timedelta:
        """The silence after which a session ends (R5); a thousand years at most."""
        return timedelta(hours=min(self.session_silence_hours, _LONGEST_HOURS))

    @property
    def drops_on_visit(self) -> bool:
        """True if links to a forgotten node are removed after a recall reported it (M15)."""
        return self.dangling_links == "drop_on_visit"

    @property
    def budget(self) -> Budget:
        """The agent's daily budget for language models."""
        return Budget(self.llm_tokens_per_day, self.llm_cost_per_day)
