"""What is to be done, or left, each time: Chinese orders; as ``english_standing`` (R7)."""

from __future__ import annotations

from memci.domain.context.cues.chinese_things import LEAD
from memci.domain.context.cues.rule import CueRule, any_of
from memci.domain.pages.pin import PinKind

_FIND = "(?:推荐|编造|瞎编|杜撰|透露|泄露|公开|提起)"
_DO = (
    f"(?:{_FIND}|用(?![心功力])|使用|采用|按|标注|注明|附上?|列出|换算|翻译|建议|提到?|提及|"
    "提醒|猜|假设|回[答复]|称呼|叫我|问我|告诉|通知|先问|确认|核对|核实|检查|预?[订约定](?![下婚居时])|下单|购?买|付款|支付|"
    "扣款|安排|联系|打电话|发送|发[给到邮短消]|转发|分享|发布|删除?|取消|接受|打扰我|叫醒我)"
)
_NOT = "(?:不要|不能|不得|不可以?|不许|不准|不用|别|勿|禁止)"
_STRICTLY = f"(?:千万{_NOT}|绝对?{_NOT}|永远{_NOT}|切勿|请勿|严禁|务必)"
_FROM_NOW_ON = (
    "(?:以后|今后|往后|从现在(?:开始|起)|从今(?:天|往后|以后)?(?:开始|起)?|一律|始终|永远|总是)"
)
_EACH_TIME = f"(?:{_FROM_NOW_ON}|每次|每一次|凡是)"
_WORDS = "(?:请|你|您|也|都|就|要|一定|必须|务必|只能?|尽量|再|随便|擅自|[，,\\s])*"
_FOR_ME = (
    "(?:[给替帮]我们?|预?[订约定](?![下婚居时])|安排|推荐|回[答复]|翻译|发[送给邮短]|下单|付款|标注|"
    "汇报)"
)
# What stands between: "以后订餐厅不要选海鲜", "每次回答都附上出处", "千万别把我的电话告诉别人".
_ABOUT = "(?:(?:把|将|在|给|向|没)[^，,；;]{1,10}?|[^，,；;我]{0,10}?)"
_MUST = f"(?:{_NOT}|都要?|都得|必须|务必|一律|只能?|请|要|先)"
# As in English: good advice, and what somebody does anyhow.
_FRIENDLY = any_of(
    "自己|身体|开心|快乐|幸福|梦想|熬夜|加油|努力|坚持|放弃|难过|担心|机会|有空|谢谢|才[^能可行]|"
    "那[家个里儿件款]|(?:别|不要)告诉我(?:你|他|她|这|那|又|说)|联系你|告诉你|问我为",
    f"(?:我们?|咱们|他们?|她们?|[我他她][爸妈哥姐弟妹]|[爸妈哥姐弟妹]{{2}}){_EACH_TIME}",
    "^\\W*[你您]们?(?:每次|每一次|总是|一直|老是)",
)

RULES: tuple[CueRule, ...] = (
    CueRule(
        PinKind.CONSTRAINT,
        any_of(
            f"{LEAD}{_WORDS}{_STRICTLY}{_ABOUT}{_DO}",
            f"{LEAD}(?:{_WORDS}(?:一律|始终)|请(?:你|您)?(?:永远|总是|每次)){_WORDS}{_DO}",
            f"{LEAD}{_WORDS}{_EACH_TIME}{_ABOUT}{_MUST}{_WORDS}{_ABOUT}{_DO}",
            f"{LEAD}{_WORDS}{_FROM_NOW_ON}的?{_WORDS}{_FOR_ME}[^，,；;]{{0,12}}?(?:一定要|{_MUST})",
        ),
        unless=_FRIENDLY,
        told=True,
    ),
    # What is forbidden, and not for now alone.
    CueRule(
        PinKind.CONSTRAINT,
        any_of(f"{LEAD}请?(?:不要|别|勿)(?:再|随便|擅自|给我们?|向\\S{{1,3}})*{_FIND}\\S{{3,}}"),
        unless=any_of("现在|今天|今晚|明天|这[个些家本部]|那|它|了[。！!]*$", _FRIENDLY.pattern),
        told=True,
    ),
)
