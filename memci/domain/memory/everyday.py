"""Words that name nothing by themselves, in English and Chinese (R2).

Whoever is spoken of in the third person is not among them, nor is any verb that says what someone
did: "He died" is short and tells much.
"""

from __future__ import annotations

_ENGLISH = """
    a an the and or but so then as of at by for with about to from in on up out off over than if
    i i'm i'd i'll i've me my mine myself you you're you'd you'll you've your yours yourself we
    we're we'll we'd we've us our it it's it'll itself this that that's that'd those these there
    there's here here's what what's how how's why when where which who one ones something
    anything everything nothing thing things stuff way am is isn't are aren't was wasn't were be
    been being do don't does doesn't did didn't doing done have haven't has had having will
    won't would wouldn't can can't cannot could couldn't shall should shouldn't may might must
    let let's lets not no yes yeah yep yup nope nah ok okay k kk alright sure course absolutely
    definitely certainly exactly totally indeed true right correct agreed agree fine please too
    also very really quite rather pretty much many more most just even still yet already always
    ever again now soon later maybe perhaps probably actually basically literally simply well
    anyway though all any some every else same such bit lot lots kind sort great good nice cool
    awesome amazing wonderful fantastic lovely excellent perfect brilliant incredible beautiful
    sweet neat super best better fun funny interesting impressive inspiring exciting excited
    happy glad sorry bad sad worse crazy wild special hi hey hello hiya morning afternoon
    evening night day weekend bye goodbye cya greetings welcome thanks thank thx ty tysm
    appreciate appreciated cheers congrats congratulations bless oh wow whoa woah ah aha aw aww
    awww haha hahaha hehe lol lmao rofl hmm mm mmm mhm um uh er huh yay woohoo phew oops ouch
    omg gosh god man dude gotcha damn ugh yikes go goes going get gets got give come keep take
    see seeing seen look looks looking looked hear hearing heard sound sounds sounded know knows
    think thought guess hope hoping wish believe mean means meant makes make made sense say said
    tell talk talking speak feel feels understand understood want wanna need wait wonder bet
    love like try remind care help problem worries worry mind matter luck job work idea point
    question moment noted noticed deal word chat catch pleasure proud told anytime forward touch
    time long
"""
_POLITE = """
    hi hey hello hiya bye goodbye greetings welcome thanks thank thx ty tysm appreciate cheers
    congrats congratulations morning night yes yeah yep yup no nope ok okay k kk alright sure
    absolutely definitely exactly totally indeed true right correct agreed agree fine great good
    nice cool awesome amazing wonderful fantastic lovely excellent perfect brilliant incredible
    beautiful sweet neat super glad happy sorry wow whoa woah oh ah aha aw aww haha hahaha hehe
    lol hmm mm mmm yay woohoo phew oops omg gosh gotcha understood noted luck care proud
    inspiring impressive interesting exciting pleasure hope sounds love
"""
_COURTEOUS = """
    support supportive supporting encouragement encouraging suggestion suggestions
    recommendation recommendations tip tips advice compliment compliments sharing share showing
    listening reading helpful helping useful thoughtful kind enjoy enjoyed friend friends buddy
    mate dear safe self everyone everybody guys around catching chatting chatted seems stunning
    推 荐 试 尝 朋 友 期 待 梦 相 信 些 用 次 注 意 去 来 先 到 里
"""
_CHINESE = """
    你好 您好 大家好 早上好 上午好 中午好 下午好 晚上好 早安 午安 晚安 早 嗨 哈喽 哈啰 喂
    好久不见 再见 拜拜 回头见 回见 明天见 谢谢 多谢 感谢 谢啦 谢了 谢 非常 十分 特别 太感谢
    辛苦了 辛苦 不客气 不用谢 不谢 没关系 没事 没事儿 没问题 不好意思 抱歉 对不起 麻烦 劳驾 请
    恭喜 祝贺 祝 加油 保重 祝你 希望 好运 顺利 一切 愉快 快乐 好的 好呀 好啊 好吧 好嘞 好哒 好哦
    好滴 行 可以 当然 当然可以 是的 是啊 是呀 是吗 对的 对啊 对呀 没错 嗯 嗯嗯 哦 喔 噢 哎 唉 诶
    欸 啊 呀 呢 吧 啦 嘛 哈 哈哈 哈哈哈 呵呵 嘿 嘿嘿 嘻嘻 哇 哇塞 真的 真是 真 太 很 挺 好 棒
    真棒 太棒了 太好了 不错 厉害 漂亮 赞 优秀 完美 有意思 有趣 有道理 好听 好看 明白 明白了
    知道了 知道 了解 了解了 懂了 收到 理解 同意 确实 的确 原来如此 这样 那样 这么 那么 怎么样
    如何 我 你 您 我们 你们 咱们 咱 这 那 这个 那个 它 也 都 就 还 又 再 才 只 了 的 地 得 着 过
    吗 么 是 对 有 会 能 要 想 觉得 认为 听 听起来 看 看来 看起来 说 说得 说的 让 给 和 跟 与 在
    被 把 一 一下 一点 一些 有点 什么 怎么 为什么 时候 时间 今天 现在 最近 以后 下次 再说 再聊
    聊 慢慢 继续 开心 高兴 很高兴 认识 幸会 很好 还好 还行 一般 必须 必须的 主意 好主意 建议
    帮助 帮忙 随时 告诉 需要 支持 鼓励 客气
"""

ENGLISH = frozenset(_ENGLISH.split())
# Longest first, so that 没关系 is not left as 关系. 不 and 没 by themselves are not among them.
CHINESE = sorted(set(_CHINESE.split()), key=lambda word: (-len(word), word))
# One of these is in everything that is polite and nothing else.
POLITE = frozenset(_POLITE.split())
# Beside one of those these are polite as well: "Thanks for your support", but "I need support".
# Chinese characters one by one: what is left of 谢谢你的推荐，我会去试试.
COURTEOUS = frozenset(_COURTEOUS.split())
