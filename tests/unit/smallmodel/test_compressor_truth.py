"""A compressed text says nothing that the original does not say."""

import re

import pytest


def is_list(shorter: str) -> bool:
    """Keywords have no closing mark; they state nothing."""
    return not re.search("[.!?。！？；;]$", shorter)


@pytest.mark.parametrize(
    "text",
    [
        "Never press the red button during the night shift in the reactor hall of the station.",
        "He does not want to sell the house in Oslo to the bank under any circumstances at all.",
    ],
)
def test_a_negation_is_not_lost(compressor, text):
    for target in range(20, len(text)):
        shorter = compressor.compress(text, target).lower()
        words = set(re.findall(r"\w+", shorter))
        if len(words) > 2:
            assert words & {"never", "not"}, shorter


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Since the spring she is not allergic to peanuts and almonds any more.", "allergic"),
        ("Tom doesn't like the tea from the shop around the corner in Oslo.", "like"),
        ("小王一点也不喜欢这家餐厅的红烧排骨和清蒸鲈鱼，我们下次换一家。", "喜欢"),
        ("我从来没有去过鼓浪屿和厦门大学附近的植物园。", "去过"),
    ],
)
def test_a_denied_fact_is_never_stated(compressor, text, denied):
    for target in range(1, len(text)):
        shorter = compressor.compress(text, target)
        if denied in shorter:
            before = shorter[: shorter.index(denied)]
            assert re.search("[Nn]ot|n't|不|没", before), shorter


FADING = [
    (
        "My flight to Trondheim: it leaves at 10:20 on 12 December (2026-12-12) from Oslo, and I "
        "changed my flight to the later one because of work."
    ),
    "We meet on Friday (2026-10-30) at 8:15 in Haugesund with Dr. Solbakken to discuss the deal.",
    "我们11月9日–15日去厦门旅行，下周（2026年11月9日–15日）不要安排会议。",
    "The repo is at https://github.com/ada/seals and it's in Python; it counts seals in footage.",
    "Emil and I decided: Naples. We booked flights for Emil and me for 2400 kroner.",
    "我不吃香菜，我和小李周六晚上8点半去《三体》的首映，票价120元。",
    (
        "Assistant: You could make lapsang souchong tea at 80 degrees.\n"
        "User: I never drink coffee after 6:55 in the evening."
    ),
    "助手：您可以在北京大学附近订酒店。\n用户：我和妈妈住在王府井，预算800元一晚。",
    "She is not allergic to peanuts, but my sister and I avoid walnuts since the spring.",
    'My club reads "The Left Hand of Darkness", Emil, Dana and I met in New York in May 2024.',
]
# A pattern for text that would be false or meaningless after compression.
FALSE = re.compile(
    r"10:20 on 12(?! Dec)|at 10(?!:)|\(2026-\d\d-\d\d(?!\))|（[^）]*$|日–15(?!日)|https(?!://git)|"
    r"不吃(?!香菜)|decided(?<!Emil and I decided)|for Emil(?! and me)|(?<!Emil, )Dana and I|"
    r"not allergic(?! to peanuts)|Dr\.(?! Solbakken)|(?<!和)小李|\b(?:Hau|Solbak|lapsa)\b|"
    r"(?<!my )sister and|^(?!User:).*coffee after|^(?!Assistant:).*souchong tea|"
    r"^(?!助手).*酒店|^(?!用户).*王府井|New York(?<=[a-z] New York)(?<!in New York)",
    re.MULTILINE,
)


@pytest.mark.parametrize("text", FADING)
def test_repeated_compression_makes_nothing_false(compressor, text):
    left = text
    for share in (90, 75, 60, 50, 40, 30, 20, 15, 10, 5):
        target = max(1, len(text) * share // 100)
        left = compressor.compress(left, target)
        assert 0 < len(left) <= target
        assert is_list(left) or not FALSE.search(left), left


def test_parts_of_a_sentence_are_separated(compressor):
    text = "It leaves from the pier in Trondheim at noon and I changed my seat in the second coach."
    for target in range(20, len(text)):
        assert not re.search("(?:Trondheim|noon) (?:I|changed)", compressor.compress(text, target))


@pytest.mark.parametrize(
    ("text", "action", "actor"),
    [
        (
            "I took my daughter to the dentist in Oslo yesterday and bought her a new toothbrush.",
            "took|bought",
            "^I ",
        ),
        (
            "Ann: We packed the car on Saturday and went to the beach near Stavanger with Tom.",
            "packed|went",
            "^Ann: We ",
        ),
        (
            (
                "Dana told me that she had sold the house in Bergen to a couple from Germany and "
                "was moving to Spain in autumn."
            ),
            "was moving|sold|told",
            "^Dana told me",
        ),
        ("小李说他下周要去上海出差，让老张代他参加周五的会议。", "出差|代", "^小李"),
    ],
)
def test_an_action_is_never_left_without_its_actor(compressor, text, action, actor):
    for target in range(4, len(text)):
        shorter = compressor.compress(text, target)
        if re.search(action, shorter) and not is_list(shorter):
            assert re.search(actor, shorter), shorter


def test_a_hypothetical_action_is_not_stated_as_done(compressor):
    text = "I would have gone to the dentist in Oslo yesterday and bought a new toothbrush there."
    for target in range(4, len(text)):
        assert "I bought" not in compressor.compress(text, target)


def test_a_chinese_nickname_is_never_cut(compressor):
    text = "小李去了北京，老张没有去，我和小李、小王约好下周在龙井路见面。"
    for target in range(2, len(text)):
        shorter = compressor.compress(text, target)
        assert not re.search("(?<!小)李|(?<!老)张|(?<!小)王|[小老](?![李张王])|龙井(?!路)", shorter)


def test_a_chinese_statement_does_not_become_a_question(compressor):
    text = "今天我在图书馆发现了一本非常好看的小说，叫《百年孤独》，你听说过吗？"
    assert compressor.compress(text, 24).startswith("今天我在图书馆发现了一本好看的小说。")
    for target in range(4, 30):
        assert not re.search("[说独》]？", compressor.compress(text, target))


# Texts, each with a pattern for text that would be false or meaningless after compression.
FALSE_PARTS = [
    (
        "User: My name is Helen Okafor and I live in Bristol with my husband Tom.",
        r"(?<!name is )Helen Okafor and I|live\W*$|Helen Okafor and I live\b(?! in)",
    ),
    (
        "Yesterday (2026-03-07) we went to the aquarium and Mia fell in love with a seahorse.",
        r"(?i)(?<!we went to the )aquarium and Mia|Mia fell(?! in love with a seahorse)",
    ),
    (
        "My brother Lars broke up with his girlfriend Ingrid, and Priya ran out of stamps.",
        r"broke(?! up with his girlfriend Ingrid)|ran(?! out of stamps)",
    ),
    (
        (
            "Tom is a software developer at a bank called Monzo, and he kept his job when we moved "
            "to Bristol. I learn Portuguese 15 minutes a day."
        ),
        r"; (?:job|day)\b|(?<!kept his )job\.|\. (?:Day|Job)\.",
    ),
    (
        "Mia is sad to leave her friend Chloe. We promised that Chloe can visit us in summer.",
        r"(?<!sad to )\b[Ll]eave|Chloe[;.] Chloe\W|that Chloe\W*$",
    ),
    (
        (
            "Tom does not like marzipan, he finds it too sweet, so his mother Grace will bring a "
            "lemon tart on 21 March (2026-03-21)."
        ),
        r"(?<!will )\b[Bb]ring",
    ),
    (
        "Tom paid the deposit of £40 for the village hall in Clifton yesterday (2026-03-04).",
        r"[Yy]esterday(?! \(2026-03-04\))|£40 yesterday",
    ),
    (
        "同事陈伟昨天（2026-04-07）把小程序项目的截止日期改到了5月20日。",
        r"昨天(?!（2026-04-07）)|（2026-04-07）(?!把)|把(?!.*改到了5月20日)",
    ),
    (
        "我妈妈下周三（2026-06-10）要在浙一医院做白内障手术。",
        r"下周三(?!（2026-06-10）)|浙一医院(?!做)|（2026-06-10）(?!要)",
    ),
    (
        "Dr. Patel, Mia's allergist, said almonds are fine for her, which was a relief to us all.",
        r"Patel, said|(?<!allergist, )said",
    ),
    (
        "我女儿朵朵今年五岁，对花生和芒果严重过敏，吃了会休克，书包里总放着一支肾上腺素笔。",
        "^(?!.*朵朵).*(?:过敏|休克)",
    ),
    (
        "My father had a heart attack in May and he is in Southmead Hospital with Dr. Lena Vogel.",
        "(?i)(?<!My father had a )heart attack|(?<!in May and )he is",
    ),
]


@pytest.mark.parametrize(("text", "false"), FALSE_PARTS)
@pytest.mark.parametrize("step_by_step", [True, False])
def test_no_target_makes_a_text_false(compressor, text, false, step_by_step):
    left = text
    for target in range(len(text) - 1, 9, -3):
        left = compressor.compress(left if step_by_step else text, target)
        assert 0 < len(left) <= target
        assert is_list(left) or not re.search(false, left), left
        if is_list(left):
            assert all(word in text for word in re.split(", |、", left)), left
