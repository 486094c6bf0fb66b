"""Which sentences of a talk tell nothing, in a summary of it (R8)."""

from __future__ import annotations

import re

from memci.domain.memory.small_talk import telling_words
from memci.smallmodel.offline.cues import is_social

# "Hi Nova, I'm Priya." greets, and says who is talking: "I'm sorry to hear that" does not.
_INTRODUCES = re.compile(
    r"\b(?i:i'm|i am|my name is|my name's|this is|call me) (?:[A-Z][^\W\d_]|an? )|"
    "我(?:叫|姓|名叫|的名字)|叫我|我是(?!说)"
)
# What is refused, agreed to or put off in common words alone: that is how decisions are told (R8).
_DECIDES = re.compile(
    r"\b(?:not?|never|nor|cannot|\w+n['’]t|stop|instead|agreed?|decided?|let['’]?s|"
    r"do (?:it|that|so)|should|go(?:ing)? (?:with|for|ahead))\b|"
    "[不没别]|同意|决定|就这|算了|可以|应该",
    re.IGNORECASE,
)
# How a helper begins, and how one ends.
_OFFERS = re.compile(
    r"\W*(?:so,? )?(?:what (?:are you working on|can i do|brings you)|how (?:can|may) i (?:help|"
    r"assist)|(?:is there )?anything else)\b[^.!?]{0,30}\?|"
    "[^\\w\u3400-\u9fff]*(?:请问)?(?:有什么|有啥|需要什么|还有什么|还需要)"
    "[^。！？]{0,8}(?:帮|效劳|需要)[^。！？]{0,6}[？?]",
    re.IGNORECASE,
)


def is_courtesy(sentence: str) -> bool:
    """Tell whether it greets, thanks, offers or acknowledges, and names nothing and nobody."""
    if not telling_words(sentence) and any(map(str.isalpha, sentence)):
        return is_social(sentence) or not _DECIDES.search(sentence)
    if _OFFERS.fullmatch(sentence.strip()):
        return True
    if any(map(str.isdigit, sentence)) or introduces(sentence):
        return False
    return is_social(sentence)


def introduces(sentence: str) -> bool:
    """Tell whether somebody says who is talking."""
    return bool(_INTRODUCES.search(sentence.replace("’", "'")))
