import pytest

from memci.domain.memory.node import NodeType
from memci.language.word_lists import ENGLISH_PRONOUNS

DECIDED = (
    "We decided to move the billing service from MySQL to Postgres 16 by March 3rd. "
    "Dana owns the migration."
)
DECIDED_CHINESE = (
    "我们决定下周三把订单服务迁到自建机房，由李明负责。数据库版本不能低于PostgreSQL 16。"
)


def one(annotator, text):
    (annotation,) = annotator.annotate([text])
    return annotation


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        (DECIDED, {"Postgres 16", "MySQL", "Dana"}),
        ("My name is Anna Kowalski and I live in Gdansk.", {"Anna Kowalski", "Gdansk"}),
        ("Yesterday Caroline showed me her new iPhone.", {"Caroline", "iPhone"}),
        (DECIDED_CHINESE, {"李明", "PostgreSQL 16"}),
        ("我叫陈晓东，住在杭州，正在读《三体》。", {"陈晓东", "杭州", "三体"}),
        ("昨天我去了绿禾公园散步。", {"绿禾公园"}),
        ("Dana owns the budget. John likes it.", {"Dana", "John"}),
        ("Lately, nature is great. Exploring is fun! Woohoo, friends.", set()),
        ("I moved to New York City and bought shoes of Under Armour.", {"New York City"}),
        ("We watched The Lord of the Rings with Priya.", {"Lord of the Rings", "Priya"}),
        ("Learning German is fun, and Besides Italy I saw nothing.", {"German", "Italy"}),
        ("Fourteen of us came. Progress is slow. Exams, again! Awww. Moments like these.", set()),
        ("She said that they had seen it, and I agreed.", set()),
        ("Wow, thanks! Great. Monday then.", set()),
        ("她说他们已经看过了，我也同意。", set()),
    ],
)
def test_entities_are_names_and_never_pronouns(annotator, text, entities):
    found = one(annotator, text).entities
    assert entities <= set(found) if entities else not found
    assert not ENGLISH_PRONOUNS & {name.lower() for name in found}


def test_keywords_name_what_the_text_is_about(annotator):
    english = one(annotator, "The charity race for mental health raised money for the shelter.")
    assert {"charity race", "mental health", "shelter"} & set(english.keywords)
    assert "raised" not in english.keywords
    words = one(annotator, "Lately I explore life's beauty, motivated by the painting of a heron.")
    assert {"life's beauty", "painting", "heron"} <= set(words.keywords)
    assert not {"lately", "explore", "motivated"} & set(words.keywords)
    chinese = one(annotator, "上次数据库迁移失败的原因是没有提前备份索引文件。")
    assert any("数据库" in word for word in chinese.keywords)


@pytest.mark.parametrize(
    ("text", "label", "thing"),
    [
        (
            "Ada: At the lake. [photo: a photo of a dog on a boat]\nBen: Fine! [photo: a photo]",
            "photo",
            "boat",
        ),
        ("小李：[图片]\n小李：[图片]\n小李：我们家的猫生了三只小猫", "图片", "猫"),
        ("【语音】明天的会议改到三号会议室【语音】", "语音", "会议室"),
    ],
)
def test_the_label_of_an_attachment_is_no_keyword(annotator, text, label, thing):
    (notes,) = annotator.annotate([text])
    assert not any(label in keyword for keyword in notes.keywords)
    assert any(thing in keyword for keyword in notes.keywords)


def test_annotations_keep_their_bounds(annotator):
    huge = "x" * 1_000_000
    for text in ["", " ", "OK", "😀", "she", huge, f"{huge} Berlin", "中" * 100_000, "a" * 70]:
        annotation = one(annotator, text)
        assert len(annotation.phrase) <= 80
        assert len(annotation.keywords) <= 12
        assert all(0 < len(word) <= 64 for word in annotation.keywords)
        assert len(annotation.entities) <= 4


@pytest.mark.parametrize("text", ["OK", "she", "😀", "谢谢你", "Yes I do.", "42"])
def test_a_text_with_words_has_a_keyword(annotator, text):
    assert one(annotator, text).keywords


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (
            f"Hi there! {DECIDED} Thanks!",
            "We decided to move the billing service from MySQL to Postgres 16 by March 3rd.",
        ),
        ("你好！谢谢你。我打算明年去厦门大学学习海洋生物。", "我打算明年去厦门大学学习海洋生物。"),
    ],
)
def test_the_phrase_is_the_most_informative_clause(annotator, text, phrase):
    assert one(annotator, text).phrase == phrase


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("To reset the router, first unplug it. Then hold the button.", NodeType.PROCEDURAL),
        ("首先把鲈鱼洗净，然后放姜丝，最后蒸十分钟。", NodeType.PROCEDURAL),
        ("Yesterday we went to the lake and saw a heron.", NodeType.EPISODIC),
        ("昨天我和妈妈去了动物园，看到了熊猫。", NodeType.EPISODIC),
        ("Anna is a vegetarian and lives in Oslo.", NodeType.SEMANTIC),
        ("李明是素食者，住在杭州。", NodeType.SEMANTIC),
    ],
)
def test_the_type_of_a_memory_is_found(annotator, text, kind):
    assert one(annotator, text).type is kind


def test_each_text_is_annotated_by_itself(annotator):
    texts = [DECIDED, DECIDED_CHINESE, "OK"]
    assert annotator.annotate(texts) == [one(annotator, text) for text in texts]
    assert annotator.annotate([]) == []


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("Poor Pixel has a fever.", ["Pixel"]),
        ("Typical Bergen, always rain.", ["Bergen"]),
        ("Apparently Kyoto is cold in winter.", ["Kyoto"]),
        ("My Uncle Bob called.", ["Bob"]),
        ("I read My Brilliant Friend in May.", ["My Brilliant Friend"]),
        ("My Brilliant Friend is a novel.", ["My Brilliant Friend"]),
        ("Ann: Winning is fun.\nAnn: Books are great.\nAnn: Recently I saw Oslo.", ["Ann", "Oslo"]),
        ("Dog: Luna", ["Luna"]),
        ("He said “Always look on the bright side of life”.", []),
        ("She reads “The Alchemist” and The Alchemist again.", ["Alchemist"]),
        ("New York is loud.", ["New York"]),
        ("我是一名小学老师。", []),
        ("我在一所中学教书，在育英中学。", ["育英中学"]),
        ("我去附近公园散步。", []),
        ("他在大连机场等我。", ["大连机场"]),
        ("小李去了北京，和老张一起。", ["小李", "老张", "北京"]),
        ("老师用小程序点餐。", []),
    ],
)
def test_descriptions_and_measures_are_no_part_of_a_name(annotator, text, entities):
    assert list(one(annotator, text).entities) == entities


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("赵敏人很好。", ["赵敏"]),
        ("我老板赵敏人很好。", ["赵敏"]),
        ("我儿子王子涵今年六岁了。", ["王子涵"]),
        ("王子涵喜欢踢足球。", ["王子涵"]),
        ("子涵喜欢恐龙。", ["子涵"]),
        ("小杰今天去上学了。", ["小杰"]),
        ("王子娶了公主。", []),
        ("今天下小雨。", []),
        ("Monzo sent me a card.", ["Monzo"]),
        ("我用Monzo付款。", ["Monzo"]),
        ("Duolingo is fun.", ["Duolingo"]),
        ("Beatriz came by.", ["Beatriz"]),
        ("Veggies are the best.", []),
        ("I saw Dr. Patel.", ["Patel"]),
        ("I got the job at St Mary's.", ["St Mary's"]),
        ("I got the job at St. Mary's", ["St Mary's"]),
        ("We met at Anna's.", ["Anna"]),
    ],
)
def test_names_are_found_whole_and_without_their_neighbours(annotator, text, entities):
    assert list(one(annotator, text).entities) == entities


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        ("I love green tea. 我喜欢绿茶。", {"green tea", "绿茶"}, {"love", "green", "tea"}),
        ("We meet tomorrow at the office.\n用户：我们明天见面", {"office"}, {"tomorrow", "用户"}),
        ("See you at 3 pm. The meeting is at 3 pm.", {"meeting"}, {"3 pm", "pm"}),
        ("Understood. Dr. Patel and Mr Jones agreed.", {"Patel"}, {"understood", "dr", "mr jones"}),
        ("我儿子王子涵六岁了", {"王子涵", "儿子"}, {"儿子王子", "儿子王子涵"}),
        ("我老板赵敏人很好", {"赵敏", "老板"}, {"老板赵敏人", "老板赵敏"}),
        ("我们打算改坐高铁去杭州", {"高铁"}, {"改坐高铁"}),
    ],
)
def test_keywords_are_read_in_the_language_of_their_sentence(annotator, text, good, bad):
    found = one(annotator, text).keywords
    assert good <= set(found)
    assert not bad & set(found)
    assert found[0] not in {"3", "pm"}


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("I lost my bicycle yesterday.", "bicycle"),
        ("The rooms were booked near the fjord.", "fjord"),
        ("I want to renovate the kitchen.", "kitchen"),
        ("She was ecstatic about the violin.", "violin"),
        ("Typical rain on Sunday.", "rain"),
        ("我养了两只猫。", "猫"),
        ("我买了一个大西瓜。", "西瓜"),
        ("我是一名小学老师。", "小学老师"),
    ],
)
def test_the_best_keyword_names_a_thing(annotator, text, best):
    assert one(annotator, text).keywords[0] == best


@pytest.mark.parametrize(
    "text", ["1. 👍", "1. 100", "12. $5!", "1. ...", "My answers:\n1. ?\n2. Bern"]
)
def test_list_items_without_a_word_are_annotated(annotator, text):
    assert one(annotator, text).phrase


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("Nobody except Fatima knows the password of the router in the cellar.", "Nobody except"),
        (
            "除了小法，没人知道地下室路由器的密码，连她姐姐也不知道，别的人就更不用说了。",
            "除了小法",
        ),
    ],
)
def test_the_phrase_of_a_text_that_cannot_be_shortened_truly_is_its_beginning(
    annotator, text, beginning
):
    phrase = one(annotator, text).phrase
    assert phrase.startswith(beginning)
    assert phrase.endswith(("…", text))
