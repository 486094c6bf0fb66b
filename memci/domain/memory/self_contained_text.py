"""Words a memory so that it can be read alone: speakers and dates (R4).

Nothing of the original text is changed or lost. Additions are recognisable: the date beside an
expression of time, in brackets; the speaker, before a colon; and the question on which a short
answer depends, in square brackets at the beginning.

The speaker's name at the beginning of each speech explains "I" and "我". Other pronouns stay
unchanged: their meaning is certain only where the name is nearby, and then the segment already
contains that name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memci.language.detection import Language, language_of
from memci.language.small_talk import asks_something, can_answer, last_question
from memci.language.times.mentions import add_date_notes
from memci.message import Message, Role

# The text of tool results has other authors and days.
_SPEAKING = (Role.USER, Role.ASSISTANT)


def self_contained(text: str, messages: Sequence[Message]) -> str:
    """Return a segment's text with the names of its speakers and the dates of its time words.

    ``messages`` are its source, in order; the first and the last may lie in it in part (M3). Text
    from other sources is returned unchanged.
    """
    return "".join(_with_speaker(part, message) for part, message in _parts(text, messages))


def _with_speaker(part: str, message: Message | None) -> str:
    if message is None or not part.strip():
        return part
    name = " ".join((message.name or "").split())
    dated = add_date_notes(part, message.said_at) if message.role in _SPEAKING else part
    body = dated.lstrip()
    if not name or body.lower().startswith((f"{name.lower()}:", f"{name.lower()}：")):
        return dated
    return f"{dated[: len(dated) - len(body)]}{name}: {body}"


def _parts(text: str, messages: Sequence[Message]) -> Iterator[tuple[str, Message | None]]:
    """Divide the text among the messages; white space may differ from theirs."""
    lengths = [len("".join(message.text.split())) for message in messages]
    source = "".join("".join(message.text.split()) for message in messages)
    places = [place for place, character in enumerate(text) if not character.isspace()]
    skipped = _beginning(source, "".join(text.split()), lengths)
    if skipped is None:
        yield text, None
        return
    start, passed = 0, -skipped
    for message, length in zip(messages, lengths, strict=True):
        passed += length
        end = places[passed] if passed < len(places) else len(text)
        yield text[start:end], message
        start = end


def _beginning(source: str, text: str, lengths: Sequence[int]) -> int | None:
    """Return how much of the first message precedes the text; None: other text."""
    if not text or not lengths:
        return None
    # It ends in the last message, so it cannot begin earlier than this.
    at = source.find(text, max(0, len(source) - lengths[-1] - len(text) + 1))
    return at if 0 <= at < lengths[0] else None


_SPEAKERS = {
    Language.ENGLISH: {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool"},
    Language.CHINESE: {Role.USER: "用户", Role.ASSISTANT: "助手", Role.TOOL: "工具"},
}
# Characters: a longer answer is understandable alone.
_LEANING = {Language.ENGLISH: 60, Language.CHINESE: 24}
_LONGEST_QUESTION = 200
# Characters at the end of a long message that are searched for a question.
_END = 1_000


def worded(
    text: str, messages: Sequence[Message], language: Language, question: Message | None = None
) -> str:
    """Return the text of a memory; ``messages`` are the source of its segment, in order.

    ``question``: the question that the first of them answers. Of several speakers,
    those without a name are distinguished by their roles.
    """
    everyone = [question, *messages] if question else messages
    if len({(each.role, each.name) for each in everyone}) > 1:
        messages = [_with_role_name(each, language) for each in messages]
    if len(messages) == 1:
        # The whole segment is from one message, which may be too long to search.
        messages = [replace(messages[0], content=text, tool_calls=())]
    wording = self_contained(text, messages)
    return f"{_quoted(question, language)}\n{wording}" if question else wording


def question_answered_by(answer: Message, before: Sequence[Message]) -> Message | None:
    """Return the question on which a short answer depends.

    ``before``: the earlier messages of the conversation, in order.
    """
    if not before or len(answer.text) > _LEANING[language_of(answer.text)]:
        return None
    asked = before[-1]
    answers = (asked.role, asked.name) != (answer.role, answer.name) and can_answer(answer.text)
    return asked if answers and asks_something(asked.text[-_END:]) else None


def speaker_name(message: Message | None, language: Language) -> str:
    """Return the name of a message's speaker, or else of its role; of a user without a message."""
    if message is None:
        return _SPEAKERS[language][Role.USER]
    return _with_role_name(message, language).name or ""


def labels(role: Role | None, name: str | None) -> tuple[str, ...]:
    """Return all possible labels of a speaker, in any language."""
    by_role = (_SPEAKERS[language].get(role) for language in Language if role)
    return tuple(each for each in (*by_role, name) if each)


def _quoted(question: Message, language: Language) -> str:
    words = last_question(question.text[-_END:])[:_LONGEST_QUESTION]
    name = " ".join((_with_role_name(question, language).name or "").split())
    return f"[{name}: {add_date_notes(words, question.said_at)}]"


def _with_role_name(message: Message, language: Language) -> Message:
    return replace(message, name=message.name or _SPEAKERS[language].get(message.role))
