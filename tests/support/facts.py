"""Pairs of things said, one after the other: contradictions, and what only looks like one (R6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memci.domain.memory.claim import Held, resolved, supersessions
from memci.smallmodel.offline.claims import claims_in

BEGIN = datetime(2026, 5, 1, tzinfo=UTC)

CONTRADICT_ENGLISH = [
    ("I live in Paris.", "I moved to Rome."),
    ("I live in Paris", "I'm now living in Rome with my cat"),
    ("I live in Paris", "I no longer live in Paris"),
    ("I'm based in London.", "We sold the flat, and I relocated to Oslo."),
    ("I work at Siemens", "I work for Google now."),
    ("I work at Siemens", "I started a new job at Google"),
    ("I work at Siemens", "I don't work at Siemens anymore."),
    ("Anna works at Acme Corp", "Anna now works at Globex."),
    ("My phone number is 555-123-456.", "My new phone number is 555-999-888"),
    ("My email is ann@old.example", "My email is now ann@new.example"),
    ("The deadline is Friday.", "The deadline has been moved to Monday."),
    ("The deadline is 4 May", "The deadline is 11 May"),
    ("The deadline for the report is Friday", "The deadline for the report was pushed to Monday"),
    ("The deadline is Friday.", "Actually, it's Monday, not Friday."),
    ("My favourite colour is blue", "My favourite colour is now green."),
    ("My favorite book is Dune", "By the way, my favorite book is Emma"),
    ("I'm single.", "I got married!"),
    ("I'm engaged to Tom", "I'm single again"),
    ("I'm vegetarian", "I'm no longer vegetarian."),
    ("I am a vegetarian", "I became vegan"),
    ("I am 34 years old", "I'm 35 years old today"),
    ("The price of the bike is 400 euros", "The price of the bike went up to 450 euros"),
    ("My rent is 900 euros", "My rent was raised to 950 euros"),
    ("The budget for the party is 500", "The budget for the party was reduced to 300"),
    ("We decided to use MySQL for the database", "We switched to Postgres for the database."),
    ("We're going with Redis for caching", "We decided on Valkey for caching"),
    ("We upgraded Postgres to version 17", "We upgraded Postgres to version 18"),
    ("The status of the order is pending", "The status of the order is shipped"),
    ("My address is 5 Hill Road", "My new address is 12 Lake Street"),
    ("I work as a nurse", "I now work as a teacher"),
    ("I study at MIT", "I'm studying at Stanford"),
    ("My wife works at Bosch", "My wife started a job at Bayer"),
    ("Tom's birthday is on 5 May", "Tom's birthday is on 6 May"),
    ("My name is Ann Smith", "My name is Ann Jones"),
]
COMPATIBLE_ENGLISH = [
    ("I live in Paris", "I live in France"),
    ("I live in Paris", "I moved to Paris in the end"),
    ("I live in Paris", "Anna lives in Rome"),
    ("I live in Paris", "I went to Rome"),
    ("I live in Paris", "I visited Rome last week"),
    ("I live in Paris", "Do you live in Rome?"),
    ("I live in Paris", "I would love to live in Rome"),
    ("I live in Paris", "I might move to Rome"),
    ("I live in Paris", "I used to live in Rome"),
    ("I live in Paris", "When I was a kid I lived in Rome"),
    ("I live in Paris", "I lived in Rome ten years ago"),
    ("I live in Paris", "I don't live in Rome"),
    ("I live in Paris", "If I lived in Rome I would eat more pasta"),
    ("I live in Paris", "She moved to Rome"),
    ("I live in Paris", 'He said: "I live in Rome"'),
    ("I live in Paris", "I heard that Tom moved to Rome"),
    ("I like tea", "I like coffee"),
    ("I have a cat", "I have a dog"),
    ("I work at Siemens", "I like working with Google Maps"),
    ("I work at Siemens", "I want to work at Google"),
    ("I work at Siemens", "I have an interview at Google"),
    ("The deadline for the report is Friday", "The deadline for the poster is Monday"),
    ("The deadline is Friday", "The deadline is Friday at 5pm"),
    ("The deadline is Friday", "The deadline is 4 May"),
    ("My favourite colour is blue", "My favourite food is pasta"),
    ("My favourite colour is blue", "My favourite colour is dark blue"),
    ("One of my favourite books is Dune", "One of my favourite books is Emma"),
    ("My phone number is 555-123-456", "Anna's phone number is 555-999-888"),
    ("My rent is 900 euros", "My rent is €900 per month"),
    ("I'm single", "I am single-handedly painting the house"),
    ("I'm 34 years old", "My car is 12 years old"),
    ("We decided to use MySQL for the database", "We decided to use Redis for caching"),
    ("I'm vegetarian", "My sister is vegan"),
    ("The meeting is on Friday", "It's sunny today, not rainy"),
    ("I live in Paris. I love it here.", "My friend got a job at Google and moved to Rome"),
    ("My name is Ann", "My name is Ann Smith"),
]
CONTRADICT_CHINESE = [
    ("我住在北京。", "我搬到上海了。"),
    ("我住在北京", "我现在住在深圳"),
    ("我住在北京", "我不再住在北京了"),
    ("小王住在广州", "小王搬到杭州了"),
    ("我妈妈住在杭州", "我妈妈搬到苏州了"),
    ("我在腾讯上班", "我现在在阿里巴巴工作"),
    ("我在腾讯工作", "我跳槽到字节跳动了"),
    ("李明在人民医院工作", "李明现在在中心医院上班"),
    ("我的手机号是13800001111", "我的新手机号是13900002222"),
    ("我的邮箱是a@old.example", "我的邮箱改成a@new.example"),
    ("截止日期是周五", "截止日期改成周一了"),
    ("截止日期是5月4日", "截止日期推迟到5月11日"),
    ("报告的截止日期是周三", "把报告的截止日期从周三改成周五"),
    ("截止日期是周五", "不是周五，是周一"),
    ("截止日期是周五", "是周一，不是周五"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的颜色现在是绿色"),
    ("我最喜欢的书是《三体》", "我最喜欢的书变成了《活着》"),
    ("我单身", "我结婚了"),
    ("我结婚了", "我离婚了"),
    ("我吃素", "我不再吃素了"),
    ("我今年30岁", "我今年31岁了"),
    ("自行车的价格是400元", "自行车的价格涨到了450元"),
    ("我的房租是3000元", "我的房租涨到3500元"),
    ("项目的预算是5万", "项目的预算调整为8万"),
    ("我们决定用MySQL做数据库", "我们决定改用PostgreSQL做数据库"),
    ("数据库改用MySQL", "数据库换成了PostgreSQL"),
    ("软件的版本是2.0", "软件的版本更新到2.1"),
    ("订单的状态是待发货", "订单的状态变成已发货"),
    ("我的地址是人民路5号", "我的新地址是湖滨街12号"),
    ("小王的生日是5月5日", "小王的生日是5月6日"),
    ("我叫王芳", "我改名叫王雨"),
    ("上线时间定在6月1日", "上线时间提前到了5月20日"),
]
COMPATIBLE_CHINESE = [
    ("我住在北京", "我住在中国"),
    ("我住在北京", "我还住在北京"),
    ("我住在北京", "小王住在上海"),
    ("我住在北京", "我去过上海"),
    ("我住在北京", "你住在上海吗？"),
    ("我住在北京", "我想搬到上海"),
    ("我住在北京", "我可能会搬到上海"),
    ("我住在北京", "我以前住在上海"),
    ("我住在北京", "我小时候住在上海"),
    ("我住在北京", "我不住在上海"),
    ("我住在北京", "如果我住在上海就好了"),
    ("我住在北京", "她搬到上海了"),
    ("我住在北京", "听说小王搬到上海了"),
    ("我住在北京", "他说：“我住在上海”"),
    ("我喜欢茶", "我喜欢咖啡"),
    ("我养了一只猫", "我养了一只狗"),
    ("我在腾讯上班", "我想去阿里巴巴上班"),
    ("我在腾讯上班", "我在阿里巴巴面试"),
    ("报告的截止日期是周三", "海报的截止日期是周五"),
    ("截止日期是周五", "截止日期是周五下午五点"),
    ("截止日期是周五", "截止日期是5月4日"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的菜是火锅"),
    ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是深蓝色"),
    ("我的手机号是13800001111", "小王的手机号是13900002222"),
    ("我的房租是3000元", "我的房租是3000块"),
    ("我结婚了", "我已婚"),
    ("我今年30岁", "我妈妈今年60岁"),
    ("我们决定用MySQL做数据库", "我们决定用Redis做缓存"),
    ("我吃素", "我妹妹不吃素"),
    ("会议在周五", "不是很远，是很近"),
    ("我叫王芳", "你叫什么？"),
    ("我住在杭州市", "我住在杭州"),
]


def supersedes(older: str, newer: str, speakers: tuple[str, str] = ("user:", "user:")) -> bool:
    """Tell whether what was said first no longer holds after what was said a day later."""
    held: list[Held] = []
    for place, (text, speaker) in enumerate(zip((older, newer), speakers, strict=True)):
        made = [
            Held(claim, place + 1, place + 1, BEGIN + timedelta(days=place))
            for claim in claims_in(text, speaker)
        ]
        known = [*held, *made]
        held += [each for one in made if (each := resolved(one, known)) is not None]
    keys = {(each.claim.subject, each.claim.attribute) for each in held}
    return any(
        found.older.node_id == 1 and found.newer.node_id == 2
        for key in keys
        for found in supersessions(
            each for each in held if (each.claim.subject, each.claim.attribute) == key
        )
    )
