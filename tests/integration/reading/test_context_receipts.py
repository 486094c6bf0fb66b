"""Receipts of contexts name items that were taken, shortened and left out (R16)."""

from __future__ import annotations

import json
from typing import Any

from memci.reading.lists.listings import Listings
from tests.support.lists import assemble, check, text_of
from tests.support.stored import Reader, Stored


class TestReceipt:
    def test_it_stores_numbers_and_ids_and_no_texts(self, reader: Reader, talk: Stored):
        answer = assemble(reader, "When does the ferry leave?", session_id="now", budget=90)
        receipt = Listings(reader.database).receipt("alice", answer.receipt_id)
        assert receipt.kind == "context"
        body = receipt.body
        assert (body["tokens"], body["budget_tokens"]) == (answer.tokens, 90)
        items: Any = body["items"]
        assert [each["message_ids"] for each in items] == [
            item.message_ids for item in answer.items
        ]
        assert any(each.get("ranks") for each in items)
        left_out: Any = body["left_out"]
        assert {each["why"] for each in left_out} <= {"budget", "present", "trivial"}
        assert "ferry" not in json.dumps(body)

    def test_the_stable_prefix_is_shared_with_the_previous_context_of_the_session(
        self, reader: Reader, talk: Stored
    ):
        system = "Be brief. 简短。"
        first = assemble(reader, "When?", system=system, session_id="now", sources=["chat"])
        assert first.stable_prefix == 0
        same = assemble(reader, "When?", system=system, session_id="now", sources=["chat"])
        assert same.stable_prefix == len("".join(map(text_of, same.messages)).encode())
        assert assemble(reader, "When?", system=system, session_id="old").stable_prefix == 0
        talk.say("More.", session="now")
        more = assemble(reader, "When?", system=system, session_id="now", sources=["chat"])
        assert more.stable_prefix >= len(system.encode())
        assert more.stable_prefix < same.stable_prefix
        changed = assemble(reader, "When?", system="Other.", session_id="now")
        assert changed.stable_prefix == 0


def test_a_receipt_names_the_shortened_items(reader: Reader, alice: Stored):
    for each in range(9):
        alice.say(
            f"Thanks! The ferry number {each} to Bergen leaves from quay {each} every day. "
            "We had such a good time there and the weather was so nice as it is in summer. "
            "It was good to see all of them again after such a long time, I have to say. "
            "We ate waffles with brown cheese, and my sister took far too many pictures of gulls. "
            "Next time we want to stay for a whole week and rent a small boat of our own.",
            session=f"old{each}",
        )
    for budget in range(200, 420, 20):
        answer = assemble(reader, "Which ferry goes to Bergen?", budget=budget)
        check(reader, answer)
        body = Listings(reader.database).receipt("alice", answer.receipt_id).body
        items: Any = body["items"]
        shortened = [each["shortened"] for each in items if each["section"] == "history"]
        if any(shortened):
            break
    assert any(shortened)
    assert not all(shortened)
