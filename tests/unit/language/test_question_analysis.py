"""Analysis of questions: answer kind, complexity, parts, names and times (R10).

The examples of docs/explanation/search.md are tested here too.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from memci.domain.memory.parameters import MemoryParameters
from memci.errors import InvalidInputError
from memci.language.detection import Language
from memci.language.hit_limits import HitLimits
from memci.language.question.analysis import analyse
from memci.language.question.intent import AnswerKind
from memci.language.question.subquestions import split_questions
from memci.reading.understand import explained_analysis, planned_queries
from tests.support.models import ScriptedModels, ScriptedPlanner
from tests.support.question_times import NOW, times


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did Melanie paint a sunrise?", AnswerKind.WHEN),
        ("In which month did John score?", AnswerKind.WHEN),
        ("What year did she move?", AnswerKind.WHEN),
        ("How long ago was her birthday?", AnswerKind.WHEN),
        ("I forgot: when did we meet?", AnswerKind.WHEN),
        ("Tell me when we met", AnswerKind.WHEN),
        ("What did she say when he came?", AnswerKind.OTHER),
        ("Where does Evan live?", AnswerKind.WHERE),
        ("Which country did James visit?", AnswerKind.WHERE),
        ("In which area did they grow?", AnswerKind.WHERE),
        ("Who helped Evan?", AnswerKind.WHO),
        ("Whose number did he get?", AnswerKind.WHO),
        ("With whom did she dance?", AnswerKind.WHO),
        ("How many dogs has Maria?", AnswerKind.HOW_MANY),
        ("How long did he practise?", AnswerKind.HOW_MANY),
        ("What is the man who came called?", AnswerKind.OTHER),
        ("Why did she leave?", AnswerKind.OTHER),
        ("我什么时候去的？", AnswerKind.WHEN),
        ("我是哪天去的？", AnswerKind.WHEN),
        ("多久以前去的？", AnswerKind.WHEN),
        ("我去了哪里？", AnswerKind.WHERE),
        ("他住在哪个城市？", AnswerKind.WHERE),
        ("谁帮助了我？", AnswerKind.WHO),
        ("有几个人来了？", AnswerKind.HOW_MANY),
        ("我跑了多久？", AnswerKind.HOW_MANY),
        ("我去的时候看了什么？", AnswerKind.OTHER),
        ("", AnswerKind.OTHER),
    ],
)
def test_the_kind_of_answer_is_found(question: str, expected: AnswerKind) -> None:
    assert analyse(question, NOW).answer_kind is expected


@pytest.mark.parametrize(
    "question",
    [
        "When did Melanie go to the workshop?", "What is Ann's dog called?", "Who came yesterday?",
        "What kind of car does Evan drive?", "What does James think of his bus?",
        "李明住在哪里？", "我昨天吃了什么？", "他的名字是？",
    ],
)  # fmt: skip
def test_simple_questions_get_the_smallest_k(question: str) -> None:
    found = analyse(question, NOW)

    assert found.complexity < 0.5
    assert found.k == 3


@pytest.mark.parametrize(
    "question",
    [
        "How many dogs has Maria adopted?", "List the books that she read.",
        "What books has Melanie read?", "Which US cities did they visit?",
        "Do both James and John have pets?", "What do Tim and John have in common?",
        "What differences are there between Ann's and Bob's plans before and after the move?",
        "When did she move and where does she live now?", "Where was it? Who came? What was said?",
        "你给我推荐过哪些画家？", "我和李明有什么共同的爱好？", "他去过多少个国家？",
        "我最近去看了谁的演唱会？我最喜欢他的哪些歌？",
    ],
)  # fmt: skip
def test_questions_for_several_things_get_a_larger_k(question: str) -> None:
    found = analyse(question, NOW)

    assert found.complexity > 0.5
    assert found.k > 3


def test_bounds_of_k_are_parameters_of_the_agent() -> None:
    assert MemoryParameters(k_min=4, k_max=9, complexity_threshold=0.25).bounds == HitLimits(
        4, 9, 0.25
    )
    assert MemoryParameters().bounds == HitLimits()
    with pytest.raises(InvalidInputError, match="k_min, which is 20") as refused:
        MemoryParameters(k_min=20)
    assert refused.value.field == "k_max"


def test_k_grows_linearly_above_the_threshold() -> None:
    bounds = HitLimits(2, 12, 0.5)

    assert [bounds.k(each) for each in (0, 0.5, 0.6, 0.75, 1)] == [2, 2, 4, 7, 12]
    assert HitLimits(3, 15, 1.0).k(0.99) == 3
    assert HitLimits(3, 15, 1.0).k(1.0) == 15
    assert HitLimits(3, 15, 0.0).k(0.5) == 9
    assert HitLimits(5, 5).k(0.9) == 5
    assert analyse("List all of them and compare both.", NOW, bounds=HitLimits(1, 100)).k > 50


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where was it? Who came?", ("Where was it?", "Who came?")),
        ("I was in Paris. What did I eat? Who was there?",
         ("I was in Paris. What did I eat?", "Who was there?")),
        ("When did Ann move and where does she live?",
         ("When did Ann move", "where does she live?")),
        ("What did he buy, and how many of them did he keep?",
         ("What did he buy", "how many of them did he keep?")),
        ("Who came; what was said?", ("Who came", "what was said?")),
        ("Where was it? Thanks a lot.", ("Where was it? Thanks a lot.",)),
        ("我去看了谁的演唱会？我喜欢他的什么歌？", ("我去看了谁的演唱会？", "我喜欢他的什么歌？")),
        ("他什么时候搬家，另外他住在哪里？", ("他什么时候搬家", "他住在哪里？")),
        ("遇到了什么麻烦，谁帮助了我？", ("遇到了什么麻烦", "谁帮助了我？")),
        ("One? Two? Three? Four? Five?", ("One?", "Two?", "Three?", "Four? Five?")),
        ("", ()),
        (" \n ", ()),
    ],
)  # fmt: skip
def test_several_questions_are_split(text: str, expected: tuple[str, ...]) -> None:
    assert split_questions(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "What did Ann and Bob do?", "Do you know who came and when?",
        "What did he say when she came?",
        "Tell me about the trip and the hotel.", "What is it and is it good?",
        "Which friend was it who gave Ann the ring and the flowers?",
        "我和李明聊了什么？", "你还记得我去了博物馆，看了什么展览吗？", "我喜欢苹果、梨还有什么？",
        "我曾经推荐过一部科幻电影，它的名字是？", "no question at all", "Dr. Seuss wrote what?",
    ],
)  # fmt: skip
def test_single_questions_are_not_split(text: str) -> None:
    assert split_questions(text) == (text,)


def test_explain_returns_the_analysis_of_a_question() -> None:
    text = "Which books did Ann read before June 2022? Who gave them to her on 8 May 2022?"

    explained = explained_analysis(analyse(text, NOW, names=("Ann", "Bob")))

    assert json.loads(json.dumps(explained)) == {
        "language": "en",
        "entities": ["Ann"],
        "speakers": ["Ann"],
        "times": [
            [None, "2022-06-01T00:00:00+00:00"],
            ["2022-05-08T00:00:00+00:00", "2022-05-09T00:00:00+00:00"],
        ],
        "complexity": explained["complexity"],
        "k": explained["k"],
        "parts": [
            "Which books did Ann read before June 2022?",
            "Who gave them to her on 8 May 2022?",
        ],
        "asks": "who",
        "order": None,
    }


def test_days_are_those_of_the_askers_offset() -> None:
    beijing = timezone(timedelta(hours=8))

    found = analyse("昨天我说了什么？", datetime(2023, 5, 9, 1, tzinfo=beijing))

    assert explained_analysis(found)["times"] == [
        ["2023-05-08T00:00:00+08:00", "2023-05-09T00:00:00+08:00"]
    ]
    assert found.time_fit(datetime(2023, 5, 7, 16, tzinfo=UTC)) == 1
    assert found.time_fit(datetime(2023, 5, 7, 15, tzinfo=UTC)) < 1
    assert found.time_fit(datetime(2023, 5, 8, 17, tzinfo=UTC)) < 1


def test_hours_count_from_now() -> None:
    found = analyse("What did I say two hours ago?", NOW)

    assert found.time_fit(NOW - timedelta(hours=2)) == 1
    assert found.time_fit(NOW - timedelta(hours=6)) < 0.1
    assert analyse("最近24小时我说了什么？", NOW).time_fit(NOW - timedelta(hours=23)) == 1
    assert analyse("刚才我说了什么？", NOW).time_fit(NOW - timedelta(minutes=10)) == 1
    assert analyse("How many hours ago?", NOW).times == ()


def test_the_fit_falls_with_the_distance_relative_to_the_length() -> None:
    day, month = analyse("On 8 May 2022?", NOW), analyse("In May 2022?", NOW)
    later = datetime(2022, 6, 10, tzinfo=UTC)

    assert day.time_fit(datetime(2022, 5, 8, 23, tzinfo=UTC)) == 1
    assert day.time_fit(datetime(2022, 5, 10, tzinfo=UTC)) == 0.5
    assert day.time_fit(later) < 0.01
    assert month.time_fit(later) > 0.9
    assert analyse("Who?", NOW).time_fit(later) == 0


def test_a_month_without_a_year_means_most_likely_the_latest() -> None:
    found = analyse("What did I do in June?", NOW)

    assert found.time_fit(datetime(2022, 6, 30, tzinfo=UTC)) == 1
    assert found.time_fit(datetime(2020, 6, 30, tzinfo=UTC)) == 0.8
    assert found.time_fit(datetime(2021, 1, 1, tzinfo=UTC)) < 0.1


def test_queries_of_a_planner_are_returned() -> None:
    planner = ScriptedPlanner([["One?", "Two?"]])
    models = ScriptedModels(query_planner=planner)

    assert planned_queries(models.query_planner, "Both?", Language.ENGLISH) == ["One?", "Two?"]
    assert planned_queries(planner, "And?", Language.ENGLISH) == []
    assert planner.requests == ["Both?", "And?"]


PAGE = (Path(__file__).parents[3] / "docs/explanation/search.md").read_text()

# fmt: off
TIMES = [
    ("What happened on 8 May 2022?", "2022-05-08"),
    ("2022年5月8号发生了什么？", "2022-05-08"),
    ("3号那天我去了哪里？", "2023-05-03"),
    ("What did we do between the 3rd and the 5th?", "2023-05-03..2023-05-05"),
    ("What happened from Monday to Wednesday?", "2023-05-01..2023-05-03"),
    ("What did I say two Fridays ago?", "2023-04-28"),
    ("What did she paint in the first half of last year?", "2022-01-01..2022-06-30"),
    ("半年前他说了什么？", "2022-11-01..2022-11-30"),
    ("What has she painted since March?", "2023-03-01.."),
    ("Where were we between March and June 2022?", "2022-03-01..2022-06-30"),
    ("从2022年12月到今年三月我做了什么？", "2022-12-01..2023-03-31"),
    ("Who came the week before 9 June 2022?", "2022-06-02..2022-06-08"),
    ("What did I get last Christmas?", "2022-12-25"),
    ("去年国庆节我们去了哪里？", "2022-10-01..2022-10-07"),
    ("What did we eat at Easter?", "2023-04-07..2023-04-10"),
    ("What have I been doing recently?", "2023-04-25..2023-05-09"),
    ("最近我做了什么？", "2023-04-25..2023-05-09"),
    ("What broke on 5/8/2022?", "2022-05-08 2022-08-05"),
    ("夏天我去了哪里？", "~2022-06-01..2022-08-31"),
]
NAMES = [
    ("What happened to Evan's Prius in New York?", "Evan, Prius, New York"),
    ('Why does Tim like "The Witcher 3"?', "Tim, The Witcher 3"),
    ("我和李明在绿禾公园看到了什么？", "李明, 绿禾公园"),
    ("你觉得《何以笙箫默》怎么样？", "何以笙箫默"),
    ("what do i like?", ""),
]
ASKS = [
    ("When did Ann move?", "when", "3"),
    ("How many dogs has Ann?", "how_many", "7"),
    ("你给我推荐过哪些画家？", "other", "7"),
    ("What do Ann and Bob both like?", "other", "9"),
    ("李明住在哪里？", "where", "3"),
    ("Who helped Evan?", "who", "3"),
]
ORDER = [
    ("When did I last see Ann?", "latest"),
    ("When did I first go to the dentist?", "earliest"),
    ("What is Ann's last name?", ""),
    ("What was my most recent run like?", "latest"),
    ("最近一次跑步是什么时候？", "latest"),
]
# fmt: on


def rows(heading: str) -> list[list[str]]:
    (table,) = re.findall(rf"\| {re.escape(heading)} \|\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE)
    return [
        [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
        for line in table.splitlines()
    ]


@pytest.mark.parametrize(("question", "expected"), [*rows("question | times"), *TIMES])
def test_documented_times_are_found(question: str, expected: str) -> None:
    assert " ".join(times(question)) == expected


@pytest.mark.parametrize(("question", "expected"), NAMES)
def test_names_are_found(question: str, expected: str) -> None:
    assert ", ".join(analyse(question, NOW).entities) == expected


@pytest.mark.parametrize(("question", "asks", "hits"), ASKS)
def test_answer_kind_and_k_are_found(question: str, asks: str, hits: str) -> None:
    found = analyse(question, NOW)

    assert found.answer_kind.value == asks
    assert found.k == int(hits)


@pytest.mark.parametrize(("question", "expected"), ORDER)
def test_the_asked_order_is_found(question: str, expected: str) -> None:
    assert (analyse(question, NOW).order or "") == expected


@pytest.mark.parametrize(
    "question",
    ["When did Ann move, and where does she live?", "他什么时候搬家，另外他住在哪里？"],
)
def test_two_questions_give_two_parts(question: str) -> None:
    assert len(analyse(question, NOW).parts) == 2
