"""Whether somebody says something of his own, or only wants things to go on."""

from __future__ import annotations

import re

from memci.domain.language import Language, language_of
from memci.domain.memory.small_talk import asks, telling_words
from memci.smallmodel.offline.cues import is_social

# What asks for more of what there is: it names nothing.
_GOES_ON = re.compile(
    r"\b(?:continue|proceed|carry on|(?:go|move) (?:ahead|on)|again|"
    r"next(?: (?:one|step|page|part))?|retry|repeat|start|begin|confirm(?:ed)?|ready|finish|"
    r"details?)\b|"
    "接着|往下|然后|下去|下一?[个步页条章题项]|"
    "[再重][讲说来做试]一?[遍次下]?|"
    "重来|重试|开始|执行|确认|详细|回答|准备好了?|"
    "帮帮我|救命",
    re.IGNORECASE,
)
_FEWEST_CHARACTERS = 2


def says_something(clause: str) -> bool:
    """Tell whether a clause names what it is about, be it in one word ("Tokyo?", "天气怎么样？").

    "Thanks", "继续" and "ok, go on" do not, nor does the number of an answer ("1").
    """
    if is_social(clause):
        return False
    words = [each for each in telling_words(_GOES_ON.sub(" ", clause)) if not each.isdecimal()]
    # A Chinese character by itself is a verb without its object, such as 写.
    is_chinese = language_of("".join(words)) is Language.CHINESE
    fewest = _FEWEST_CHARACTERS if is_chinese and not asks(clause) else 1
    return len(words) >= fewest
