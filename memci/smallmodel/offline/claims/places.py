"""How large a place is: who lives in a city lives in its country as well (R6)."""

from __future__ import annotations

from memci.smallmodel.offline.claims.towns import TOWNS


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
