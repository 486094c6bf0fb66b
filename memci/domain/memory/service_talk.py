"""What assistants say to everybody before and after their work: offers, receipts, wishes (R2)."""

from __future__ import annotations

import re

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
