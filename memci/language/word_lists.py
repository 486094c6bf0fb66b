"""Closed lists of words and marks that the offline rules share."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Left out of the lexical index: every message has them, and a question is never about them.
ENGLISH_STOP_WORDS = _set("""
a an the and or but if so of at by for with about to from in on as into than then that this these
those it its is am are was were be been being do does did have has had i me my we us our you your
he him his she her they them their what which who whom whose when where why how will would can
could should shall may might must there here just s t
""")

ENGLISH_PRONOUNS = _set("""
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves this that these those who whom
whose which what someone somebody something anyone anybody anything everyone everybody everything
nobody nothing one ones another other others
""")

# Words that carry little by themselves: the first to go when a text must be shorter, and never
# keywords.
ENGLISH_FUNCTION_WORDS = (
    ENGLISH_STOP_WORDS
    | ENGLISH_PRONOUNS
    | _set("""
also too very really quite rather pretty much many more most less least some any each every all both
few several such own same only even still yet already always often sometimes usually ever again
once now soon later maybe perhaps probably actually basically literally simply well anyway though
although however because since while until unless whether after before during between through over
under above below up down out off away back around along across per via like let lets get gets got
getting go goes going went gone come comes came coming make makes made making take takes took taken
taking give gives gave given giving say says said saying tell tells told telling know knows knew
known think thinks thought thinking see sees saw seen seeing look looks looked looking want wants
wanted need needs needed feel feels felt feeling seem seems seemed try tries tried trying keep keeps
kept put puts use uses used using find finds found ask asks asked help helps helped talk talks
talked call called show shows showed shown mean means meant thing things stuff lot lots kind sort
bit way ways something good great nice cool awesome amazing wonderful fantastic lovely fun new big
little great best better bad sure okay ok yes yeah yep no nope not never oh wow hey hi hello thanks
thank please sorry glad happy hear heard having been doing else instead able don didn doesn isn
aren wasn weren won wouldn couldn shouldn haven hasn hadn ain ve ll re m d im dont cant wont didnt
doesnt isnt ive youre thats its whats gonna wanna gotta lol haha really definitely certainly
absolutely totally especially exactly today tonight tomorrow yesterday
near among amongst toward towards against beyond within behind beside inside outside upon onto
""")
)

# Interjections, greetings and days: capitalised, but names of nothing.
NOT_NAMES = ENGLISH_FUNCTION_WORDS | _set("""
monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug
sep sept oct nov dec morning afternoon evening night today congrats congratulations cheers bye
goodbye welcome dear mr mrs ms dr ok okay omg wow yay aww haha hmm ah ooh btw fyi imo asap tbh
yup nah woohoo woah whoa phew oof ugh mmm gotcha ouch aw yum darn oops yoohoo anytime hopefully
lately alright appreciate guys folks thankfully unfortunately luckily yo besides despite tons loads
awww seriously basically honestly obviously kudos haven c'mon mon identity
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
million mom dad mum papa mama
user assistant system tool note step example question answer yes no true false null none first
second third next finally also meanwhile remember check keep add set run update create fix
deploy open close start stop read write send please agreed done noted understood decided decision
""")

# Said in chat for nothing but the tone.
ENGLISH_EXCLAMATIONS = _set("""
kinda sorta oof yum yummy yikes ooh ahh aww awww mmm hmm gosh gee jeez whew yep yup nope nah haha
lol omg btw fyi thx ty pls plz ok okay hey hi hello bye congrats congratulations woohoo hooray
yay ugh ouch oops wow phew whoa woah definitely absolutely course glad thanks
""")

# First names that open sentences; those that are words as well (Will, Grace) are not here.
ENGLISH_FIRST_NAMES = _set("""
james robert john michael david william richard joseph thomas charles christopher daniel matthew
anthony donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason
jeffrey ryan jacob nicholas gary eric jonathan stephen larry justin scott brandon benjamin samuel
gregory alexander patrick jack dennis jerry tyler aaron jose adam nathan henry peter zachary kyle
noah ethan jeremy walter christian keith roger terry sean austin carl arthur lawrence dylan jesse
jordan bryan billy joe bruce gabriel logan albert alan juan wayne elijah randy roy vincent ralph
eugene russell bobby mason philip louis harry howard sam tom tim ben dan matt mike nick chris alex
max leo luke liam oscar hugo ivan igor omar ali ahmed mohammed raj ravi
mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra
margaret ashley kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca sharon
laura cynthia dorothy amy kathleen angela shirley emma brenda pamela nicole anna samantha katherine
christine debra rachel carolyn janet maria olivia heather helen catherine diane julie victoria joyce
lauren kelly christina joan evelyn judith andrea hannah megan cheryl jacqueline martha madison
teresa gloria sara janice ann kathryn abigail sophia frances jean alice judy isabella julia denise
amber doris marilyn danielle beverly charlotte natalie theresa diana brittany kayla alexis lori
kate jane bob jim ron don ann anne sue beth meg ted ned lucy ella mia zoe chloe nina eva ida elena
olga irina fatima priya mei yuki
""")

# Said of a name before it, with a capital only because a sentence opens: "Poor Pixel has a fever".
ENGLISH_OPENING_ADJECTIVES = _set("""
poor typical classic dear sweet lovely darling beloved lucky unlucky clever brave silly cute funny
beautiful gorgeous pretty sunny rainy snowy foggy windy cold warm hot cloudy stormy old young little
big tiny huge new good bad best worst great nice wonderful amazing awesome brilliant fantastic
excellent perfect crazy wild sad happy sleepy hungry tired sick angry grumpy naughty stubborn loyal
gentle kind famous historic ancient modern busy crowded quiet peaceful charming stunning expensive
cheap proud innocent stupid smart genius glorious ordinary usual unusual fellow
former current late early fresh local foreign real true pure plain simple
""")

ENGLISH_KIN = _set("""
uncle aunt auntie cousin brother sister grandma grandpa granny grandmother grandfather mother father
mom mum dad son daughter wife husband niece nephew friend boss neighbour neighbor colleague partner
boyfriend girlfriend fiance fiancee teacher doctor dog cat
""")

# Verbs that somebody has to do.
ENGLISH_FINITE_VERBS = _set("""
am is are was were be been has have had do does did can could will would shall should may might
must 'm 're 's 've 'd 'll
began became brought bought built caught chose came did drank drove ate fell felt found flew
forgot gave got went grew had heard held hid kept knew led left lent let lost made meant met
paid put quit ran said saw sold sent sang sat slept spoke spent stood stole swam took
taught told thought threw understood woke wore won wrote broke rode rose drew shook
go goes get gets make makes take takes come comes see sees know knows think thinks want wants says
tells gives finds keeps eats buys sells meets hates prefers enjoys
""")

# Verbs behind those who do it, and anywhere else nouns as often: "community work".
ENGLISH_VERBS_OR_NOUNS = _set("""
work works play plays run runs plan plans hope hopes love loves drink drinks start starts stop stops
read reads cut cuts set sets lead leads use uses need needs try tries like likes live lives own owns
feel feels leave leaves write writes
""")

# What follows was not done for certain.
ENGLISH_SUPPOSING = _set("""
would could should might may must can will want wanted wants wish wished hope hoped hopes
dream dreamed dreamt imagine imagined almost nearly pretended planned plan plans
refused forgot failed tried trying promised offered asked told let made help helped
""")

ENGLISH_NEGATIONS = _set("""
not no never none nothing nobody nowhere neither nor cannot without hardly barely except unless
can't don't won't didn't doesn't isn't aren't wasn't weren't wouldn't couldn't shouldn't haven't
hasn't hadn't mustn't needn't ain't cant dont wont didnt doesnt isnt
""")

# Words that say when.
ENGLISH_TIMES = _set("""
monday tuesday wednesday thursday friday saturday sunday january february march april may june july
august september october november december yesterday today tonight tomorrow ago weekend weekly daily
monthly yearly annually
""")

CHINESE_NEGATIONS = ("不", "没", "无", "未", "别", "非", "勿", "莫", "禁止", "拒绝", "除了", "除非")

# Words with such a character that deny nothing.
NOT_CHINESE_NEGATIONS = _set("""
非常 别人 别的 特别 未来 分别 区别 性别 级别 告别 离别 类别 个别 识别 鉴别 别墅 别致 无论 无锡 非洲
莫非 莫扎特 莫斯科 沉没 没收 淹没 出没 不过 不仅 不但 不管 不论 不错 差不多 不好意思 不久 不断 不同
不少 对不起 了不起 忍不住 不禁 不得不 不如
""")

# Surnames that make a nickname with 小, 老 or 阿, and no usual word as 小麦 and 老龄 are.
CHINESE_NICKNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙朱胡郭何林罗郑梁谢宋唐韩冯邓曹彭曾肖董袁潘"
    "蒋蔡杜程苏魏吕丁沈姚卢姜崔谭陆汪范贾邱秦薛侯孟熊"
)

# What Chinese counts with, and counts things by: 一名, 两只, 几家.
HAN_NUMERALS = "一二三四五六七八九十两几数每某这那哪整"
MEASURE_WORDS = (
    "个名位只条头匹所家间座栋幢本部台辆张把支枝件份套双对群种类款道场次片块朵棵颗粒瓶杯碗盘盒包袋"
)

CHINESE_FUNCTION_WORDS = _set("""
的 了 着 过 是 在 和 与 也 都 就 还 又 很 把 被 给 让 对 从 到 我 你 您 他 她 它 我们 你们 他们 她们
这 那 这个 那个 这些 那些 一个 一些 什么 怎么 吗 呢 吧 啊 呀 哦 嗯 呵呵 哈哈 会 能 可以 要 想 说
去 来 有 上 下 里 中 做 自己 觉得 一下 一点 非常 真的 还是 或者 因为 所以 但是 然后 而且 如果 不过
就是
哪 哪些 哪个 哪里 谁 几 多少 怎样 怎么样 如何 为什么 那里 这里 那边 这边 有些 有点 一直 一样 一起
知道 看 好 最 更 太 得 地 之 其 比较 已经 还有 时候 这样 那么 这么 可能 应该 需要
""")

# Said to fill a pause or to be kind; a sentence says the same without them.
ENGLISH_FILLERS = (
    "you know", "i mean", "i guess", "sort of", "kind of", "to be honest",
    "by the way", "of course", "as you know", "in fact", "at the end of the day", "needless to say",
    "for what it's worth", "actually", "basically", "literally", "really", "very",
    "just", "simply", "honestly", "totally", "absolutely", "definitely",
    "certainly", "quite", "pretty much", "obviously", "anyway", "so much",
    "super", "truly", "incredibly", "extremely",
)  # fmt: skip
CHINESE_FILLERS = (
    "其实", "就是说", "也就是说", "怎么说呢", "说实话", "说真的", "老实说", "总的来说",
    "不得不说", "基本上", "反正", "当然了", "当然", "真的", "非常", "特别地",
    "十分", "超级", "实在", "嗯嗯", "嗯", "哈哈", "哎呀", "哇塞",
    "哇", "那个", "然后呢",
)  # fmt: skip

# Words that jieba's dictionary counts among people, places and makes, or takes for nouns, and
# that are neither names nor keywords.
NOT_CHINESE_NAMES = _set("""
谢谢 美的 小伙 小伙伴 明白 高兴 白天 安静 幸福 温馨 智能 中文 阳光 文静 和平 成功 宝贵 宝宝 严肃
小时 小时候 时候
东西 事情 问题 方面 样子 感觉 时间 地方 建议 我会 真棒 你好 人生 人家 大家 自己 别人 朋友 伴侣 意思
客气 攀岩 过敏
好事 经历 方式 情况 内容 部分 方法 机会 原因 结果 作用 一些 任何 下周 周末 周五 周一 周二 周三 周四
周六 周日 马上 索引
城市 平原 外国 爱国 南北 东北 西北 西南 东南 英雄 朝廷 太阳 哥哥 二哥 海洋 湖泊 大桥 高原 上市 建国
美丽 山区 江湖 大街
王国 开国 共和国 城镇 大都 京城 阿哥 庆典 南路 深度 山脉 回国 治安 大国 新鲜 古城 海峡 河口 冰川
长度 山水 长大 莫非
普及 商城 内河 古典 阴阳 江山 高山 大海 山坡 河谷 上马 太平 福利 日志 云集 青春 山河 神圣 新建 中路
法西斯 河水 中断
都城 关联 湖水 广义 海湾 上半场 上山 下山 登山 上台 江水 新城 入口 都市 山峰 朝阳 山寨 西洋 契约
路桥 伦理 泉水 城堡 入市
大山 深山 江河 渡江 城垣 大河 大湖 大江 治国 中和 天黑 法典 池塘 天桥 加盟 密封 上门 莫大 立马 海滨
海滩 贵宾 嘉宾 西瓜
沧海 入海 海港 赞美 山林 喜庆 入川 上路 礼拜 庙里 兴旺 深海 山羊 远洋 山门 正南 深谷 朝野 台风 山岭
白嫩 余脉 象牙 深水
归国 渡河 河湾 江流 上铺 海岛 入门 深渊 河畔 如林 上岗 夕阳 远古 永固 港湾 新春 绕城 台站 波及 绵羊
冰山 旧城 太极 古镇
山庄 江海 大湾 广度 江道 西路 东路 北路 南洋 北风 牡丹 伊斯兰 家里 公园 学校 医院 公司 有所 无法
不用谢 感兴趣 有点 非常感谢 这是 聊天 小而 一窥 多去 找我 随时 时要 一件 一次 聊聊 回家
一切顺利 文明 长跑 登山鞋 海鲜 内省 老城区
试试 有趣 令人 好人 陌生 不错 开心
""")
CHINESE_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程"
    "苏魏吕丁任沈姚卢姜崔"
    "钟谭陆汪范金廖贾夏韦付邹孟熊秦邱尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵钱严覃戴莫孔汤康施樊葛邢"
    "齐乔伍庞颜倪庄聂鲁"
    "岳翟殷詹申欧耿焦俞左柳甘祝包宁符舒阮柯纪梅童凌毕裴霍涂苗骆辛靳管柴蒙鲍喻祁蒲滕饶牟尤穆卓"
    "古柏宗欧司诸上"
)

# Verbs and adjectives that the statistics would take for keywords.
ENGLISH_NOT_NOUNS = _set("""
agree agreed allow appreciate ask become begin began believe bring brought build buy bought care
carry cause
change choose chose consider continue contain could create decide decided describe develop discuss
enjoy enjoyed ensure exceed expect explain fall follow forget gave grow grew guess happen hold held
hope hyped include introduce invite join kind leave left lead learn learned let listen live lived
lose lost love
loved meet met miss move moved must notice offer open owns own pay pick plan planned play prefer
press
prevent produce promise prove provide pull push raise reach realize receive recommend reduce
relate remain remind remove require rest return run ran save seem sell send sent serve set share
sit skip sleep speak spend spent stand start started stay stick stop struggle suggest support
supposed
surprise teach thank throw touch treat turn understand update visit wait walk watch wear win won
wish
wonder worry write wrote written happy sad busy free full hard easy early late long short high low
huge small tiny large young old different similar special important possible impossible true false
real right wrong ready safe strong weak nice fine perfect serious simple single common rare clear
fell feels twice crazy sound pic congrats blast super chat plus bye worry worries together
passionate
remember motivate cute ya rough relax bet cheers check love share absolute proud excited grateful
failed missed tough glad sweet favorite favourite
interesting beautiful inspiring many last worth lucky imagine explore improve motivated rewarding
forward connect far hang lately inspire magical celebrate cherish stoked staying finding motivating
intense healthier huh btw yup aww nah wow gonna wanna mental total relaxing amazed thrilled helpful
encourage express combine remain appreciate bummer haha yay cuz thx pls ago awhile
next past previous whole half main certain able available
near among amongst toward towards against beyond within behind beside inside outside upon onto
""") - _set("support plan rest visit walk watch change cause play offer")
