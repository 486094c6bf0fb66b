"""The texts of the console in English and Chinese, from one catalogue."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from starlette.requests import Request

LANGUAGES: Mapping[str, str] = {"en": "English", "zh": "中文"}
LANGUAGE_COOKIE = "memci_language"


@cache
def catalogue() -> dict[str, list[str]]:
    """Return each text in the order of ``LANGUAGES``, by name, such as ``login.title``."""
    read = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
    return {
        name if group == "common" else f"{group}.{name}": texts
        for group, named in read.items()
        for name, texts in named.items()
    }


@dataclass(frozen=True, slots=True)
class Words:
    """The texts in one language."""

    language: str

    def __call__(self, name: str, **values: object) -> str:
        """Return a text, with values in its places; the template escapes it."""
        return catalogue()[name][list(LANGUAGES).index(self.language)].format(**values)

    def has(self, name: str) -> bool:
        """Return True if the catalogue has a text."""
        return name in catalogue()

    def known(self, group: str, name: str) -> str:
        """Return the text of a word of the API such as a state; the word itself if it has none."""
        full = f"{group}.{name}"
        return self(full) if self.has(full) else name


def words_for(request: Request) -> Words:
    """Return the texts in the chosen language, or else in the first that the browser accepts."""
    chosen = request.cookies.get(LANGUAGE_COOKIE, "")
    if chosen in LANGUAGES:
        return Words(chosen)
    accepted = request.headers.get("accept-language", "").split(",")
    tags = (each.partition(";")[0].partition("-")[0].strip().lower() for each in accepted)
    return Words(next((each for each in tags if each in LANGUAGES), "en"))
