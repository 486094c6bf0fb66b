"""Real LangGraph graphs on memci: they continue, show history, branch and wait for people."""

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


def thread(name: str, **fields: str) -> Any:
    return {"configurable": {"thread_id": name, **fields}}


def echo_graph(agent: Agent) -> Any:
    """Return a graph that answers, and stores each question."""

    def answer(state: MessagesState, runtime: Runtime) -> dict[str, list[AnyMessage]]:
        question = state["messages"][-1]
        assert runtime.store is not None
        runtime.store.put(("asked",), question.id or "", {"text": question.content})
        known = len(runtime.store.search(("asked",)))
        return {"messages": [AIMessage(f"{known}: {question.content}")]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=MemciSaver(agent), store=MemciStore(agent))


def texts(state: Any) -> list[str]:
    return [each.content for each in state["messages"]]


def test_a_thread_continues_in_another_process(server: Served, agent: Agent):
    echo_graph(agent).invoke({"messages": [HumanMessage("你好")]}, thread("t/1"))
    with Memci(server.url) as memci:
        graph = echo_graph(memci.agent("alice"))
        state = graph.invoke({"messages": [HumanMessage("Again")]}, thread("t/1"))
        assert texts(state) == ["你好", "1: 你好", "Again", "2: Again"]
        other = graph.invoke({"messages": [HumanMessage("Else")]}, thread("t2"))
        assert texts(other) == ["Else", "3: Else"]


def test_a_thread_has_a_history_and_branches(agent: Agent):
    graph = echo_graph(agent)
    for text in ("One", "Two", "Three"):
        graph.invoke({"messages": [HumanMessage(text)]}, thread("t"))
    history = list(graph.get_state_history(thread("t")))
    assert [len(each.values.get("messages", ())) for each in history[::3]] == [6, 4, 2]
    after_one = next(each for each in history if texts(each.values) == ["One", "1: One"])
    branch = graph.invoke({"messages": [HumanMessage("Other")]}, after_one.config)
    assert texts(branch) == ["One", "1: One", "Other", "4: Other"]
    # The branch is current, and the states after its origin are still there.
    assert texts(graph.get_state(thread("t")).values) == texts(branch)
    assert texts(graph.get_state(history[0].config).values)[-1] == "3: Three"


def test_a_graph_waits_for_a_person_and_continues(server: Served, agent: Agent):
    def ask(state: Counting) -> dict[str, list[int]]:
        return {"numbers": [interrupt({"question": "多少？"})]}

    def build(agent: Agent) -> Any:
        graph = StateGraph(Counting)
        graph.add_node("ask", ask)
        graph.add_edge(START, "ask")
        return graph.compile(checkpointer=MemciSaver(agent))

    stopped = build(agent).invoke({"numbers": [1]}, thread("t"))
    assert stopped["__interrupt__"][0].value == {"question": "多少？"}
    with Memci(server.url) as memci:
        assert build(memci.agent("alice")).invoke(Command(resume=7), thread("t")) == {
            "numbers": [1, 7]
        }


def test_a_node_that_succeeded_next_to_a_failed_one_runs_once(agent: Agent):
    runs: list[str] = []

    def good(state: Counting) -> dict[str, list[int]]:
        runs.append("good")
        return {"numbers": [2]}

    def bad(state: Counting) -> dict[str, list[int]]:
        runs.append("bad")
        if runs.count("bad") == 1:
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
    assert runs.count("good") == 1


def test_a_graph_on_asyncio(agent: Agent):
    async def run() -> list[str]:
        graph = echo_graph(agent)
        await graph.ainvoke({"messages": [HumanMessage("One")]}, thread("t"))
        state = await graph.ainvoke({"messages": [HumanMessage("Two")]}, thread("t"))
        assert len([each async for each in graph.aget_state_history(thread("t"))]) == 6
        return texts(state)

    assert asyncio.run(run()) == ["One", "1: One", "Two", "2: Two"]


def test_an_unchanged_channel_value_is_stored_once(server: Served, agent: Agent):
    """Further steps of the thread do not write it again."""

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


def test_an_erased_session_erases_its_thread(server: Served, agent: Agent):
    graph = echo_graph(agent)
    for name in ("s1", "s2"):
        graph.invoke({"messages": [HumanMessage("Secret")]}, thread(name))
        agent.record([{"role": "user", "content": "Secret"}], session_id=name)
    agent.erase(session_id="s1")
    assert graph.get_state(thread("s1")).values == {}
    assert graph.get_state(thread("s2")).values != {}
    agent.erase_agent()
    assert list(graph.get_state_history(thread("s2"))) == []


def test_checkpoints_that_delta_channels_need_are_not_pruned(agent: Agent):
    saver = MemciSaver(agent)
    graph = echo_graph(agent)
    graph.invoke({"messages": [HumanMessage("One")]}, thread("t"))
    latest = saver.get_tuple(thread("t"))
    assert latest is not None
    metadata: Any = {**latest.metadata, "counters_since_delta_snapshot": {"messages": [1, 1]}}
    saver.put(latest.config, {**latest.checkpoint, "id": "f" * 36}, metadata, {})
    with pytest.raises(ConflictError, match="delta channels"):
        saver.prune(["t"])
    saver.prune(["t"], strategy="delete")
    assert saver.get_tuple(thread("t")) is None
    with pytest.raises(ValueError, match="unknown strategy"):
        saver.prune(["t"], strategy="other")
