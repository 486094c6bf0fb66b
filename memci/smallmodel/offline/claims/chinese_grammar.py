"""Parts of Chinese sentences that assert something, as patterns."""

from __future__ import annotations

import re

from memci.smallmodel.offline.claims.chinese_names import PAST, THIS

SENTENCE = re.compile(r"[^。！？!?\n；;]+[。！？!?\n；;]?")
CLAUSE = re.compile(r"[，,：:]|(?:但是|不过|而且|所以|因为)")
# Characters. Nobody is sure what a longer sentence asserts.
LONGEST = 300
NOT_ASSERTED = re.compile(
    r"如果|要是|假如|假设|万一|除非|可能|也许|或许|大概|恐怕|希望|但愿|梦见|梦想|想要|想去|想在|想搬|打算|"
    r"计划|准备|考虑|觉得|以为|应该|听说|据说|他说|她说|说过|告诉|问我|比如|例如|好像|似乎|以前|曾经|从前|"
    r"过去|小时候|当年|那时|那年|原来|本来|差点|差不多|几乎|开玩笑|临时|暂时|的话|吗|呢？|怎么|什么|谁|哪|[\"“”「」『』]"
)
LEAD = re.compile(
    rf"(?:(?:{PAST}|其实|现在|目前|最近|如今|今天|刚刚|另外|对了|那个|更正|更新|提醒|顺便说一下|告诉你|你好|嗨|嗯|"
    r"哦|好的|是的|不对|抱歉|对不起|请记住|记住|记一下|请注意|注意|因为|所以|而且|不过|但是|那|然后)[，,：:\s]*)+"
)
TAIL = re.compile(r"(?:了|啦|啊|呢|吧|哦|呀|的|哈|而已|的时候|工作|生活)+$")
KIN = "妈妈|爸爸|母亲|父亲|妻子|老婆|丈夫|老公|老板|经理|女朋友|男朋友|女友|男友|未婚妻|未婚夫"
SURNAMES = (
    "王李张刘陈杨赵黄吴孙徐胡朱林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶"
    "阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙段雷钱汤尹黎易常武乔贺赖龚文"
)
NAME = rf"(?:小|老|阿)[\u4e00-\u9fff]|[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?|[A-Z][A-Za-z]+"
NOW = "(?:现在|目前|已经|刚|最近|终于|今年|又|就|都|也)*"
# Where somebody lives and works may have changed at any time that is over.
SINCE = rf"(?:现在|目前|已经|刚|最近|终于|又|就|都|也|{PAST}|(?:{THIS})(?=.*了))*"
WORKER = rf"(?P<who>我(?:的?(?:{KIN}))?|{NAME}){SINCE}"
WITH = "(?:[和跟与同][^，,]{1,6}?(?:一起)?)?"
DWELLER = rf"(?P<who>我(?:们?(?:全家|一家人?|家)?|的?(?:{KIN}))?|{NAME}){WITH}{SINCE}"
# Whose home or job is told as it is now.
RESIDENT = rf"(?P<who>我(?:们?(?:全家|一家人?)|的?(?:{KIN}))?|{NAME}){WITH}{NOW}(?:一直)?"
# Said by somebody of himself, and the next clause goes on about him.
IDENTITY = re.compile(r"我(?:现在)?是(?!说|指|因为|想|在)[^，,]{1,10}$")
ELLIPTIC = re.compile(
    rf"{NOW}(?:住|在|搬|定居|入职|跳槽|单身|已婚|离异|吃素|今年|是(?!说|指|因为|想))"
)
WHO = rf"(?P<who>我(?:的?(?:{KIN}))?|{NAME}){NOW}"
