"""Chinese names, by their surname and by what stands beside them: no dictionary is at hand (R10).

Careful rather than complete: a name that is missed costs little, for its characters are searched
anyway, and a word that is taken for a name draws the wrong memories.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_SURNAMES = (
    "王李张刘陈杨黄赵吴徐孙朱胡郭林罗郑梁谢宋唐韩冯邓曹彭肖田董袁潘蒋蔡余杜叶程苏魏吕丁沈姚卢姜崔钟谭陆汪"
    "范廖贾夏韦邹孟熊秦邱尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵钱严覃戴莫孔汤施樊葛邢齐乔伍庞颜倪庄聂鲁岳翟詹"
    "欧耿焦俞柳"
)
# Surnames that begin usual words as well, and how those go on.
_COMMON = (
    "周(?![末一二三四五六日天围边年期到游岁长])|许(?![多久可])|何(?![时地处人以况必等为种日事])|"
    "曾(?![经])|任(?![何务意])|方(?![法案便面式向言])|高(?![兴中考级度铁达分手峰效速])|"
    "马(?![上路拉桶术])|白(?![天色])|金(?![额融钱牌])|江(?![苏南西边])|万(?![一圣])|"
    "于(?![是])|石(?![头油])"
)
_NOT_GIVEN = (
    "的了是在和有我你他她它这那哪什么怎为吗呢吧啊个都也就还要会能可不没去来到说给跟与或及过上下里对把"
    "被从向让叫问推告喜做看听想吃住买最近曾昨今前后每第多少几先老总经"
)
_GIVEN = f"[^\\W\\da-zA-Z{_NOT_GIVEN}]"
_SIDE = "和跟与给对向找问见陪由让叫把被比像是的、，。？！；：“”《》 "
_NEXT = (
    "的|是|在|和|与|跟|有|去|来|到|说|喜欢|给|了|为|什么|怎|最|曾|昨|今|明天|明年|去年|上|现在|住|买|哪|"
    "多|几|会|想|要|送|推荐|告诉|提|过|一起|对|被|把|不|没|还|也|都|以前|之前|小时候|爱|做|看|学|吃|养|教|"
    "工作|生日|家|聊|谈|讲|参加|打算|计划|负责|认识|觉得|\\.|、|，|。|？|！|；|：|,|\\?|!|\\s|\\Z"
)
_PERSON = f"(?:(?<=[{_SIDE}])|\\A)(?P<name>(?:[{_SURNAMES}]|{_COMMON}){_GIVEN}{{1,2}})(?={_NEXT})"
_CALLED = (
    f"(?P<name>(?:[小老阿][{_SURNAMES}周许何曾任方高马白金江万于石](?!{_GIVEN}(?:的|说))"
    f"|(?:[{_SURNAMES}]|{_COMMON})(?:{_GIVEN}{{1,2}})?(?:先生|女士|老师|医生|教授|经理|阿姨|叔叔|师傅|同学)))"
)
_KIND = (
    "公园|大学|学院|中学|小学|医院|公司|机场|车站|博物馆|图书馆|美术馆|广场|酒店|餐厅|书店|山庄|山|湖|岛|"
    "寺|河|古镇|大街|路"
)
_TO_A_PLACE = "[去在到来往从游爬逛]"
_UNNAMED = "我你他她它这那哪个家某有和的了是一座几两新附近同什么很多些"
_PLACE = f"{_TO_A_PLACE}过?了?(?P<name>[^\\W\\da-zA-Z{_UNNAMED}去在到来往从过]{{2,5}}?(?:{_KIND}))"
_TRAVELLED = (
    f"{_TO_A_PLACE}过?了?(?P<name>[^\\W\\da-zA-Z{_UNNAMED}去在到来往从看过上下玩]{{2,4}}?)"
    "(?=旅游|旅行|出差|玩|读书|上学|工作|度假|游玩|留学|参观)"
)
_NO_PLACE = r"(?:国外|国内|外地|外面|公司|学校|郊外|海边|山上|家里|图书馆|博物馆|公园|超市|医院)\Z"


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Compile what most processes never need."""
    return tuple(map(re.compile, (_PERSON, _CALLED, _PLACE, _TRAVELLED)))


def chinese_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield names of people and places with where they stand."""
    for pattern in _patterns():
        for match in pattern.finditer(text):
            if not re.fullmatch(_NO_PLACE, match["name"]):
                yield match.start("name"), match["name"]
