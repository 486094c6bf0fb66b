import sys

import pytest

from memci.language.detection import Language
from memci.smallmodel.offline.relation_namer import OfflineRelationNamer

EN, ZH = Language.ENGLISH, Language.CHINESE


@pytest.mark.parametrize(
    ("text", "focus", "language", "relation"),
    [
        ("We decided to use Postgres for the queue.", "Postgres", EN, "decided"),
        ("Anna loves Oslo in winter.", "Oslo", EN, "likes"),
        ("Tom can't stand Oslo.", "Oslo", EN, "dislikes"),
        ("I live in Gdansk with Piotr.", "Gdansk", EN, "located in"),
        ("I live in Gdansk with Piotr.", "Piotr", EN, "about"),
        ("We plan a trip with Maria.", "Maria", EN, "plans"),
        ("Dana owns the migration.", "Dana", EN, "is responsible"),
        ("She works at Siemens.", "Siemens", EN, "works at"),
        ("The parser uses Lark.", "Lark", EN, "uses"),
        ("That is Caroline's painting.", "Caroline", EN, "belongs to"),
        ("Nice weather.", "Caroline", EN, "concerns"),
        ("我们决定采用飞书。", "飞书", ZH, "决定"),
        ("我很喜欢鼓浪屿。", "鼓浪屿", ZH, "喜欢"),
        ("我不喜欢开长会。", "长会", ZH, "不喜欢"),
        ("I went to Oslo last week.", "Oslo", EN, "visited"),
        ("I went to an Oslo pub.", "Oslo", EN, "about"),
        ("We want to visit Oslo.", "Oslo", EN, "about"),
        ("Her dog is named Luna.", "Luna", EN, "is"),
        ("Games like Civilization are fun.", "Civilization", EN, "about"),
        ("That sounds like a plan, John!", "John", EN, "about"),
        ("Do you love Oslo?", "Oslo", EN, "about"),
        ("If you like Oslo, stay.", "Oslo", EN, "about"),
        ("I have not visited Oslo.", "Oslo", EN, "about"),
        ("That was easier.", "ER", EN, "concerns"),
        ("我最近去了厦门。", "厦门", ZH, "去过"),
        ("我住在厦门。", "厦门", ZH, "位于"),
        ("我没有去过厦门。", "厦门", ZH, "关于"),
        ("你喜欢厦门吗？", "厦门", ZH, "关于"),
        ("如果喜欢厦门，可以去看看。", "厦门", ZH, "关于"),
        ("我是AI助手。", "AI", ZH, "关于"),
        ("我们把服务迁到机房，由李明负责。", "李明", ZH, "负责"),
        ("他在阿里巴巴工作。", "阿里巴巴", ZH, "任职于"),
        ("我打算学钢琴。", "钢琴", ZH, "计划"),
        ("我叫陈晓东。", "陈晓东", ZH, "是"),
        ("天气很好。", "厦门", ZH, "涉及"),
        ("I'm severely allergic to peanuts.", "peanuts", EN, "is allergic to"),
        ("My daughter has a peanut allergy.", "peanut", EN, "is allergic to"),
        ("I am not allergic to peanuts.", "peanuts", EN, "about"),
        ("我对花生过敏。", "花生", ZH, "对…过敏"),
        ("我女儿对海鲜和花生严重过敏。", "花生", ZH, "对…过敏"),
        ("我对花生不过敏。", "花生", ZH, "关于"),
        ("He was diagnosed with diabetes.", "diabetes", EN, "suffers from"),
        ("我爸爸患有糖尿病。", "糖尿病", ZH, "患有"),
        ("She is afraid of spiders.", "spiders", EN, "fears"),
        ("我害怕蜘蛛。", "蜘蛛", ZH, "害怕"),
        ("I don't want a piano.", "piano", EN, "does not want"),
        ("I don't like dark beer.", "dark beer", EN, "dislikes"),
        ("My daughter Lin starts school.", "Lin", EN, "is family"),
        ("我女儿叫小雨。", "小雨", ZH, "家人"),
        ("See where your journey leads and rest.", "journey", EN, "about"),
        ("It really made a difference for schools.", "difference", EN, "about"),
        ("She made a cake for us.", "cake", EN, "created"),
        ("We fight for better living conditions in our neighborhood.", "neighborhood", EN, "about"),
        ("Our loved ones give us strength.", "strength", EN, "about"),
        ("I love how it is a creative outlet.", "creative outlet", EN, "about"),
        ("星期天去看电影是一个很好的选择。", "电影", ZH, "关于"),
        ("鼓浪屿是一座小岛。", "鼓浪屿", ZH, "是"),
    ],
)
def test_the_relation_comes_from_the_sentence_with_the_focus(text, focus, language, relation):
    assert OfflineRelationNamer().names(text, [focus], language)[0] == relation


@pytest.mark.parametrize("focus", ["C++", "a(b", "[x]", "", "\\d"])
def test_a_focus_is_matched_as_text_and_not_as_a_pattern(focus):
    assert OfflineRelationNamer().names("We use C++ and a(b here [x].", [focus], EN)[0]


def test_the_text_is_not_kept_in_memory():
    text = "".join(["We decided to use Postgres for the queue.", " So be it."])
    known = sys.getrefcount(text)
    assert OfflineRelationNamer().names(text, ["Postgres", "Oslo"], EN) == ["decided", "concerns"]
    assert sys.getrefcount(text) == known
