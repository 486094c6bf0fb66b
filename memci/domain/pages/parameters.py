"""Parameters of an agent's pages (P7, P8, P13)."""

from dataclasses import dataclass

from memci.domain.parameter_definitions import Parameters, Range, setting


@dataclass(frozen=True, slots=True)
class PageRules(Parameters):
    """Limits of windows, chapters and pins; raises ``InvalidInputError``, which names the field."""

    active_pages: int = setting(
        8,
        "Interactions in the active chapter of a session (n of P7); older ones move to the"
        " Contents Page.",
        Range(1, 1_000),
    )
    archive_unused: int = setting(
        20,
        "Interactions after which a line that was never recalled leaves the Contents Page (m of"
        " P8).",
        Range(1),
    )
    archive_unrecalled: int = setting(
        40, "The same for a line that was recalled, since its last recall (p of P8).", Range(1)
    )
    window_max_tokens: int = setting(
        8_000,
        "Tokens of the whole context window. With `remember: auto`, memories are made of what"
        " outgrows four fifths of it.",
        Range(1),
    )
    key_messages_enabled: bool = setting(
        True, "Pin sentences of users that must stay in sight: tasks, rules, decisions."
    )
    plan_tracking_enabled: bool = setting(True, "Read plans from conversations, and follow them.")
    attp: bool = setting(
        False, "A page of the system prompt explains the TOML tool protocol to the model."
    )

    # Constants. Only tests give other values.
    contents_max_tokens: int = 2_000  # of the Contents Page
    collapse_above: float = 0.875  # share of window_max_tokens above which pages are collapsed …
    collapse_to: float = 0.75  # … down to this share of it (P13)
    max_pins: int = 32  # texts that can be pinned (R7)
    pins_max_tokens: int = 1_000  # of the message that shows them
    key_messages_max: int = 8  # in one user's sessions; old ones go, constraints last
    key_messages_max_tokens: int = 240  # of their texts, likewise
