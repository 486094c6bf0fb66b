"""Detect the language of a text, where rules differ between languages (R12)."""

import re
from enum import StrEnum

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")

# A Chinese sentence with some English names in it is still Chinese: one Han character says
# about as much as a short word.
_HAN_SHARE = 0.2


class Language(StrEnum):
    """Languages with their own rules; all others follow the Unicode rules of English."""

    ENGLISH = "en"
    CHINESE = "zh"


def language_of(text: str) -> Language:
    """Return CHINESE if enough of the letters are Han characters, else ENGLISH."""
    if text.isascii():
        return Language.ENGLISH
    han = len(_HAN.findall(text))
    if not han or len(_KANA_OR_HANGUL.findall(text)) > han / 4:
        return Language.ENGLISH
    return Language.CHINESE if han >= _HAN_SHARE * len(_LETTER.findall(text)) else Language.ENGLISH
