"""Forged rows of archives: invalid values, and rows that contradict others."""

from __future__ import annotations

import json
from random import Random
from typing import Any
from uuid import uuid4

from tests.support.archives import Change, each, first


def logged(event: str, *, seeded: bool = True, **details: Any) -> Change:
    """Add an event that no release writes."""
    job_id = {"job_id": str(uuid4()) if seeded else None}

    def change(rows: list[Any]) -> None:
        job = job_id if "job_id" in rows[0] else {}
        rows.append({**rows[0], **job, "event": event, "details": details})

    return change


AT, JOB = "2026-01-01T00:00:00+00:00", str(uuid4())
VALUES: dict[str, tuple[str, Change]] = {
    "a summary of so many tokens that none counts them": ("summary", first(tokens=2**31)),
    "a summary of users without names": ("summary", first(users=[1])),
    "a line that is not JSON": ("message", lambda rows: rows.append("{")),
    "a line that is not an object": ("message", lambda rows: rows.append("[]")),
    "a column that no table has": ("message", first(agent_id="bob")),
    "a column too few": ("node", lambda rows: rows[0].pop("phrase")),
    "a field given twice": (
        "focus", lambda rows: rows.append('{"node_id": 1, "node_id": 1, "mentioned": 1}')
    ),
    "a number that is none": (
        "focus", lambda rows: rows.append('{"node_id": NaN, "mentioned": 1}')
    ),
    "a seq that is text": ("message", first(seq="1; DROP TABLE message")),
    "a seq below one": ("message", first(seq=0)),
    "a seq that leaves no next one": ("message", first(seq=2**63 - 1)),
    "a truth for a number": ("focus", first(mentioned=True)),
    "a role that nobody has": ("message", first(role="root")),
    "a state that jobs do not have": ("job", first(state="running")),
    "a state that steps do not have": ("plan_step", first(state="paused")),
    "a step of no place": ("plan_step", first(position=0)),
    "an event that does not happen": ("trail", first(event="dreamed")),
    "a strength above one": ("link", first(strength=1.5)),
    "a strength below zero": ("link", first(strength=-0.1)),
    "a time without a zone": ("message", first(said_at="2026-01-01T00:00:00")),
    "a time that is infinite": ("message", first(said_at="infinity")),
    "an id of no length": ("message", first(id="")),
    "a name with U+0000": ("message", first(content="a\u0000b")),
    "a word that no index takes": ("message_term", first(term=Random(1).randbytes(20_000).hex())),
    "half a surrogate pair": ("message", lambda rows: rows.__setitem__(
        0, json.dumps({**rows[0], "content": "\ud800"}))),
    "a vector that is not one": ("message_vector", first(embedding="AAA")),
    "a vector without end": ("message_vector", first(embedding="fAA=")),
    "a vector of no unit length": ("node_vector", first(embedding="ZAA=")),
    "a parameter that is none": ("agent_setting", first(parameters={"decay_rate": 7})),
    "a parameter that nobody knows": ("agent_setting", first(parameters={"speed": 7})),
    "a trail whose messages are text": ("trail", first(details={"messages": ["1"]})),
    "a trail of half a span": ("trail", first(details={"messages": [1], "span": [1]})),
    "a trail of something made of what": ("trail", logged("created", job=JOB)),
    "a trail of something made of nothing": ("trail", logged("created", messages=None)),
    "a trail of a kind that is none": ("trail", logged("created", messages=[1], kind="x")),
    "a trail of a merger of text": ("trail", logged("created", messages=[1], **{"from": ["1"]})),
    "a trail of a job that is none": ("trail", logged("created", messages=[1], job="x")),
    "a trail of a shortening to text": (
        "trail", logged("compressed", to="x", **{"from": 9})),
    "a trail of forgetting for a whim": ("trail", logged("forgotten", reason="whim")),
    "a trail of a tier that is none": (
        "trail", logged("forgotten", reason="slot", tier="high")),
    "a trail of restoring as text": ("trail", logged("restored", job=JOB, **{"as": "1"})),
    "a trail of restoring by nobody": ("trail", logged("restored", **{"as": 1})),
    "a trail of a merger into text": ("trail", logged("merged", into="1")),
    "a trail of a promotion for nothing": ("trail", logged("promoted", reason=None)),
    "a trail of being superseded by text": ("trail", logged("superseded", by="1")),
    "a trail of a correction by text": ("trail", logged("corrected", seq="1")),
    "a trail of an edit to a type that is none": ("trail", logged("edited", type="lie")),
    "a log of an edit of nothing": ("replay_log", logged("edited")),
    "a log of an edit of too much worth": ("replay_log", logged("edited", set={"worth": 11})),
    "half a part that reads do not show": ("message", first(withheld=[0, 3, 5])),
    "parts out of order that reads do not show": ("message", first(withheld=[5, 3])),
    "a trail of a use by no receipt": ("trail", logged("used", receipts=["x"], times=1)),
    "a log of a mention of nobody": ("replay_log", logged("mentioned")),
    "a log of a mention of a blank": ("replay_log", logged("mentioned", entity=" ")),
    "a log of a mention without end": ("replay_log", logged("mentioned", entity="x" * 9_999)),
    "a log of a mention by no job": ("replay_log", logged("mentioned", seeded=False, entity="x")),
    "a log of a creation by no job": ("replay_log", logged("created", seeded=False)),
    "a log of a refusal for a whim": ("replay_log", logged("created", refused={"1": "whim"})),
    "a log of a refusal of text": ("replay_log", logged("created", refused={"x": "trivial"})),
    "a log of restoring nothing": ("replay_log", logged("restored", node=1)),
    "a log of restoring no node": ("replay_log", logged("restored", seqs=[1])),
    "a log of consolidating at no time": (
        "replay_log", logged("consolidated", settled=[], groups=1)),
    "a log of consolidating any day": (
        "replay_log", logged("consolidated", at="2026-01-01", settled=[], groups=1)),
    "a log of consolidating what": ("replay_log", logged("consolidated", at=AT, groups=1)),
    "a log of consolidating how much": ("replay_log", logged("consolidated", at=AT, settled=[])),
    "a log of settling two thirds": (
        "replay_log", logged("consolidated", at=AT, settled=[[[1], []]], groups=1)),
    "a log of settling for a whim": (
        "replay_log", logged("consolidated", at=AT, settled=[[[1], [], "whim"]], groups=1)),
    "a log of settling no messages": (
        "replay_log", logged("consolidated", at=AT, settled=[[None, [], None]], groups=1)),
    "a trail of parts of no message": ("trail", first(details={"messages": [1], "parts": [{}]})),
    "a job of parts that quote text": (
        "job", first(payload={"seqs": [1], "parts": [{"seqs": [1], "quoted": ["1"]}]})),
    "a job that took no model": ("job", each(models=[{"calls": 1}])),
    "a job that took models without a list": ("job", each(models={})),
    "a pass that took what no model takes": (
        "pass_log", each(models=[{"task": "compress", "model": "m", "wishes": 3}])),
    "a job whose messages are text": ("job", first(payload={"seqs": ["x"]})),
    "a tombstone of another hash": ("erased_message", first(digest="\\xab")),
    "a place in a pass of text": (
        "lane", first(compress_cursor={"pass": 1, "req": 1, "mute": "x"})),
    "a place in a pass that is none": ("lane", first(compress_cursor={"retry_at": "soon"})),
    "a log whose messages are text": ("replay_log", first(details={"wanted": ["1"]})),
    "a receipt of no prefix": ("receipt", first(body={"prefix": [1]})),
    "a document of no name": ("document", first(name="a\nb")),
    "a document in no state": ("document", first(state="lost")),
    "a chunk of no kind": ("chunk", first(kind="poem")),
    "bytes in no hexadecimal digits": ("dead_letter", first(body="\\xzz")),
    "an item kept at no time": ("item", first(created_at="soon")),
    "a checkpoint whose body is no bytes": ("checkpoint", first(body="\\xzz")),
    "a value of a channel that is no bytes": ("checkpoint_value", first(body="\\xzz")),
    "a write at a place that is none": ("checkpoint_write", first(place="x")),
    "nesting without bottom": ("job", lambda rows: rows.append('{"a":' * 99_999 + "}" * 99_999)),
}  # fmt: skip
CONTRADICTIONS: dict[str, tuple[str, Change]] = {
    "two messages with one seq": ("message", lambda rows: rows.append({**rows[0], "id": "other"})),
    "two messages with one id": ("message", lambda rows: rows.append({**rows[0], "seq": 2})),
    "a pin of a message that is missing": ("pin", each(message_seq=999, text="")),
    "a pin of a message with words of its own": ("pin", each(message_seq=1)),
    "a pin without words": ("pin", first(text="")),
    "a pin of a part that is none": ("pin", each(span_start=5, span_end=5)),
    "a pin of a part of no message": ("pin", first(span_start=1, span_end=5)),
    "a plan that no message made": ("plan", each(made_seq=999)),
    "a step of no plan": ("plan_step", each(made_seq=1)),
    "a step that nobody has said": ("plan_step", first(said_seq=999)),
    "a step that ends with what was never said": ("plan_step", each(last_seq=2**40)),
    "a look at what was never said": ("tracking", first(seq=2**40)),
    "a message above all seqs": ("message", lambda rows: rows[-1].update(seq=1000)),
    "a message that is missing": ("message", lambda rows: rows.pop()),
    "a node above all ids": ("node", lambda rows: rows[-1].update(id=9999)),
    "a node made of no message": ("node", each(message_seqs=[])),
    "a node of a message that is missing": ("node", each(message_seqs=[1, 999])),
    "an entity of messages to come": (
        "node",
        lambda rows: [row.update(message_seqs=[999]) for row in rows if row["kind"] == "entity"],
    ),
    "a node scanned in a pass to come": ("node", first(last_pass=999)),
    "a memory with the key of an entity": ("node", each(entity_key="x", kind="memory")),
    "two nodes in one slot": ("node", each(slot=1)),
    "a link of no node": ("link", first(source=999)),
    "a link to a node that never was": ("link", first(target=999)),
    "a focus that is no node": ("focus", first(node_id=999)),
    "a document that nobody counts": (
        "document",
        lambda rows: rows.append({**rows[0], "id": 1, "name": "other.md"}),
    ),
    "a document above all ids": ("document", first(id=99)),
    "the bytes of no document": ("document_body", first(document_id=99)),
    "a chunk of no document": ("chunk", first(document_id=99)),
    "a chunk that is gone": ("chunk", lambda rows: rows.pop()),
    "a vector of no chunk": ("chunk_vector", first(chunk_id=99)),
    "a posting that nobody counts": ("chunk_term", lambda rows: rows.clear()),
    "an ended fact of a node to come": ("ended_fact", first(node_id=999)),
    "a posting of no message": ("message_term", first(seq=999)),
    "a posting of no node": ("node_term", first(node_id=999)),
    "a vector of no message": ("message_vector", first(seq=999)),
    "tokens of no message": ("message_tokens", first(seq=999)),
    "a passage of no message": ("message_passage", first(seq=999)),
    "a vector of another dimension": ("node_vector", first(embedding="AAA=")),
    "postings that were not counted": ("lane", first(indexed_terms=0)),
    "erased messages that were not counted": ("lane", first(erased_messages=0)),
    "no lane": ("lane", lambda rows: rows.clear()),
    "two settings": ("agent_setting", lambda rows: rows.append(rows[0])),
    "two lanes": ("lane", lambda rows: rows.append(rows[0])),
    "a lane halted by no job": ("lane", first(halted_by=str(uuid4()))),
    "a pass under way that never began": ("lane", first(compress_cursor={"pass": 99, "req": 1})),
    "a dead letter of no job": ("dead_letter", first(job_id=str(uuid4()))),
    "a job that ends before it begins": ("job", first(first_seq=2, last_seq=1)),
    "a job for messages to come": ("job", first(first_seq=1, last_seq=999)),
    "a version of a message that is missing": ("node_version", first(message_seqs=[999])),
    "a session that ends later": ("session_end", first(seq=999)),
    "a summary of what is to be said": ("summary", first(through_seq=999)),
    "a summary that has counted what is to be said": ("summary", first(counted_seq=999)),
    "a summary that ends before it begins": ("summary", first(from_seq=4)),
    "a snapshot with a list too short": ("pass_snapshot", first(lengths=[])),
    "a pass to come": ("pass_log", first(number=999)),
    "an erased message that is there": (
        "erased_message",
        # SHA-256 of "last".
        first(digest="\\x3547cb112ac4489af2310c0626cdba6f3097a2ad5a3b42ddd3b59c76c7a079a3"),
    ),
}
