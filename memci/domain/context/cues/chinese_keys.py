"""What Chinese sentences say for good to who works for somebody; as ``english_keys`` (R7)."""

from __future__ import annotations

from memci.domain.context.cues import chinese_standing, chinese_tasks
from memci.domain.context.cues.chinese_things import ANSWERS, LEAD, MADE_OF_WORK, SIZE, WORK
from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

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

RULES: tuple[CueRule, ...] = (
    chinese_tasks.LABEL,
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            r"^\W*(?:约束|限制|要求|硬性要求|规则|截止日期|截止时间|"
            r"预算)\s*[：:]\s*\S"
        ),
    ),
    CueRule(PinKind.DECISION, any_of(r"^\W*(?:决定|结论|决议|定稿)\s*[：:]\s*\S")),
    CueRule(PinKind.PREFERENCE, any_of(r"^\W*(?:偏好|习惯)\s*[：:]\s*\S")),
    chinese_tasks.GIVEN,
    chinese_tasks.GOAL,
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
    *chinese_standing.RULES,
    CueRule(PinKind.CONSTRAINT, any_of("我.{0,4}对.{1,12}(?<!不)过敏")),
    *chinese_tasks.TASKS,
)
