"""A question as ``explain`` tells it (R10)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

from memci.language.detection import Language
from memci.language.question import analyse
from memci.reading.retrieval import analysis_account, planned
from tests.support.asked_times import NOW
from tests.support.models import ScriptedModels, ScriptedPlanner


def test_what_was_read_out_of_a_question() -> None:
    text = "Which books did Ann read before June 2022? Who gave them to her on 8 May 2022?"

    account = analysis_account(analyse(text, NOW, names=("Ann", "Bob")))

    assert json.loads(json.dumps(account)) == {
        "language": "en",
        "entities": ["Ann"],
        "speakers": ["Ann"],
        "times": [
            [None, "2022-06-01T00:00:00+00:00"],
            ["2022-05-08T00:00:00+00:00", "2022-05-09T00:00:00+00:00"],
        ],
        "complexity": account["complexity"],
        "k": account["k"],
        "parts": [
            "Which books did Ann read before June 2022?",
            "Who gave them to her on 8 May 2022?",
        ],
        "asks": "who",
        "order": None,
    }


def test_days_are_those_of_the_asker() -> None:
    beijing = timezone(timedelta(hours=8))

    found = analyse("昨天我说了什么？", datetime(2023, 5, 9, 1, tzinfo=beijing))

    assert analysis_account(found)["times"] == [
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


def test_a_fit_falls_with_the_distance_in_lengths_of_the_range() -> None:
    day, month = analyse("On 8 May 2022?", NOW), analyse("In May 2022?", NOW)
    later = datetime(2022, 6, 10, tzinfo=UTC)

    assert day.time_fit(datetime(2022, 5, 8, 23, tzinfo=UTC)) == 1
    assert day.time_fit(datetime(2022, 5, 10, tzinfo=UTC)) == 0.5
    assert day.time_fit(later) < 0.01
    assert month.time_fit(later) > 0.9
    assert analyse("Who?", NOW).time_fit(later) == 0


def test_a_month_without_a_year_prefers_the_latest() -> None:
    found = analyse("What did I do in June?", NOW)

    assert found.time_fit(datetime(2022, 6, 30, tzinfo=UTC)) == 1
    assert found.time_fit(datetime(2020, 6, 30, tzinfo=UTC)) == 0.8
    assert found.time_fit(datetime(2021, 1, 1, tzinfo=UTC)) < 0.1


def test_a_plan_of_a_scripted_planner() -> None:
    planner = ScriptedPlanner([["One?", "Two?"]])
    models = ScriptedModels(query_planner=planner)

    assert planned(models.query_planner, "Both?", Language.ENGLISH) == ["One?", "Two?"]
    assert planned(planner, "And?", Language.ENGLISH) == []
    assert planner.asked == ["Both?", "And?"]
