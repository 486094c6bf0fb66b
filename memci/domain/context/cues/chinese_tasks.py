"""How Chinese sentences give somebody a task, and how they tell of a goal; as in English (R7)."""

from __future__ import annotations

from memci.domain.context.cues.chinese_things import LEAD, MADE_OF_WORK, OF_WORK, WORK
from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

# Who says 写了 tells what somebody has done.
_NOT_DONE = "(?!(?:完|好|成)?[了过])"
_MAKE = (
    "(?:写|实现|开发|搭建|搭(?!建)|设计|重构|迁移|编写|制作|做|整理|分析|调研|规划|策划|优化|部署|"
    "翻译|生成|修复|改造|升级|起草|拟|准备|对比|自动化|拆分|重写|搬|统计|汇总|建)" + _NOT_DONE
)
_CHANGE = "(?:迁移|翻译|重构|改造|升级|整理|拆分|重写|改成|改写|部署|优化)" + _NOT_DONE
_OUT = f"(?:{_MAKE}|(?:上线|发布|交付|完成|搞定){_NOT_DONE})"
_WE_WILL = "(?:我们|咱们)(?:现在|接下来|这次|今天)?(?:要|需要|得|想要?|必须)"
_I_WILL = "我(?:现在|接下来)?(?:要|需要|想要?)"
_ONE = "(?:一个|一份|一套|一篇|一下|一段|一版|几个|几份|几篇|个|份|篇|出)"
# Words before what is asked or wanted, and what lies between a cue and its thing.
_START = LEAD + "(?:(?:现在|接下来|然后|下面|今天)[，,\\s]*)?"
_NEAR = "[^，,；;]{0,16}?"
_FIRST = "(?:请|麻烦你?|想请|现在|接下来|这次|先|再|我们?|咱们|想要?|要|需要|希望)*"
_PRODUCT = (
    "(?:脚本|程序|函数|工具|接口|网站|网页|小程序|系统|报告|报表|文档|方案|模板|周报|月报|摘要|"
    "表格|文案|邮件|简历|爬虫|看板|提案|计划书|ppt)"
)
# What is only talked about.
_JUDGED = any_of("(?:真|太|好|很|挺|有点|特别|非常)(?:难|累|烦|麻烦|有趣|开心|不容易|辛苦|有意思)")
# One's own life, as in English.
_LIFE = any_of(
    _JUDGED.pattern,
    "(?:和|跟|与|陪).{1,8}(?:一起|一块)|一起(?:去|做|写)|梦想|爱好|兴趣|业余|空闲|有一天|将来|"
    "长大|小时候|平时|有时间|有空|等我|毕业以?后|退休|从小|一直想",
    "我.{0,3}(?:紧张|累|开心|高兴|兴奋|害怕|担心|焦虑|烦恼|无聊)",
)
_NOW_HERE = any_of("这里|今天|本周|这周|这个?(?:仓库|项目|会话|对话|文档|文件|代码库)")

LABEL = CueRule(PinKind.TASK, any_of(r"^\W*(?:任务|目标|工作目标)\s*[：:]\s*\S"))
# Who says "your task" speaks to who reads it.
GIVEN = CueRule(
    PinKind.TASK,
    any_of(LEAD + "(?:你的?|本次的?|这次的?|当前的?|今天的?)任务(?:是|就是|为)"),
    (MADE_OF_WORK,),
)
GOAL = CueRule(
    PinKind.TASK,
    any_of(
        LEAD + "(?:我的?|我们的?|咱们的?|你的?|本次的?|这次的?|当前的?|今天的?|总的?|最终)?"
        "(?:任务|目标|目的)(?:是|就是|为)[^，,；;]{0,30}?" + WORK
    ),
    unless=_LIFE,
    told=True,
)
TASKS = (
    CueRule(
        PinKind.TASK,
        any_of(
            _START + _FIRST + "(?:你|您)?(?:帮我们?|帮忙|替我们?|请你|让你|你来|协助我们?)"
            "(?:来|把)?.{0,12}?" + _MAKE,
            _START + _FIRST + "(?:你|您)?给我们?[^的]{0,12}?" + _MAKE,
            _START + "(?:我们?)?(?:想要?|希望|需要|要)(?:让|请|叫)?(?:你|您).{0,20}?" + _MAKE,
            _START + "(?:请|麻烦)(?:你|您)?(?:先|再|尽快|马上|直接)?" + _MAKE,
            _START + "(?:请|麻烦)?(?:先|再)?(?:把|将).{1,24}?" + _CHANGE,
            _START + _MAKE + _ONE + _NEAR + WORK,
        ),
        (OF_WORK,),
        unless=_JUDGED,
    ),
    CueRule(
        PinKind.TASK,
        any_of(
            _START + _WE_WILL + "(?:把|将|给|为|用|从|在|先)?.{0,16}?" + _MAKE + _NEAR + WORK,
            _START + _WE_WILL + "(?:把|将|在)?.{0,12}?" + WORK + ".{0,12}?" + _OUT,
            _START + _I_WILL + r"先?(?:用\s?\w+\s?)?" + _MAKE + _ONE + _NEAR + WORK,
            _START + _I_WILL + "(?:把|将).{0,8}?" + WORK + ".{0,12}?" + _MAKE,
            _START + f"我们?(?:现在)?(?:需要|想要|要){_ONE}{_NEAR}{_PRODUCT}",
        ),
        unless=_LIFE,
        told=True,
    ),
    # Done by "us", and not in general.
    CueRule(
        PinKind.TASK,
        any_of(
            _START + "(?:我们|咱们)(?:现在|今天|正在|正)+(?:把|将|给|为|用|从|在)?.{0,16}?" + _MAKE
        ),
        (OF_WORK, _NOW_HERE),
        unless=_LIFE,
        told=True,
    ),
)
