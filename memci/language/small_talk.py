"""Recognise greetings, thanks, courtesies and service phrases without content (R2).

English and Chinese: words of other languages all count as content. The word lists have no third
persons and no verbs of action: "He died" is short but has content.
"""

import re
import unicodedata
from collections.abc import Collection

from memci.language.detection import Language
from memci.language.loading import TaskData, remembering

_DATA = TaskData("small_talk")
_SERVICE = _DATA.pattern("service")
_EMPTY_WORDS = _DATA.words("empty_words", Language.ENGLISH)
# Longest first, so that 没关系 is not left as 关系.
_EMPTY_CHINESE = re.compile(
    "|".join(
        sorted(_DATA.words("empty_words", Language.CHINESE), key=lambda word: (-len(word), word))
    )
)
_POLITE_WORDS = _DATA.words("polite_words")
_POLITE_CHINESE = _DATA.pattern("polite", flags=0)
_COURTEOUS_WORDS = _DATA.words("courteous_words")
_NO_ANSWER, _ANSWER = _DATA.pattern("no_answer"), _DATA.pattern("answer")
_CALLED = _DATA.pattern("called", flags=0)
_GREETING = _DATA.pattern("greeting")
_ECHO = _DATA.pattern("echo")
_QUESTION = _DATA.pattern("question")
_WORD = re.compile(
    r"[\u3005\u3400-\u9fff]+|\d+(?:[.,:]\d+)*|[^\W\d_\u3005\u3400-\u9fff]+(?:'[^\W\d_]+)*"
)
_HAN = re.compile(r"[\u3005\u3400-\u9fff]")
_CLAUSE = re.compile(r"[^.!?。！？\n]*[.!?。！？]*")
# Characters. The rules would hold the interpreter for long over a longer text.
_LONGEST_TRIVIAL = 2_000
# Names of addressees and words of service phrases are no more than this.
_MOST_TELLING_WORDS = 3


def remove_service_phrases(text: str) -> str:
    """Return a text without service phrases; it must have "'" in place of "’"."""
    return _SERVICE.sub(" ", text)


def split_words(text: str) -> list[str]:
    """Return the words of a text in order, in lower case; each Han character is a word."""
    return [word for run in _word_runs(text) for word in (run if _HAN.match(run) else [run])]


def content_words(text: str) -> list[str]:
    """Return the words of a text that have content; each Han character is a word."""
    left: list[str] = []
    for run in _word_runs(text):
        if _HAN.match(run):
            left.extend(_EMPTY_CHINESE.sub("", run))
        elif _has_content(run):
            left.append(run)
    return left


def is_trivial(text: str, min_length: int, speakers: Collection[str] = ()) -> bool:
    """Return True if a text is only courtesy, or is short and has no content.

    ``min_length``: characters; a longer text must greet, thank or acknowledge.
    ``speakers``: names of the participants, which a courtesy may contain.
    A text of more than 2,000 characters is not trivial.
    """
    if len(text) > _LONGEST_TRIVIAL:
        return False
    bare = _CALLED.sub(lambda match: match[0].rpartition(" ")[0], text)
    straight = bare.replace("’", "'")
    left = remove_service_phrases(straight)
    content = content_words(_GREETING.sub("", left))
    telling = set(content) - _COURTEOUS_WORDS
    if telling and not speakers:
        return False
    if left != straight or _is_polite(bare):
        called = {word for name in speakers for word in split_words(name)}
        return called.issuperset(telling)
    return not content and len(text.strip()) < min_length


@remembering
def has_many_content_words(text: str) -> bool:
    """Return True if a text is certainly not trivial: a cheap test, for scripts with blanks."""
    if _HAN.search(text):
        return False
    content: set[str] = set()
    for found in _WORD.finditer(_normalized(text)):
        if _has_content(word := found[0]) and word not in _COURTEOUS_WORDS:
            content.add(word)
            if len(content) > _MOST_TELLING_WORDS:
                return True
    return False


def asks_something(text: str) -> bool:
    """Return True if a text asks for information; "How are you?" does not."""
    return any(_is_question(clause) for clause in _CLAUSE.findall(text))


def last_question(text: str) -> str:
    """Return the last sentence that asks for information, or the whole text if none does."""
    questions = [clause.strip() for clause in _CLAUSE.findall(text) if _is_question(clause)]
    return questions[-1] if questions else text


def can_answer(text: str) -> bool:
    """Return True if a text may answer a question; thanks and farewells do not."""
    return not _NO_ANSWER.search(text) or bool(content_words(text) or _ANSWER.search(text))


def _is_question(clause: str) -> bool:
    if not _QUESTION.search(clause):
        return False
    bare = " ".join(_CALLED.sub("", clause).replace("’", "'").strip(" \t?!.,。？！，…").split())
    left = remove_service_phrases(bare)
    if left != bare and not content_words(left):
        return False
    return bool(bare) and not _GREETING.fullmatch(bare) and not _ECHO.fullmatch(bare)


def _word_runs(text: str) -> list[str]:
    return _WORD.findall(_normalized(text))


def _normalized(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def _has_content(word: str) -> bool:
    return word not in _EMPTY_WORDS and word.replace("'", "") not in _EMPTY_WORDS


def _is_polite(text: str) -> bool:
    words = not _POLITE_WORDS.isdisjoint(_word_runs(text))
    return words or bool(_POLITE_CHINESE.search(text) or _GREETING.search(text))
