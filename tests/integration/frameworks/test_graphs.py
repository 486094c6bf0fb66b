"""Real graphs of LangGraph on memci: they go on, look back, branch off and wait for people."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from memci import Memci
from memci.client import Agent
from memci.errors import ConflictError
from memci.integrations.langgraph import MemciSaver, MemciStore
from tests.integration.http.serving import Served


class Counting(TypedDict):
    numbers: Annotated[list[int], operator.add]


def thread(name: str, **more: str) -> Any:
    return {"configurable": {"thread_id": name, **more}}


def echoing(agent: Agent) -> Any:
    """A graph that answers, and notes in the store what it was asked."""

    def answer(state: MessagesState, runtime: Runtime) -> dict[str, list[AnyMessage]]:
        asked = state["messages"][-1]
        assert runtime.store is not None
        runtime.store.put(("asked",), asked.id or "", {"text": asked.content})
        known = len(runtime.store.search(("asked",)))
        return {"messages": [AIMessage(f"{known}: {asked.content}")]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=MemciSaver(agent), store=MemciStore(agent))


def texts(state: Any) -> list[str]:
    return [each.content for each in state["messages"]]


def test_a_thread_goes_on_in_another_process(server: Served, agent: Agent):
    echoing(agent).invoke({"messages": [HumanMessage("你好")]}, thread("t/1"))
    with Memci(server.url) as memci:
        graph = echoing(memci.agent("alice"))
        state = graph.invoke({"messages": [HumanMessage("Again")]}, thread("t/1"))
        assert texts(state) == ["你好", "1: 你好", "Again", "2: Again"]
        other = graph.invoke({"messages": [HumanMessage("Else")]}, thread("t2"))
        assert texts(other) == ["Else", "3: Else"]


def test_a_thread_can_be_looked_back_on_and_branched_off(agent: Agent):
    graph = echoing(agent)
    for text in ("One", "Two", "Three"):
        graph.invoke({"messages": [HumanMessage(text)]}, thread("t"))
    history = list(graph.get_state_history(thread("t")))
    assert [len(each.values.get("messages", ())) for each in history[::3]] == [6, 4, 2]
    after_one = next(each for each in history if texts(each.values) == ["One", "1: One"])
    branch = graph.invoke({"messages": [HumanMessage("Other")]}, after_one.config)
    assert texts(branch) == ["One", "1: One", "Other", "4: Other"]
    # The branch goes on, and what it left is still there.
    assert texts(graph.get_state(thread("t")).values) == texts(branch)
    assert texts(graph.get_state(history[0].config).values)[-1] == "3: Three"


def test_a_graph_waits_for_a_person_and_goes_on(server: Served, agent: Agent):
    def ask(state: Counting) -> dict[str, list[int]]:
        return {"numbers": [interrupt({"question": "多少？"})]}

    def build(of: Agent) -> Any:
        graph = StateGraph(Counting)
        graph.add_node("ask", ask)
        graph.add_edge(START, "ask")
        return graph.compile(checkpointer=MemciSaver(of))

    stopped = build(agent).invoke({"numbers": [1]}, thread("t"))
    assert stopped["__interrupt__"][0].value == {"question": "多少？"}
    with Memci(server.url) as memci:
        assert build(memci.agent("alice")).invoke(Command(resume=7), thread("t")) == {
            "numbers": [1, 7]
        }


def test_what_succeeded_beside_a_failure_is_not_done_twice(agent: Agent):
    done: list[str] = []

    def good(state: Counting) -> dict[str, list[int]]:
        done.append("good")
        return {"numbers": [2]}

    def bad(state: Counting) -> dict[str, list[int]]:
        done.append("bad")
        if done.count("bad") == 1:
            raise RuntimeError("once")
        return {"numbers": [3]}

    graph: Any = StateGraph(Counting)
    graph.add_node("good", good)
    graph.add_node("bad", bad)
    graph.add_edge(START, "good")
    graph.add_edge(START, "bad")
    built = graph.compile(checkpointer=MemciSaver(agent))
    with pytest.raises(RuntimeError, match="once"):
        built.invoke({"numbers": [1]}, thread("t"))
    assert sorted(built.invoke(None, thread("t"))["numbers"]) == [1, 2, 3]
    assert done.count("good") == 1


def test_a_graph_on_asyncio(agent: Agent):
    async def run() -> list[str]:
        graph = echoing(agent)
        await graph.ainvoke({"messages": [HumanMessage("One")]}, thread("t"))
        state = await graph.ainvoke({"messages": [HumanMessage("Two")]}, thread("t"))
        assert len([each async for each in graph.aget_state_history(thread("t"))]) == 6
        return texts(state)

    assert asyncio.run(run()) == ["One", "1: One", "Two", "2: Two"]


def test_of_a_channel_a_value_is_stored_once(server: Served, agent: Agent):
    """However long a thread is: what did not change is not written again."""

    class State(TypedDict):
        large: str
        number: int

    graph: Any = StateGraph(State)
    graph.add_node("count", lambda state: {"number": state.get("number", 0) + 1})
    graph.add_edge(START, "count")
    built = graph.compile(checkpointer=MemciSaver(agent))
    built.invoke({"large": "x" * 10_000}, thread("t"))
    for _ in range(5):
        built.invoke({"number": 0}, thread("t"))
    with server.runtime.database.agent_snapshot("alice") as connection:
        statement = "SELECT count(*) FROM checkpoint_value WHERE channel = 'large'"
        assert connection.exec_driver_sql(statement).scalar_one() == 1
    assert built.get_state(thread("t")).values["large"] == "x" * 10_000


def test_a_session_that_is_erased_takes_its_thread_along(server: Served, agent: Agent):
    graph = echoing(agent)
    for name in ("s1", "s2"):
        graph.invoke({"messages": [HumanMessage("Secret")]}, thread(name))
        agent.record([{"role": "user", "content": "Secret"}], session_id=name)
    agent.erase(session_id="s1")
    assert graph.get_state(thread("s1")).values == {}
    assert graph.get_state(thread("s2")).values != {}
    agent.erase_agent()
    assert list(graph.get_state_history(thread("s2"))) == []


def test_what_delta_channels_need_is_not_pruned(agent: Agent):
    saver = MemciSaver(agent)
    graph = echoing(agent)
    graph.invoke({"messages": [HumanMessage("One")]}, thread("t"))
    latest = saver.get_tuple(thread("t"))
    assert latest is not None
    told: Any = {**latest.metadata, "counters_since_delta_snapshot": {"messages": [1, 1]}}
    saver.put(latest.config, {**latest.checkpoint, "id": "f" * 36}, told, {})
    with pytest.raises(ConflictError, match="delta channels"):
        saver.prune(["t"])
    saver.prune(["t"], strategy="delete")
    assert saver.get_tuple(thread("t")) is None
    with pytest.raises(ValueError, match="unknown strategy"):
        saver.prune(["t"], strategy="other")
