"""Word lists that several tasks share; ``data/words.*.toml`` describes each list."""

from memci.language.detection import Language
from memci.language.loading import TaskData

_DATA = TaskData("words")


def _english(name: str) -> frozenset[str]:
    return _DATA.words(name, Language.ENGLISH)


def _chinese(name: str) -> frozenset[str]:
    return _DATA.words(name, Language.CHINESE)


ENGLISH_STOP_WORDS = _english("stop_words")
ENGLISH_PRONOUNS = _english("pronouns")
ENGLISH_FUNCTION_WORDS = ENGLISH_STOP_WORDS | ENGLISH_PRONOUNS | _english("function_words")
ENGLISH_NO_NAMES = ENGLISH_FUNCTION_WORDS | _english("no_names")
ENGLISH_EXCLAMATIONS = _english("exclamations")
ENGLISH_FIRST_NAMES = _english("first_names")
ENGLISH_OPENING_ADJECTIVES = _english("opening_adjectives")
ENGLISH_KIN = _english("kin")
ENGLISH_FINITE_VERBS = _english("finite_verbs")
ENGLISH_VERBS_OR_NOUNS = _english("verbs_or_nouns")
ENGLISH_NEGATIONS = _english("negations")
ENGLISH_TIMES = _english("times")
ENGLISH_NOT_NOUNS = _english("not_nouns")
CHINESE_NEGATIONS = _chinese("negations")
CHINESE_NO_NEGATIONS = _chinese("no_negations")
CHINESE_FUNCTION_WORDS = _chinese("function_words")
CHINESE_NO_NAMES = _chinese("no_names")
# Single characters.
CHINESE_SURNAMES = frozenset(_DATA.source("surnames"))
CHINESE_NICKNAMES = frozenset(_DATA.source("nickname_surnames"))
MEASURE_WORDS = _DATA.source("measure_words")
