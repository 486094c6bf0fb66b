"""Phrases that show what a sentence is for: fact, decision, correction, courtesy."""

from __future__ import annotations

import re
from enum import Enum

from memci.language.detection import Language, language_of
from memci.language.small_talk import asks, telling_words


def _cue(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


class Cue(Enum):
    """What a sentence does; the value is the pattern that shows it."""

    DECISION = _cue(
        r"\b(?:decid|agree[ds]? (?:to|on|that)|settled on|chose|choos|conclu|we(?:'ll| will) "
        r"(?:use|go)|going with|approved|final(?:ly|ised|ized))",
        "决定|敲定|定下来|商定|选定|一致同意|拍板|确定(?:用|采用|了)|采用",
    )
    PREFERENCE = _cue(
        r"\b(?:prefer|favou?rite|(?:i|we|he|she|they)(?:'d| would)? (?:really |also |do |don't |"
        r"never )?(?:like|love|hate|enjoy|dislike)s?\b|can't stand|fond of|rather (?:than|have|"
        r"not)|allerg|vegetarian|vegan)",
        "喜欢|偏好|最爱|讨厌|不爱|爱吃|爱好|宁愿|过敏|习惯用|不吃",
    )
    PLAN = _cue(
        r"\b(?:plan(?:s|ned|ning)?\b|going to|will (?:start|move|visit|travel|meet|release|"
        r"launch)|deadline|schedul|by (?:monday|tuesday|wednesday|thursday|friday|saturday|"
        r"sunday|tomorrow|next)|next (?:week|month|year|spring|summer|autumn|fall|winter)|goal|"
        r"intend|looking forward to|booked)",
        "计划|打算|准备(?:去|在|把)|下周|下个?月|明年|截止|预定|预约|目标|安排在|将在|要在",
    )
    CONSTRAINT = _cue(
        r"\b(?:must|never|always|have to|required?|only if|unless|don't|do not|at (?:most|"
        r"least)|limit|no (?:more|less|later) than|make sure|remember (?:to|that)|important)\b",
        "必须|务必|一定要|不要|不能|不得|禁止|切勿|至少|最多|不超过|除非|记住|注意|要求|只能",
    )
    LESSON = _cue(
        r"\b(?:learn(?:ed|t)|lesson|mistake|turn(?:s|ed) out|root cause|because of|the reason|"
        r"fail(?:ed|ure)|fix(?:ed)?\b|solv|caused by|realiz|realis)",
        "教训|原来|原因是|学到|发现|失败|因为|导致|解决|修复|意识到|明白了",
    )
    CORRECTION = _cue(
        r"\b(?:actually|correction|no longer|instead of|not any ?more|changed (?:my|our|his|her|"
        r"the)|used to|wrong|i meant|update:|moved (?:to|from))",
        "更正|纠正|不再|改成|改为|其实是|搞错|说错|换成|搬到|以前",
    )
    FACT = _cue(
        r"\b(?:my (?:name|wife|husband|son|daughter|mother|father|mom|dad|sister|brother|"
        r"partner|boss|birthday|phone|address|job|dog|cat)|i(?:'m| am) (?:an?|from|the)\b|i "
        r"(?:live|work|was born|grew up|have an?|own)|lives? in|works? (?:at|for|as)|born (?:in|"
        r"on)|is (?:called|named|located)|married|graduat|years? old|costs?\b|owns?\b|consists "
        r"of|version)",
        "我叫|名字是|我是(?!说)|我住|住在|来自|出生|生日|毕业|工作(?:是|在)|我在.{1,12}工作|"
        "丈夫|妻子|儿子|女儿|妈妈|爸爸|岁|结婚|负责|位于|电话|地址|版本",
    )


_LONGEST_COURTESY = 60
SOCIAL = _cue(
    r"^(?:\W*(?:and |but |so )?(?:thanks?\b(?! to)|thank you|congrat|cheers|hey\b|hi\b|hello\b|"
    r"wow\b|good (?:to|for|morning|evening|luck|job|night)|(?:nice|great|lovely) (?:to (?:hear|"
    r"see|meet)|work|job)|great to hear|that(?:'s| is| sounds)? (?:so |really |such |very "
    r")?(?:great|good|cool|awesome|amazing|nice|wonderful|fantastic|lovely|a great|true|right)|"
    r"sounds (?:great|good|fun|like)|i(?:'m)? (?:totally |completely |really |so )?(?:agree|"
    r"happy for|glad|sorry to hear|proud of you)|glad (?:you|to)|(?:yes|yeah|no|ok|okay|sure|"
    r"awesome|cool|absolutely|definitely|exactly|totally|of course|you)\b\W*$|long time no|how "
    r"(?:are|have) you|what's (?:up|new)|take care|keep (?:it )?up|you(?:'re| are) (?:welcome|"
    r"right|so|amazing)|no (?:problem|worries)|let me know|talk (?:to you )?(?:soon|later)|see "
    r"you|bye|hope you|can't wait|guess what|you've got this|must (?:have been|be|feel)|bet "
    r"it))",
    "^[^\u3400-\u9fff\\w]*(?:谢谢|感谢|多谢|不客气|不用谢|没关系|没问题|真棒|棒|太好了|太棒了|"
    "太恭喜|好的|好呀|好啊|好主意|你好|您好|嗨|早上好|晚安|晚上好|不好意思|抱歉|对不起|希望你|"
    "祝你|祝贺|恭喜|加油|听起来|听你这么说|真是|真好|是的|嗯|哈哈|哇|当然|再见|拜拜|不错|"
    "好久不见|很高兴|我很高兴|收到|明白|了解|辛苦了|哎)",
)

# How to do something, and that something happened (R4).
PROCEDURAL = _cue(
    r"\b(?:how to|step \d|first(?:ly)?,? (?:you|we|un|open|run|go|set|install|click|make|get)|"
    r"to \w+ (?:the|a|your) [^.!?]*, (?:first|you|run|use|open|click|press|unplug)|then (?:run|"
    r"open|click|press|add|set|hold|install)|make sure (?:to|that|you)|run `|press (?:and hold "
    r")?the|click (?:on )?the|in order to|whenever you|always (?:run|use|check|make|call|ask)|"
    r"never (?:run|use|press|deploy|call|commit))",
    r"^\s*(?:\d+[.)]|[-*]) (?:[A-Z]\w+ (?:the|a|your|it)\b)|```(?:sh|bash|console)",
    "步骤|怎么做|方法是|做法|首先.*(?:然后|再|接着)|先.{1,30}(?:再|然后)|第[一二三四五]步|"
    "操作流程|流程是|记得先|每次.{1,12}(?:都要|前|之前)|教程",
)
EPISODIC = _cue(
    r"\b(?:yesterday|today|tonight|this (?:morning|afternoon|evening|week|weekend|month)|last "
    r"(?:night|week|weekend|month|year|summer|winter|spring|fall|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday)|\w+ (?:days?|weeks?|months?|years?) ago|recently|just "
    r"(?:got|had|came|finished|started|met|saw)|(?:i|we|he|she|they) (?:\w+ly )?(?:went|had|met|"
    r"saw|got|did|made|took|came|visited|bought|started|finished|won|lost|found|ran|ate|flew|"
    r"drove|moved|decided|talked|attended|joined|tried|learned|signed|held|gave|released|"
    r"deployed|fixed))\b",
    r"昨天|今天|前天|今早|昨晚|上周|上个?月|去年|刚才|刚刚|最近|前几天|那天|"
    r"[去看吃买做完成见学参加到]了|[去看吃见来]过|\d+月\d+日",
)


def cues_of(text: str) -> frozenset[Cue]:
    """Return what ``text`` does."""
    return frozenset(cue for cue in Cue if cue.value.search(text))


def is_social(clause: str) -> bool:
    """Say whether a clause greets, thanks, praises or acknowledges, and tells nothing.

    A long one goes on to say something: "Thanks, I moved the nightly backup to Frankfurt …".
    """
    return len(clause) <= _LONGEST_COURTESY and bool(SOCIAL.match(clause))


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
