"""What Chinese sentences say for good to who works for somebody; as ``english_keys`` (R7)."""

from __future__ import annotations

import re

from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

_WORK = any_of(
    "代码|脚本|函数|方法名|模块|依赖|框架|接口|服务器?端?|微服务|后端|前端|数据库|数据表|表结构|"
    "字段|索引|缓存|队列|"
    "流水线|工作流|部署|上线|发布|版本|提交|分支|仓库|重构|迁移|单元测试|测试|覆盖率|变量|日志|"
    "报错|异常|漏洞|配置|容器|"
    "网站|网页|页面|小程序|应用|程序|系统|平台|命令行|数据集|报告|报表|文档|论文|文章|文案|摘要|"
    "周报|月报|方案|提案|"
    "幻灯片|表格|行程|攻略|发票|合同|客户|邮件|工单|提示词|模型|令牌|密码|密钥|生产环境|预算|文件|"
    "目录|翻译|爬虫|看板|"
    "注释|命名|缩进|类型标注|订单|库存|仪表盘|架构|算法|需求|功能|简历|稿件?|海报|课件|教案",
    r"\b(?:api|sql|json|yaml|csv|xml|html|css|pdf|excel|word|ppt|markdown|python|java|javascript|"
    r"typescript|go|rust|"
    r"react|vue|postgres\w*|mysql|sqlite|redis|docker|kubernetes|git|ui|cli|sdk)(?![a-z])",
    r"(?<![a-z])(?:api|sql|json|yaml|csv|html|pdf|excel|ppt|markdown|python|java|go|rust|vue|"
    r"postgres\w*|mysql|redis|"
    r"docker|git)(?![a-z])",
    r"`[^`]+`",
    r"\w+\.(?:py|js|ts|go|rs|java|md|json|toml|ya?ml|sql|csv|txt)(?![a-z])",
)
_AMOUNT = any_of(
    r"[¥￥$]\s?\d",
    r"[\d一二两三四五六七八九十百千万]+\s?(?:元|块钱|万元|字|个字|行|页|句话?|毫秒|秒|分钟|"
    r"个?小时|条|晚|兆|[kmg]b|%|人以)",
)
_ANSWERS = any_of("你的?(?:回答|回复|解释|输出|语气)|回答|回复我?|称呼|叫我")
_MADE_OF_WORK = re.compile(f"{_WORK.pattern}|{_AMOUNT.pattern}|{_ANSWERS.pattern}", re.IGNORECASE)
_LEAD = (
    r"^\W*(?:(?:另外|还有|而且|以及|并且|同时|首先|其次|最后|注意|记住|请注意|请记住|重要|"
    r"对了|好的?|那么?|你好|您好|嗨)[\s，,：:！!、]*)*"
)
_MAKE = (
    "(?:写|实现|开发|搭建|搭|设计|重构|迁移|编写|制作|做|整理|分析|调研|规划|策划|优化|部署|翻译|"
    "生成|修复|改造|升级|"
    "起草|拟|准备|对比|自动化|拆分|重写|搬|统计|汇总|建)"
)

NO_KEYS = any_of(
    r"[?？][”’」』）)]*\s*$",
    "[吗呢吧么嘛][。！!～~…]*$",
    "^\\W*(?:也许|可能|或许|不知道|要是|如果|假如|为什么|怎么|什么|谁|哪)",
    "(?:要不要|是不是|能不能|会不会|还没决定|没想好|不确定|听说|据说|加油|别担心|不要担心|"
    "不用担心|别灰心|不要放弃|不要紧|"
    "哈哈|注意身体|照顾好自己|多保重)",
)

RULES: tuple[CueRule, ...] = (
    CueRule(PinKind.TASK, any_of(r"^\W*(?:任务|目标|工作目标)\s*[：:]\s*\S")),
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            r"^\W*(?:约束|限制|要求|硬性要求|规则|截止日期|截止时间|"
            r"预算)\s*[：:]\s*\S"
        ),
    ),
    CueRule(PinKind.DECISION, any_of(r"^\W*(?:决定|结论|决议|定稿)\s*[：:]\s*\S")),
    CueRule(PinKind.PREFERENCE, any_of(r"^\W*(?:偏好|习惯)\s*[：:]\s*\S")),
    CueRule(
        PinKind.TASK,
        any_of(
            _LEAD + "(?:你的|本次的?|我们的|这次的?|当前的?|今天的|总的?|最终)?(?:任务|目标|"
            "目的)(?:是|就是|为)",
        ),
        (_MADE_OF_WORK,),
    ),
    CueRule(
        PinKind.DECISION,
        any_of(
            "(?:我们?|咱们|大家|团队|最终|最后|已经|一致)(?:都)?(?:已经)?(?:决定|商定|敲定|"
            "定下来?|说好|同意|选定|确定)",
            _LEAD + "(?:那)?(?:我们|咱们|这次|就)?(?:还是)?(?:就用|就选|就定|选用|采用|改用|换成|"
            "统一用|确定用|决定)",
            "拍板|已(?:经)?(?:批准|通过评审)",
        ),
        (_MADE_OF_WORK,),
    ),
    CueRule(
        PinKind.PREFERENCE,
        any_of(
            "(?:我|我们)(?:个人)?(?:一般|平时|还是|都|更|比较|最)?(?:喜欢|偏好|偏爱|倾向于?|习惯|"
            "讨厌|不喜欢)",
        ),
        (_MADE_OF_WORK,),
    ),
    CueRule(
        PinKind.PREFERENCE,
        any_of(
            _LEAD + "(?:请|以后|今后|从现在起|都|一律|尽量|始终|总是|你)*(?:用|以|使用)(?:中文|"
            "英文|英语|日语|简体中文|繁体中文|口语|"
            "书面语|简短|简洁|要点|列表|markdown).{0,8}(?:回答|回复|说明|解释|交流|写|输出)",
            _LEAD + "(?:请|以后|今后|从现在起|都|你的?)*(?:回答|回复|解释)(?:问题)?(?:的?时候?|"
            "时)?(?:请|要|尽量|都|得|务必|一律)+",
            _LEAD + "(?:请|以后|今后|从现在起|都|你)*(?:叫|称呼)我",
        ),
    ),
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            "必须|务必|一定要|不要|不能|不得|禁止|切勿|只能|不允许|不可以|严禁|不准|不许|别(?:动|"
            "改|用|碰|删|提交|加)|"
            "至少|最多|不超过|不少于|不低于|不高于|控制在|以内|之内|之前(?:完成|交|上线|要)|截止|"
            "(?:所有|每个|每次|任何).{1,20}(?:都要|都得|都需要|要)|保持.{1,10}(?:不变|兼容)|"
            "(?:只|仅)(?:用|使用|支持|允许|改)",
        ),
        (_MADE_OF_WORK,),
    ),
    CueRule(PinKind.CONSTRAINT, any_of("我.{0,4}对.{1,12}过敏")),
    CueRule(
        PinKind.TASK,
        any_of(
            _LEAD + "(?:请|麻烦|想请|需要|我想|我要|我们要|我们想|我们需要|我需要|我希望|现在|"
            "今天|接下来|这次|先)*"
            "(?:你)?(?:帮我们?|帮忙|替我|给我|请你|让你|你来|协助我们?)(?:来|把)?.{0,12}?" + _MAKE,
            _LEAD + "(?:我们|我)(?:现在|正在|正|打算|计划|准备|想|要|需要|得)+(?:把|将|给|为|用|"
            "从)?.{0,16}?" + _MAKE,
            _LEAD + "(?:请)?(?:把|将).{1,24}?(?:迁移|翻译|重构|改造|升级|整理|拆分|重写|改成|改写)",
            _LEAD + "(?:请)?" + _MAKE + "(?:一个|一份|一套|一篇|一下|个|份|出)",
        ),
        (_WORK,),
    ),
)
