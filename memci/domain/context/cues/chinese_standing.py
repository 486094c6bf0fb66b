"""What is to be done, or left, each time: Chinese orders; as ``english_standing`` (R7)."""

from __future__ import annotations

from memci.domain.context.cues.chinese_things import LEAD
from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

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

RULES: tuple[CueRule, ...] = (
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
