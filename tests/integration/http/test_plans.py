"""Plans over HTTP, by the client, on the command line and by a model; found by a real worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from memci import Memci
from memci.client import Agent
from memci.embedded import Postgres, Redis
from memci.errors import ConflictError, NotFoundError
from tests.integration.http.serving import Served, served_by_workers
from tests.support.command_line import run, run_json

STEPS = "Here is the plan:\n1. Read the code\n2. Write the tests\n3. Ship it"
RULE = "Never commit directly to the main branch."


@pytest.fixture
def ada(server: Served) -> Iterator[Agent]:
    with Memci(server.url) as memci:
        agent = memci.agent("ada")
        agent.record([{"role": "user", "content": "Hello"}], session_id="s1", remember="never")
        yield agent


@pytest.fixture
def plan(server: Served, ada: Agent) -> str:
    """Return the address of the agent's plan."""
    return f"{server.url}/v1/agents/ada/plan"


def states(agent: Agent, session: str | None = None) -> list[str]:
    return [each.state.value for each in agent.plan(session).steps]


def test_a_plan_is_set_shown_and_updated(plan: str) -> None:
    assert httpx.get(plan).json() == {"session_id": "s1", "steps": []}
    made = httpx.post(plan, json={"steps": ["[x] Read the code", "Write the tests", "Ship it"]})
    assert made.status_code == 200, made.text
    assert [each["state"] for each in made.json()["steps"]] == ["done", "active", "pending"]
    done = httpx.post(plan, json={"step": 2, "state": "done"}).json()
    assert done == httpx.get(plan, params={"session_id": "s1"}).json()
    assert [(each["step"], each["text"], each["state"]) for each in done["steps"]] == [
        (1, "Read the code", "done"),
        (2, "Write the tests", "done"),
        (3, "Ship it", "active"),
    ]
    other = httpx.post(plan, json={"steps": ["Call Luigi", "Book a table"]}).json()
    assert [each["text"] for each in other["steps"]] == ["Call Luigi", "Book a table"]


def test_new_steps_are_a_message_and_new_states_are_not(server: Served, ada: Agent) -> None:
    ada.update_plan("s1", steps=["Read the code", "Ship it"])
    ada.update_plan("s1", step=1, state="done")
    ada.update_plan("s1", steps=["[x] Read the code", "[x] Ship it"])
    assert states(ada) == ["done", "done"]
    assert server.messages("ada") == ["Hello", "Plan:\n1. [>] Read the code\n2. [ ] Ship it"]
    ada.update_plan("s1", steps=["读代码", "写测试"])
    assert server.messages("ada")[-1] == "计划：\n1. [>] 读代码\n2. [ ] 写测试"


def test_a_model_sets_the_plan_with_a_tool(ada: Agent) -> None:
    answer = ada.call_tool("update_plan", {"steps": ["Read the code", "Ship it"]}, session_id="s1")
    assert answer["steps"][0] == {"step": 1, "text": "Read the code", "state": "active"}
    ada.call_tool("update_plan", {"step": 1, "state": "done"}, session_id="s1")
    assert states(ada) == ["done", "active"]


def test_a_model_sets_the_plan_with_attp(ada: Agent) -> None:
    code = "update_plan(steps=['Read the code', 'Ship it'])"
    call = f'status = \'success\'\ntarget = \'plan\'\ncode = """{code}"""'
    answer = ada.attp(f"thought = 'plan'\n[tool_call]\n{call}", session_id="s1")
    assert answer.status == "success", answer.text
    assert states(ada) == ["active", "pending"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"steps": []},
        {"steps": [" "]},
        {"steps": ["x" * 201]},
        {"steps": ["a"] * 33},
        {"step": 1},
        {"state": "done"},
        {"step": 0, "state": "done"},
        {"step": 1, "state": "over"},
        {"steps": ["a"], "step": 1, "state": "done"},
    ],
)
def test_invalid_plans_are_refused(plan: str, body: dict[str, object]) -> None:
    assert httpx.post(plan, json=body).status_code == 422
    assert httpx.get(plan).json()["steps"] == []


def test_a_step_that_does_not_exist_is_refused(ada: Agent) -> None:
    with pytest.raises(ConflictError, match="give its steps"):
        ada.update_plan("s1", step=1, state="done")
    ada.update_plan("s1", steps=["Read"])
    with pytest.raises(NotFoundError, match="no step 2"):
        ada.update_plan("s1", step=2, state="done")


def test_an_unknown_agent_has_no_plan(plan: str) -> None:
    nobody = plan.replace("ada", "nobody")
    assert httpx.get(nobody).status_code == 404
    assert httpx.post(nobody, json={"steps": ["Read"]}).status_code == 404


def test_the_command_line_sets_and_shows_the_plan(server: Served, ada: Agent) -> None:
    settings = {"MEMCI_API_URL": server.url}
    assert "no plan" in run("pages", "plan", "--agent", "ada", settings=settings).stdout
    run("pages", "plan", "--agent", "ada", "--set", "Read", "--set", "Ship", settings=settings)
    run("pages", "plan", "--agent", "ada", "--step", "1", "--state", "done", settings=settings)
    assert (
        run("pages", "plan", "--agent", "ada", settings=settings).stdout
        == "1. [x] Read\n2. [>] Ship\n"
    )
    printed = run_json("pages", "plan", "--agent", "ada", settings=settings)
    assert [each["state"] for each in printed["steps"]] == ["done", "active"]
    assert run("pages", "plan", "--agent", "ada", "--step", "1", settings=settings).returncode == 2


def test_workers_find_plans_and_rules_in_messages(
    shared_postgres: Postgres, process_redis: Redis, tmp_path: Path
) -> None:
    servers = (shared_postgres, process_redis)
    app = "tests.support.network_worker_app"
    with (
        served_by_workers(servers, tmp_path, "memci.lane,memci.compress", app=app) as (running, _),
        Memci(running.url) as memci,
    ):
        agent = memci.agent("ada")
        messages = [
            {"role": "user", "content": RULE},
            {"role": "assistant", "content": STEPS},
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": "Step 1 is done, moving on to step 2."},
        ]
        agent.record(messages, session_id="s1", remember="never")
        agent.wait_idle()
        assert states(agent) == ["done", "active", "pending"]
        (pin,) = agent.pins().pins
        assert (pin.text, pin.by, pin.kind) == (RULE, "detector", "constraint")
        assert [each.kind for each in agent.jobs().jobs].count("memci.message.track") == 1
        agent.remember([{"role": "user", "content": "Keep reports under 200 words."}])
        agent.wait_idle()
        assert [each.text for each in agent.pins().pins][1:] == ["Keep reports under 200 words."]
