import re

import pytest

PLAN = (
    "Hey! Thanks for asking, you know. We decided to move the billing service from MySQL to "
    "Postgres 16 by March 3rd, because the old cluster can't be patched any more. Dana owns the "
    "migration. Don't deploy on Fridays unless the on-call engineer (Priya) has agreed. "
    "How are you by the way? I really hope that you are very well."
)
PLAN_CHINESE = (
    "你好，谢谢你的关心。我们决定下周三（5月20日）把订单服务迁到自建机房，由李明负责。周五不要发布，"
    "除非值班工程师王芳同意。你最近过得怎么样呢？上次迁移失败的原因是没有提前备份，这次一定要先做全量备份。"
)


@pytest.mark.parametrize("text", [PLAN, PLAN_CHINESE])
@pytest.mark.parametrize("share", [0.9, 0.5, 0.3, 0.1, 0.05])
def test_it_fits_and_uses_much_of_the_room(compressor, text, share):
    target = int(len(text) * share)
    shorter = compressor.compress(text, target)
    assert 0 < len(shorter) <= target
    if share >= 0.3:
        assert len(shorter) >= 0.7 * target


def test_the_decision_is_kept_and_the_greeting_is_not(compressor):
    half = compressor.compress(PLAN, int(len(PLAN) * 0.6))
    assert "move the billing service from MySQL to Postgres 16 by March 3rd" in half
    assert "Dana owns the migration." in half
    assert "Hey" not in half
    assert "How are you" not in half
    half = compressor.compress(PLAN_CHINESE, len(PLAN_CHINESE) // 2)
    assert "把订单服务迁到自建机房" in half
    assert "谢谢" not in half


def test_a_condition_stays_with_what_it_conditions(compressor):
    for target in range(5, len(PLAN)):
        shorter = compressor.compress(PLAN, target)
        if "Don't deploy on Fridays" in shorter:
            assert "unless" in shorter
    for target in range(5, len(PLAN_CHINESE)):
        shorter = compressor.compress(PLAN_CHINESE, target)
        assert ("周五不要发布" in shorter) == ("除非值班工程师王芳同意" in shorter)


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


def test_a_sentence_that_is_cut_short_ends_with_its_mark(compressor):
    text = "I bought a kayak in Bergen, which was more expensive than anybody had told me before."
    assert compressor.compress(text, 40) == "I bought a kayak in Bergen."
    assert compressor.compress(
        "我在厦门买了一艘皮划艇，因为那里的价格比其他的城市便宜很多。", 16
    ) == ("我在厦门买了一艘皮划艇。")


def test_fillers_go_first(compressor):
    text = "Actually, the migration of the billing database basically failed, you know, last night."
    assert compressor.compress(text, len(text) - 5) == (
        "The migration of the billing database failed, last night."
    )


def test_a_speaker_stays_with_what_was_said(compressor):
    text = (
        "Ann: Hey Bob! I sold the red kayak to my neighbour in Bergen last Friday, you know.\n"
        "Bob: Wow! I never liked that kayak. What will you do with the three hundred euros?"
    )
    assert compressor.compress(text, 100) == (
        "Ann: I sold the red kayak to my neighbour in Bergen last Friday.\n"
        "Bob: I never liked that kayak."
    )


def test_looks_like_is_no_seam(compressor):
    text = "It looks like a medieval castle with a labyrinth, which we saw from the old road."
    assert compressor.compress(text, 60).startswith("It looks like a medieval castle")


def test_room_is_filled_with_a_run_of_words(compressor):
    text = "The committee of the harbour museum in Bergen bought three kayaks from Greenland"
    assert compressor.compress(text, 40).casefold() in text.casefold()


def test_ten_small_compressions_keep_what_one_keeps(compressor):
    for text in (PLAN, PLAN_CHINESE):
        target, often = int(0.3 * len(text)), text
        for step in range(1, 11):
            often = compressor.compress(often, int(len(text) * 0.3 ** (step / 10)))
        once = compressor.compress(text, target)
        kept = set(re.findall(r"\w+", once)) & set(re.findall(r"\w+", often))
        assert len(kept) >= 0.5 * len(set(re.findall(r"\w+", once)))


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Since the spring she is not allergic to peanuts and almonds any more.", "allergic"),
        ("Tom doesn't like the tea from the shop around the corner in Oslo.", "like"),
        ("小王一点也不喜欢这家餐厅的红烧排骨和清蒸鲈鱼，我们下次换一家。", "喜欢"),
        ("我从来没有去过鼓浪屿和厦门大学附近的植物园。", "去过"),
    ],
)
def test_what_is_denied_is_never_said(compressor, text, denied):
    for target in range(1, len(text)):
        shorter = compressor.compress(text, target)
        if denied in shorter:
            before = shorter[: shorter.index(denied)]
            assert re.search("[Nn]ot|n't|不|没", before), shorter


def test_a_filler_after_a_negation_stays(compressor):
    text = "Well, it is not just the database that failed in Frankfurt, it is the whole network."
    assert "not just the database" in compressor.compress(text, 60)


def test_a_text_that_fits_is_left_alone(compressor):
    assert compressor.compress("Short enough.", 13) == "Short enough."
    assert compressor.compress("  Short enough. ", 13) == "Short enough."


def test_edges(compressor):
    assert compressor.compress("", 10) == ""
    assert compressor.compress("Something to say.", 0) == ""
    assert compressor.compress("Something to say.", 1)
    assert len(compressor.compress("x" * 100_000, 7)) == 7
    assert len(compressor.compress("先啊" * 50_000, 7)) in range(1, 8)
    assert compressor.compress("😀" * 30, 3) == "😀😀😀"


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
# What would be false, or nothing, in what is left.
FALSE = re.compile(
    r"10:20 on 12(?! Dec)|at 10(?!:)|\(2026-\d\d-\d\d(?!\))|（[^）]*$|日–15(?!日)|https(?!://git)|"
    r"不吃(?!香菜)|decided(?<!Emil and I decided)|for Emil(?! and me)|(?<!Emil, )Dana and I|"
    r"not allergic(?! to peanuts)|Dr\.(?! Solbakken)|(?<!和)小李|\b(?:Hau|Solbak|lapsa)\b|"
    r"(?<!my )sister and|^(?!User:).*coffee after|^(?!Assistant:).*souchong tea|"
    r"^(?!助手).*酒店|^(?!用户).*王府井|New York(?<=[a-z] New York)(?<!in New York)",
    re.MULTILINE,
)


@pytest.mark.parametrize("text", FADING)
def test_fading_leaves_out_but_falsifies_nothing(compressor, text):
    left = text
    for share in (90, 75, 60, 50, 40, 30, 20, 15, 10, 5):
        target = max(1, len(text) * share // 100)
        left = compressor.compress(left, target)
        assert 0 < len(left) <= target
        assert not FALSE.search(left), left


def test_a_speaker_stays_with_each_line_of_what_was_said(compressor):
    text = (
        "Assistant: Here is what I would do:\n"
        "- Book the night train from Oslo to Bergen on 3 May.\n"
        "User: Good, thanks."
    )
    assert compressor.compress(text, 70) == (
        "Assistant: - Book the night train from Oslo to Bergen on 3 May."
    )


def test_parts_of_one_sentence_are_set_off_from_each_other(compressor):
    text = "It leaves from the pier in Trondheim at noon and I changed my seat in the second coach."
    for target in range(20, len(text)):
        assert not re.search("(?:Trondheim|noon) (?:I|changed)", compressor.compress(text, target))


def test_of_a_number_that_does_not_fit_nothing_is_said(compressor):
    assert compressor.compress("2026-12-12 10:20", 5) == "…"
    assert compressor.compress("2400 kroner", 4) == "…"


@pytest.mark.parametrize(
    ("text", "done", "doer"),
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
def test_what_is_done_is_never_left_without_who_does_it(compressor, text, done, doer):
    for target in range(4, len(text)):
        shorter = compressor.compress(text, target)
        if re.search(done, shorter):
            assert re.search(doer, shorter), shorter


def test_of_two_things_done_the_second_keeps_who_did_it(compressor):
    text = "I took my daughter to the dentist in Oslo yesterday and bought her a new toothbrush."
    assert compressor.compress(text, 36) == "I bought her a new toothbrush."


def test_what_was_only_supposed_is_not_said_to_be_done(compressor):
    text = "I would have gone to the dentist in Oslo yesterday and bought a new toothbrush there."
    for target in range(4, len(text)):
        assert "I bought" not in compressor.compress(text, target)


def test_a_word_alone_is_left_behind_its_label(compressor):
    text = "Ann: We packed the car on Saturday and went to the beach near Stavanger with Tom."
    assert compressor.compress(text, 10) == "Ann: Tom."
    assert compressor.compress("助手：可以去龙井路的绿茶餐厅，提前告诉他们。", 7) == "助手：绿茶。"


def test_a_chinese_nickname_is_never_cut(compressor):
    text = "小李去了北京，老张没有去，我和小李、小王约好下周在龙井路见面。"
    for target in range(2, len(text)):
        shorter = compressor.compress(text, target)
        assert not re.search("(?<!小)李|(?<!老)张|(?<!小)王|[小老](?![李张王])|龙井(?!路)", shorter)


def test_in_chinese_what_is_told_is_not_asked(compressor):
    text = "今天我在图书馆发现了一本非常好看的小说，叫《百年孤独》，你听说过吗？"
    assert compressor.compress(text, 24).startswith("今天我在图书馆发现了一本好看的小说。")
    for target in range(4, 30):
        assert not re.search("[说独》]？", compressor.compress(text, target))


@pytest.mark.parametrize(
    ("text", "kept", "target"),
    [
        (
            "听起来真的很棒，太有意思了。我周末去了绿禾公园看樱花。那里的氛围感觉非常美好。",
            "绿禾公园",
            14,
        ),
        ("我最近在学摄影，画面很震撼，能给人带来启示。", "我最近在学摄影", 9),
        ("《百年孤独》这本书写得非常精彩，给人很大的启发和感受。", "百年孤独", 10),
    ],
)
def test_in_chinese_what_the_speaker_did_is_kept_before_praise(compressor, text, kept, target):
    assert kept in compressor.compress(text, target)


@pytest.mark.parametrize(
    ("room", "left"),
    [
        (50, "User: Someone left a yellow umbrella on tram 28."),
        (38, "User: Yellow umbrella on tram 28."),
        (26, "User: Umbrella on tram 28."),
    ],
)
def test_the_day_on_which_it_was_said_goes_before_what_was_said(compressor, room, left):
    text = "User: Someone left a yellow umbrella on tram 28 today (2026-03-01)."
    assert compressor.compress(text, room) == left


def test_no_number_is_left_without_its_thing(compressor):
    assert compressor.compress("User: Tram 28 today.", 14) == "User: Tram 28."
    assert compressor.compress("User: Tram 28 today.", 11) == "User: Tram"


def test_what_is_written_in_two_scripts_keeps_its_blanks(compressor):
    text = "11月9日–15日去厦门， 票价120元， the red kayak. we meet on Friday (2026-10-30) at"
    assert "元.we" not in compressor.compress(text, 70)
    assert "元.we" not in compressor.compress(text, 56)
    assert "kayak. we" in compressor.compress(text, 70)


# Of each text: what would be false, or tell nothing, in what is left of it.
TOLD_OTHERWISE = [
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


@pytest.mark.parametrize(("text", "otherwise"), TOLD_OTHERWISE)
@pytest.mark.parametrize("step_by_step", [True, False])
def test_no_target_makes_a_memory_tell_something_else(compressor, text, otherwise, step_by_step):
    left = text
    for target in range(len(text) - 1, 9, -3):
        left = compressor.compress(left if step_by_step else text, target)
        assert 0 < len(left) <= target
        assert not re.search(otherwise, left), left


DIALOGUE = (
    "User: My name is Helen Okafor and I live in Bristol with my husband Tom.\n"
    "User: Important: Mia is severely allergic to peanuts and she must not eat anything with "
    "sesame.\n"
    "Assistant: Understood, Mia is allergic to peanuts and sesame. I will keep that in mind.\n"
    "Assistant: A lemon tart sounds lovely. Marzipan is almond paste.\n"
    "User: We went to the aquarium on Saturday, and Tom bought a book about the Severn."
)
DIALOGUE_CHINESE = (
    "用户：我叫林晓梅，今年34岁，住在杭州市西湖区，在一家叫绿洲的设计公司做产品经理。\n"
    "用户：我爸爸有糖尿病，绝对不能吃甜食，所以周六的家庭聚餐要订一家有无糖菜的餐厅。\n"
    "助手：明白了，我会提醒餐厅准备无糖的菜。\n"
    "用户：餐厅叫外婆家，电话是0571-87654321，我订了晚上六点半的包间，一共八个人。"
)


@pytest.mark.parametrize(
    ("text", "vital", "echo", "until"),
    [
        (DIALOGUE, "must not eat anything with sesame", "Assistant:.*(?:Mia|Marzipan)", 35),
        (DIALOGUE, "severely allergic to peanuts", "Assistant:.*(?:Mia|Marzipan)", 35),
        (DIALOGUE_CHINESE, "我爸爸有糖尿病，绝对不能吃甜食", "我会提醒", 20),
        (DIALOGUE_CHINESE, "0571-87654321", "我会提醒", 50),
    ],
)
def test_what_matters_most_goes_last_and_an_echo_first(compressor, text, vital, echo, until):
    left = text
    for share in range(90, until - 1, -5):
        left = compressor.compress(left, len(text) * share // 100)
        assert vital in left
    assert not re.search(echo, left)


def test_what_is_said_already_is_not_said_again_in_a_fragment(compressor):
    text = "Mia is sad to leave her friend Chloe. We promised that Chloe can visit us in summer."
    assert compressor.compress(text, 50) == "Mia is sad to leave her friend Chloe."


def test_of_what_is_all_the_same_a_date_alone_is_the_last_choice(compressor):
    text = "Tom paid the deposit of £40 yesterday (2026-03-04)."
    assert compressor.compress(text, 28) == "Tom paid the deposit of £40."
    assert compressor.compress(text, 10) == "Tom"
