"""Recent turns of a context, and summaries of older ones, on a real database (R13 to R15)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memci.domain.search.candidate import Source
from memci.message import Role
from memci.reading.context import ContextReader
from memci.reading.deferred_writes import ReadActivity
from memci.reading.lists.listings import Listings
from memci.schemas.reads import ContextAnswer, ContextRequest
from tests.support.lists import assemble, check, sections
from tests.support.stored import BEGIN, Reader, Stored


def test_recent_messages_are_not_retrieved_again(reader: Reader, talk: Stored):
    answer = assemble(reader, "Is the ferry on time?", session_id="now")
    check(reader, answer)
    recent = [
        each for item in answer.items if item.section == "recent" for each in item.message_ids
    ]
    assert recent == ["m4", "m5", "m6", "m7"]


def test_a_stored_query_is_in_the_context_once(reader: Reader, talk: Stored):
    seq = talk.say("Who likes the deck?", session="now")
    for recent in (0, 8):
        answer = assemble(reader, "Who likes the deck?", session_id="now", recent=recent)
        check(reader, answer)
        assert answer.items[-1].message_ids == [f"m{seq}"]
        assert sum("Who likes the deck?" in item.text for item in answer.items) == 1


def test_the_current_interaction_takes_precedence_over_older_ones(reader: Reader, talk: Stored):
    talk.say("And how long does the crossing take, with the bikes on board?", session="now")
    answer = assemble(reader, session_id="now", budget=30, sources=["chat"])
    check(reader, answer)
    assert [each.content for each in answer.messages] == [
        "And how long does the crossing take, with the bikes on board?"
    ]


def test_a_tool_call_and_its_results_stay_together(reader: Reader, talk: Stored):
    answer = assemble(reader, session_id="now", budget=40, sources=["chat"])
    check(reader, answer)
    assert [each.role for each in answer.messages] == [Role.USER, Role.ASSISTANT]


def test_recent_turns_are_of_the_session(reader: Reader, talk: Stored):
    older = assemble(reader, session_id="old", sources=["chat"])
    assert [each.content for each in older.messages] == [
        "The harbour ferry leaves at eight.", "Noted: ferry at eight.",
    ]  # fmt: skip
    everything = assemble(reader, sources=["chat"])
    check(reader, everything)
    note, *turns = everything.messages
    assert [each.role for each in everything.messages].count(Role.SYSTEM) == 1
    assert (note.content or "").splitlines() == [
        "When the turns below were said:",
        "- 2 March 2026 (Mon): The harbour ferry leaves at eigh…",
        "- 27 February 2026 (Fri), another session: My cat Miso is afraid of thunder…",
        "- 2 March 2026 (Mon), another session: Is the ferry on time?",
    ]
    assert len(turns) == 7
    assert len(assemble(reader, sources=["chat"], recent=1).messages) == 4


@pytest.mark.parametrize(
    ("message", "reply", "query", "days"),
    [
        ("Tomorrow I have my driving test.", "Good luck for tomorrow!", "When is my driving test?",
         ["When the turns below were said:",
          "- 2 March 2026 (Mon): Tomorrow I have my driving test.",
          "- 3 March 2026 (Tue): When is my driving test?"]),
        ("我明天考驾照。", "祝你明天顺利！", "我什么时候考驾照？",
         ["以下对话的时间：", "- 2026-03-02（一）：我明天考驾照。",
          "- 2026-03-03（二）：我什么时候考驾照？"]),
    ],
)  # fmt: skip
def test_a_note_before_turns_of_another_day_names_their_days(
    reader: Reader, alice: Stored, message: str, reply: str, query: str, days: list[str]
):
    alice.say(message, session="now")
    alice.say(reply, "assistant", session="now")
    first = assemble(reader, query, session_id="now", now=BEGIN)
    assert [each.content for each in first.messages] == [message, reply, query]
    for times in ({"now": BEGIN + timedelta(days=1)}, {"now": None, "as_of": "2026-03-03T07:00Z"}):
        answer = assemble(reader, query, session_id="now", **times)
        check(reader, answer)
        note, *listed = [each.content for each in answer.messages]
        assert (note or "").splitlines() == days
        assert listed == [message, reply, query]
        assert [len(item.message_ids) for item in answer.items] == [0, 1, 1, 0]
        body = Listings(reader.database).receipt("alice", answer.receipt_id).body
        items: Any = body["items"]
        assert [(each.get("from_day"), each.get("through_day")) for each in items] == [
            ("2026-03-02", "2026-03-03"), *[(None, None)] * 3,
        ]  # fmt: skip
        assert [each["section"] for each in items] == ["recent"] * 3 + ["query"]


def test_without_now_the_day_of_old_turns_is_named(reader: Reader, alice: Stored):
    alice.say("Tomorrow I have my driving test.", session="now")
    answer = assemble(reader, session_id="now", now=None)
    assert [each.content for each in answer.messages] == [
        "When the turns below were said:\n- 2 March 2026 (Mon): Tomorrow I have my driving test.\n",
        "Tomorrow I have my driving test.",
    ]


class TestWithoutSession:
    def test_after_a_silence_there_are_no_recent_turns(self, reader: Reader, talk: Stored):
        answer = assemble(reader, "Does Miso the cat fear thunder?")
        check(reader, answer)
        assert "recent" not in sections(answer)
        assert "Miso" in (answer.messages[0].content or "")

    def test_in_a_running_conversation_there_are_recent_turns(self, reader: Reader, talk: Stored):
        talk.say("We are at the pier.", session=None, said_at=datetime.now(UTC))
        for fields in ({}, {"session_id": "now"}, {"recent": 2}):
            assert "recent" in sections(assemble(reader, "Where are we?", **fields))

    def test_a_stored_query_is_recognised_after_a_silence(self, reader: Reader, talk: Stored):
        seq = talk.say("Who likes the deck?", session="now")
        answer = assemble(reader, "Who likes the deck?")
        check(reader, answer)
        assert answer.items[-1].message_ids == [f"m{seq}"]


class TestShown:
    def test_messages_shown_elsewhere_are_neither_recent_nor_retrieved(
        self, reader: Reader, talk: Stored
    ):
        shown = [
            {"role": "user", "content": "Is the ferry on time?"},
            {"role": "tool", "content": "on time"},
            {"role": "assistant", "content": "Yes, it is on time."},
            {"role": "user", "content": "The harbour ferry leaves at eight."},
        ]
        answer = assemble(reader, "When does the ferry leave?", session_id="now", shown=shown)
        check(reader, answer)
        text = "\n".join(message.content or "" for message in answer.messages)
        assert "recent" not in sections(answer)
        assert not any(each["content"] in text for each in shown)
        assert "Noted: ferry at eight." in text

    def test_the_same_words_in_another_role_are_retrieved(self, reader: Reader, talk: Stored):
        shown = [{"role": "assistant", "content": "The harbour ferry leaves at eight."}]
        answer = assemble(reader, "When does the ferry leave?", session_id="now", shown=shown)
        assert "harbour ferry" in (answer.messages[0].content or "")


def test_a_context_begins_with_the_same_turn_until_it_is_cut_back(reader: Reader, alice: Stored):
    begins, lengths = [], []
    for turn in range(26):
        alice.say(f"Question {turn}", session="now")
        alice.say(f"Answer {turn}", "assistant", session="now")
        answer = assemble(reader, session_id="now", sources=["chat"], budget=4_000)
        check(reader, answer)
        turns = [each for each in answer.items if each.section == "recent"]
        begins.append(turns[0].message_ids[0])
        lengths.append(len(turns) // 2)
        summarised = [each.message_ids for each in answer.items if each.section == "summary"]
        # The summary before them covers eight interactions and does not change.
        assert summarised == ([] if turn < 23 else [[f"m{seq}"] for seq in range(17, 33)])
    assert lengths == [*range(1, 24), 8, 9, 10]
    assert begins == ["m1"] * 23 + ["m33"] * 3
    assert answer.stable_prefix == sum(len(item.text) for item in answer.items[:-2])


@pytest.mark.parametrize(
    ("summary", "fact"),
    [
        ("user: We roll back with make undo.", "We roll back with make undo."),
        ("user: 我们用 make undo 回滚。", "我们用 make undo 回滚。"),
    ],
)
def test_a_summary_repeats_no_text_of_the_context(
    reader: Reader, alice: Stored, summary: str, fact: str
):
    texts = (fact, "Good.", *(f"Step {each} of the deployment is done." for each in range(14)))
    for each in texts:
        alice.say(each, session="now")
    alice.execute(
        "INSERT INTO summary (agent_id, session_id, user_id, from_seq, through_seq, text, tokens)"
        " VALUES (%s, 'now', '', 1, 12, %s, 9)",
        summary,
    )
    for query in ("How do we roll back?", "回滚怎么做？"):
        answer = assemble(reader, query, session_id="now", recent=4)
        check(reader, answer)
        assert sections(answer)[0] == "summary"
        assert sum(fact in (each.content or "") for each in answer.messages) == 1
        answer = assemble(reader, query, session_id="now", recent=16)
        assert "summary" not in sections(answer)
    alice.say("Step 14 of the deployment is done.", session="now")
    alice.execute("UPDATE summary SET from_seq = 3 WHERE agent_id = %s")
    left_out = assemble(reader, session_id="now", recent=15, sources=["chat", "summary"])
    check(reader, left_out)
    assert sections(left_out) == ["recent"]
    kept = assemble(reader, session_id="now", recent=14, sources=["chat", "summary"])
    assert sections(kept) == ["summary", "recent"]


def test_turns_without_room_are_summarised(
    reader: Reader, alice: Stored, monkeypatch: pytest.MonkeyPatch
):
    calls: list[tuple[str, str | None]] = []
    monkeypatch.setattr(ReadActivity, "want_summary", lambda _, *each: calls.append(each))
    for turn in range(8):
        alice.say(f"Question {turn}: " + "how is the weather at the old harbour? " * 8,
                  session="now")  # fmt: skip
        alice.say(f"Answer {turn}: fine.", "assistant", session="now")

    def read(budget: int, *others: Source) -> ContextAnswer:
        sources = (Source.CHAT, *others)
        request = ContextRequest(session_id="now", budget_tokens=budget, sources=sources)
        return ContextReader(*reader.parts).run("alice", request)

    assert sections(read(2_000, Source.SUMMARY)) == ["recent"]
    # Without the source `summary` none is requested.
    assert sections(read(400)) == ["summary", "recent"]
    assert calls == []
    answer = read(400, Source.SUMMARY)
    check(reader, answer)
    assert sections(answer) == ["summary", "recent"]
    assert calls == [("alice", "now")]
