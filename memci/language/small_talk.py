"""Recognises greetings, thanks, courtesies and service phrases that tell nothing (R2).

English and Chinese: words of other languages all count as telling something.

Whoever is spoken of in the third person is not among them, nor is any verb that says what someone
did: "He died" is short and tells much.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

_END = r"(?=\s*(?:[.!,?;\n~]|$))"
_END_CHINESE = r"(?=[\s，。！？!?,.；;~～]|$)"
_OPENS = "(?:请问|那么?|如果|要是|如|若|您|你|是否|，|,)*"
_MORE = (
    "(?:其他|其它|别的|什么|啥|任何|哪些|需要|需求|问题|想法|要求|疑问|帮助|帮忙|服务|协助|地方|事情?|"
    "的)"
)  # fmt: skip
_FOR_YOU = "(?:为|帮|给|替)(?:到|助)?(?:您|你)"
_ASKS = "[吗么呢]?"
_SURELY_ASKS = "(?:[吗么呢]|(?=[?？]))"

# 请问有什么可以帮您？ 还有什么可以帮到您的吗 还需要我帮您做什么吗？
_OFFER = (
    rf"{_OPENS}(?<![我他她它们谁])(?:还|也)?(?:有|需要)(?:没有)?{_MORE}*"
    rf"我?(?:可以|能够?|需要|要|想)*我?(?:再|继续)?(?:{_FOR_YOU}|帮[到助忙]|效劳)"
    rf"(?:做|解答|处理|服务|忙|的|点|些|一下|{_MORE}|上)*{_ASKS}"
)
# 还有其他需要吗？ 如果你有其他需求 请问您需要什么帮助？
_NEED = (
    rf"{_OPENS}(?:还|也)(?:有|需要)(?:没有)?{_MORE}+{_ASKS}"
    rf"|(?:请问|如果|要是|如|若)(?:您|你)?(?:还|也)?(?:有|需要)(?:没有)?{_MORE}+{_ASKS}"
    rf"|(?:请问|那)?(?:您|你)?需要{_MORE}+{_SURELY_ASKS}"
)
# 好的，已为您记录
_RECEIPT = (
    rf"我?(?:都|已经|已|会|就)*(?:{_FOR_YOU})?(?:都|已经|已)?"
    r"(?:记录|记下来?|记住|记好|保存|存下|知晓|备注)(?:好|下来)?(?:啦|了|的)?"
)
# 可以随时和我说
_REACH = (
    r"(?:您|你)?(?:请|都|也)?(?:可以)?(?:随时|尽管)(?:都|再|来)?(?:可以)?"
    r"(?:(?:跟|和|向)我(?:说|讲|聊|提)|(?:告诉|找|联系|问|叫|吩咐)我)(?:就好|就行|即可|吧|哦)?"
)
# 很高兴为您服务
_PLEASURE = rf"(?:很|非常|十分)?(?:高兴|乐意|荣幸|开心)(?:能够?|可以)?{_FOR_YOU}(?:服务|效劳|解答)?"
# 祝您生活愉快
_WISH = (
    r"(?:预祝|祝愿|祝|愿)(?:您|你)?(?:今天|每天|天天|有个)?"
    r"(?:生活|工作|学习|旅途|周末|假期|节日|新年|身体|万事|心情|用餐|过得|一切)*"
    r"(?:愉快|快乐|顺利|开心|健康|如意|平安|美好)(?:的一天)?"
)
# I've noted that for you.
_NOTED = (
    r"\bi(?:'ve| have|'ll| will)? (?:just )?"
    r"(?:note|record|save|logg?|remember|keep|kept|made a note of)(?:ed|d)? "
    r"(?:that|it|this|those|these|everything)(?: down| in mind)?(?: for you)?"
)
# Let me know if you need anything else.
_ANY_TIME = (
    r"\b(?:please )?(?:let me know|feel free to (?:ask|reach out|let me know))"
    r"(?: if (?:there is|there's|you (?:need|have|want))(?: any| anything)*"
    r"(?: else| more| other| further)*(?: questions?| help)?"
    r"(?: i can (?:help|do)(?: you)?(?: with)?)?)?"
)
_GLAD = r"\b(?:glad|happy) (?:i could|to)(?: be of)? (?:help|assist|service)(?: you)?"
_CHINESE = f"{_OFFER}|{_NEED}|{_RECEIPT}|{_REACH}|{_PLEASURE}|{_WISH}"
_ENGLISH = f"{_NOTED}|{_ANY_TIME}|{_GLAD}"
_PATTERN = re.compile(rf"(?:{_ENGLISH}){_END}|(?:{_CHINESE}){_END_CHINESE}", re.IGNORECASE)


def without_service(text: str) -> str:
    """Return a text without these phrases; "’" is to be written "'"."""
    return _PATTERN.sub(" ", text)


_ENGLISH_WORDS = """
    a an the and or but so then as of at by for with about to from in on up out off over than if
    i i'm i'd i'll i've me my mine myself you you're you'd you'll you've your yours yourself we
    we're we'll we'd we've us our it it's it'll itself this that that's that'd those these there
    there's here here's what what's how how's why when where which who one ones something
    anything everything nothing thing things stuff way am is isn't are aren't was wasn't were be
    been being do don't does doesn't did didn't doing done have haven't has had having will
    won't would wouldn't can can't cannot could couldn't shall should shouldn't may might must
    let let's lets not no yes yeah yep yup nope nah ok okay k kk alright sure course absolutely
    definitely certainly exactly totally indeed true right correct agreed agree fine please too
    also very really quite rather pretty much many more most just even still yet already always
    ever again now soon later maybe perhaps probably actually basically literally simply well
    anyway though all any some every else same such bit lot lots kind sort great good nice cool
    awesome amazing wonderful fantastic lovely excellent perfect brilliant incredible beautiful
    sweet neat super best better fun funny interesting impressive inspiring exciting excited
    happy glad sorry bad sad worse crazy wild special hi hey hello hiya morning afternoon
    evening night day weekend bye goodbye cya greetings welcome thanks thank thx ty tysm
    appreciate appreciated cheers congrats congratulations bless oh wow whoa woah ah aha aw aww
    awww haha hahaha hehe lol lmao rofl hmm mm mmm mhm um uh er huh yay woohoo phew oops ouch
    omg gosh god man dude gotcha damn ugh yikes go goes going get gets got give come keep take
    see seeing seen look looks looking looked hear hearing heard sound sounds sounded know knows
    think thought guess hope hoping wish believe mean means meant makes make made sense say said
    tell talk talking speak feel feels understand understood want wanna need wait wonder bet
    love like try remind care help problem worries worry mind matter luck job work idea point
    question moment noted noticed deal word chat catch pleasure proud told anytime forward touch
    time long
"""
_POLITE = """
    hi hey hello hiya bye goodbye greetings welcome thanks thank thx ty tysm appreciate cheers
    congrats congratulations morning night yes yeah yep yup no nope ok okay k kk alright sure
    absolutely definitely exactly totally indeed true right correct agreed agree fine great good
    nice cool awesome amazing wonderful fantastic lovely excellent perfect brilliant incredible
    beautiful sweet neat super glad happy sorry wow whoa woah oh ah aha aw aww haha hahaha hehe
    lol hmm mm mmm yay woohoo phew oops omg gosh gotcha understood noted luck care proud
    inspiring impressive interesting exciting pleasure hope sounds love
"""
_COURTEOUS = """
    support supportive supporting encouragement encouraging suggestion suggestions
    recommendation recommendations tip tips advice compliment compliments sharing share showing
    listening reading helpful helping useful thoughtful kind enjoy enjoyed friend friends buddy
    mate dear safe self everyone everybody guys around catching chatting chatted seems stunning
    推 荐 试 尝 朋 友 期 待 梦 相 信 些 用 次 注 意 去 来 先 到 里
"""
_CHINESE_WORDS = """
    你好 您好 大家好 早上好 上午好 中午好 下午好 晚上好 早安 午安 晚安 早 嗨 哈喽 哈啰 喂
    好久不见 再见 拜拜 回头见 回见 明天见 谢谢 多谢 感谢 谢啦 谢了 谢 非常 十分 特别 太感谢
    辛苦了 辛苦 不客气 不用谢 不谢 没关系 没事 没事儿 没问题 不好意思 抱歉 对不起 麻烦 劳驾 请
    恭喜 祝贺 祝 加油 保重 祝你 希望 好运 顺利 一切 愉快 快乐 好的 好呀 好啊 好吧 好嘞 好哒 好哦
    好滴 行 可以 当然 当然可以 是的 是啊 是呀 是吗 对的 对啊 对呀 没错 嗯 嗯嗯 哦 喔 噢 哎 唉 诶
    欸 啊 呀 呢 吧 啦 嘛 哈 哈哈 哈哈哈 呵呵 嘿 嘿嘿 嘻嘻 哇 哇塞 真的 真是 真 太 很 挺 好 棒
    真棒 太棒了 太好了 不错 厉害 漂亮 赞 优秀 完美 有意思 有趣 有道理 好听 好看 明白 明白了
    知道了 知道 了解 了解了 懂了 收到 理解 同意 确实 的确 原来如此 这样 那样 这么 那么 怎么样
    如何 我 你 您 我们 你们 咱们 咱 这 那 这个 那个 它 也 都 就 还 又 再 才 只 了 的 地 得 着 过
    吗 么 是 对 有 会 能 要 想 觉得 认为 听 听起来 看 看来 看起来 说 说得 说的 让 给 和 跟 与 在
    被 把 一 一下 一点 一些 有点 什么 怎么 为什么 时候 时间 今天 现在 最近 以后 下次 再说 再聊
    聊 慢慢 继续 开心 高兴 很高兴 认识 幸会 很好 还好 还行 一般 必须 必须的 主意 好主意 建议
    帮助 帮忙 随时 告诉 需要 支持 鼓励 客气
"""

ENGLISH = frozenset(_ENGLISH_WORDS.split())
# Longest first, so that 没关系 is not left as 关系. 不 and 没 by themselves are not among them.
CHINESE = sorted(set(_CHINESE_WORDS.split()), key=lambda word: (-len(word), word))
# One of these is in everything that is polite and nothing else.
POLITE = frozenset(_POLITE.split())
# Beside one of those these are polite as well: "Thanks for your support", but "I need support".
# Chinese characters one by one: what is left of 谢谢你的推荐，我会去试试.
COURTEOUS = frozenset(_COURTEOUS.split())


_POLITE_CHINESE = re.compile(
    "[嗨喂谢嗯哦喔噢哎唉诶欸哈呵嘿嘻哇赞行]|[你您]好|好[的呀啊吧嘞哒哦滴]|[早午晚]安|[早上中午下晚]好|再见|拜拜|"
    "回见|明天见|不客气|没关系|没事|没问题|不好意思|抱歉|对不起|恭喜|祝|加油|辛苦|可以|当然|是[的啊呀]|"
    "对[的啊呀]|没错|真棒|太[棒好]了|不错|厉害|有意思|有道理|明白|知道了|了解|懂了|收到|理解|同意|确实|的确|"
    "原来如此|很高兴|好主意|必须的|听起来"
)
# Thanks, greetings and farewells answer no question, unless one of the others is beside them.
_NO_ANSWER = re.compile(
    r"\b(?:thanks?|thx|ty|bye|goodbye|hi|hey|hello|welcome|congrats|congratulations|take care|"
    r"talk (?:to you )?(?:soon|later)|see (?:you|ya))\b|"
    "[谢嗨祝]|[你您]好|再见|拜拜|晚安|恭喜|加油|辛苦|不客气",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\b(?:yes|yeah|yep|yup|no|nope|nah|not|sure|ok|okay|alright|fine|right|true|exactly|definitely|"
    r"absolutely|course|both|neither|either|do|did|don't|didn't|am|was|can|can't|will|won't)\b|"
    "[是对行没不]|好的|可以|当然",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"[\u3005\u3400-\u9fff]+|\d+(?:[.,:]\d+)*|[^\W\d_\u3005\u3400-\u9fff]+(?:'[^\W\d_]+)*"
)
_HAN = re.compile(r"[\u3005\u3400-\u9fff]")
_CHINESE_PHRASE = re.compile("|".join(CHINESE))
# The one spoken to is called by a short name: "Hey Mel!", "Thank you, Caro".
_CALLED = re.compile(
    r"\b(?i:hey|hi|hello|thanks|thank you|thx|bye|congrats|congratulations|goodbye),? +"
    r"[A-Z][^\W\d_]+(?=\s*(?:[!,.?…~]|$))"
)
# Names of those who are spoken to, and what service talk is made of, are no more words than this.
_MOST_TOLD = 3
_CLAUSE = re.compile(r"[^.!?。！？\n]*[.!?。！？]*")
# "How are you?" and the like: whatever answers it names something itself or is courtesy as well.
_GREETING = re.compile(
    r"\bhow(?:'s| is| are| have|'ve|'re) (?:you|it going|things|life|everything)\b"
    r"(?: (?:been|doing|going|today|lately|all|so far|holding up))*|\bwhat's (?:up|new|good)\b|"
    r"\b(?:how|what) (?:can|may|could) i (?:help|do for|assist) you"
    r"(?: (?:with|today|now|further|that|this))*|"
    r"\b(?:is there |do you need |need |can i help (?:you )?with )?anything else"
    r"(?: (?:i can|you need|you want|you'd like|for you|today)[^.!?\n]{0,40})?(?=\s*(?:[.!?\n]|$))",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"(?:oh )?(?:really|right|ok|okay|yeah|huh|no|seriously|sure|you know|isn't it|what)",
    re.IGNORECASE,
)
_POLITE_QUESTION_CHINESE = re.compile(
    "(?:那?你)?(?:最近|今天)?(?:好吗|还好吗|怎么样|过得好吗|过得怎么样|还好么)|"
    "是吗|真的吗|对吗|好吗|行吗|可以吗|有什么我?(?:可以|能)?.{0,4}帮.{0,6}|还有(?:什么|别的)?.{0,6}[吗么]"
)
_AUXILIARY = "do|does|did|are|is|was|were|have|has|had|can|could|will|would|should"
_ASKS_SOMETHING = re.compile(
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
        elif _tells(run):
            left.append(run)
    return left


def is_trivial(text: str, min_length: int, speakers: Collection[str] = ()) -> bool:
    """Tell whether a text is courtesy through and through, or names nothing in a few characters.

    ``min_length``: characters; a text that is not shorter must greet, thank or acknowledge.
    ``speakers``: names of those who talk with each other, whom courtesy may call by name.
    """
    bare = _CALLED.sub(lambda match: match[0].rpartition(" ")[0], text)
    straight = bare.replace("’", "'")
    left = without_service(straight)
    told = telling_words(_GREETING.sub("", left))
    if _is_polite(bare) or left != straight:
        called = {word for name in speakers for word in words_of(name)}
        return called.issuperset(set(told) - COURTEOUS)
    return not told and len(text.strip()) < min_length


def tells_much(text: str) -> bool:
    """Tell at small cost that a text in a script with blanks between words is not trivial."""
    if _HAN.search(text):
        return False
    told: set[str] = set()
    for found in _WORD.finditer(_plain(text)):
        if _tells(word := found[0]) and word not in COURTEOUS:
            told.add(word)
            if len(told) > _MOST_TOLD:
                return True
    return False


def asks(text: str) -> bool:
    """Tell whether a text asks for something that an answer may tell; "How are you?" does not."""
    return any(_is_question(clause) for clause in _CLAUSE.findall(text))


def last_question(text: str) -> str:
    """Return the last sentence that asks for something, or the whole text when none does."""
    questions = [clause.strip() for clause in _CLAUSE.findall(text) if _is_question(clause)]
    return questions[-1] if questions else text


def can_answer(text: str) -> bool:
    """Tell whether a text may answer a question, as thanks and farewells do not."""
    return not _NO_ANSWER.search(text) or bool(telling_words(text) or _ANSWER.search(text))


def _is_question(clause: str) -> bool:
    if not _ASKS_SOMETHING.search(clause):
        return False
    bare = " ".join(_CALLED.sub("", clause).replace("’", "'").strip(" \t?!.,。？！，…").split())
    left = without_service(bare)
    if left != bare and not telling_words(left):
        return False
    polite = (_GREETING, _ECHO, _POLITE_QUESTION_CHINESE)
    return bool(bare) and not any(pattern.fullmatch(bare) for pattern in polite)


def _runs(text: str) -> list[str]:
    return _WORD.findall(_plain(text))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def _tells(word: str) -> bool:
    return word not in ENGLISH and word.replace("'", "") not in ENGLISH


def _is_polite(text: str) -> bool:
    words = not POLITE.isdisjoint(_runs(text))
    return words or bool(_POLITE_CHINESE.search(text) or _GREETING.search(text))
