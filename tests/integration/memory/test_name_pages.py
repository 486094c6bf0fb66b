"""Pages get names, descriptions and a line for each message from the summarizer (P6, P7)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memci.domain.pages.interaction_outline import MOST_ENTRY, Outline
from memci.domain.pages.parameters import PageRules
from memci.domain.token_counts import Count
from memci.errors import SmallModelAnswerError, SmallModelUnavailableError
from memci.language.detection import Language
from memci.message import Message, note_metadata
from tests.support.naming import BACKUP, COUNTER, LUNCH, ROOM, TRAIN, Meanwhile, PagesUnderTest


@pytest.fixture
def pages(ada):
    return PagesUnderTest(ada)


def test_finished_interactions_get_names_and_the_current_one_does_not(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    assert pages.run() == {"settled": 6, "named": 2}
    room, backup, lunch = pages.pages()
    assert room.name == "Could you book the blue meeting room for Thursday at ten?"
    assert "booked for Thursday" in room.description
    assert backup.name == "Why did the nightly backup to Frankfurt fail?"
    assert room.entries[1].startswith("assistant: Done")
    assert (room.named, room.summarized) == (True, True)
    assert (lunch.name, lunch.description, lunch.named) == (LUNCH[0], "", False)
    assert pages.waiting() == 0


def test_chinese_interactions_get_chinese_names(pages):
    pages.tell(TRAIN, ("今天中午吃什么？", "去吃面。"))
    pages.run()
    train, _ = pages.pages()
    assert train.name == "明天去上海的高铁票订好了吗？"
    assert [each[:3] for each in train.entries] == ["用户：", "助手："]
    assert "G2" in train.description


def test_each_session_has_its_own_current_interaction(pages):
    pages.tell(ROOM, session="a")
    pages.tell(BACKUP, session=None)
    assert pages.run()["named"] == 0
    pages.tell(LUNCH, session=None)
    assert pages.run()["named"] == 1
    room, backup, _ = pages.pages()
    assert (room.named, backup.named) == (False, True)


def test_lines_of_the_contents_page_are_within_their_token_limit(pages):
    pages.rules = PageRules(active_pages=1, contents_max_tokens=100_000)
    long = "The plan names nine servers, their owners and the order of their moves. " * 20
    pages.tell(
        *[
            (f"Question {n}: {long}", f"答案{n}：{'服务器清单已经核对完毕。' * 40}")
            for n in range(6)
        ]
    )
    pages.run()
    archived = [page for page in pages.pages() if page.archived_at]
    assert len(archived) == 5
    for page in archived:
        assert page.summarized
        assert all(COUNTER.count(line) <= MOST_ENTRY for line in page.entries)
    assert pages.shown().count("- user: ") == 5


def test_longer_names_push_old_lines_off_the_contents_page(pages):
    pages.rules = PageRules(active_pages=1, contents_max_tokens=150)
    pages.summarizer = Wordy()
    pages.tell(*[(f"Q{n}?", f"A{n}.") for n in range(8)])
    pages.run()
    lines = [page for page in pages.pages() if page.archived_at and not page.cold]
    assert lines
    shown = pages.shown()
    assert all(f"[{page.id}]" in shown for page in lines)
    assert [page.id for page in pages.pages() if page.cold]


def test_notes_of_the_agent_are_no_lines_of_a_page(pages):
    pages.ada.say(ROOM[0])
    pages.ada.say("The user likes blue rooms.", role="assistant", metadata=note_metadata())
    pages.ada.say(ROOM[1], role="assistant")
    pages.tell(LUNCH)
    assert pages.run() == {"settled": 5, "named": 1}
    room, lunch = pages.pages()
    assert len(room.entries) == 2
    assert "likes blue" not in " ".join([room.name, room.description, *room.entries])
    pages.ada.say("Luigi's is cheap.", role="assistant", metadata=note_metadata())
    pages.run()
    assert pages.pages()[1].entries == lunch.entries


class Wordy(Meanwhile):
    def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
        words = "of many words, and all of them are needed to say what this was about"
        return Outline("A title", f"A description {words}.", tuple(words for _ in messages))


def test_naming_hides_pages_until_the_window_is_within_its_budget(pages):
    pages.rules = PageRules(window_max_tokens=500)
    long = "The plan names nine servers, their owners and the order of their moves. " * 4
    pages.tell(*[(f"Question {n}?", f"Answer {n}. {long}") for n in range(6)])
    pages.run()
    hidden = [page.id for page in pages.pages() if not page.expanded]
    assert hidden
    window = pages.window()
    assert window.tokens <= 500
    assert window.collapsed == hidden
    pages.ada.say("And now?", session="s1")
    assert [page.id for page in pages.pages() if not page.expanded] == hidden


def test_redelivery_changes_nothing(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    effect = pages.handler.prepare(pages.job)
    pages.write(effect)
    first = pages.pages()
    shown = pages.shown()
    again = pages.run()
    assert again == {"settled": 0, "named": 0}
    assert pages.write(effect)["named"] == 0
    assert pages.pages() == first
    assert pages.shown() == shown


def test_many_pages_are_named_newest_first_in_several_jobs(pages):
    pages.most = 4
    pages.tell(*[(f"Question {n} of many?", f"Answer {n}.") for n in range(11)])
    assert pages.run()["named"] == 4
    assert [page.named for page in pages.pages()] == [False] * 6 + [True] * 4 + [False]
    jobs = 1
    while pages.waiting():
        pages.ada.execute("DELETE FROM job WHERE agent_id = %s")  # the lane takes it
        assert pages.run()["named"] <= 4
        jobs += 1
    assert jobs == 3
    assert [page.named for page in pages.pages()] == [True] * 10 + [False]


def test_a_job_stops_naming_when_its_time_is_over(pages):
    ticks = iter(range(0, 1000, 3))
    pages.clock = lambda: next(ticks)
    pages.tell(ROOM, BACKUP, LUNCH)
    assert pages.run()["named"] == 1
    assert pages.waiting() == 1


def test_cold_and_filed_pages_are_named_too(pages):
    pages.tell(ROOM, BACKUP, LUNCH, LUNCH)
    pages.do("create_contents_page", name="Old", description="", parent="usr-0", children=["usr-1"])
    pages.do("remove_page", index="usr-2")
    assert pages.run()["named"] == 3
    room, backup, *_ = pages.pages()
    assert (room.parent, room.named) == ("usr-5", True)
    assert (backup.cold, backup.named) == (True, True)
    assert "1 inside" in pages.shown()


@pytest.mark.parametrize("error", [SmallModelUnavailableError, SmallModelAnswerError])
def test_a_failing_summarizer_changes_nothing(pages, error):
    def fail() -> None:
        raise error("no")

    pages.summarizer = Meanwhile(fail)
    pages.tell(ROOM, LUNCH)
    with pytest.raises(error):
        pages.run()
    assert pages.pages() == []


def test_a_summary_with_a_wrong_number_of_lines_is_refused(pages):
    class Short(Meanwhile):
        def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
            return Outline("A title", "A description.", ("one line",))

    pages.summarizer = Short()
    pages.tell(ROOM, LUNCH)
    with pytest.raises(SmallModelAnswerError, match="does not fit"):
        pages.run()


def test_the_summarizer_gets_part_of_a_long_interaction(pages):
    asked: list[list[int]] = []

    class Recording(Meanwhile):
        def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
            asked.append([each.seq for each in messages])
            return super().outline(messages, language, count)

    pages.summarizer = Recording()
    pages.ada.say("Copy all servers.")
    pages.ada.say(*(f"Server {n} is copied." for n in range(2, 100)), role="assistant")
    pages.tell(LUNCH)
    assert pages.run() == {"settled": 101, "named": 1}
    assert asked == [[*range(1, 41), *range(80, 100)]]
    entries = pages.pages()[0].entries
    assert entries[39:41] == ["line 40", "assistant: Server 41 is copied."]
    assert entries[78:80] == ["assistant: Server 79 is copied.", "line 80"]
    assert len(entries) == 99


def test_pages_without_messages_do_not_keep_a_job_going(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    pages.most = 0
    pages.run()
    pages.ada.execute("DELETE FROM message WHERE agent_id = %s AND seq <= 4")
    pages.ada.execute("DELETE FROM job WHERE agent_id = %s AND kind = 'memci.page.name'")
    pages.most = 1
    assert pages.run()["named"] == 0
    assert pages.waiting() == 0
