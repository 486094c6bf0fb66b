"""An agent whose context always fits its budget: memci stores it, the model arranges it.

    python examples/agent.py alice --model gpt-4o-mini --log rounds.jsonl

talks on the terminal with any model behind an OpenAI-compatible API. The model sees its context
window, and has tools that expand, hide, move, write and recall its pages. Pages that do not fit
are hidden, and nothing is lost. examples/README.md explains how it works.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import httpx

from memci.smallmodel.offline.token_counter import OfflineTokenCounter

Json: TypeAlias = dict[str, Any]

PROMPT = """\
You are a helpful assistant with a small context window that you keep in order yourself.
Your conversation is made of pages. Each has a heading with its index, such as [usr-12], and its
state. Open a page with expand_details, close it with hide_details. The Contents Page lists older
ones: bring one back with recall_page before you answer from it. Write down with
create_detail_page what must not be lost. Then answer the user in plain text."""
RESULT_SHARE = 0.15  # a tool's answer may take this share of the budget, and is cut there
MOST_ROUNDS = 12  # rounds with tools in one turn; then the model must answer


class NoRoomError(Exception):
    """The pages that must stay exceed the budget: ask something new, or something shorter."""


@dataclass
class Round:
    """One request to the model: its tokens, and the reply.

    ``collapsed``: pages hidden since the last round to fit; ``recalled``: pages recalled by it.
    """

    turn: int
    window_tokens: int
    tool_tokens: int
    collapsed: list[str]
    used: list[str] = field(default_factory=list)
    recalled: list[str] = field(default_factory=list)
    answer: str = ""

    @property
    def tokens(self) -> int:
        """The tokens in the budget: the messages of the window and the schemas of the tools."""
        return self.window_tokens + self.tool_tokens

    def __str__(self) -> str:
        lists = {"collapsed": self.collapsed, "used": self.used, "recalled": self.recalled}
        details = [f"{name} {', '.join(each)}" for name, each in lists.items() if each]
        return " · ".join([f"turn {self.turn}: {self.tokens} tokens", *details])


class Agent:
    """A model with its own context; ``memci`` and ``model`` are clients with address and key."""

    def __init__(
        self, name: str, memci: httpx.Client, model: httpx.Client, model_name: str, budget: int
    ) -> None:
        self.path, self.memci = f"/v1/agents/{quote(name, safe='')}", memci
        self.model, self.model_name, self.budget = model, model_name, budget
        self.count = OfflineTokenCounter().count
        self.tools = self._memci("GET", "/v1/tools")
        self.tool_tokens = self.count(json.dumps(self.tools, separators=(",", ":")))
        self.turns = 0
        self.reported: list[str] = []  # the collapsed pages of the last window
        self._begin()

    def turn(self, question: str) -> Iterator[Round]:
        """Answer a question; yield each round. The last one has the answer."""
        self.turns += 1
        self._say({"role": "user", "content": question})
        for left in reversed(range(MOST_ROUNDS + 1)):
            window = self._window()
            new = [index for index in window["collapsed"] if index not in self.reported]
            self.reported = window["collapsed"]
            done = Round(self.turns, window["tokens"], self.tool_tokens, new)
            answer = self._ask(window["messages"], "auto" if left else "none")
            calls = answer.get("tool_calls", [])
            self._say(answer, *(self._use(call, done) for call in calls))
            done.answer = answer.get("content", "")
            yield done
            if not calls:
                return

    def _begin(self) -> None:
        """Give a new agent its system prompt, and set the size of its window."""
        found = self.memci.get(f"{self.path}/pages")
        if found.is_error or all(page["parent"] != "sys-0" for page in found.json()["pages"]):
            prompt = {"name": "Prompt", "detail": PROMPT, "parent": "sys-0"}
            self._memci("POST", f"{self.path}/pages/create_detail_page", prompt)
        held = self._memci("GET", f"{self.path}/settings")
        own = {name: held["parameters"][name] for name in held["changed"]}
        own["window_max_tokens"] = self.budget - self.tool_tokens
        self._memci("PUT", f"{self.path}/settings", own)

    def _window(self) -> Json:
        """Return the window, in the tokens that the schemas of the tools leave."""
        room = self.budget - self.tool_tokens
        window: Json = self._memci("GET", f"{self.path}/window?format=native&budget_tokens={room}")
        if window["over"]:
            over = f"what must stay is {window['over']} tokens over the budget"
            # An answer ends the interaction. Otherwise the next question would be part of it.
            self._say({"role": "assistant", "content": f"(Not answered: too long, {over}.)"})
            raise NoRoomError(over)
        return window

    def _ask(self, messages: list[Json], tool_choice: str) -> Json:
        request = {"model": self.model_name, "messages": messages}
        request |= {"tools": self.tools, "tool_choice": tool_choice}
        answer = self.model.post("chat/completions", json=request).raise_for_status().json()
        reply = answer["choices"][0]["message"]
        kept = {name: reply[name] for name in ("content", "tool_calls") if reply.get(name)}
        return {"role": "assistant", **(kept or {"content": "(no answer)"})}

    def _use(self, call: Json, done: Round) -> Json:
        """Call a tool for the model. A refusal is an answer, too: it says what to do."""
        name, arguments = call["function"]["name"], call["function"]["arguments"] or "{}"
        tool = quote(name, safe="")  # a model may invent any name
        path = f"{self.path}/tools/{tool}?format=native"  # tokens are counted as in _window
        headers = {"content-type": "application/json"}
        answer = self.memci.post(path, content=arguments, headers=headers)
        done.used.append(name)
        if answer.is_success and name == "recall_page":
            done.recalled.append(answer.json()["index"])
        text = answer.text if answer.is_success else f"refused: {answer.json()['detail']}"
        kept = text
        while self.count(kept) > RESULT_SHARE * self.budget:
            kept = kept[: len(kept) * 3 // 4]
        cut = "" if kept == text else " … (cut: ask for less)"
        return {"role": "tool", "tool_call_id": call["id"], "content": kept + cut}

    def _say(self, *messages: Json) -> None:
        request = {"messages": messages, "session_id": "talk", "remember": "auto"}
        self._memci("POST", f"{self.path}/messages", request)

    def _memci(self, method: str, path: str, body: Json | None = None) -> Any:
        answer = self.memci.request(method, path, json=body)
        if answer.is_error:
            raise SystemExit(f"memci: {answer.json()['detail']}")
        return answer.json()


def client(url: str, key: str | None) -> httpx.Client:
    """Return a client that sends a key, if there is one."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return httpx.Client(base_url=url, headers=headers, timeout=120)


def main() -> None:
    """Talk on the terminal: each line is a question. Rounds are reported on standard error."""
    of = os.environ.get
    parser = argparse.ArgumentParser(description="An agent whose context never outgrows its budget")
    parser.add_argument("agent", help="name of the agent in memci")
    parser.add_argument("--model", default=of("OPENAI_MODEL", "gpt-4o-mini"))
    parser.add_argument("--base-url", default=of("OPENAI_BASE_URL", "https://api.openai.com/v1"))
    parser.add_argument("--memci", default=of("MEMCI_API_URL", "http://127.0.0.1:8000"))
    parser.add_argument("--budget", type=int, default=6_000, help="tokens of a request at most")
    parser.add_argument("--log", type=Path, help="file for JSON lines, one a round")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        memci = stack.enter_context(client(arguments.memci, of("MEMCI_API_KEY")))
        model = stack.enter_context(client(arguments.base_url, of("OPENAI_API_KEY")))
        log = stack.enter_context((arguments.log or Path(os.devnull)).open("a", encoding="utf-8"))
        agent = Agent(arguments.agent, memci, model, arguments.model, arguments.budget)
        for question in filter(None, map(str.strip, sys.stdin)):
            try:
                for done in agent.turn(question):
                    print(done, file=sys.stderr)
                    print(json.dumps(asdict(done), ensure_ascii=False), file=log, flush=True)
                print(done.answer)
            except NoRoomError as error:
                print(error, file=sys.stderr)


if __name__ == "__main__":
    main()
