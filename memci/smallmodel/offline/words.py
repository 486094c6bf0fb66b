"""Closed lists of words and marks that the offline rules share."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Left out of the lexical index: every message has them, and a question is never about them.
ENGLISH_STOP_WORDS = _set("""
a an the and or but if so of at by for with about to from in on as into than then that this these
those it its is am are was were be been being do does did have has had i me my we us our you your
he him his she her they them their what which who whom whose when where why how will would can
could should shall may might must there here just s t
""")

ENGLISH_PRONOUNS = _set("""
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves this that these those who whom
whose which what someone somebody something anyone anybody anything everyone everybody everything
nobody nothing one ones another other others
""")

# Words that carry little by themselves: the first to go when a text must be shorter, and never
# keywords.
ENGLISH_FUNCTION_WORDS = ENGLISH_STOP_WORDS | ENGLISH_PRONOUNS | _set("""
also too very really quite rather pretty much many more most less least some any each every all both
few several such own same only even still yet already always often sometimes usually ever again
once now soon later maybe perhaps probably actually basically literally simply well anyway though
although however because since while until unless whether after before during between through over
under above below up down out off away back around along across per via like let lets get gets got
getting go goes going went gone come comes came coming make makes made making take takes took taken
taking give gives gave given giving say says said saying tell tells told telling know knows knew
known think thinks thought thinking see sees saw seen seeing look looks looked looking want wants
wanted need needs needed feel feels felt feeling seem seems seemed try tries tried trying keep keeps
kept put puts use uses used using find finds found ask asks asked help helps helped talk talks
talked call called show shows showed shown mean means meant thing things stuff lot lots kind sort
bit way ways something good great nice cool awesome amazing wonderful fantastic lovely fun new big
little great best better bad sure okay ok yes yeah yep no nope not never oh wow hey hi hello thanks
thank please sorry glad happy hear heard having been doing else instead able don didn doesn isn
aren wasn weren won wouldn couldn shouldn haven hasn hadn ain ve ll re m d im dont cant wont didnt
doesnt isnt ive youre thats its whats gonna wanna gotta lol haha really definitely certainly
absolutely totally especially exactly today tonight tomorrow yesterday
""")

# Interjections, greetings and days: capitalised, but names of nothing.
NOT_NAMES = ENGLISH_FUNCTION_WORDS | _set("""
monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug
sep sept oct nov dec morning afternoon evening night today congrats congratulations cheers bye
goodbye welcome dear mr mrs ms dr ok okay omg wow yay aww haha hmm ah ooh btw fyi imo asap tbh
user assistant system tool note step example question answer yes no true false null none first
second third next finally also meanwhile remember check keep add set run update create fix
deploy open close start stop read write send please agreed done noted understood decided decision
""")

ENGLISH_NEGATIONS = _set("""
not no never none nothing nobody nowhere neither nor cannot without hardly barely except unless
can't don't won't didn't doesn't isn't aren't wasn't weren't wouldn't couldn't shouldn't haven't
hasn't hadn't mustn't needn't ain't cant dont wont didnt doesnt isnt
""")

CHINESE_NEGATIONS = ("不", "没", "无", "未", "别", "非", "勿", "莫", "禁止", "拒绝", "除了", "除非")

# Said to fill a pause or to be kind; a sentence says the same without them.
ENGLISH_FILLERS = (
    "you know", "i mean", "i guess", "sort of", "kind of", "to be honest", "by the way", "of course",
    "as you know", "in fact", "at the end of the day", "needless to say", "for what it's worth",
    "actually", "basically", "literally", "really", "very", "just", "simply", "honestly", "totally",
    "absolutely", "definitely", "certainly", "quite", "pretty much", "obviously", "anyway", "so much",
    "super", "truly", "incredibly", "extremely",
)  # fmt: skip
CHINESE_FILLERS = (
    "其实", "就是说", "也就是说", "怎么说呢", "说实话", "说真的", "老实说", "总的来说", "不得不说",
    "基本上", "反正", "当然了", "当然", "真的", "非常", "特别地", "十分", "超级", "实在", "嗯嗯", "嗯",
    "哈哈", "哎呀", "哇塞", "哇", "那个", "然后呢",
)  # fmt: skip
