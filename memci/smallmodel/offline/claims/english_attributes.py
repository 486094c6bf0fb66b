"""Attributes of which there is one value at a time, and how their values look in English."""

from __future__ import annotations

import re
from collections.abc import Callable

_DATE = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:today|tomorrow|tonight|noon|midnight)\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\bend of|\bnext (?:week|month)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d|\b(?:free|hundred|thousand|million|billion)\b", re.IGNORECASE)
SHORT = re.compile(r"^(?:[\w'’&+.#-]+\s?){1,5}$")
_NAMED = re.compile(r"^[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,3}$")


def _has(pattern: str) -> Callable[[str], bool]:
    found = re.compile(pattern, re.IGNORECASE)
    return lambda value: bool(found.search(value))


# What there is one of at a time, and how its value has to look.
ATTRIBUTES: dict[str, tuple[str, Callable[[str], bool]]] = {
    r"(?:phone|mobile|cell|telephone)(?: number)?": ("phone", _has(r"(?:\d[\s().-]*){5}")),
    r"e-?mail(?: address)?": ("email", _has(r"@")),
    r"(?:home |postal |street |new )?address": ("address", _has(r"\d")),
    r"birthday|date of birth": ("birthday", lambda value: bool(_DATE.search(value))),
    r"age": ("age", lambda value: bool(_NUMBER.search(value))),
    r"(?:full |last |first |new )?name": ("name", lambda value: bool(_NAMED.match(value))),
    r"deadline|due date|submission date|launch date|release date|delivery date|wedding date": (
        "deadline", lambda value: bool(_DATE.search(value))),
    r"price|cost|budget|rent|salary|fee|hourly rate": (
        "price", lambda value: bool(_NUMBER.search(value))),
    r"version": ("version", _has(r"\d")),
    r"status": ("status", lambda value: bool(SHORT.match(value))),
    r"favou?rite (?!(?:thing|part|one|moment|memory|way|time)\b)[a-z]+(?: [a-z]+)?": (
        "favourite", lambda value: bool(SHORT.match(value))),
}  # fmt: skip
NOUNS = "|".join(ATTRIBUTES)
MARITAL = r"(?:single|married|engaged|divorced|widowed)"
DIET = r"(?:vegan|vegetarian|pescatarian)"
