"""Times and homes as English sentences name them, and what nobody lives in (R6)."""

from __future__ import annotations

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
WHEN = (
    "(?i:(?:earlier )?(?:last|this|the other) "
    f"(?:week(?:end)?|month|year|spring|summer|autumn|fall|winter|{_DAYS}|{_MONTHS})"
    f"|yesterday|in (?:{_MONTHS}))"
)
_BUILDINGS = "flat|apartment|house|home|place|studio|condo|room"
SOME_HOME = f"(?:(?:an?|the|my|our) (?:[a-z]+ ){{0,2}}(?:{_BUILDINGS}) in )"
HOME = f"{SOME_HOME}?"
_NO_PLACE_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december
    linux windows mac macos android ios iphone ubuntu debian fedora arch chrome firefox safari
    gmail outlook slack teams discord telegram signal whatsapp notion obsidian evernote
    postgres postgresql mysql sqlite mongodb redis kafka celery aws azure gcp github gitlab
    bitbucket docker kubernetes python java javascript typescript rust go kotlin swift react vue
    django flask fastapi vscode vim neovim emacs
    google microsoft apple amazon meta facebook netflix openai anthropic spotify
    plan slide chapter row team step page phase level version part section chair table desk seat
"""
_NO_PLACES = frozenset(_NO_PLACE_WORDS.split())


def is_no_place(name: str) -> bool:
    """Tell whether a name, not blank, is one of a day, a product or a part of something."""
    return name.casefold().split()[0] in _NO_PLACES
