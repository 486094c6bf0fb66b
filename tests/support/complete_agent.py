"""An agent with rows in every table that an archive has."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

from memci.commands import erase, framework_storage
from memci.commands.erase import ErasureSelection
from memci.domain.documents import Chunk, ChunkKind
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.parameters import PageRules
from memci.domain.usage import Usage
from memci.message import Remember
from memci.schemas.frameworks import CheckpointIn, ItemIn, ItemsIn, WritesIn
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from memci.storage.usage import Use, add_to_job, add_to_pass
from tests.support.archives import RecordedWakeups
from tests.support.documents import put
from tests.support.mailbox import Mailbox
from tests.support.naming import PagesUnderTest
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders
from tests.support.rebuilding import Rebuilding
from tests.support.tracking import TrackingUnderTest

SORTING = PageRules(active_pages=2)
FADING = MemoryParameters(focus_limit=1, decay_rate=0.4, min_shrink=0)
# In UTC, it is still the day before.
SAID_AT = datetime(2026, 3, 2, 1, 30, 15, 250, tzinfo=timezone(timedelta(hours=5, minutes=45)))
SAID = (
    "The lighthouse keeper counts ships every evening [Grace]",
    "A violin was sold for ninety guineas [Luigi]",
    "灯塔管理员每天傍晚数船 [Grace]",
    'Rain \u2028 fell,\n"twice" \\u0000, on \U0001f327 [Ann]',
)


def complete_agent(database: Database) -> AgentUnderTest:
    """Return an agent with messages in every state, passes, and something in each table."""
    ada = AgentUnderTest(database, parameters=FADING)
    mailbox, bringing = Mailbox(ada), Rebuilding(ada)
    ada.set_parameters({"decay_rate": 0.4, "focus_limit": 1})
    mailbox.append(*SAID, said_at=SAID_AT)
    mailbox.append("secret one [Eve]", "secret two [Eve]", ids=("x1", "x2"))
    mailbox.run()
    # A long message has passages.
    mailbox.append("told in passing [Ann]", "and so was this [Bea]. " * 200, remember=Remember.AUTO)
    mailbox.run()
    bringing.mention("Grace")
    ada.compress(4)
    bringing.mention("Somebody else")
    ada.compress(8)
    _forgotten_and_restored(ada, bringing)
    _erased(ada)
    _edited(ada, bringing)
    _believed(ada)
    _sorted(ada)
    _tracked(ada)
    _summed_up(ada)
    _read(ada)
    _worked_on_by_models(ada)
    dead = mailbox.append("this one kills its job [Ann]")
    mailbox.bury(dead)
    _undeliverable(ada)
    _framed(ada)
    mailbox.append("nobody has read this yet [Zoe]", ids=("last",))
    return ada


def _forgotten_and_restored(ada: AgentUnderTest, bringing: Rebuilding) -> None:
    forgotten = ada.rows(
        "SELECT node_id FROM trail WHERE agent_id = %s AND event = 'forgotten' AND NOT EXISTS"
        " (SELECT FROM trail AS made WHERE made.node_id = trail.node_id"
        "  AND made.details->>'kind' = 'entity') ORDER BY id"
    )
    bringing.restore(forgotten[0].node_id)
    bringing.run()


def _framed(ada: AgentUnderTest) -> None:
    """Add items and threads as programs of a framework write them."""
    put_items = ItemsIn(
        items=(
            ItemIn(namespace=("a", "牧场"), key="k", value={"n": [1, None]}, text="bees"),
            ItemIn(namespace=(), key="short", value={}, ttl_minutes=1e6),
        )
    )
    wakeups: Any = RecordedWakeups()
    framework_storage.put_items(ada.database, wakeups, ada.agent_id, put_items, redact="")
    typed = {"kind": "msgpack", "body": "AP8="}
    checkpoint = {
        "id": "c1",
        "checkpoint": typed,
        "versions": {"messages": "1"},
        "values": [{**typed, "channel": "messages", "version": "1"}],
        "metadata": {"step": 1},
    }
    writes = {
        "checkpoint_id": "c1",
        "task_id": "t1",
        "writes": [{**typed, "place": -1, "channel": "error"}],
    }
    framework_storage.put_checkpoint(
        ada.database, ada.agent_id, "t/1", CheckpointIn.model_validate(checkpoint)
    )
    framework_storage.put_writes(ada.database, ada.agent_id, "t/1", WritesIn.model_validate(writes))


def _erased(ada: AgentUnderTest) -> None:
    wakeups: Any = RecordedWakeups()
    erase.run(
        ada.database,
        PostgresPageStore(ada.database),
        wakeups,
        ada.agent_id,
        ErasureSelection(("x1",)),
    )


def _edited(ada: AgentUnderTest, bringing: Rebuilding) -> None:
    bringing.add("The bridge is closed on Mondays [Ann]", "The ferry is free [Bea]")
    bringing.run()
    bridge, ferry = (node.id for node in ada.nodes("memory")[-2:])
    bringing.edit(bridge, worth=8.5, pinned=False)
    bringing.edit(bridge, text="The bridge is closed on Sundays [Ann]")
    bringing.delete(ferry)
    bringing.run()


def _believed(ada: AgentUnderTest) -> None:
    """Add ended facts and versions as supersession and consolidation write them."""
    node = ada.nodes("memory")[0]
    ada.execute(
        "INSERT INTO ended_fact (agent_id, node_id, replaced_by, told_by, seqs, parts, until)"
        " VALUES (%s, %s, %s, %s, %s, '{I live in Bern}', now())",
        node.id, node.id, node.message_seqs[0], node.message_seqs,
    )  # fmt: skip
    ada.execute(
        "INSERT INTO node_version (agent_id, node_id, replaced_by, reason, content, phrase,"
        " keywords, language, type, message_seqs, said_at, said_offset)"
        " SELECT agent_id, id, id, 'merged', content, phrase, keywords, language, type,"
        " message_seqs, said_at, said_offset FROM node WHERE agent_id = %s AND id = %s",
        node.id,
    )  # fmt: skip
    ada.execute(
        "INSERT INTO session_end (agent_id, session_id, seq) VALUES (%s, 's1', 3)",
    )
    ada.execute(
        "INSERT INTO receipt (agent_id, id, kind, session_id, body, at_seq, seqs, given, nodes)"
        " VALUES (%s, %s, 'context', 's1', '{\"prefix\": [], \"big\": 123456789012345678901.50}',"
        " 3, '{1,2}', '{1}', '{}')",
        uuid4(),
    )  # fmt: skip


def _sorted(ada: AgentUnderTest) -> None:
    """Make archived, removed, moved and written pages, with steps to undo and redo."""
    for number in range(4):
        ada.say(f"Question {number}?", remember="never", session="sorted")
        ada.say(f"Answer {number}.", role="assistant", remember="never", session="sorted")
    ada.say("You are kind.", role="system", remember="never", session="sorted")
    pages = Folders(ada.database, PostgresPageStore(ada.database), rules=SORTING)
    folder = pages.do("create_contents_page", name="Plans", description="计划", parent="usr-0")
    note = pages.note("A plan", 'Count ships\n"twice".', folder)
    pages.do("expand_details", index=note)
    removed = pages.do("create_contents_page", name="Old", parent="usr-0")
    pages.note("An old plan", "数船", removed)
    pages.do("remove_page", index=removed)
    pages.do("pin_page", index=note)
    pages.pin("Count twice")
    pages.pin("每次都数两遍\n两遍")
    pages.do("update_page", index=folder, name="Great plans")
    pages.undo()


def _tracked(ada: AgentUnderTest) -> None:
    """Make pins, removed pins, and a plan that replaces another."""
    ada.say(
        "Never commit to the main branch. 密码不能写进日志。",
        "I need you to write a report.",
        remember="never",
        session="sorted",
    )
    for plan in ("Plan:\n1. Count ships\n2. Write", "- [x] 数船\n- [ ] 写报告", "Step 2 is done."):
        ada.say(plan, role="assistant", remember="never", session="sorted")
    TrackingUnderTest(ada).run()
    PagesUnderTest(ada, SORTING).do("unpin", pin=3)


def _summed_up(ada: AgentUnderTest) -> None:
    """Summarise an open session, and a session of several users for one of them."""
    for session, user, users, text in (
        ("sorted", "", [], "2026-01-01\nuser: Question 0?"),
        ("s1", "", ["ann", "bob"], "灯塔管理员每天傍晚数船"),
        ("s1", "ann", ["ann"], ""),
    ):
        ada.execute(
            "INSERT INTO summary (agent_id, session_id, user_id, users, from_seq, through_seq,"
            " text, tokens, model, counted_seq, counted_tokens)"
            " VALUES (%s, %s, %s, %s, 1, 3, %s, 7, 'offline', 4, 5)",
            session, user, users, text,
        )  # fmt: skip


def _read(ada: AgentUnderTest) -> None:
    """Add an indexed document, and the bytes of one that is not yet indexed."""
    text = Chunk('Count "ships"\n每次都数两遍', ("灯塔", "Rules"))
    code = Chunk("def count(): ...", ("count",), ChunkKind.CODE, "count", "python", 1, 1)
    with ada.database.agent_transaction(ada.agent_id) as connection:
        put(connection, ada.agent_id, "手册/rules.md", [text, code], ada.models)
    ada.execute(
        "INSERT INTO document_body (agent_id, document_id, body)"
        " SELECT agent_id, id, '\\x00ff'::bytea FROM document WHERE agent_id = %s"
    )


def _worked_on_by_models(ada: AgentUnderTest) -> None:
    """Add the usage of language models by a job and by a pass."""
    with ada.database.agent_transaction(ada.agent_id) as connection:
        for table, add, column in (("job", add_to_job, "id"), ("pass_log", add_to_pass, "number")):
            (key,) = ada.rows(f"SELECT max({column}::text) FROM {table} WHERE agent_id = %s")[0]
            for task, cost in (("compress", 0.25), ("annotate", None)):
                usage = Usage(calls=2, prompt_tokens=70, completion_tokens=9, cost=cost)
                add(connection, ada.agent_id, key, Use(task, "some/model"), usage)


def _undeliverable(ada: AgentUnderTest) -> None:
    """Add an invalid message and its dead job."""
    job = uuid4()
    ada.execute(
        "INSERT INTO job (agent_id, id, kind, payload, source, state, last_error)"
        " VALUES (%s, %s, 'unreadable', '{}', 'celery', 'dead', 'not JSON')",
        job,
    )
    ada.execute(
        "INSERT INTO dead_letter (agent_id, job_id, body) VALUES (%s, %s, %s)", job, b"\x00\xff\\x"
    )
