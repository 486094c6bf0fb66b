"""Pages get names, descriptions and a line for each message from the summarizer (P6, P7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from memci.domain.context.budget import Count
from memci.domain.language import Language
from memci.domain.memory.note import note_metadata
from memci.domain.message import Message
from memci.domain.pages.outline import MOST_ENTRY, Outline
from memci.domain.pages.rules import PageRules
from memci.errors import SmallModelAnswerError, SmallModelUnavailableError
from memci.jobs.index import MessageIndexing, WindowLimits
from memci.queue.page_naming import MOST_UNSETTLED
from memci.queue.submit import submit_follow_up
from tests.support.naming import COUNTER, PagesUnderTest
from tests.support.network import AgentUnderTest

ROOM = (
    "Hello! I hope you are well. Could you book the blue meeting room for Thursday at ten?",
    "Done: the blue meeting room is booked for Thursday, 10:00 to 11:00, for eight people.",
)
BACKUP = (
    "Why did the nightly backup to Frankfurt fail?",
    "The disk in Frankfurt is full. I suggest to delete the snapshots of March.",
)
LUNCH = ("Where do we have lunch?", "At Luigi's, at noon.")
TRAIN = ("你好！明天去上海的高铁票订好了吗？", "订好了，明天上午九点的G2次，二等座，553元。")


@pytest.fixture
def ada(database):
    return AgentUnderTest(database)


@pytest.fixture
def pages(ada):
    return PagesUnderTest(ada)


@dataclass
class Meanwhile:
    """Says the same of everything, and does something while it thinks."""

    does: Callable[[], object] = lambda: None
    asked: int = 0

    def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
        self.asked += 1
        self.does()
        return Outline("A title", "A description.", tuple(f"line {m.seq}" for m in messages))

    def summarize(self, messages: Sequence[Message], previous: str, target: int) -> str:
        raise AssertionError("nobody asks for this")


def test_what_is_over_gets_its_name_and_the_current_interaction_keeps_its_stand_in(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    assert pages.run() == {"settled": 6, "named": 2}
    room, backup, lunch = pages.pages()
    assert room.name == "Could you book the blue meeting room for Thursday at ten?"
    assert "booked for Thursday" in room.description
    assert backup.name == "Why did the nightly backup to Frankfurt fail?"
    assert room.entries[1].startswith("assistant: Done")
    assert (room.named, room.summed) == (True, True)
    assert (lunch.name, lunch.description, lunch.named) == (LUNCH[0], "", False)
    assert pages.waiting() == 0


def test_an_agent_in_chinese_gets_chinese(pages):
    pages.tell(TRAIN, ("今天中午吃什么？", "去吃面。"))
    pages.run()
    train, _ = pages.pages()
    assert train.name == "明天去上海的高铁票订好了吗？"
    assert [each[:3] for each in train.entries] == ["用户：", "助手："]
    assert "G2" in train.description


def test_meanwhile_readers_see_the_stand_in_and_the_same_pages(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    before = pages.shown()
    assert f"[usr-1] {ROOM[0][:79]}" in before
    pages.run()
    after = pages.shown()
    assert "[usr-1] Could you book the blue meeting room for Thursday at ten?" in after
    assert before.count("[usr-") == after.count("[usr-")
    assert LUNCH[1] in after


def test_sessions_have_current_interactions_of_their_own(pages):
    pages.tell(ROOM, session="a")
    pages.tell(BACKUP, session=None)
    assert pages.run()["named"] == 0
    pages.tell(LUNCH, session=None)
    assert pages.run()["named"] == 1
    room, backup, _ = pages.pages()
    assert (room.named, backup.named) == (False, True)


def test_lines_of_the_contents_page_are_within_their_tokens(pages):
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
        assert page.summed
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


def test_what_the_agent_noted_is_no_line_of_a_page(pages):
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
        said = "of many words, and all of them are needed to say what this was about"
        return Outline("A title", f"A description {said}.", tuple(said for _ in messages))


def test_the_window_is_brought_back_inside_its_budget_and_stays_as_it_was(pages):
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


def test_who_renames_a_page_keeps_his_name_and_gets_its_lines(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    pages.do("update_page", index="usr-1", name="Rooms", description="All about rooms.")
    pages.do("update_page", index="usr-2", name="Mine")
    pages.run()
    room, backup, _ = pages.pages()
    assert (room.name, room.description) == ("Rooms", "All about rooms.")
    assert room.entries[1].startswith("assistant: Done")
    assert backup.name == "Mine"
    assert "snapshots" in backup.description  # a hidden page is seen by nothing else


def test_a_page_that_is_renamed_meanwhile_keeps_that_name(pages):
    pages.tell(ROOM, LUNCH)
    pages.summarizer = Meanwhile(
        lambda: pages.do("update_page", index="usr-1", name="Rooms", description="D.")
    )
    assert pages.run()["named"] == 1
    room = pages.pages()[0]
    assert (room.name, room.description) == ("Rooms", "D.")
    assert room.entries == ["line 1", "line 2"]


def test_naming_is_no_step_and_disturbs_none(pages):
    pages.tell(ROOM, BACKUP, LUNCH)
    pages.do("hide_details", index="usr-2")
    pages.do("update_page", index="usr-1", name="Rooms")
    pages.run()
    pages.do("undo")
    assert not pages.pages()[0].named
    pages.do("undo")
    assert pages.pages()[1].expanded
    assert pages.pages()[1].named
    # What was unnamed by that is named by the next.
    assert pages.run()["named"] == 1
    assert pages.pages()[0].name.startswith("Could you book")


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


def test_what_goes_on_meanwhile_waits_for_the_next(pages):
    pages.tell(ROOM, LUNCH)
    pages.run()
    pages.tell(BACKUP)
    effect = pages.handler.prepare(pages.job)  # names LUNCH
    pages.do("create_detail_page", name="Note", description="", detail="x", parent="usr-0")
    pages.tell(TRAIN)
    assert pages.write(effect) == {"settled": 2, "named": 1}
    assert [page.named for page in pages.pages()] == [True, True, False, False]


def test_a_page_that_got_another_index_meanwhile_is_not_mistaken(pages):
    pages.tell(ROOM)
    pages.do("update_page", index="usr-0", name="Talk")  # settles what was said
    pages.tell(LUNCH, BACKUP)
    effect = pages.handler.prepare(pages.job)  # would be usr-2 and usr-3
    pages.ada.execute(
        "UPDATE page_tree SET segments = replace(segments::text, '\"next_number\": 2',"
        " '\"next_number\": 7')::jsonb WHERE agent_id = %s"
    )
    assert pages.write(effect) == {"settled": 4, "named": 1}
    assert pages.waiting() == 1  # what has changed is looked at anew
    assert pages.run()["named"] == 1
    assert {page.id: page.named for page in pages.pages()} == {
        "usr-1": True, "usr-7": True, "usr-8": False,
    }  # fmt: skip


def test_what_is_erased_meanwhile_leaves_no_trace(pages):
    pages.tell(ROOM, LUNCH)
    pages.run()
    pages.ada.execute("UPDATE page SET named = false, summed = false WHERE agent_id = %s")
    effect = pages.handler.prepare(pages.job)
    pages.ada.execute("DELETE FROM message WHERE agent_id = %s AND seq = 2")
    pages.write(effect)
    assert not pages.pages()[0].named
    assert pages.waiting() == 1
    pages.run()
    assert len(pages.pages()[0].entries) == 1
    assert "booked" not in pages.pages()[0].description


def test_many_are_named_newest_first_job_by_job(pages):
    pages.most = 4
    pages.tell(*[(f"Question {n} of many?", f"Answer {n}.") for n in range(11)])
    assert pages.run()["named"] == 4
    assert [page.named for page in pages.pages()] == [False] * 6 + [True] * 4 + [False]
    jobs = 1
    while pages.waiting() >= jobs:
        assert pages.run()["named"] <= 4
        jobs += 1
    assert jobs == 3
    assert [page.named for page in pages.pages()] == [True] * 10 + [False]


def test_a_job_stops_thinking_when_its_time_is_over(pages):
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
def test_a_summarizer_that_fails_leaves_all_as_it_was(pages, error):
    def fail() -> None:
        raise error("no")

    pages.summarizer = Meanwhile(fail)
    pages.tell(ROOM, LUNCH)
    with pytest.raises(error):
        pages.run()
    assert pages.pages() == []


def test_a_summarizer_with_another_number_of_lines_is_not_believed(pages):
    class Short(Meanwhile):
        def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
            return Outline("A title", "A description.", ("one line",))

    pages.summarizer = Short()
    pages.tell(ROOM, LUNCH)
    with pytest.raises(SmallModelAnswerError, match="does not fit"):
        pages.run()


def test_operations_and_naming_at_the_same_time_lose_nothing(pages):
    pages.tell(*[(f"Question {n}?", f"Answer {n}.") for n in range(6)])
    pages.run()
    pages.ada.execute("UPDATE page SET named = false, summed = false WHERE agent_id = %s")

    def note(n: int) -> None:
        pages.do("create_detail_page", name=f"N{n}", description="", detail="x", parent="usr-0")

    with ThreadPoolExecutor(4) as pool:
        notes = [pool.submit(note, n) for n in range(8)]
        pages.run()
        for each in notes:
            each.result()
    assert [page.named for page in pages.pages()] == [True] * 5 + [False]
    count = pages.ada.row("SELECT count(*) AS n FROM page WHERE agent_id = %s AND body > 0")
    assert count.n == 8


# Who asks for it.


def remember(pages: PagesUnderTest, text: str, role: str = "user", session: str = "s1") -> None:
    pages.ada.create(pages.ada.say(text, role=role, session=session))


def test_the_job_is_asked_for_when_an_interaction_ends_and_once(pages):
    remember(pages, "Grace likes Oslo.")
    remember(pages, "Noted.", role="assistant")
    assert pages.waiting() == 0
    remember(pages, "And Bergen?", session="another")
    assert pages.waiting() == 0
    remember(pages, "Grace likes Bergen.")
    assert pages.waiting() == 1
    remember(pages, "Grace likes rain.")
    assert pages.waiting() == 1


def test_a_long_interaction_is_put_onto_its_page_while_it_goes_on(pages):
    remember(pages, "Do it all.")
    job = pages.ada.say(*[f"Step {n} done." for n in range(120)], role="assistant")
    pages.ada.create(job)
    assert pages.waiting() == 1
    assert pages.run() == {"settled": 121, "named": 0}


def test_messages_that_are_not_to_be_remembered_get_pages_and_names(pages):
    for text in ROOM[0], BACKUP[0]:
        job = pages.ada.say(text, remember="never")
        limits = WindowLimits(1_000, 8)
        effect = MessageIndexing(
            pages.ada.database, pages.ada.models, limits, submit_follow_up
        ).prepare(job)
        pages.write(effect)
        pages.ada.say("Yes.", role="assistant", remember="never")
    assert pages.waiting() == 1
    assert pages.run() == {"settled": 4, "named": 1}


def idle(ada, messages):
    """An agent as it comes from a version without pages: nothing is on one, and nobody speaks."""
    for number in range(0, messages, 2):
        ada.say(f"Question {number}?")
        ada.say("An answer.", role="assistant")
    ada.execute("DELETE FROM job WHERE agent_id = %s")
    ada.execute("UPDATE lane SET wake_at = NULL WHERE agent_id = %s")


@pytest.mark.parametrize(
    "look",
    [lambda pages: pages.window(), lambda pages: pages.do("get_children", index="usr-0")],
)
def test_who_looks_where_very_many_messages_wait_asks_once_for_their_pages(pages, look):
    idle(pages.ada, MOST_UNSETTLED + 2)
    look(pages)
    assert pages.waiting() == 1
    assert pages.ada.row("SELECT wake_at FROM lane WHERE agent_id = %s").wake_at is not None
    look(pages)
    assert pages.waiting() == 1
    pages.ada.execute("DELETE FROM job WHERE agent_id = %s")
    pages.most = 0  # names nothing
    assert pages.run()["settled"] == MOST_UNSETTLED + 2
    pages.ada.execute("DELETE FROM job WHERE agent_id = %s")
    look(pages)
    assert pages.waiting() == 0


def test_who_looks_where_few_messages_wait_asks_for_nothing(pages):
    idle(pages.ada, MOST_UNSETTLED)
    pages.window()
    assert pages.waiting() == 0


def test_who_looks_waits_for_no_lane(pages):
    idle(pages.ada, MOST_UNSETTLED + 2)
    with pages.ada.database.lane_transaction() as connection:
        connection.exec_driver_sql("SELECT FROM lane WHERE agent_id = 'ada' FOR UPDATE")
        pages.window()
        assert pages.waiting() == 0
    pages.window()
    assert pages.waiting() == 1


def test_a_long_interaction_is_shown_in_part_and_has_a_line_for_each_message(pages):
    asked: list[list[int]] = []

    class Shown(Meanwhile):
        def outline(self, messages: Sequence[Message], language: Language, count: Count) -> Outline:
            asked.append([each.seq for each in messages])
            return super().outline(messages, language, count)

    pages.summarizer = Shown()
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
