"""Names in questions are found (R10)."""

from __future__ import annotations

import pytest

from memci.language.names import entities_named
from memci.language.question.analysis import analyse
from tests.support.question_times import NOW

ENGLISH = [
    ("When did Melanie go to the pottery workshop?", ["Melanie"]),
    ("Why does Tim like Aragorn from Lord of the Rings?", ["Tim", "Aragorn", "Lord of the Rings"]),
    ("What happened to Evan's Prius?", ["Evan", "Prius"]),
    ("Did John move to New York City?", ["John", "New York City"]),
    ("Would Caroline have Dr. Seuss books?", ["Caroline", "Seuss"]),
    ("Caroline and Melanie: who paints?", ["Caroline", "Melanie"]),
    ("Caroline's dog is called what?", ["Caroline"]),
    ("Which iPhone did he buy, and does o200k_base count?", ["iPhone", "o200k_base"]),
    ('What is in "The Witcher 3"?', ["The Witcher 3"]),
    ("What did the LGBTQ group do in May 2022?", ["LGBTQ"]),
    ("What did they do at Christmas on Monday?", []),
    ("What do I like? Tell me. Describe it.", []),
    ("Looking back, what changed? Dinner was good.", []),
    ("what did john do?", []),
    ("WHAT DID JOHN DO?", []),
    ("What did I, you and She say?", []),
    ("Where does Ana-María O'Neill live?", ["Ana-María O'Neill"]),
    ("Is it C++ or Python?", ["C++", "Python"]),
    ("Dana went where? I met Dana.", ["Dana"]),
]
CHINESE = [
    ("我和张曼婷聊了什么？", ["张曼婷"]),
    ("李明去了哪里？", ["李明"]),
    ("王芳最近喜欢什么？", ["王芳"]),
    ("我和李明明天去哪里？", ["李明"]),
    ("王老师说了什么？", ["王老师"]),
    ("小王和老李是谁？", ["小王", "老李"]),
    ("你觉得《何以笙箫默》怎么样？", ["何以笙箫默"]),
    ("我在绿禾公园看到了什么？", ["绿禾公园"]),
    ("我去过绿禾公园吗？", ["绿禾公园"]),
    ("我最近去厦门旅游了，看了什么？", ["厦门"]),
    ("我用Python写了什么？", ["Python"]),
    ("周末我做了什么？", []),
    ("何时去的？任何人曾经说过吗？", []),
    ("高兴的事情有哪些？", []),
    ("我许多朋友喜欢什么？", []),
]


@pytest.mark.parametrize(("question", "expected"), [*ENGLISH, *CHINESE])
def test_the_names_of_a_question_are_found(question: str, expected: list[str]) -> None:
    assert list(analyse(question, NOW).entities) == expected


def test_a_known_name_is_found_in_any_case() -> None:
    found = analyse("what did john and mary ann do?", NOW, names=("John", "Mary Ann", "Johnny"))

    assert found.speakers == {"John", "Mary Ann"}
    assert found.entities == ("John", "Mary Ann")


@pytest.mark.parametrize(
    ("question", "names", "expected"),
    [
        ("Johns idea was what?", ("John",), set()),
        ("What is John's idea?", ("John", "Ann"), {"John"}),
        ("张曼婷喜欢什么？", ("张曼婷", "张曼"), {"张曼婷", "张曼"}),
        ("她喜欢什么？", ("张曼婷",), set()),
        ("明天做什么？", ("明",), set()),
        ("How long have Mel and her husband been married?", ("Melanie", "Caroline"), {"Melanie"}),
        ("What did Sam do?", ("Sam", "Samantha"), {"Sam"}),
        ("What did Sam do?", ("Samuel", "Samantha"), set()),
        ("What did they do?", (), set()),
        ("What did Ｊｏｈｎ do?", ("John",), {"John"}),
    ],
)
def test_the_named_speakers_are_found(
    question: str, names: tuple[str, ...], expected: set[str]
) -> None:
    assert analyse(question, NOW, names=names).speakers == expected


def test_an_entity_is_found_in_a_text_only_as_a_whole_word() -> None:
    question = "What did Ann buy in New York, and where is 李明?"
    keys = analyse(question, NOW, names=("李明",)).entity_keys

    assert keys == {"ann", "new york", "李明"}
    assert entities_named("ANN was in new  york", keys) == {"ann", "new york"}
    assert entities_named("Anna saw New Yorkers", keys) == set()
    assert entities_named("昨天李明来了", keys) == {"李明"}
    assert entities_named("", keys) == set()


def test_at_most_twelve_entities_are_returned() -> None:
    question = "Who of " + ", ".join(f"Anna{letter}" for letter in "bcdefghijklmnopqr") + " came?"

    assert len(analyse(question, NOW).entities) == 12
