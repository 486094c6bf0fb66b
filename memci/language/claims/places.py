"""Names of places, employers and times in claims (R6)."""

from __future__ import annotations

import re

_TOWNS = """
    aberdeen| bath| belfast| birmingham| blackpool| bolton| bournemouth| bradford| brighton|
    bristol| cambridge| canterbury| cardiff| carlisle| chelmsford| chester| colchester|
    coventry| derby| doncaster| dundee| durham| edinburgh| exeter| glasgow| gloucester| hull|
    inverness| ipswich| lancaster| leeds| leicester| lincoln| liverpool| london| luton|
    manchester| middlesbrough| milton keynes| newcastle| newport| northampton| norwich|
    nottingham| oxford| peterborough| plymouth| portsmouth| preston| reading| salford|
    salisbury| sheffield| southampton| stirling| stockport| sunderland| swansea| swindon|
    wigan| winchester| wolverhampton| worcester| york| cork| dublin| galway| limerick|
    waterford| albany| albuquerque| anchorage| ann arbor| atlanta| austin| baltimore| baton
    rouge| berkeley| boise| boston| boulder| brooklyn| buffalo| burlington| charleston|
    charlotte| chicago| cincinnati| cleveland| columbus| dallas| denver| des moines| detroit|
    durango| el paso| fort worth| fresno| hartford| honolulu| houston| indianapolis|
    jacksonville| kansas city| las vegas| little rock| los angeles| louisville| madison|
    memphis| miami| milwaukee| minneapolis| nashville| new haven| new orleans| new york| new
    york city| oakland| oklahoma city| omaha| orlando| palo alto| philadelphia| pittsburgh|
    portland| providence| raleigh| reno| richmond| rochester| sacramento| salt lake city| san
    antonio| san diego| san francisco| san jose| santa barbara| santa fe| savannah| scottsdale|
    seattle| spokane| st louis| st. louis| syracuse| tacoma| tampa| tucson| tulsa| washington|
    brooklyn heights| queens| manhattan| calgary| edmonton| halifax| montreal| ottawa| toronto|
    vancouver| winnipeg| adelaide| auckland| brisbane| cairns| canberra| christchurch| darwin|
    hobart| melbourne| perth| sydney| wellington| amsterdam| antwerp| athens| barcelona| basel|
    belgrade| bergen| berlin| bern| bilbao| bologna| bonn| bordeaux| bratislava| bremen|
    brussels| bucharest| budapest| cologne| copenhagen| dresden| dusseldorf| düsseldorf|
    eindhoven| florence| frankfurt| gdansk| geneva| genoa| ghent| gothenburg| granada| graz|
    grenoble| hamburg| hanover| heidelberg| helsinki| istanbul| kiev| kyiv| krakow| lausanne|
    leipzig| lille| lisbon| ljubljana| lucerne| luxembourg city| lyon| madrid| malaga| malmo|
    malmö| mannheim| marseille| milan| montpellier| moscow| munich| nantes| naples| nice|
    nuremberg| oslo| palermo| paris| porto| prague| reykjavik| riga| rome| rotterdam| salzburg|
    sarajevo| seville| sofia| stavanger| stockholm| strasbourg| stuttgart| tallinn| the hague|
    toulouse| trieste| trondheim| turin| utrecht| valencia| venice| verona| vienna| vilnius|
    warsaw| wroclaw| zagreb| zurich| zürich| abu dhabi| accra| addis ababa| algiers| amman|
    ankara| baghdad| bangalore| bangkok| beijing| beirut| bogota| brasilia| buenos aires|
    busan| cairo| cancun| cape town| caracas| casablanca| chengdu| chennai| chongqing| colombo|
    dakar| dar es salaam| delhi| dhaka| doha| dubai| durban| guadalajara| guangzhou| hangzhou|
    hanoi| ho chi minh city| hong kong| hyderabad| jakarta| jeddah| jerusalem| johannesburg|
    karachi| kathmandu| kigali| kobe| kolkata| kuala lumpur| kuwait city| kyoto| lagos| lahore|
    lima| macau| manila| marrakesh| medellin| mexico city| montevideo| mumbai| nagoya| nairobi|
    nanjing| new delhi| osaka| panama city| pretoria| pune| quito| ramallah| rio de janeiro|
    riyadh| santiago| sao paulo| são paulo| seoul| shanghai| shenzhen| singapore| suzhou|
    taipei| tashkent| tehran| tel aviv| tianjin| tokyo| tunis| ulaanbaatar| wuhan| xiamen|
    xi'an| yokohama
"""
TOWNS = frozenset(" ".join(name.split()) for name in _TOWNS.split("|"))


def _listed(names: str) -> frozenset[str]:
    return frozenset(" ".join(name.split()) for name in names.split("|") if name.strip())


_COUNTRIES = _listed("""
    afghanistan|albania|algeria|argentina|armenia|australia|austria|azerbaijan|bahrain|
    bangladesh|
    belarus|belgium|bolivia|bosnia|botswana|brazil|britain|bulgaria|cambodia|cameroon|canada|chile|
    china|colombia|congo|costa rica|croatia|cuba|cyprus|czechia|czech republic|denmark|ecuador|
    egypt|
    el salvador|england|estonia|ethiopia|europe|finland|france|georgia|germany|ghana|greece|
    guatemala|
    haiti|honduras|hungary|iceland|india|indonesia|iran|iraq|ireland|israel|italy|jamaica|japan|
    jordan|kazakhstan|kenya|korea|south korea|kuwait|laos|latvia|lebanon|libya|lithuania|luxembourg|
    malaysia|mali|malta|mexico|moldova|mongolia|morocco|myanmar|nepal|netherlands|the netherlands|
    new zealand|nicaragua|nigeria|norway|oman|pakistan|panama|paraguay|peru|philippines|
    the philippines|poland|portugal|qatar|romania|russia|rwanda|saudi arabia|scotland|senegal|
    serbia|
    slovakia|slovenia|somalia|south africa|spain|sri lanka|sudan|sweden|switzerland|syria|taiwan|
    tanzania|thailand|tunisia|turkey|uganda|uk|the uk|ukraine|united kingdom|the united kingdom|us|
    usa|the us|the usa|united states|the united states|america|uruguay|uzbekistan|venezuela|vietnam|
    wales|yemen|zambia|zimbabwe|asia|africa|south america|north america|
    中国|美国|英国|法国|德国|日本|韩国|俄罗斯|加拿大|澳大利亚|澳洲|新西兰|印度|意大利|西班牙|葡萄牙|荷兰|
    比利时|瑞士|瑞典|挪威|芬兰|丹麦|巴西|墨西哥|阿根廷|泰国|越南|马来西亚|印尼|菲律宾|土耳其|埃及|南非|
    爱尔兰|奥地利|波兰|希腊|欧洲|亚洲|非洲|美洲|
""")
_STATES = _listed("""
    alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|hawaii|idaho|
    illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|
    mississippi|missouri|montana|nebraska|nevada|new hampshire|new jersey|new mexico|north carolina|
    north dakota|ohio|oklahoma|oregon|pennsylvania|rhode island|south carolina|south dakota|
    tennessee|texas|utah|vermont|virginia|west virginia|wisconsin|wyoming|ontario|quebec|alberta|
    british columbia|bavaria|tuscany|queensland|victoria|new south wales|
    河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南|陕西|
    甘肃|青海|台湾|内蒙古|广西|西藏|宁夏|新疆|加州|
""")
_PARTS = ("区", "镇", "村", "路", "街", "street", "road", "avenue", "district")


def is_known(place: str) -> bool:
    """Tell whether a place is a country, a state or a well-known town: "Leeds", "Austin, Texas"."""
    folded = " ".join(place.casefold().split())
    return folded in TOWNS or folded in _COUNTRIES or folded in _STATES


def level(place: str) -> str:
    """Return ``country``, ``state``, ``part`` (of a town) or ``town``."""
    folded = " ".join(place.casefold().split())
    bare = folded.removesuffix("省")
    if folded in _COUNTRIES:
        return "country"
    if bare in _STATES:
        return "state"
    return "part" if folded.endswith(_PARTS) else "town"


_CITIES = (
    "北京|上海|天津|重庆|广州|深圳|杭州|南京|苏州|成都|武汉|西安|长沙|郑州|青岛|大连|厦门|宁波|无锡|佛山|"
    "东莞|合肥|福州|济南|沈阳|哈尔滨|长春|昆明|贵阳|南宁|南昌|太原|石家庄|兰州|海口|三亚|珠海|温州|常州|"
    "徐州|烟台|洛阳|桂林|拉萨|银川|西宁|呼和浩特|乌鲁木齐|香港|澳门|台北|高雄|东京|大阪|京都|首尔|新加坡|"
    "曼谷|伦敦|巴黎|柏林|慕尼黑|罗马|米兰|马德里|巴塞罗那|阿姆斯特丹|莫斯科|纽约|洛杉矶|旧金山|芝加哥|波士顿|"
    "绵阳|泉州|嘉兴|绍兴|金华|台州|扬州|南通|镇江|盐城|湖州|芜湖|潍坊|临沂|淄博|威海|秦皇岛|唐山|保定|廊坊|邯郸|大同|包头|"
    "鞍山|吉林市|齐齐哈尔|九江|赣州|漳州|莆田|汕头|惠州|中山|江门|湛江|柳州|北海|宜昌|襄阳|荆州|岳阳|株洲|湘潭|衡阳|遵义|大理|丽江|"
    "乐山|宜宾|德阳|南充|泸州|咸阳|宝鸡|开封|新乡|西双版纳|喀什|里斯本|维也纳|布拉格|华沙|都柏林|爱丁堡|曼彻斯特|苏黎世|日内瓦|"
    "哥本哈根|斯德哥尔摩|奥斯陆|赫尔辛基|雅典|伊斯坦布尔|开罗|孟买|新德里|吉隆坡|雅加达|河内|胡志明市|马尼拉|华盛顿|费城|休斯顿|"
    "达拉斯|奥斯汀|亚特兰大|迈阿密|丹佛|圣地亚哥|圣何塞|硅谷|蒙特利尔|墨西哥城|圣保罗|布里斯班|珀斯|奥克兰|"
    "西雅图|多伦多|温哥华|悉尼|墨尔本|迪拜"
)
_CHINESE_COUNTRIES = (
    "美国|英国|法国|德国|日本|韩国|俄罗斯|加拿大|澳大利亚|澳洲|新西兰|印度|意大利|西班牙|荷兰|瑞士|瑞典|泰国|"
    "越南|马来西亚"
)
_PROVINCES = (
    "河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南|四川|贵州|云南|陕西|"
    "甘肃|青海|台湾|内蒙古|广西|西藏|宁夏|新疆"
)
# 市区 and 郊区 name no district.
_NO_DISTRICT = "[市城郊小社山景校园学老片辖地](?:区)"
_DISTRICT = (
    rf"(?!{_NO_DISTRICT})[\u4e00-\u9fff]{{1,4}}?(?<![市城郊小社山景校园学老片辖地])(?:区|县)"
)
PLACE = (
    rf"(?:(?:(?:{_PROVINCES})省?)?(?:{_CITIES})市?(?:{_DISTRICT})?|{_CHINESE_COUNTRIES}"
    r"|[\u4e00-\u9fff]{1,5}?(?:市|省|县|镇|村)|[\u4e00-\u9fff]{2,3}?(?<![市城郊小社山景校园学老片辖地])区)"
)
_NO_PLACE = re.compile(
    r".*(?:城市|城镇|农村|乡村|山村|渔村|小村|全村|小镇|古镇|乡镇|超市|夜市|股市|菜市|灾区|郊县)"
    r"|[这那哪某一同全别外本邻隔][\u4e00-\u9fff]*"
    r"|(?:宿舍|生活|住宅|别墅|工业|开发|家属|商业|教学|办公|男生|女生|公共|休息|等候|治安|战|疫|热|新)区"
)
_CITY_MARK = re.compile(rf"({_CITIES})市")
_IN_A_CITY = re.compile(rf"(?:{_PROVINCES})?({_CITIES}){_DISTRICT}$")
_PROVINCE_MARK = re.compile(rf"({_PROVINCES})省(?=.)")


def is_no_chinese_place(name: str) -> bool:
    """Tell whether a name is a kind of place: 大城市, 宿舍区, 这个镇."""
    return bool(_NO_PLACE.fullmatch(name))


def place_name(name: str) -> str:
    """Return a place as it is called for short, so that 杭州市西湖区 is 杭州西湖区."""
    return _PROVINCE_MARK.sub(r"\1", _CITY_MARK.sub(r"\1", name))


def town_of(name: str) -> str:
    """Return the town that a district is named with, 上海 of 上海徐汇区, or else the name."""
    within = _IN_A_CITY.fullmatch(name)
    return within[1] if within else name


_FIRMS = (
    "腾讯|阿里巴巴|阿里|华为|百度|字节跳动|字节|京东|美团|小米|网易|滴滴|拼多多|快手|微软|谷歌|苹果|亚马逊|"
    "特斯拉|比亚迪|联想|中兴|哔哩哔哩|携程|小红书|蚂蚁集团|蚂蚁金服|大疆|格力|海尔|美的|蔚来|理想汽车|小鹏"
)
# What the name of an employer ends in.
_KINDS = (
    "公司|银行|医院|大学|中学|小学|集团|研究所|研究院|事务所|工厂|出版社|报社|电视台|幼儿园|学校|酒店|诊所|"
    "律所|工作室|支行|分行|实业|股份|药业|制药|影业|重工|半导体|证券|基金|航空|传媒|科技"
)
# These are lines of business as well: 云溪设计 is somebody's, 平面设计 is nobody's.
_LINES = (
    "医疗|网络|软件|教育|生物|电子|汽车|保险|物流|地产|智能|数据|信息|通信|能源|电力|食品|服饰|文化|咨询|设计|资本|"
    "投资|游戏|电器|化工|建筑|装饰|机器人|健康|医药|旅游|餐饮|互动|互娱"
)
_HAN = "[^\\W\\da-zA-Z_的了是和在去到从我你他她它们这那]"
FIRM = (
    rf"(?:{_FIRMS}|[A-Z][\w.&-]*(?: [A-Z][\w.&-]*)*"
    rf"|(?:{_HAN}{{2,10}}?|[A-Za-z\d]{{1,12}})(?:{_KINDS})|"
    rf"(?:{_HAN}{{2,4}}|[A-Za-z\d]{{1,12}})(?:{_LINES}))"
)
CALLED = (
    r"(?:一?[家所个间](?:叫做?|名叫|名为)(?P<called>[A-Za-z\d\u4e00-\u9fff]{2,12}?)的"
    r"(?:[\u4e00-\u9fff]{0,4}(?:公司|企业|医院|学校|工厂|机构|单位|店|银行|工作室|事务所)))"
)
# Which one, whose, or what people are busy with: nothing behind these is a name.
_UNNAMED = (
    "[一两几某同另每各这那](?:[家个所间种]|工厂|公司)|附近|当地|本地|国[内外]的?|外[地企国]|自己|自家|别的|其他|朋友|"
    "同学|亲戚|老家|家里|私人|私立|公立|民[营办]|国[有营]|外资|合资|跨国|知名|著名|上市|初创|创业|普通|从事|进行|"
    "负责|参与|努力|认真|学习|准备|完成|处理|研究|忙|做|搞|干|兼职|远程|居家"
)
_BRANCHES = (
    f"{_LINES}|{_KINDS}|互联网|人工|平面|室内|工业|产品|幼儿|学前|早期|职业|临床|基层|城市|农村|社区|心理|法律|财务|"
    "管理|企业|数字|在线|线上|家庭|公共|环境|景观|服装|广告|创意|特殊|高等|成人|儿童|艺术|体育|音乐|英语|语言|"
    "思想|安全|移动|传统|现代|智慧|基础|义务|医学|新|绿色|清洁|快递|外贸|贸易|房|金融|电商|影视|培训|中介|会计|"
    "律师|家族|高|深度|国际|重点|[大小新老]"
)
_NO_FIRM = re.compile(rf"(?:{_BRANCHES})+|(?:{_UNNAMED})[\w ]*|(?:{_CITIES})公司")


def is_no_firm(name: str) -> bool:
    """Tell whether a name is a kind of employer, or a line of business: 一家公司, 平面设计."""
    return name not in _KNOWN_FIRMS and bool(_NO_FIRM.fullmatch(name))


_KNOWN_FIRMS = frozenset(_FIRMS.split("|"))
# A time that is over, and one that may be still to come.
PAST = (
    "上个?(?:星期|礼拜|周)[一二三四五六日天末]?|上个?月|上半年|昨天|前天|前(?:几|两|些)天|前(?:几|两)个?(?:星期|周|月)|"
    "前阵子|前段时间|不久前|前不久|去年"
)
THIS = r"今天|这个?(?:星期|礼拜|周|月)|本周|本月|今年|(?:\d{1,2}|[一二三四五六七八九十]{1,2})月份?"
LASTING = "(?:已经|快|有)*[\\d一两二三四五六七八九十半几]+多?个?多?(?:天|周|星期|月|年)多?"


_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
WHEN = (
    "(?i:(?:earlier )?(?:last|this|the other) "
    f"(?:week(?:end)?|month|year|spring|summer|autumn|fall|winter|{_DAYS}|{_MONTHS})"
    f"|yesterday|in (?:{_MONTHS}))"
)
_BUILDINGS = "flat|apartment|house|home|place|studio|condo|room"
SOME_HOME = f"(?:(?:an?|the|my|our) (?:[a-z]+ ){{0,2}}(?:{_BUILDINGS}) in )"
HOME = f"{SOME_HOME}?"
_NO_PLACE_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december
    linux windows mac macos android ios iphone ubuntu debian fedora arch chrome firefox safari
    gmail outlook slack teams discord telegram signal whatsapp notion obsidian evernote
    postgres postgresql mysql sqlite mongodb redis kafka celery aws azure gcp github gitlab
    bitbucket docker kubernetes python java javascript typescript rust go kotlin swift react vue
    django flask fastapi vscode vim neovim emacs
    google microsoft apple amazon meta facebook netflix openai anthropic spotify
    plan slide chapter row team step page phase level version part section chair table desk seat
"""
_NO_PLACES = frozenset(_NO_PLACE_WORDS.split())


def is_no_english_place(name: str) -> bool:
    """Tell whether a name, not blank, is one of a day, a product or a part of something."""
    return name.casefold().split()[0] in _NO_PLACES
