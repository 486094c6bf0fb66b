"""Rules for key messages in Chinese (R7)."""

from __future__ import annotations

from memci.language.key_messages.rules import CueRule, PinKind, any_of

WORK = (
    "(?:代码|脚本|函数|方法名|模块|依赖|框架|接口|服务器?端?|微服务|后端|前端|数据库|数据表|表结构|"
    "字段|索引|缓存|队列|"
    "流水线|工作流|部署|上线|发布|版本|提交|分支|仓库|重构|迁移|单元测试|测试|覆盖率|变量|日志|"
    "报错|异常|漏洞|配置|容器|"
    "网站|网页|页面|小程序|应用|程序|系统|平台|命令行|数据集|报告|报表|文档|论文|文章|文案|摘要|"
    "周报|月报|方案|提案|"
    "幻灯片|表格|行程|攻略|发票|合同|客户|邮件|工单|提示词|模型|令牌|密码|密钥|生产环境|预算|文件|"
    "目录|翻译|爬虫|看板|"
    "查询|注释|命名|缩进|类型标注|订单|库存|仪表盘|架构|算法|需求|功能|简历|稿件?|海报|课件|教案|"
    r"\b(?:api|sql|json|yaml|csv|xml|html|css|pdf|excel|word|ppt|markdown|python|java|javascript|"
    r"typescript|go|rust|"
    r"react|vue|postgres\w*|mysql|sqlite|redis|docker|kubernetes|git|ui|cli|sdk)(?![a-z])|"
    r"(?<![a-z])(?:api|sql|json|yaml|csv|html|pdf|excel|ppt|markdown|python|java|go|rust|vue|"
    r"postgres\w*|mysql|redis|"
    r"docker|git)(?![a-z])|"
    r"`[^`]+`|"
    r"\w+\.(?:py|js|ts|go|rs|java|md|json|toml|ya?ml|sql|csv|txt)(?![a-z]))"
)
_NUMBER = r"[\d一二两三四五六七八九十百千万]+\s?"
# How much something costs or holds, and how long or for how many people it is besides.
SIZE = rf"(?:[¥￥$]\s?\d|{_NUMBER}(?:[万欧美日]?元|块钱|英镑|字|个字|行|句话?|毫秒|兆|[kmg]b|%))"
_AMOUNT = f"(?:{SIZE}|{_NUMBER}(?:页|秒|分钟|个?小时|条|晚|人以))"
ANSWERS = "(?:你的?(?:回答|回复|解释|输出|语气)|回答|回复我?|称呼|叫我)"
OF_WORK = any_of(WORK)
MADE_OF_WORK = any_of(WORK, _AMOUNT, ANSWERS)

# Words before the point of a sentence.
LEAD = (
    r"^\W*(?:(?:另外|还有|而且|以及|并且|同时|首先|其次|最后|注意|记住|请注意|请记住|重要|"
    r"对了|不对?(?=[，,：:])|等等|好的?|谢谢[你您]?|那么?|你好|您好|嗨)[\s，,：:！!、]*)*"
)


# What an assistant does for somebody; single characters are parts of other words too often.
_ARRANGE = (
    "(?:预[订约定]|订(?=[机车门船]?票|酒店|餐厅|位|房|外卖)|下单|购买|付款|支付|扣款|转账|安排|发送|"
    "发(?=[给送邮短消微])|转发|联系我|给我(?:打电话|发|推荐|订|安排|回)|打电话|公开|透露|泄露|分享|发布|删除|"
    "告诉(?=别人|任何人|其他人|外人|第三方)|提起我|提到我)"
)
_ASSIST = (
    "(?:推荐|编造|瞎编|杜撰|标注|注明|附上?|列出|换算|翻译|回[答复]|称呼我|叫我|问我|先问|"
    "(?:和|跟|向)我确认|核对|核实|检查|提醒我|采用|使用|用(?=[公英]制|中文|英文|英语|摄氏|华氏|人民币|美元|"
    "[Mm]ark|列表|表格|要点|24|12))"
)
_DO = f"(?:{_ARRANGE}|{_ASSIST})"
_NOT = "(?:不要|不能|不得|不可以?|不许|不准|别|勿|禁止)"
_STRICTLY = f"(?:千万{_NOT}|绝对?{_NOT}|永远{_NOT}|切勿|请勿|严禁|务必)"
_FROM_NOW_ON = "(?:以后|今后|往后|从现在(?:开始|起)|从今(?:天|往后|以后)?(?:开始|起)?)"
_WORDS = "(?:请|你|您|也|都|就|要|一定|必须|务必|只能?|尽量|再|随便|擅自|[，,\\s])*"
# What stands between: "以后订餐厅不要选海鲜", "千万别把我的电话告诉别人".
_ABOUT = "(?:(?:把|将|在|给|向|没)[^，,；;]{1,10}?|[^，,；;我]{0,10}?)"
_MUST = f"(?:{_NOT}|都要|都得|都先|必须|务必|一律|一定要|只能?|请|要|先)"
# Good advice, what somebody does anyhow or has to, and what is only about this once.
_FRIENDLY = any_of(
    "自己|熬夜|梦想|放弃|难过|那[家个里儿件款](?!牌子)|了[。！!]*$|这[次个些家份]|今[天晚]|明天|现在(?!开始|起)",
    "(?:别|不要)告诉我|联系你|告诉你",
    "(?:我们?|咱们|他们?|她们?|[我他她][爸妈哥姐弟妹]|[爸妈哥姐弟妹]{2})"
    f"(?:{_FROM_NOW_ON}|每次|一律|始终|永远|总是)",
)

RULES_OF_ORDERS: tuple[CueRule, ...] = (
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            f"{LEAD}{_WORDS}{_STRICTLY}{_ABOUT}{_DO}",
            f"{LEAD}(?:{_WORDS}(?:一律|始终)|请(?:你|您)?(?:永远|总是|每次)){_WORDS}{_DO}",
            f"{LEAD}{_WORDS}{_FROM_NOW_ON}{_ABOUT}{_MUST}{_WORDS}{_ABOUT}{_DO}",
            f"{LEAD}{_WORDS}{_FROM_NOW_ON}的?{_WORDS}(?:[给替帮]我们?|会议|{_DO})[^，,；;]{{0,12}}?{_MUST}",
            f"{LEAD}{_WORDS}(?:{_FROM_NOW_ON})?(?:每次|凡是)(?:你|您|给我|帮我)?{_DO}[^，,；;]{{0,12}}?{_MUST}",
            f"{LEAD}请?(?:不要|别)(?:再|随便|擅自)?(?:编造(?!一)|透露我|泄露我|公开我)\\S{{2,}}",
        ),
        unless=_FRIENDLY,
    ),
)


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


NO_KEYS = any_of(
    r"[?？][”’」』）)]*\s*$",
    "[吗呢吧么嘛][。！!～~…]*$",
    "^\\W*(?:也许|可能|或许|不知道|要是|如果|假如|为什么|怎么|什么|谁|哪)",
    "(?:要不要|是不是|能不能|会不会|还没决定|没想好|不确定|听说|据说|加油|别担心|不要担心|"
    "不用担心|别灰心|不要放弃|不要紧|"
    "哈哈|注意身体|照顾好自己|多保重)",
)

# What somebody likes to do.
_PASTIME = any_of("(?<![更较])(?:喜欢|讨厌|习惯)(?:写|做|看|读|听|学|玩|拍|画|逛|聊|把)")
# What somebody does anyhow or has to do himself, and what one wishes a friend.
_NO_RULE = any_of(
    "^\\W*(?:我(?!们)|他们?|她们?|孩子|[我他她][爸妈哥姐弟妹])\\S{0,3}?(?:每天|每周|每晚|每个月|平时|"
    "经常|最近|昨天|已经)",
    "^\\W*我(?:必须|一定要|不能(?!用|使用|改|花|超))",
    "老是|每次我|一定要(?:看|试|尝|去|来|好好)|不要(?:太|再)?(?:难过|担心|生气|着急|伤心|紧张|灰心|想太多)",
)
# What is decided or preferred is in the same clause; what it costs or holds may stand behind.
_IN_CLAUSE = f"(?:[，,：:]?[^，,；;]{{0,40}}?(?:{WORK}|{ANSWERS})|.*?{SIZE})"

KEY_MESSAGE_RULES: tuple[CueRule, ...] = (
    LABEL,
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            r"^\W*(?:约束|限制|要求|硬性要求|规则|截止日期|截止时间|"
            r"预算)\s*[：:]\s*\S"
        ),
    ),
    CueRule(PinKind.DECISION, any_of(r"^\W*(?:决定|结论|决议|定稿)\s*[：:]\s*\S")),
    CueRule(PinKind.PREFERENCE, any_of(r"^\W*(?:偏好|习惯)\s*[：:]\s*\S")),
    GIVEN,
    GOAL,
    CueRule(
        PinKind.DECISION,
        any_of(
            "(?:(?:我们?|咱们|大家|团队|最终|最后|已经|一致)(?:都)?(?:已经)?(?:决定|商定|敲定|"
            "定下来?|说好|同意|选定|确定)|"
            + LEAD
            + "(?:那)?(?:我们|咱们|这次|就)?(?:还是)?(?:就用|就选|就定|选用|采用|改用|换成|"
            "统一用|确定用|决定))" + _IN_CLAUSE,
        ),
    ),
    CueRule(PinKind.DECISION, any_of("拍板|已(?:经)?(?:批准|通过评审)"), (MADE_OF_WORK,)),
    CueRule(
        PinKind.PREFERENCE,
        any_of(
            "(?:我|我们)(?:个人)?(?:一般|平时|还是|都|更|比较|最)?(?:喜欢|偏好|偏爱|倾向于?|习惯|"
            "讨厌|不喜欢)" + _IN_CLAUSE,
        ),
        unless=_PASTIME,
    ),
    CueRule(
        PinKind.PREFERENCE,
        any_of(
            LEAD + "(?:请|以后|今后|从现在起|都|一律|尽量|始终|总是|你|改)*(?:用|以|使用)(?:中文|"
            "英文|英语|日语|简体中文|繁体中文|口语|"
            "书面语|简短|简洁|要点|列表|markdown).{0,8}(?:回答|回复|说明|解释|交流|写|输出)",
            LEAD + "(?:请|以后|今后|从现在起|都|你的?)*(?:回答|回复|解释)(?:问题)?(?:的?时候?|"
            "时)?(?:请|要|尽量|都|得|务必|一律)+",
            LEAD + "(?:请|以后|今后|从现在起|都|你)*(?:叫|称呼)我",
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
        (MADE_OF_WORK,),
        unless=_NO_RULE,
    ),
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            LEAD
            + "(?:我们?的?|项目的?|这次的?|本次的?|新的?|总)*(?:预算|截止日期|截止时间|最后期限|"
            "(?:交付|上线|提交)(?:日期|时间))(?:现在|目前|已经|已)*(?:是|为|改[成为到]|定[在为]|调整[为到]|"
            "推迟到|延[期后]?到|提前到|增加到|提高到|减少?到|降[低]?到)了?[^，,]{0,4}?"
            "[\\d一二三四五六七八九十百千万周月]"
        ),
        told=True,
    ),
    *RULES_OF_ORDERS,
    CueRule(PinKind.CONSTRAINT, any_of("我.{0,4}对.{1,12}(?<!不)过敏")),
    *TASKS,
)
