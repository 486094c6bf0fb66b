"""An agent with any history can be moved, and then has the same windows.

Each example is an agent and its copy in one database.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.commands import erase
from memci.commands.erase import ErasureSelection
from memci.commands.tools.tools import parse_tool_request
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.errors import ConflictError, InvalidInputError, NotFoundError, RefusedError
from memci.message import note_metadata
from memci.storage.page_store.postgres import PostgresPageStore
from memci.storage.session import Database
from tests.support.archives import RecordedWakeups, export_agent, import_agent
from tests.support.databases import Databases
from tests.support.examples import examples
from tests.support.naming import PagesUnderTest
from tests.support.network import AgentUnderTest
from tests.support.page_folders import Folders

RULES = PageRules(active_pages=2, archive_unused=3, archive_unrecalled=4)
TEXTS = ("When does it sail?", "At eight, from pier 4.", "明天早上八点坐渡轮去香港。", "-" * 300,
         "=" * 300, "# [usr-0] root", "a\u2028b\x85c", "哈" * 90, "z" * 300, " ")  # fmt: skip
SESSIONS, USERS = ("s1", "s2", None), ("anna", "bob", None)


@dataclass
class World:
    """An agent and the steps of its history. Refused steps are skipped."""

    ada: AgentUnderTest
    texts: PostgresPageStore

    def __post_init__(self) -> None:
        self.ada.execute("UPDATE lane SET written_at = now() WHERE agent_id = %s")
        self.folders = self.of(self.ada.agent_id)
        self.naming = PagesUnderTest(self.ada, RULES)

    def of(self, agent_id: str) -> Folders:
        return Folders(self.ada.database, self.texts, agent_id=agent_id, rules=RULES)

    def say(self, role: str, text: str, session: str | None, user: str | None) -> None:
        self.ada.say(text, role=role, session=session, user=user, remember="never")

    def note(self, text: str, session: str | None, user: str | None) -> None:
        self.ada.say(
            text, role="assistant", session=session, user=user, remember="never",
            metadata=note_metadata(None),
        )  # fmt: skip

    def name(self) -> None:
        self.naming.run()

    def forget(self, places: set[int]) -> None:
        ids = [row.id for row in self.ada.rows("SELECT id FROM message WHERE agent_id = %s")]
        self._erase([ids[place % len(ids)] for place in places] if ids else [], [])

    def forget_page(self, place: int) -> None:
        self._erase([], [self.page(place)])

    def do(self, actor: Actor, verb: str, of: dict[str, int], values: dict[str, Any]) -> None:
        """Run a tool. ``of`` has the arguments that are pages, by place."""
        named = {name: self.page(place) for name, place in of.items()}
        request = parse_tool_request(verb, {**named, **values}, actor)
        self.folders.commands.run(self.ada.agent_id, actor, [request])

    def page(self, place: int) -> str:
        rows = self.ada.rows("SELECT id FROM page WHERE agent_id = %s ORDER BY place, id")
        return str(rows[place % len(rows)].id) if rows else "usr-0"

    def _erase(self, ids: list[str], pages: list[str]) -> None:
        wakeups: Any = RecordedWakeups()
        selection = ErasureSelection(ids, None, pages)
        erase.run_on_pages(self.folders.commands, wakeups, self.ada.agent_id, selection)


# A method of World and its arguments.
Step: TypeAlias = tuple[str, tuple[Any, ...]]
_places = st.integers(0, 30)
_texts, _sessions, _users = map(st.sampled_from, (TEXTS, SESSIONS, USERS))
_words = _texts.map(lambda text: text[:200])
_roles = st.sampled_from(["user", "assistant", "user", "assistant", "tool", "system"])


def _step(name: str, *values: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(st.just(name), st.tuples(*values))


def _tool_call(verb: str, *of: str, **values: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    places = st.fixed_dictionaries(dict.fromkeys(of, _places))
    given_ = st.fixed_dictionaries(values)
    return _step("do", st.sampled_from(Actor), st.just(verb), places, given_)


_messages = _step("say", _roles, _texts, _sessions, _users)
_page_changes = st.one_of(
    _tool_call("create_detail_page", "parent", name=_words, description=_words, detail=_texts),
    _tool_call("create_contents_page", "parent", name=_words),
    _tool_call("move_page", "source", "target"),
    _tool_call("update_page", "index", name=_words, description=_words),
    *(_tool_call(verb, "index") for verb in ("expand_details", "hide_details", "remove_page",
                                      "recall_page", "pin_page", "unpin_page")),
    _tool_call("restore_page", "index", "parent"),
    _tool_call("create_segment", id=st.sampled_from(["law", "plan"]), name=_words),
    _tool_call("pin", text=_texts),
    _tool_call("undo"),
    _tool_call("redo"),
)  # fmt: skip
_steps = st.one_of(
    _messages, _messages, _messages, _page_changes, _page_changes,
    _step("note", _texts, _sessions, _users),
    _step("name"),
    _step("forget", st.sets(_places, min_size=1, max_size=3)),
    _step("forget_page", _places),
)  # fmt: skip
_numbers = count()


@pytest.fixture(scope="module")
def database(databases: Databases) -> Iterator[Database]:
    with databases.lend() as url, closing(Database(url)) as opened:
        yield opened


@pytest.mark.timeout(600)  # a failure is shrunk for five minutes
@given(steps=st.lists(_steps, min_size=5, max_size=25))
@settings(max_examples=examples(30))
def test_an_agent_with_any_history_can_be_moved(database: Database, steps: list[Step]) -> None:
    number = next(_numbers)
    world = World(AgentUnderTest(database, f"ada-{number}"), PostgresPageStore(database))
    for name, values in steps:
        with suppress(RefusedError, NotFoundError, ConflictError, InvalidInputError):
            getattr(world, name)(*values)
    world.say("user", "And now?", "s1", None)
    world.folders.note("A plan", "Count ships")
    import_agent(database, export_agent(database, world.ada.agent_id), f"bea-{number}")
    for session in SESSIONS:
        source, copy = (each.shown(session) for each in (world.folders, world.of(f"bea-{number}")))
        assert copy == source
