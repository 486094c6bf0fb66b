"""What greets, thanks and acknowledges and tells nothing, in English and Chinese (R2).

The lists hold words that name nothing by themselves. Whoever is spoken of in the third person is
not among them, nor is any verb that says what someone did: "He died" is short and tells much.
Words of languages that the lists do not know all count as telling.
"""

from __future__ import annotations

import re
import unicodedata

_EVERYDAY = """
    a an the and or but so then as of at by for with about to from in on up out off over than if
    i i'm i'd i'll i've me my mine myself you you're you'd you'll you've your yours yourself
    we we're we'll we'd we've us our it it's it'll itself this that that's that'd those these there
    there's here here's what what's how how's why when where which who one ones
    something anything everything nothing thing things stuff way
    am is isn't are aren't was wasn't were be been being do don't does doesn't did didn't doing done
    have haven't has had having will won't would wouldn't can can't cannot could couldn't shall
    should shouldn't may might must let let's lets
    not no yes yeah yep yup nope nah ok okay k kk alright sure course absolutely definitely
    certainly exactly totally indeed true right correct agreed agree fine please
    too also very really quite rather pretty so much many more most just even still yet already
    always ever again now soon later then maybe perhaps probably actually basically literally simply
    well anyway though all any some every else same such bit lot lots kind sort
    great good nice cool awesome amazing wonderful fantastic lovely excellent perfect brilliant
    incredible beautiful sweet neat super best better fun funny interesting impressive inspiring
    exciting excited happy glad sorry bad sad worse crazy wild special
    hi hey hello hiya morning afternoon evening night day weekend bye goodbye cya greetings welcome
    thanks thank thx ty tysm appreciate appreciated cheers congrats congratulations bless
    oh wow whoa woah ah aha aw aww awww haha hahaha hehe lol lmao rofl hmm mm mmm mhm um uh er huh
    yay woohoo phew oops ouch omg gosh god man dude gotcha damn ugh yikes
    go goes going get gets got give come keep take see seeing seen look looks looking looked hear
    hearing heard sound sounds sounded know knows think thought guess hope hoping wish believe
    mean means meant makes make made sense say said tell talk talking speak feel feels understand
    understood want wanna need wait wonder bet love like need try remind
    care help problem worries worry mind matter luck job work idea point question moment
    noted noticed understand understood done deal word chat catch course pleasure proud
    told again anytime forward touch time long
"""
_EVERYDAY_WORDS = frozenset(_EVERYDAY.split())
# One of these, or a greeting, is in everything that is polite and nothing else.
_POLITE = """
    hi hey hello hiya bye goodbye greetings welcome thanks thank thx ty tysm appreciate cheers
    congrats congratulations morning night yes yeah yep yup no nope ok okay k kk alright sure
    absolutely definitely exactly totally indeed true right correct agreed agree fine great good
    nice cool awesome amazing wonderful fantastic lovely excellent perfect brilliant incredible
    beautiful sweet neat super glad happy sorry wow whoa woah oh ah aha aw aww haha hahaha hehe lol
    hmm mm mmm yay woohoo phew oops omg gosh gotcha understood noted luck care proud inspiring
    impressive interesting exciting pleasure hope sounds love
"""
_POLITE_WORDS = frozenset(_POLITE.split())

# Beside one of those these are polite as well: "Thanks for your support", but "I need support".
_COURTEOUS_WORDS = frozenset(
    """
    support supportive supporting encouragement encouraging suggestion suggestions recommendation
    recommendations tip tips advice compliment compliments sharing share showing listening reading
    helpful helping useful thoughtful kind enjoy enjoyed friend friends buddy mate dear safe self
    everyone everybody guys around catching chatting chatted seems stunning
    推 荐 试 试 尝 朋 友 期 待 梦 相 信 些 用 次 注 意 去 来 先 到 里
    """.split()
)

# Longest first, so that 没关系 is not left as 关系. 不 and 没 by themselves are not among them.
_EVERYDAY_CHINESE = sorted(
    """
    你好 您好 大家好 早上好 上午好 中午好 下午好 晚上好 早安 午安 晚安 早 嗨 哈喽 哈啰 喂 好久不见 再见 拜拜
    回头见 回见 明天见 谢谢 多谢 感谢 谢啦 谢了 谢 非常 十分 特别 太感谢 辛苦了 辛苦 不客气 不用谢 不谢
    没关系 没事 没事儿 没问题 不好意思 抱歉 对不起 麻烦 劳驾 请 恭喜 祝贺 祝 加油 保重 祝你 希望 好运 顺利
    一切 愉快 快乐 好的 好呀 好啊 好吧 好嘞 好哒 好哦 好滴 行 可以 当然 当然可以 是的 是啊 是呀 是吗 对的
    对啊 对呀 没错 嗯 嗯嗯 哦 喔 噢 哎 唉 诶 欸 啊 呀 呢 吧 啦 嘛 哈 哈哈 哈哈哈 呵呵 嘿 嘿嘿 嘻嘻 哇 哇塞
    真的 真是 真 太 很 挺 好 棒 真棒 太棒了 太好了 不错 厉害 漂亮 赞 优秀 完美 有意思 有趣 有道理 好听 好看
    明白 明白了 知道了 知道 了解 了解了 懂了 收到 理解 同意 确实 的确 原来如此 这样 那样 这么 那么 怎么样 如何
    我 你 您 我们 你们 咱们 咱 这 那 这个 那个 它 也 都 就 还 又 再 才 只 了 的 地 得 着 过 吗 么 是 对 有
    会 能 要 想 觉得 认为 听 听起来 看 看来 看起来 说 说得 说的 让 给 和 跟 与 在 被 把 一 一下 一点 一些 有点
    什么 怎么 为什么 时候 时间 今天 现在 最近 以后 下次 再说 再聊 聊 慢慢 继续 开心 高兴 很高兴 认识 幸会 很
    很好 还好 还行 一般 必须 必须的 主意 好主意 建议 帮助 帮忙 随时 告诉 需要 支持 鼓励 客气
    """.split(),
    key=len,
    reverse=True,
)
_POLITE_CHINESE = re.compile(
    "[嗨喂谢嗯哦喔噢哎唉诶欸哈呵嘿嘻哇赞]|你好|您好|好的|好[呀啊吧嘞哒哦滴]|[早午晚]安|[早上中午下晚]+好|再见|拜拜|回见|"
    "不客气|没关系|没事|没问题|不好意思|抱歉|对不起|恭喜|祝|加油|辛苦|行|可以|当然|是[的啊呀]|对[的啊呀]|没错|真棒|太[棒好]了|"
    "不错|厉害|有意思|有道理|明白|知道了|了解|懂了|收到|理解|同意|确实|的确|原来如此|很高兴|好主意|必须的|听起来"
)
# Thanks, greetings and farewells answer no question, unless one of the others is beside them.
_NO_ANSWER = re.compile(
    r"\b(?:thanks?|thx|ty|bye|goodbye|hi|hey|hello|welcome|congrats|congratulations|take care|"
    r"talk (?:to you )?(?:soon|later)|see (?:you|ya))\b|[谢嗨]|你好|您好|再见|拜拜|晚安|恭喜|祝|加油|辛苦|不客气",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\b(?:yes|yeah|yep|yup|no|nope|nah|not|sure|ok|okay|alright|fine|right|true|exactly|definitely|"
    r"absolutely|course|both|neither|either|do|did|don't|didn't|am|was|can|can't|will|won't)\b|"
    "[是对行没不]|好的|可以|当然",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\u3005\u3400-\u9fff]+|\d+(?:[.,:]\d+)*|[^\W\d_\u3005\u3400-\u9fff]+(?:'[^\W\d_]+)*")
_HAN = re.compile(r"[\u3005\u3400-\u9fff]")
_CHINESE_PHRASE = re.compile("|".join(_EVERYDAY_CHINESE))
# The one spoken to is called by name: "Hey Mel!", "Thanks, Caroline", "嗨，小雨".
_CALLED = re.compile(
    r"(?i:\b(?:hey|hi|hello|thanks|thank you|thx|bye|congrats|wow|yes|yeah|ok|okay|sure|sorry|"
    r"agreed|absolutely|totally|morning|night|you|too|that|it|great|cool|awesome|nice))"
    r",? +[A-Z][^\W\d_]+(?=\s*(?:[!,.?…~]|$))"
)
_CLAUSE = re.compile(r"[^.!?。！？\n]*[.!?。！？]*")
# "How are you?" and the like: whatever is answered names itself or is courtesy as well.
_POLITE_QUESTION = re.compile(
    r"(?:how(?:'s| is| are| have| has|'ve|'re)? (?:you|it|things|life|everything)\b"
    r"(?: (?:been|doing|going|today|lately|all|so far|holding up))*|what's (?:up|new|good)|"
    r"(?:oh )?(?:really|right|ok|okay|yeah|huh|no|seriously|sure|you know|isn't it|what)|"
    r"(?:how|what) (?:can|may|could) i (?:help|do for|assist) (?:you)?.{0,20}|"
    r"(?:is there |do you need |need |can i help (?:you )?with )?anything else.{0,40})",
    re.IGNORECASE,
)
_POLITE_QUESTION_CHINESE = re.compile(
    "(?:那?你)?(?:最近|今天)?(?:好吗|还好吗|怎么样|过得好吗|过得怎么样|还好么)|是吗|真的吗|对吗|好吗|行吗|可以吗|"
    "有什么(?:我)?(?:可以|能)?.{0,4}帮.{0,6}|还有(?:什么|别的)?.{0,6}[吗么]"
)
_AUXILIARY = "do|does|did|are|is|was|were|have|has|had|can|could|will|would|should"
_ASKS = re.compile(
    rf"[?？]|(?:吗|么|呢|是不是|对不对|好不好)\W*$|^\W*(?:(?:and|so|but|oh|well|hey) )?(?:"
    rf"(?:{_AUXILIARY})(?:n't)? (?:you|we|i|they|he|she|it|there|your|my|the|that|this|any)\b|"
    rf"(?:what|when|where|which|who|whose|why|how)(?: \w+)? (?:{_AUXILIARY})\b)",
    re.IGNORECASE,
)


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, in small letters; Han characters one by one."""
    return [word for run in _runs(text) for word in (run if _HAN.match(run) else [run])]


def telling_words(text: str) -> list[str]:
    """Return what is left of ``words_of`` without words that name nothing."""
    left: list[str] = []
    for run in _runs(text):
        if _HAN.match(run):
            left.extend(_CHINESE_PHRASE.sub("", run))
        elif run not in _EVERYDAY_WORDS and run.replace("'", "") not in _EVERYDAY_WORDS:
            left.append(run)
    return left


def is_trivial(text: str, min_length: int) -> bool:
    """Tell whether a text is courtesy through and through, or names nothing in a few characters.

    ``min_length``: characters; a text that is not shorter must greet, thank or acknowledge.
    """
    bare = _CALLED.sub(lambda match: match[0].rpartition(" ")[0], text)
    told = telling_words(bare)
    if _is_polite(bare):
        return _COURTEOUS_WORDS.issuperset(told)
    return not told and len(text.strip()) < min_length


def asks(text: str) -> bool:
    """Tell whether a text asks for something that an answer may tell; "How are you?" does not."""
    return any(_is_question(clause) for clause in _CLAUSE.findall(text))


def can_answer(text: str) -> bool:
    """Tell whether a text may answer a question, as thanks and farewells do not."""
    return not _NO_ANSWER.search(text) or bool(telling_words(text) or _ANSWER.search(text))


def _is_question(clause: str) -> bool:
    if not _ASKS.search(clause):
        return False
    bare = " ".join(_CALLED.sub("", clause).replace("’", "'").strip(" \t?!.,。？！，…").split())
    return bool(bare) and not (
        _POLITE_QUESTION.fullmatch(bare) or _POLITE_QUESTION_CHINESE.fullmatch(bare)
    )


def _runs(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower().replace("’", "'"))


def _is_polite(text: str) -> bool:
    return not _POLITE_WORDS.isdisjoint(_runs(text)) or bool(_POLITE_CHINESE.search(text))
