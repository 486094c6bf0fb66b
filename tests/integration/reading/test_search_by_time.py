"""Messages of a time that a question names are found without common words (R10, R11)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memci.domain.search.candidate import Channel, Source
from memci.reading.context import ContextReader
from memci.reading.search import Search
from memci.schemas.reads import ContextRequest, Filters, Hit, SearchRequest
from tests.support.stored import Reader, Stored

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)  # a Sunday; last week is the 9th to the 15th
DAY = timedelta(days=1)
LAST_WEEK = Filters(
    since=datetime(2026, 11, 9, tzinfo=UTC), until=datetime(2026, 11, 16, tzinfo=UTC)
)

# Messages of last week by day of November, without a word of "What did I do last week?"
WEEK = {
    9: "The dentist filled my left molar and charged ninety euros.",
    10: "Repainted the garage door in dark green with Oskar.",
    11: "My bicycle chain snapped near the harbour bridge.",
    12: "Grandma turned eighty-four and got a telescope.",
    13: "Signed the contract for the allotment garden.",
    15: "Lost the chess final against Beatrice in forty moves.",
}
CHINESE_WEEK = {
    9: "牙医给补了左边的臼齿，花了九百块。",
    10: "跟小奥把车库门刷成了深绿色。",
    11: "自行车链条在港口大桥附近断掉。",
    12: "奶奶八十四岁生日，收到一台望远镜。",
    13: "签下了社区菜园的合同。",
    15: "象棋决赛输给贝贝，走满四十步。",
}
# Messages of other times: only words of the questions.
CHATTER = (
    "What did I do last week? I do so much each week, and last week I did nothing.",
    "What happened on that day? What happened to us?",
    "Last week was dull, what did you do?",
    "We talk and talk about what I did.",
    "I will do it next week, as I did last week.",
)
CHINESE_CHATTER = (
    "上周我说了什么来着，我做了什么都忘了。",
    "我们聊了什么？我说了什么？",
    "九月我做了什么，最近我做了什么，谁知道呢。",
    "帮我总结一下事情吧，上周的事情太多了。",
    "上周上周，上周我做了什么呀。",
)
AWAY = (1, 2, 3, 4, 5, 25, 40, 63, 90, 130, 170, 200)  # five after last week, seven before (days)


def day(number: int, month: int = 11, hour: int = 9) -> datetime:
    return datetime(2026, month, number, hour, tzinfo=UTC)


def write_diary(stored: Stored, week: dict[int, str], chatter: tuple[str, ...]) -> dict[str, int]:
    """Store a diary and chatter; return the seqs of last week by text."""
    times = [day(9) - away * DAY for away in AWAY[5:]]
    times += [day(15, hour=23) + away * DAY for away in AWAY[:5]]
    for place, at in enumerate(sorted(times)):
        if at < day(9):
            _talk(stored, chatter, at, place)
    found = {}
    for number, text in week.items():
        found[text] = stored.say(text, said_at=day(number), session="diary", user="u1")
        stored.say("ok", "assistant", said_at=day(number, hour=10), session="diary", user="u1")
    for place, at in enumerate(sorted(times)):
        if at > day(15):
            _talk(stored, chatter, at, place)
    return found


def _talk(stored: Stored, chatter: tuple[str, ...], at: datetime, place: int) -> None:
    for step, text in enumerate(chatter):
        said_at = at + timedelta(minutes=step)
        stored.say(f"{text} {place}", said_at=said_at, session=f"s{place}", user="u1")


@pytest.fixture
def english(alice: Stored) -> Stored:
    write_diary(alice, WEEK, CHATTER)
    return alice


@pytest.fixture
def chinese(reader: Reader, alice: Stored) -> Stored:
    write_diary(alice, CHINESE_WEEK, CHINESE_CHATTER)
    return alice


def hits(reader: Reader, query: str, agent_id: str = "alice", **fields: Any) -> list[Hit]:
    request = SearchRequest(query=query, **{"now": NOW, **fields})
    return Search(*reader.parts).run(agent_id, request).hits


def texts(reader: Reader, query: str, **fields: Any) -> list[str]:
    return [each.text for each in hits(reader, query, **fields)]


def context(reader: Reader, query: str, budget: int = 1_000, **fields: Any) -> str:
    request = ContextRequest(query=query, budget_tokens=budget, **{"now": NOW, **fields})
    messages = ContextReader(*reader.parts).run("alice", request).messages
    return "\n".join(str(each.content) for each in messages[:-1])


ENGLISH_QUESTIONS = (
    "What did I do last week?", "last week", "What was I up to last week?",
    "Summarise what happened last week", "what did we talk about from 9 to 15 November?",
)  # fmt: skip
CHINESE_QUESTIONS = (
    "上周我说了什么？", "上周我做了什么", "上周", "帮我总结一下上周的事情", "上星期发生了什么事？",
)  # fmt: skip


@pytest.mark.parametrize("filters", [Filters(), LAST_WEEK], ids=["open", "filtered"])
class TestQuestionWithOnlyATime:
    @pytest.mark.parametrize("query", ENGLISH_QUESTIONS)
    def test_english(self, reader: Reader, english: Stored, query: str, filters: Filters) -> None:
        text_given = context(reader, query, filters=filters)
        assert [text for text in WEEK.values() if text not in text_given] == []

    @pytest.mark.parametrize("query", CHINESE_QUESTIONS)
    def test_chinese(self, reader: Reader, chinese: Stored, query: str, filters: Filters) -> None:
        text_given = context(reader, query, filters=filters)
        assert [text for text in CHINESE_WEEK.values() if text not in text_given] == []

    def test_its_messages_are_the_first_hits(
        self, reader: Reader, english: Stored, filters: Filters
    ) -> None:
        found = hits(reader, "What did I do last week?", k=12, filters=filters)
        assert {each.text for each in found} == {*WEEK.values(), "ok"}
        assert all(LAST_WEEK.since <= each.created_at < LAST_WEEK.until for each in found)  # type: ignore[operator]


def test_a_small_budget_is_filled_from_that_time(reader: Reader, english: Stored) -> None:
    text_given = context(reader, "What did I do last week?", 130)
    assert sum(text in text_given for text in WEEK.values()) >= 4
    assert not any(text in text_given for text in CHATTER)


@pytest.mark.parametrize(
    ("query", "expected"),
    [("what happened on 12 November?", WEEK[12]), ("12 November", WEEK[12])],
)
def test_messages_of_a_named_day_come_first(
    reader: Reader, english: Stored, query: str, expected: str
) -> None:
    found = hits(reader, query)
    assert found[0].text == expected
    assert {each.created_at.date().day for each in found[:2] if each.created_at} == {12}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("11月12日", CHINESE_WEEK[12]),
        ("11月12号发生了什么", CHINESE_WEEK[12]),
        ("10天前我们聊了什么", CHINESE_WEEK[12]),
    ],
)
def test_messages_of_a_day_named_in_chinese_come_first(
    reader: Reader, chinese: Stored, query: str, expected: str
) -> None:
    found = hits(reader, query)
    assert expected in [each.text for each in found[:4]]
    assert found[0].text in CHINESE_WEEK.values()
    assert found[0].channels == {} or found[0].text == expected


def test_months_and_rounded_times_in_chinese(reader: Reader, chinese: Stored) -> None:
    chinese.say("屋顶漏水，换了二十片瓦。", said_at=day(14, month=9), session="roof", user="u1")
    assert "屋顶漏水，换了二十片瓦。" in texts(reader, "九月我做了什么", k=12)
    chinese.say("猫咪打了疫苗。", said_at=day(1), session="cat", user="u1")
    assert "猫咪打了疫苗。" in texts(reader, "三周前我们聊了什么", k=3)


@pytest.mark.parametrize("query", ["what have I been doing recently?", "lately"])
def test_recently_and_lately(reader: Reader, english: Stored, query: str) -> None:
    text_given = context(reader, query)
    assert [text for text in WEEK.values() if text not in text_given] == []


def test_lately_in_chinese(reader: Reader, chinese: Stored) -> None:
    text_given = context(reader, "最近我做了什么")
    assert [text for text in CHINESE_WEEK.values() if text not in text_given] == []


def test_the_best_match_within_the_time_comes_first(reader: Reader, english: Stored) -> None:
    english.say("The garage door jams.", said_at=day(2, month=6), session="june", user="u1")
    query = "Which colour has the garage door got last week?"
    found = texts(reader, query, k=100)
    assert found[0] == WEEK[10]
    assert set(WEEK.values()) <= set(found)
    text_given = context(reader, query, 3_000)
    assert [text for text in WEEK.values() if text not in text_given] == []


def test_within_a_time_filter_matches_come_first_and_others_follow(
    reader: Reader, english: Stored
) -> None:
    found = texts(reader, "Who has a telescope?", k=12, filters=LAST_WEEK)
    assert found[0] == WEEK[12]
    assert set(WEEK.values()) <= set(found)
    text_given = context(reader, "Who has a telescope?", filters=LAST_WEEK)
    assert [text for text in WEEK.values() if text not in text_given] == []


def test_a_filter_with_only_since_adds_no_messages_by_time(reader: Reader, english: Stored) -> None:
    since = Filters(since=LAST_WEEK.since)
    assert texts(reader, "telescope", filters=since, channels=["lexical"])[0] == WEEK[12]
    assert WEEK[15] not in texts(reader, "telescope", k=20, filters=since, channels=["lexical"])
    assert WEEK[15] in texts(reader, "What did I do?", k=50, filters=since)


def test_without_a_time_no_messages_are_added(reader: Reader, chinese: Stored) -> None:
    assert hits(reader, "望远镜是谁的", k=50)
    assert not set(texts(reader, "臼齿", k=50)) & {CHINESE_WEEK[13], CHINESE_WEEK[15]}


def test_messages_not_indexed_yet_are_found_by_time(reader: Reader, chinese: Stored) -> None:
    chinese.say("护照寄到了。", said_at=day(14), session="s", user="u1", indexed=False)
    chinese.say("地毯洗了。", said_at=day(1, month=8), session="s", user="u1", indexed=False)
    found = texts(reader, "上周我做了什么", k=9)
    assert "护照寄到了。" in found
    assert "地毯洗了。" not in found


def test_messages_of_others_and_later_ones_are_not_found(reader: Reader, english: Stored) -> None:
    other = Stored(reader, "bob")
    other.say("Secret of another agent.", said_at=day(12), user="u1")
    english.say("Secret of another user.", said_at=day(12), session="x", user="u2")
    english.say("Secret of another user, not indexed.", said_at=day(12), session="x", user="u2",
                indexed=False)  # fmt: skip
    query = "What did I do last week?"
    own = texts(reader, query, k=100, user_id="u1")
    assert set(WEEK.values()) <= set(own)
    assert not any("Secret" in text for text in own)
    assert "Secret" not in context(reader, query, user_id="u1")
    assert not any("another agent" in text for text in texts(reader, query, k=100))
    known = texts(reader, query, k=100, as_of=day(12, hour=8))
    assert WEEK[11] in known
    assert not set(known) & {WEEK[12], WEEK[13], WEEK[15]}
    elsewhere = texts(reader, query, k=100, filters=Filters(sessions=("x",)))
    assert elsewhere[0].startswith("Secret")
    assert not set(elsewhere) & set(WEEK.values())


def test_without_query_analysis_a_question_names_no_time(reader: Reader, chinese: Stored) -> None:
    chinese.execute(
        "INSERT INTO agent_setting (agent_id, parameters)"
        " VALUES (%s, '{\"query_analysis_enabled\": false}')"
    )
    assert not set(texts(reader, "上周", k=50)) & set(CHINESE_WEEK.values())
    filtered = texts(reader, "上周", k=50, filters=LAST_WEEK)
    assert set(CHINESE_WEEK.values()) <= set(filtered)


def test_many_messages_of_a_month_are_sampled_evenly(reader: Reader, alice: Stored) -> None:
    for number in range(300):
        at = day(1, month=10) + timedelta(hours=2 * number)
        alice.say("斑马看见了长颈鹿。", said_at=at, session=None)
    request = SearchRequest(query="十月", now=NOW, k=10, explain=True, channels=[Channel.LEXICAL])
    answer = Search(*reader.parts).run("alice", request)
    assert len(answer.hits) == 10
    assert answer.explain is not None
    assert answer.explain["timed"] == 40  # of 300 messages


def test_the_latest_year_of_a_month_comes_first(reader: Reader, alice: Stored) -> None:
    for year in (2023, 2024):
        at = datetime(year, 9, 3, tzinfo=UTC)
        alice.say(f"Zebra of {year}.", said_at=at, session=f"y{year}")
    assert texts(reader, "What did I do in September?") == ["Zebra of 2024.", "Zebra of 2023."]


def test_sources_without_messages_find_none_by_time(reader: Reader, chinese: Stored) -> None:
    for source in Source:
        if source is not Source.CHAT:
            assert hits(reader, "上周", sources=[source], filters=LAST_WEEK) == []


def test_explain_counts_messages_found_by_time(reader: Reader, english: Stored) -> None:
    request = SearchRequest(query="What did I do last week?", now=NOW, explain=True)
    explain = Search(*reader.parts).run("alice", request).explain
    assert explain is not None
    assert explain["timed"] == 2 * len(WEEK)
