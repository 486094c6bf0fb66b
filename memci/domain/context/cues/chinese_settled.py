"""Chinese sentences that settle one thing and say nothing else (R6, R7)."""

from __future__ import annotations

from memci.domain.context.cues.settlement import (
    ADDRESS,
    LANGUAGE,
    LENGTH,
    UNITS,
    of_speaker,
    of_work,
    settling,
)

_LEAD = (
    "\\W*(?:(?:好的?|另外|记住|请|麻烦|你|以后|今后|从现在(?:开始|起)|都|一律|始终|总是|只|尽量|要|"
    "务必|必须|改成?)[，,\\s]*)*"
)
_END = "(?:吧|就好|就行|即可|[，,]?谢谢)*\\W*"
_LANGUAGES = {
    "英语": "english", "英文": "english", "中文": "chinese", "汉语": "chinese",
    "普通话": "chinese", "法语": "french", "德语": "german", "西班牙语": "spanish",
    "日语": "japanese", "日文": "japanese", "韩语": "korean", "意大利语": "italian",
    "葡萄牙语": "portuguese", "俄语": "russian",
}  # fmt: skip
_LENGTHS = {
    "简短": "short", "简洁": "short", "简明": "short", "详细": "long", "详尽": "long",
}  # fmt: skip
_UNITS = {"公": "metric", "英": "imperial"}
_DATE = (
    "(?:\\d{4}年)?\\d{1,2}月\\d{1,2}[日号]?|(?:下?周|星期)[一二三四五六日天]|[本下]?月底|"
    "\\d{4}-\\d\\d-\\d\\d"
)
_AMOUNT = (
    "[¥￥]?\\d[\\d.,]*[万千]?(?:元|块钱?|美元|欧元)|[一二两三四五六七八九十百千万]+(?:元|块钱?)"
)
_CHANGED = (
    "(?P<changed>现在是|目前是|(?:现在|已经?|又)?(?:改[成为到]|调整[为到]|推迟到|延[期后]?到|提前到|"
    "增加到|提高到|减少?到|降低?到)了?)"
)

RULES = (
    settling(
        of_speaker(LANGUAGE, _LANGUAGES),
        f"{_LEAD}(?:用|以|使用)(?P<value>{'|'.join(_LANGUAGES)})(?:来)?",
        f"(?:回[答复]|交流)(?:我们?)?(?:的?(?:所有)?问题)?{_END}",
    ),
    settling(
        of_speaker(LENGTH, _LENGTHS),
        f"{_LEAD}(?:你的)?回[答复](?:我?的?问题)?(?:的?时候?|时)?(?:请|要|尽量|都|得|务必|一律)*",
        f"(?P<value>{'|'.join(_LENGTHS)})(?:一?[些点])?{_END}",
    ),
    settling(
        of_speaker(ADDRESS),
        f"{_LEAD}(?:叫|称呼)我[为作做]?",
        f"(?P<value>(?!起|醒|一声|[去来上下吃睡])[\u4e00-\u9fff]{{1,4}}?|[A-Za-z]+){_END}",
    ),
    settling(
        of_speaker(UNITS, _UNITS), f"{_LEAD}(?:用|使用|采用|换成)(?P<value>[公英])制(?:单位)?{_END}"
    ),
    settling(
        of_work,
        "\\W*(?:(?P<owner>我们的?|我的?|咱们的?)|(?P<thing>\\w{1,10}?)的)?(?P<new>新的?)?总?",
        "(?P<noun>预算|截止日期|截止时间|最后期限|交付日期|上线日期|上线时间|发布日期)",
        f"(?:{_CHANGED}|是|为|定[在为]|[：:])\\s*(?P<value>{_AMOUNT}|{_DATE})",
        "(?:之?前|下班前)?(?P<now>了)?\\W*",
    ),
    settling(
        of_work,
        "\\W*(?:我们|咱们|团队|大家)(?:最终|最后|已经|一致)*(?:决定|商定)",
        "(?:(?P<changed>改用|换成|换用)|用|使用)\\s?(?P<value>[A-Za-z][\\w.+#-]*(?: [\\w.+#-]+)?)",
        "\\s?来?(?:做|作为|当)\\s?(?P<noun>[\u4e00-\u9fff]{1,8}?)[了吧]*\\W*",
    ),
)
