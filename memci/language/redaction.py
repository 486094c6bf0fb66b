"""Replaces secrets and personal data in texts by placeholders such as ``[EMAIL_1]``.

Equal values have the same number within one message, and numbers begin again in the next: numbers
for an agent would need a table of the values or of their hashes, and those of phone numbers can be
guessed.

Patterns find candidates; kept libraries check them: phone numbers by their plans, cards, IBANs and
Chinese identity cards by their check digits. Secrets have documented prefixes. Every pattern takes
linear time: its repetitions are bounded, or begin only at the start of a word.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from memci.message import Message, NewMessage

MessageT = TypeVar("MessageT", NewMessage, Message)


class Redacted(StrEnum):
    """A kind of values; where two overlap, the first of these names the placeholder."""

    SECRET = "secret"  # noqa: S105 - the name of a kind
    IBAN = "iban"
    CARD = "card"
    ID_CARD = "id_card"
    EMAIL = "email"
    PHONE = "phone"


ALL = "all"
_PLACEHOLDER = re.compile(rf"\[({'|'.join(each.name for each in Redacted)})_[0-9]{{1,6}}\]")
# Checks of one kind in one text. More candidates are replaced without a check: a text with so many
# numbers is a table of them, and a check may take a tenth of a millisecond.
_MOST_CHECKS = 2_000


# Chinese keyboards write digits and letters in full width too; each is one character.
_HALF_WIDTH = {0xFF01 + at: 0x21 + at for at in range(0x5E)}


def kinds_of(setting: str) -> frozenset[Redacted]:
    """Return the kinds in a setting such as ``email,phone``; ``all`` is each."""
    words = setting.split(",") if setting else []
    return frozenset(Redacted) if ALL in words else frozenset(map(Redacted, words))


def redact_message(
    message: MessageT, kinds: frozenset[Redacted]
) -> tuple[MessageT, Counter[Redacted]]:
    """Return the message with placeholders in all its texts but ids, and how many of each kind."""
    redactor = Redactor(kinds)
    if not kinds:
        return message, redactor.counts
    redacted = replace(
        message,
        content=message.content and redactor.text(message.content),
        name=message.name and redactor.text(message.name),
        tool_calls=tuple(redactor.tool_call(each) for each in message.tool_calls),
        metadata=redactor.value(dict(message.metadata)),
    )
    return redacted, redactor.counts


def is_placeholder(word: str) -> bool:
    """Return True if a word is a placeholder, with or without its brackets, in any case."""
    return _PLACEHOLDER.fullmatch(f"[{word.strip('[] ').upper()}]") is not None


def without_placeholders(text: str) -> str:
    """Return a text with a blank in place of each placeholder."""
    return _PLACEHOLDER.sub(" ", text)


def kinds_in_words(text: str) -> str:
    """Return a text with the name of its kind in place of each placeholder: "email"."""
    return _PLACEHOLDER.sub(lambda found: Redacted[found[1]].value, text)


def placeholders_in(text: str) -> frozenset[Redacted]:
    """Return the kinds of the placeholders in a text."""
    return frozenset(Redacted[each] for each in _PLACEHOLDER.findall(text))


class Redactor:
    """Replaces values in the texts of one message."""

    def __init__(self, kinds: frozenset[Redacted]) -> None:
        """Take the kinds of values to replace."""
        self._finders = [(kind, _FINDERS[kind]) for kind in Redacted if kind in kinds]
        self._numbers: dict[tuple[Redacted, str], int] = {}
        self._last: Counter[Redacted] = Counter()
        self.counts: Counter[Redacted] = Counter()

    def text(self, text: str) -> str:
        """Return a text with placeholders."""
        parts, at = [], 0
        plain = text.translate(_HALF_WIDTH)
        for span in _merged(
            _Span(start, end, kind) for kind, find in self._finders for start, end in find(plain)
        ):
            value = plain[span.start : span.end]
            parts += [text[at : span.start], self._placeholder(span.kind, value)]
            at = span.end
        return "".join([*parts, text[at:]]) if parts else text

    def value(self, value: Any, name: str = "") -> Any:
        """Return a value of JSON with placeholders in its texts, keys and numbers.

        ``name``: its key, which may tell that it is a password.
        """
        if not self._finders:
            return value
        match value:
            case str():
                is_json = value.startswith("{")
                return self._json(value) if is_json else self._named(name, value)
            case bool() | None:
                return value
            case int() | float():
                text = self._named(name, str(value))
                return value if text == str(value) else text
            case Mapping():
                return {self.text(key): self.value(each, key) for key, each in value.items()}
            case _:
                return [self.value(each) for each in value]

    def tool_call(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a tool call with placeholders in its arguments, which are JSON as text."""
        function = call["function"]
        arguments = self._json(function["arguments"])
        return {**call, "function": {**function, "arguments": arguments}}

    def _named(self, name: str, text: str) -> str:
        whole = self.text(f"{name}: {text}") if name else ""
        return whole[len(name) + 2 :] if whole.startswith(f"{name}: ") else self.text(text)

    def _json(self, text: str) -> str:
        """Return a text with placeholders, which stays JSON if it is."""
        try:
            given = json.loads(text, object_pairs_hook=_distinct)
            value = self.value(given)
        except (ValueError, RecursionError):
            return self.text(text)
        # As it was written, if there was nothing to replace.
        return text if value == given else json.dumps(value, ensure_ascii=False)

    def _placeholder(self, kind: Redacted, value: str) -> str:
        self.counts[kind] += 1
        same = value if kind is Redacted.SECRET else re.sub(r"[\s().-]", "", value).lower()
        if (kind, same) not in self._numbers:
            self._last[kind] += 1
            self._numbers[kind, same] = self._last[kind]
        return f"[{kind.name}_{self._numbers[kind, same]}]"


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; ``ValueError`` if a name occurs twice: one value would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


class _Span(NamedTuple):
    start: int
    end: int
    kind: Redacted


_ORDER = {kind: place for place, kind in enumerate(Redacted)}


def _merged(spans: Iterable[_Span]) -> list[_Span]:
    """Return spans in order; overlapping ones are one, of the first kind."""
    merged: list[_Span] = []
    for span in sorted(spans):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            kind = min(last.kind, span.kind, key=_ORDER.__getitem__)
            merged[-1] = _Span(last.start, max(last.end, span.end), kind)
        else:
            merged.append(span)
    return merged


# Chinese text has no spaces: a word of ASCII ends where another character begins.
_B = r"(?<![A-Za-z0-9_-])"
_E = r"(?![A-Za-z0-9_-])"
_PEM = (
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s:,\\]|-(?!----)){0,16384}"
    r"(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
)
# With a digit in it: "the password is important" tells none.
_NAMED = (
    r"(?i:password|passwd|pwd|passphrase|secret|api[_ -]?key|access[_ -]?token|token"
    r"|密码|口令|密钥)[\"'`]?\s{0,3}(?:[:=：]|is|是|为)\s{0,3}[\"'`]?"
    r"(?P<value>(?=[!-~]{0,200}[0-9])[!#-&(-+\--:<-_a-~]{6,200})"
)
_SECRETS = [
    re.compile(pattern)
    for pattern in (
        _PEM,
        rf"{_B}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_E}",
        rf"{_B}gh[pousr]_[A-Za-z0-9]{{36,255}}",
        rf"{_B}github_pat_[A-Za-z0-9_]{{22,255}}",
        rf"{_B}glpat-[A-Za-z0-9_-]{{20,64}}",
        rf"{_B}xox[abposr]-[A-Za-z0-9-]{{10,250}}",
        r"https://hooks\.slack\.com/services/[A-Za-z0-9_/]{20,200}",
        # Of OpenAI, Anthropic and others; not "sk-learn-and-other-words".
        rf"{_B}sk-(?=[A-Za-z_-]{{0,250}}[0-9])[A-Za-z0-9_-]{{20,250}}",
        rf"{_B}(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{{10,250}}",
        rf"{_B}AIza[A-Za-z0-9_-]{{35}}",
        rf"{_B}(?:npm|hf)_[A-Za-z0-9]{{30,64}}",
        rf"{_B}pypi-[A-Za-z0-9_-]{{50,300}}",
        rf"{_B}SG\.[A-Za-z0-9_-]{{22}}\.[A-Za-z0-9_-]{{43}}",
        rf"{_B}memci_[A-Za-z0-9_-]{{43}}{_E}",
        # Telegram's.
        rf"{_B}[0-9]{{8,10}}:[A-Za-z0-9_-]{{35}}{_E}",
        # JSON Web Tokens.
        rf"{_B}eyJ[A-Za-z0-9_-]{{10,4000}}\.eyJ[A-Za-z0-9_-]{{10,8000}}(?:\.[A-Za-z0-9_-]{{0,1000}})?",
        r"(?i:bearer)\s{1,3}(?P<value>[A-Za-z0-9._~+/-]{20,2000}={0,2})",
        # A password in an address.
        r"://[^\s/:@]{0,100}:(?P<value>[^\s/@]{1,200})@",
        # A password that is named.
        _NAMED,
    )
]
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}")
_CARD = re.compile(
    r"(?<![A-Za-z0-9])[2-6](?:\d{3}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{3}([ -])\d{6}\2\d{5}|\d{12,18})"
    r"(?![A-Za-z0-9])"
)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[A-Za-z0-9]{1,3})?"
)
_ID_CARD = re.compile(r"(?<![A-Za-z0-9])[1-9]\d{16}[\dXx](?![A-Za-z0-9])")
# With the region whose plan checks it; None: the number begins with its country.
_PHONES = [
    (re.compile(pattern), region)
    for pattern, region in (
        (r"(?<![A-Za-z0-9+])(?:\+|00)[1-9](?:[ .()-]{0,2}\d){6,13}(?!\d)", None),
        (r"(?<![A-Za-z0-9+.-])1[3-9]\d([ -]?)\d{4}\1\d{4}(?![A-Za-z0-9]|[.-]\d)", "CN"),
        (
            r"(?<![A-Za-z0-9+.-])(?:\(0\d{2,3}\) ?|0\d{2,3}[ -])\d{7,8}(?![A-Za-z0-9]|[.-]\d)",
            "CN",
        ),
        (
            r"(?<![A-Za-z0-9+.-])(?:\(\d{3}\) ?|\d{3}([.-]))\d{3}[ .-]\d{4}(?![A-Za-z0-9]|[.-]\d)",
            "US",
        ),
    )
]


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    for found in chain.from_iterable(pattern.finditer(text) for pattern in _SECRETS):
        yield found.span("value" if "value" in found.re.groupindex else 0)


def _emails(text: str) -> Iterator[tuple[int, int]]:
    if "@" in text:
        for found in _EMAIL.finditer(text):
            yield found.span()


def _checked(
    pattern: re.Pattern[str], text: str, is_valid: Callable[[str], bool]
) -> Iterator[tuple[int, int]]:
    for number, found in enumerate(pattern.finditer(text)):
        if number >= _MOST_CHECKS or is_valid(found[0]):
            yield found.span()


# The libraries are imported when a text is redacted: most processes never do, and they are large.


def _cards(text: str) -> Iterator[tuple[int, int]]:
    from stdnum import luhn  # noqa: PLC0415

    return _checked(_CARD, text, lambda found: luhn.is_valid(re.sub("[ -]", "", found)))


def _id_cards(text: str) -> Iterator[tuple[int, int]]:
    from stdnum.cn import ric  # noqa: PLC0415

    return _checked(_ID_CARD, text, ric.is_valid)


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    from stdnum import iban  # noqa: PLC0415

    for number, found in enumerate(_IBAN.finditer(text)):
        start, end = found.span()
        # The words after it may look like its last groups.
        ends = [end, *(at for at in range(end - 1, start + 14, -1) if text[at] == " ")]
        if number < _MOST_CHECKS:
            ends = [each for each in ends if iban.is_valid(text[start:each])]
        if ends:
            yield start, ends[0]


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for pattern, region in _PHONES:
        yield from _checked(pattern, text, partial(_is_phone, region=region))


def _is_phone(text: str, *, region: str | None) -> bool:
    import phonenumbers  # noqa: PLC0415

    number = "+" + text[2:] if region is None and text.startswith("00") else text
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


_FINDERS: dict[Redacted, Callable[[str], Iterator[tuple[int, int]]]] = {
    Redacted.SECRET: _secrets,
    Redacted.IBAN: _ibans,
    Redacted.CARD: _cards,
    Redacted.ID_CARD: _id_cards,
    Redacted.EMAIL: _emails,
    Redacted.PHONE: _phones,
}
