"""Load words and patterns from data files; make expensive values once per process.

``data/<task>.<language>.toml`` holds the words and patterns of a task in a language. A value is
text, or a list of alternatives. In a pattern, line breaks do not count, and ``{name}`` is replaced
by another value of the file, or of ``words.<language>.toml``: text as it is, a list as a group.
"""

import re
import threading
import tomllib
from collections.abc import Callable
from functools import cache, wraps
from importlib import resources
from typing import Any, Generic, TypeAlias, TypeVar, cast

from memci.language.detection import Language

T = TypeVar("T")
# Text, or alternatives.
Value: TypeAlias = str | list[str]
_REFERENCE = re.compile(r"\{([a-z_]+)\}")


class LoadOnce(Generic[T]):
    """A value made at the first ``get``; other threads wait for it. A failure is not kept."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def get(self) -> T:
        """Return the value, making it if this is the first call."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]


# Texts whose values are remembered: many times those that one answer reads.
_REMEMBERED = 1 << 16


def remembering(read: Callable[[str], T]) -> Callable[[str], T]:
    """Remember what a pure function returns of texts, by their hashes: never a text (M25)."""
    known: dict[int, T] = {}

    @wraps(read)
    def remembered(text: str) -> T:
        key = hash(text)  # 64 bits, with a key of this process
        try:
            return known[key]
        except KeyError:
            if len(known) >= _REMEMBERED:
                known.clear()
            return known.setdefault(key, read(text))

    return remembered


@cache
def read_data(name: str) -> dict[str, Any]:
    """Return the content of ``data/<name>.toml``."""
    return tomllib.loads(
        resources.files(__package__).joinpath("data", f"{name}.toml").read_text("utf-8")
    )


class _LazyPattern:
    """A pattern that is compiled at its first use: few processes use many."""

    def __init__(self, source: Callable[[], str], flags: int) -> None:
        self._compiled = LoadOnce(lambda: re.compile(source(), flags))

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._compiled.get(), name)
        setattr(self, name, value)
        return value


def lazy_pattern(source: Callable[[], str], flags: int) -> re.Pattern[str]:
    """Return a pattern that is compiled at its first use."""
    return cast("re.Pattern[str]", _LazyPattern(source, flags))


class TaskData:
    """The words and patterns of one task in both languages."""

    def __init__(self, task: str) -> None:
        self._tables = {language: read_data(f"{task}.{language}") for language in Language}

    def words(self, name: str, *languages: Language) -> frozenset[str]:
        """Return the words of a value, separated by blanks, in these languages or in all."""
        values = self._values(name, languages).values()
        return frozenset(word for value in values for word in value.split())

    def pattern(
        self, name: str, *languages: Language, flags: int = re.IGNORECASE
    ) -> re.Pattern[str]:
        """Return a value of these languages, or of all, as one pattern."""
        return lazy_pattern(lambda: self.source(name, *languages), flags)

    def patterns(
        self, name: str, *languages: Language, flags: int = re.IGNORECASE
    ) -> tuple[re.Pattern[str], ...]:
        """Compile each alternative of a value to a pattern of its own, in order."""
        return tuple(
            self.compile(each, language, flags=flags)
            for language, value in self._values(name, languages).items()
            for each in (value if isinstance(value, list) else [value])
        )

    def compile(
        self, value: Value, language: Language, flags: int = re.IGNORECASE
    ) -> re.Pattern[str]:
        """Return the text of a value as a pattern."""
        return lazy_pattern(lambda: self.expand(value, language), flags)

    def source(self, name: str, *languages: Language) -> str:
        """Return the regular expression that ``pattern`` compiles."""
        values = self._values(name, languages)
        return "|".join(self.expand(value, language) for language, value in values.items())

    def rows(self, name: str, language: Language) -> list[dict[str, Any]]:
        """Return the tables of a list."""
        rows: list[dict[str, Any]] = self._tables[language][name]
        return rows

    def expand(self, value: Value, language: Language) -> str:
        """Return the regular expression for a value of a language."""
        if isinstance(value, list):
            return "|".join(self.expand(each, language) for each in value)
        return _REFERENCE.sub(
            lambda found: self._named(found[1], language), value.replace("\n", "")
        )

    def _named(self, name: str, language: Language) -> str:
        value = (read_data(f"words.{language}") | self._tables[language])[name]
        text = self.expand(value, language)
        return f"(?:{text})" if isinstance(value, list) else text

    def _values(self, name: str, languages: tuple[Language, ...]) -> dict[Language, Any]:
        chosen = languages or tuple(Language)
        found = {each: self._tables[each][name] for each in chosen if name in self._tables[each]}
        if not found:
            raise KeyError(name)
        return found
