"""The example agent: 300 interactions with a model of 6,000 tokens; no message is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Any

import httpx
import pytest

from examples import agent as example
from memci.testing import wait_until
from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served
from tests.support.fleet import Fleet
from tests.support.model_server import ModelServer, calls, model_server, says
from tests.support.scripted_agent import scripted_agent, sent_tokens

BUDGET = 6_000
TURNS = 300
KILLED, COMPARED = 70, 90  # turns
_PLACES = ("the harbour", "an old mill", "a quiet square", "the second bridge")


def thing(turn: int) -> str:
    return f"kestrel-{turn:03}"


def code(turn: int) -> str:
    return str(7_919 * (turn + 1) % 100_000)


def question(turn: int) -> str:
    """The user's text in a turn, from 0: a new fact, or a question about an old one."""
    place = _PLACES[turn % 4]
    texts = {
        4: f"note: Lesson {turn}: what is near {place} is hard to find.",
        7: f"file: {'Cabinet' if turn % 50 == 47 else 'Shelf'} {turn}",
        8: "hide: " + ("once", "by mistake", "after all")[turn // 10 % 3],
    }
    if turn > 20:
        texts[3] = f"ask: {thing(turn - 13)}"  # the Contents Page lists it
    if turn > 90:
        texts[9] = f"ask: {thing(turn // 10 - 9)}" if is_fact(turn // 10 - 9) else "hide: once"
    if turn % 50 == 45:
        texts[5] = "tidy: 2500"
    return texts.get(turn % 10, fact(turn))


def is_fact(turn: int) -> bool:
    return question(turn).startswith("log")


def fact(turn: int) -> str:
    """A short or a long fact."""
    it, place = thing(turn), _PLACES[turn % 4]
    more = f"{it} was seen near {place} on day {turn}, and again two days later, in good light. "
    long = 30 if turn % 20 == 6 else 12
    return f"log: {it} is kept near {place}. {more * long}{it} has the code {code(turn)}."


@dataclass
class Run:
    """One agent's interactions and their results."""

    agent: str
    server: Served
    client: httpx.Client  # shared: each new client reads the certificate authorities
    turns: int = TURNS
    rounds: list[example.Round] = field(default_factory=list)
    answers: dict[int, str] = field(default_factory=dict)
    state: Any = None  # the result of see_all in turn COMPARED

    def go(self, model: ModelServer, before_window: Callable[[int], None]) -> None:
        """Have the conversation; the lane is empty whenever the agent reads its window."""

        def drain(request: httpx.Request) -> None:
            if request.url.path.endswith("/window"):
                before_window(len(self.answers))
                self.wait_drained()

        with (
            httpx.Client(base_url=self.server.url, event_hooks={"request": [drain]}) as memci,
            httpx.Client(base_url=model.url) as client,
        ):
            agent = example.Agent(self.agent, memci, client, "scripted", BUDGET)
            for turn in range(self.turns):
                rounds = list(agent.turn(question(turn)))
                self.rounds += rounds
                self.answers[turn] = rounds[-1].answer
                if turn + 1 == COMPARED:
                    self.state = self.see_all()

    def see_all(self) -> Any:
        """Return the windows, the page tree, and all pages with their texts."""
        self.wait_drained()
        windows = [self.get("/window", format=form) for form in ("markdown", "native")]
        return windows, self.get("/pages"), self.pages(), list(self.rounds)

    def wait_drained(self) -> None:
        wait_until(
            lambda: not self.get("")["queued"], f"lane of {self.agent} is empty", timeout_s=40
        )

    def get(self, path: str, **query: Any) -> Any:
        return self._get(path, **query).raise_for_status().json()

    def _get(self, path: str, **query: Any) -> httpx.Response:
        return self.client.get(f"/v1/agents/{self.agent}{path}", params=query)

    def pages(self) -> list[Any]:
        """Return all pages with their texts, archived and removed ones too."""
        answers = (self._get(f"/pages/usr-{number}") for number in count(1))
        return [each.json() for each in takewhile(lambda each: each.is_success, answers)]

    def used(self, tool: str) -> int:
        return sum(each.used.count(tool) for each in self.rounds)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_example_loses_no_message_and_keeps_its_budget(serve: Serve, fleet: Fleet) -> None:
    fleet.app = "tests.support.summing_worker_app"
    lane = fleet.start("memci.lane", ready=False)
    fleet.start("memci.upkeep", ready=False)
    fleet.start_beat()
    lane.wait_ready()
    server = serve()

    def kill(turn: int) -> None:
        """Kill the worker once, when it has just got a job, and start another."""
        if turn == KILLED and lane.process.poll() is None:
            lane.kill()
            fleet.start("memci.lane", ready=False)

    with model_server() as model, httpx.Client(base_url=server.url, timeout=40) as client:
        whole = Run("whole", server, client)
        quiet = Run("quiet", server, client, turns=COMPARED)
        model.rest = scripted_agent
        quiet.go(model, lambda _: None)
        model.requests.clear()
        whole.go(model, kill)
        _check_budget(whole, model)
        _check_nothing_is_lost(whole)
    assert lane.process.poll() is not None
    assert whole.state == quiet.state
    _check_work(whole)


def test_a_question_that_is_too_long_is_not_answered_and_the_next_one_is(serve: Serve) -> None:
    used: list[str] = []

    def record_tool(request: httpx.Request) -> None:
        if "/tools/" in request.url.path:
            used.append(f"{request.url.path.rpartition('/')[2]} {request.url.params['format']}")

    server = serve()
    with (
        model_server() as model,
        httpx.Client(base_url=server.url, event_hooks={"request": [record_tool]}) as memci,
        httpx.Client(base_url=model.url) as client,
    ):
        agent = example.Agent("long", memci, client, "scripted", BUDGET)
        with pytest.raises(example.NoRoomError, match=r"[45]\d\d\d tokens over the budget"):
            list(agent.turn("word " * 8_000))
        assert model.requests == []
        model.script += [
            says("Hello."),
            calls("expand_details", index="usr-1"),
            says("That was too long."),
        ]
        (hello,) = agent.turn("Hello?")
        assert (hello.answer, hello.collapsed) == ("Hello.", ["usr-1"])
        *_, last = agent.turn("What did I say first?")
        assert last.answer == "That was too long."
        result = model.requests[-1].body["messages"][-1]
        assert result["content"].startswith("refused: usr-1 does not fit")
        assert used == ["expand_details native"]
        assert max(sent_tokens(each.body) for each in model.requests) <= BUDGET
    contents = server.messages("long")
    assert contents[1] is not None
    assert contents[1].startswith("(Not answered: too long")


def _check_budget(run: Run, model: ModelServer) -> None:
    """The requests that arrived keep the budget; their sizes are those that the agent reports."""
    arrived = [sent_tokens(each.body) for each in model.requests]
    assert max(arrived) <= BUDGET
    assert arrived == [each.tokens for each in run.rounds]


def _check_work(run: Run) -> None:
    """Questions about old facts were answered, and the tools for them were used often."""
    asked = {turn: question(turn) for turn in range(TURNS) if question(turn).startswith("ask")}
    assert len(asked) > 40
    assert {turn: run.answers[turn] for turn in asked} == {
        turn: code(int(each.rpartition("-")[2])) for turn, each in asked.items()
    }
    assert sum(len(each.recalled) for each in run.rounds) >= 15
    assert sum(bool(each.collapsed) for each in run.rounds) >= 100
    for tool, least in {
        "restore_page": 5,
        "create_contents_page": 30,
        "undo": 15,
        "redo": 5,
    }.items():
        assert run.used(tool) >= least, tool


def _check_nothing_is_lost(run: Run) -> None:
    """Every message is on exactly one page: in the window, archived or removed."""
    pages = run.pages()
    spans = sorted(
        (each["page"]["first_seq"], each["page"]["last_seq"])
        for each in pages
        if each["page"]["first_seq"] is not None
    )
    contents = run.server.messages(run.agent)
    assert [first for first, _ in spans] == [1, *(last + 1 for _, last in spans[:-1])]
    assert spans[-1][1] == len(contents)
    text = "\n\n".join(each["text"] for each in pages)
    assert [each for each in contents if each is not None and each not in text] == []
    places = Counter(each["page"]["lifecycle"] for each in pages)
    assert places["cold_archived"] > 100, places
    assert places["hot_archived"] > 50
    folders = [each["page"] for each in pages if each["page"]["kind"] == "contents"]
    assert len(folders) == run.used("create_contents_page") + 1, "and the Contents Page"
