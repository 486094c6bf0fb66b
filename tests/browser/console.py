"""The console in a real browser, on a whole memci: `make test-browser` runs it.

It needs chromium, Playwright, and axe-core in the file that ``AXE`` names. ``SHOTS`` names a folder
for pictures of every page; none are taken without it. Durations are printed.
"""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect, sync_playwright
from pydantic import SecretStr

from memci.api_keys import new_key
from memci.broker.app import make_producer
from memci.config.settings import Settings
from memci.embedded import servers_of
from memci.embedded.files import free_port
from memci.runtime import Runtime
from memci.testing import wait_until
from tests.support.command_line import ROOT, up
from tests.support.large_agents import fill

pytestmark = pytest.mark.timeout(900)
ADMIN, READER = new_key("ada", scope="admin"), new_key("reader", agents="mira", scope="read")
AXE = Path(os.environ.get("AXE", ROOT / ".venv" / "axe.min.js"))
SHOTS = os.environ.get("SHOTS")
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
    "preload": False,
}
HOSTILE = (
    "<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">"
    "<a href=\"javascript:document.title='broken'\">x</a>\u202eright to left\u2067\u200f"
    "{{7*7}}${7*7}"
)
LONG = (HOSTILE + " long ") * 450  # about 100,000 characters
PASSES = 10
LARGE = ("large", 10_000, 1_800)  # with its entities: 2,000 nodes


@dataclass
class Stack:
    """A running memci with agents that have memories."""

    url: str
    api: httpx.Client
    runtime: Runtime

    def settled(self, agent: str) -> bool:
        about = self.api.get(f"/v1/agents/{agent}").json()
        return about["idle"] and not about["pending"]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("console")
    port, keys = free_port(), [ADMIN[1].model_dump_json(), READER[1].model_dump_json()]
    settings = {"MEMCI_API_KEYS": f"[{','.join(keys)}]", "MEMCI_PORT": str(port)}
    with up(folder / "data", folder / "said", **settings) as running:
        running.wait_for_log("memci is ready at ")
        url = f"http://127.0.0.1:{port}"
        urls = servers_of(folder / "data").addresses
        own = Settings(
            database_url=SecretStr(urls.database_url), broker_url=SecretStr(urls.broker_url)
        )
        headers = {"Authorization": f"Bearer {ADMIN[0]}"}
        with httpx.Client(base_url=url, headers=headers, timeout=60) as api:
            stack = Stack(url, api, Runtime(own))
            try:
                _tell(stack)
                yield stack
            finally:
                stack.runtime.close()
                running.interrupt()
                running.process.wait(100)


def _tell(stack: Stack) -> None:
    """Make an agent that forgets fast, a hostile one, and a large one."""
    api = stack.api
    settings = {"decay_rate": 0.5, "link_break_threshold": 0.05, "focus_limit": 2}
    assert api.put("/v1/agents/mira/settings", json=settings).status_code == 200
    lines = (ROOT / "memci/cli/demo/english.jsonl").read_text().splitlines()
    for place, line in enumerate(lines):
        body = f'{{"messages": [{line}], "session_id": "spring/{place // 20}"}}'
        assert api.post("/v1/agents/mira/messages", content=body, headers=_JSON).status_code == 202
    plan = {"steps": ["[x] Call the vet", "Pack for Lisbon", "Find a choir"]}
    api.post("/v1/agents/mira/plan", json=plan)
    hostile = [{"role": "user", "content": text, "name": HOSTILE[:200]} for text in (LONG, HOSTILE)]
    hostile += [
        {"role": "user", "content": f"I met [{HOSTILE[:80]}] in Porto on {day} May."}
        for day in (1, 2)
    ]
    assert (
        api.post(
            "/v1/agents/wild/messages", json={"messages": hostile, "session_id": HOSTILE[:200]}
        ).status_code
        == 202
    )
    api.post("/v1/agents/wild/pins", json={"text": HOSTILE})
    api.post(
        "/v1/agents/wild/documents",
        json={"name": f"{HOSTILE[:60]}.md".replace("/", ""), "text": HOSTILE},
    )
    celery = make_producer(stack.runtime._broker_url)
    celery.send_task("memci.memory.create", kwargs={"text": HOSTILE}, queue="memci.agent.mira")
    celery.close()
    wait_until(lambda: stack.settled("mira") and stack.settled("wild"), "stored", timeout_s=240)
    for number in range(1, PASSES + 1):
        api.post("/v1/agents/mira/compress", json={})
        wait_until(
            lambda n=number: len(_passes(api)) >= n and stack.settled("mira"),
            "a pass",
            timeout_s=120,
        )  # type: ignore[misc]
    wait_until(lambda: _dead(api), "a dead letter", timeout_s=60)
    key = {"name": "bot", "agents": "mira,team-*", "scope": "write"}
    assert api.post("/v1/keys", json={**key, "limits": {"messages_per_day": 40}}).is_success
    # A name that leads nowhere: the attempts fail.
    hook = {"url": "https://hooks.invalid/?q=<script>", "types": ["memory.created", "job.dead"]}
    assert api.post("/v1/webhooks", json=hook).is_success
    agent, messages, memories = LARGE
    fill(stack.runtime.database, agent, messages=messages, nodes=memories, dimension=8)
    _fade(stack.runtime, agent)


_JSON = {"Content-Type": "application/json"}


def _passes(api: httpx.Client) -> list[dict[str, Any]]:
    passes: list[dict[str, Any]] = api.get("/v1/agents/mira/passes").json()["passes"]
    return [each for each in passes if each["state"] == "finished"]


def _dead(api: httpx.Client) -> list[dict[str, Any]]:
    jobs: list[dict[str, Any]] = api.get("/v1/agents/mira/jobs?state=dead").json()["jobs"]
    return jobs


_SNAPSHOTS = """
WITH now AS (
    SELECT array_agg(id ORDER BY id) AS ids, array_agg(length(content) ORDER BY id) AS lengths,
           array_agg(id ORDER BY id) FILTER (WHERE kind = 'entity') AS entities
      FROM node WHERE agent_id = %(agent)s),
linked AS (
    SELECT array_agg(source ORDER BY source, target) AS sources,
           array_agg(target ORDER BY source, target) AS targets,
           array_agg(strength::real ORDER BY source, target) AS strengths
      FROM link WHERE agent_id = %(agent)s)
INSERT INTO pass_snapshot (agent_id, number, node_ids, lengths, original_lengths, importances,
                           entities, focus, sources, targets, strengths)
SELECT %(agent)s, n, ids[1:2000 - 5 * n],
       (SELECT array_agg(greatest(6, (l * (1 - n * ((o * 7919) %% 100) / 5000.0))::int) ORDER BY o)
          FROM unnest(lengths[1:2000 - 5 * n]) WITH ORDINALITY AS u(l, o)),
       lengths[1:2000 - 5 * n],
       array_fill((4.0 * (1 - n / 60.0))::real, ARRAY[2000 - 5 * n]),
       entities, '{1,2,3,4,5}', sources, targets,
       (SELECT array_agg((s * (1 - n / 60.0))::real ORDER BY o)
          FROM unnest(strengths) WITH ORDINALITY AS u(s, o))
  FROM now, linked, generate_series(1, 40) AS n
"""
_TRAIL = """
INSERT INTO trail (agent_id, node_id, event, pass_number, details)
SELECT agent_id, id, 'created', 0, jsonb_build_object('messages', message_seqs)
  FROM node WHERE agent_id = %(agent)s
"""
_PASS_LOG = """
INSERT INTO pass_log (agent_id, number, message_seq, finished_at)
SELECT %(agent)s, n, 10000, now() FROM generate_series(1, 40) AS n
"""


def _fade(runtime: Runtime, agent: str) -> None:
    """Give the large agent forty passes, without the hours that they take."""
    with runtime.database.agent_transaction(agent) as connection:
        for statement in (_TRAIL, _PASS_LOG, _SNAPSHOTS):
            connection.exec_driver_sql(statement, {"agent": agent})
        connection.exec_driver_sql("UPDATE lane SET pass_number = 40 WHERE agent_id = %s", (agent,))
    # Pages of its messages are made by a job that a read requests; then it is like any other.
    runtime.windows.show(agent)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Any) -> Iterator[BrowserContext]:
    context = chromium.new_context(locale="en-GB", viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, stack: Stack) -> Iterator[Page]:
    """A page of a person who has logged in as an administrator; it must log no error."""
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    log_in(page, stack, ADMIN[0])
    yield page
    assert faults == []


def log_in(page: Page, stack: Stack, key: str) -> None:
    page.goto(f"{stack.url}/console")
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Agents")).to_be_visible()


def open_memory(page: Page, stack: Stack, agent: str, **query: int) -> None:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    page.goto(f"{stack.url}/console/agents/{agent}/memory?{asked}")
    page.wait_for_selector("#graph[data-at]", timeout=60_000)


def test_look_at_an_agent_and_play_how_it_forgets(page: Page, stack: Stack) -> None:
    page.get_by_role("link", name="mira", exact=True).click()
    expect(page.get_by_text("Memory has caught up with message")).to_be_visible()
    page.get_by_role("link", name="Memory", exact=True).click()
    page.wait_for_selector("#graph[data-at]")
    graph, slider = page.locator("#graph"), page.get_by_label("Pass", exact=True)
    networks = {n: stack.api.get(f"/v1/agents/mira/network?pass={n}").json() for n in (1, PASSES)}
    pictures = {}
    for index, number in ((0, 1), (PASSES - 1, PASSES)):
        slider.fill(str(index))
        expect(graph).to_have_attribute("data-at", str(number))
        expect(graph).to_have_attribute("data-nodes", str(len(networks[number]["nodes"])))
        pictures[number] = graph.screenshot()
    assert len(networks[1]["nodes"]) > len(networks[PASSES]["nodes"])
    assert pictures[1] != pictures[PASSES]
    slider.fill("0")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(graph).to_have_attribute("data-at", "now", timeout=60_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_one_memory_over_the_passes(page: Page, stack: Stack) -> None:
    nodes = stack.api.get("/v1/agents/mira/nodes?kind=memory").json()["nodes"]
    node = max(nodes, key=lambda each: each["original_length"])
    open_memory(page, stack, "mira")
    importances = page.locator("#nodes .muted").all_inner_texts()
    assert importances == sorted(importances, key=float, reverse=True)
    page.get_by_label("Find among").fill(node["content"][:40])
    page.locator(f'#nodes a[href$="/{node["id"]}"]').click()
    panel = page.locator("#node")
    expect(panel.get_by_text("Made of these messages")).to_be_visible()
    first = stack.api.get("/v1/agents/mira/network?pass=1").json()["nodes"]
    then = next(each for each in first if each["id"] == node["id"])
    panel.get_by_text("Numbers of each pass").click()
    row = panel.locator("tbody tr").last.inner_text().split()
    assert row[:2] == ["1", str(then["length"])]
    expect(panel.locator(".said .text").first).not_to_be_empty()


def test_restore_a_forgotten_memory(page: Page, stack: Stack) -> None:
    first = stack.api.get("/v1/agents/mira/network?pass=1").json()["nodes"]
    gone = [each for each in first if each["forgotten"] and each["kind"] == "memory"]
    assert gone, "the passes have forgotten something"
    page.goto(f"{stack.url}/console/agents/mira/memory/nodes/{gone[0]['id']}")
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("status").first).to_contain_text("made again")

    def restored() -> bool:
        trail = stack.api.get(f"/v1/agents/mira/nodes/{gone[0]['id']}/trail").json()["events"]
        return any(each["event"] == "restored" for each in trail)

    wait_until(restored, "it is restored", timeout_s=60)
    expect(page.get_by_role("button", name="Restore")).to_have_count(0)
    expect(page.get_by_text("A job makes the memory")).to_have_count(0)


def test_correct_a_memory_in_the_graph(page: Page, stack: Stack) -> None:
    nodes = stack.api.get("/v1/agents/mira/nodes?kind=memory").json()["nodes"]
    node = nodes[-1]["id"]
    open_memory(page, stack, "mira", node=node)
    panel = page.locator("#node")
    expect(page.locator("#graph")).to_have_attribute("data-chosen", str(node))
    counts = page.locator(".heading [hx-get]")
    before = counts.inner_text()
    panel.get_by_role("button", name="Pin", exact=True).click()
    expect(panel.get_by_role("status")).to_contain_text("does not fade")
    assert stack.api.get(f"/v1/agents/mira/nodes/{node}").json()["pinned"]
    panel.get_by_text("Correct", exact=True).first.click()
    panel.get_by_label("What holds instead").fill("Biscuit must not get grapes.")
    panel.get_by_role("button", name="Correct").click()
    expect(panel.get_by_role("link", name="#").first).to_be_visible()
    # The corrected memory is gone, so the graph shows all alike again.
    expect(page.locator("#graph")).to_have_attribute("data-chosen", "", timeout=30_000)
    # The panel shows the new version when its job is done.
    expect(panel.locator(".chip", has_text="current")).to_be_visible(timeout=60_000)
    found = stack.api.get("/v1/agents/mira/nodes", params={"text": "grapes"}).json()["nodes"]
    assert [each["content"] for each in found] == ["Biscuit must not get grapes."]
    page.get_by_text("Add a memory").first.click()
    page.get_by_label("One fact").fill("Biscuit likes pears.")
    page.get_by_role("button", name="Add a memory").click()
    expect(page.get_by_role("status").first).to_contain_text("stored")
    added = wait_until(
        lambda: stack.api.get("/v1/agents/mira/nodes?text=pears").json()["nodes"], "it is made"
    )
    # The list beside the graph has it without being loaded again.
    item = page.locator(f'#nodes a[href$="/{added[0]["id"]}"]')
    expect(item).to_be_visible(timeout=30_000)
    expect(item).to_contain_text("Biscuit likes pears.")
    expect(counts).not_to_have_text(before, timeout=30_000)


def test_ask_for_two_contexts(page: Page, stack: Stack) -> None:
    page.goto(f"{stack.url}/console/agents/mira/context")
    page.get_by_label("Question").fill("Which treats must Biscuit not get?")
    page.get_by_label("Budget in tokens").first.fill("600")
    page.get_by_label("compare with it").check()
    page.get_by_label("Budget in tokens").nth(1).fill("200")
    page.get_by_role("button", name="Assemble").click()
    sides = page.locator("section.side")
    expect(sides).to_have_count(2)
    expect(sides.nth(0)).to_contain_text("of 600 tokens")
    expect(sides.nth(1)).to_contain_text("of 200 tokens")
    expect(sides.nth(0)).to_contain_text("chicken")
    expect(sides.nth(1)).to_contain_text("no room")
    page.get_by_label("Budget in tokens").first.fill("1")
    page.get_by_role("button", name="Assemble").click()
    expect(page.get_by_role("alert")).to_contain_text("The budget is too small")


def test_search_with_a_filter(page: Page, stack: Stack) -> None:
    page.goto(f"{stack.url}/console/agents/mira/search")
    page.get_by_label("Search for").fill("Biscuit")
    page.get_by_label("Said by").select_option("user")
    page.get_by_role("button", name="Search").click()
    hits = page.locator("article.item")
    expect(hits.first).to_contain_text("Biscuit")
    assert all("Assistant" not in each for each in hits.locator("header").all_inner_texts())
    page.get_by_text("How it was searched").click()
    expect(page.get_by_text("timings_ms")).to_be_visible()


def test_hide_a_page_and_take_it_back(page: Page, stack: Stack) -> None:
    page.goto(f"{stack.url}/console/agents/mira/window")
    row = page.locator("tbody tr", has=page.get_by_role("button", name="Hide")).nth(-3)
    index = row.locator("code").first.inner_text()
    row.get_by_role("button", name="Hide").click()
    expect(page.get_by_role("status")).to_contain_text("hidden")
    assert _page(stack, index)["state"] == "hidden"
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("taken back")
    assert _page(stack, index)["state"] == "expanded"


def _page(stack: Stack, index: str) -> dict[str, Any]:
    found: dict[str, Any] = stack.api.get(f"/v1/agents/mira/pages/{index}").json()["page"]
    return found


def test_replay_and_discard_dead_jobs(page: Page, stack: Stack) -> None:
    (unreadable,) = _dead(stack.api)
    done = stack.api.get("/v1/agents/mira/jobs?state=done").json()["jobs"]
    job = next(each for each in done if each["kind"] == "memci.message.index")
    with stack.runtime.database.agent_transaction("mira") as connection:
        statement = "UPDATE job SET state = 'dead', last_error = 'no model' WHERE id = %s"
        connection.exec_driver_sql(statement, (job["id"],))
    page.goto(f"{stack.url}/console/agents/mira/work")
    row = page.get_by_role("row", name="Index messages")
    expect(row).to_contain_text("no model")
    row.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("status")).to_contain_text("runs again")

    def again() -> bool:
        return bool(stack.api.get(f"/v1/agents/mira/jobs/{job['id']}").json()["state"] == "done")

    wait_until(again, "the replayed job is done", timeout_s=60)
    # The page shows it without being loaded again.
    expect(page.get_by_role("row", name="Index messages")).to_have_count(0, timeout=15_000)
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_text("No job is dead.")).to_be_visible()
    state = stack.api.get(f"/v1/agents/mira/jobs/{unreadable['id']}").json()["state"]
    assert state == "cancelled"


def test_workers_are_shown(page: Page, stack: Stack) -> None:
    page.goto(f"{stack.url}/console/work")
    expect(page.get_by_role("row", name="memci.lane")).to_contain_text("lane@", timeout=30_000)


def test_switch_the_language_and_the_theme(page: Page) -> None:
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("heading", name="智能体")).to_be_visible()
    page.get_by_role("button", name="主题：跟随系统").click()
    page.get_by_role("button", name="主题：浅色").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert (
        page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        == "rgb(20, 23, 26)"
    )
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", name="Agents")).to_be_visible()


def test_a_reader_sees_one_agent_and_no_action(context: BrowserContext, stack: Stack) -> None:
    page = context.new_page()
    log_in(page, stack, READER[0])
    expect(page.locator("tbody tr")).to_have_count(1)
    for path in ("work", "window"):
        page.goto(f"{stack.url}/console/agents/mira/{path}")
        assert page.locator("main form[method=post]").count() == 0
    page.goto(f"{stack.url}/console/agents/wild")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your key may not do this")


def paths(stack: Stack, agent: str) -> dict[str, str]:
    """Return the address of every page, by its name."""
    session = stack.api.get(f"/v1/agents/{agent}/sessions").json()["sessions"][0]["session_id"]
    nodes = stack.api.get(f"/v1/agents/{agent}/nodes").json()["nodes"]
    job = stack.api.get(f"/v1/agents/{agent}/jobs").json()["jobs"][0]["id"]
    of = f"/agents/{agent}"
    return {
        "keys": "/keys", "webhooks": "/webhooks", "audit": "/audit",
        "agents": "/agents", "lanes": "/work", "collections": "/collections", "agent": of,
        "memory": f"{of}/memory", "node": f"{of}/memory/nodes/{nodes[-1]['id']}",
        "context": f"{of}/context?query=Biscuit&compare=1&budget_b=300", "window": f"{of}/window",
        "search": f"{of}/search?query=script", "sessions": f"{of}/sessions",
        "session": f"{of}/sessions?{httpx.QueryParams(session=session)}", "work": f"{of}/work",
        "job": f"{of}/jobs/{job}", "documents": f"{of}/documents", "usage": f"{of}/usage",
        "missing": "/agents/nobody", "nowhere": "/nope",
    }  # fmt: skip


def test_hostile_texts_stay_texts(context: BrowserContext, stack: Stack) -> None:
    page = context.new_page()
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    log_in(page, stack, ADMIN[0])
    for name, path in paths(stack, "wild").items():
        page.goto(f"{stack.url}/console{path}")
        if name == "memory":
            page.wait_for_selector("#graph[data-at]")
            page.locator("#nodes a").first.click()
            page.wait_for_selector("#node .node")
        assert page.title() != "broken", name
        assert (
            page.evaluate(
                "document.querySelectorAll('main script, main img, [href^=javascript]').length"
            )
            == 0
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def test_nothing_is_loaded_from_elsewhere(page: Page, stack: Stack) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for path in paths(stack, "mira").values():
        if path not in ("/agents/nobody", "/nope"):
            page.goto(f"{stack.url}/console{path}")
    assert asked
    assert all(each.startswith(f"{stack.url}/console/") for each in asked)


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_every_page_is_accessible(chromium: Any, stack: Stack, language: str) -> None:
    """Each page is loaded once: light and wide, then dark and narrow."""
    context = chromium.new_context(
        locale=language, color_scheme="light", viewport=_WIDE, reduced_motion="reduce",
        bypass_csp=True,  # axe is no script of ours
    )  # fmt: skip
    page = context.new_page()
    page.goto(f"{stack.url}/console/login")
    _check(page, f"login-{language}")
    page.locator("input[type=password]").fill(ADMIN[0])
    page.locator("main button").click()
    page.wait_for_url("**/agents")
    for name, path in paths(stack, "mira").items():
        page.goto(f"{stack.url}/console{path}")
        if name == "memory":
            page.wait_for_selector("#graph[data-at]")
            page.locator("#nodes a").nth(5).click()
            page.wait_for_selector("#node .node")
            page.wait_for_selector("#graph:not([data-moving])")
        if name == "lanes":
            page.wait_for_selector("main table")
        _check(page, f"{name}-{language}")
    context.close()


_WIDE, _NARROW = ViewportSize(width=1280, height=844), ViewportSize(width=390, height=844)


def _check(page: Page, name: str) -> None:
    page.add_script_tag(path=str(AXE))
    for size in (_WIDE, _NARROW):
        theme = "light" if size is _WIDE else "dark"
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size(size)
        found = page.evaluate("rules => axe.run(document, rules)", RULES)
        wrong = [
            (each["id"], each["help"], [node["target"] for node in each["nodes"]][:3])
            for each in found["violations"]
        ]
        assert wrong == [], (name, theme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, theme)
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/{name}-{theme}-{size['width']}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(_WIDE)


_FRAMES = """async () => {
  const cy = document.getElementById("graph")._cyreg.cy, gaps = [], begin = performance.now();
  let last = begin, turn = 0;
  return await new Promise((done) => requestAnimationFrame(function move() {
    const now = performance.now();
    gaps.push(now - last);
    last = now;
    if (now - begin > 3000) return done(gaps);
    turn += 1;
    if (turn % 2) cy.panBy({ x: turn % 4 < 2 ? 3 : -3, y: 1 });
    else cy.zoom(cy.zoom() * (turn % 40 < 20 ? 1.01 : 0.99));
    requestAnimationFrame(move);
  }));
}"""


def test_a_large_agent_is_quick_to_look_at(page: Page, stack: Stack) -> None:
    """10,000 messages and 2,000 nodes; the limits are generous for a machine that does more."""
    agent = LARGE[0]
    wait_until(lambda: stack.settled(agent), "its messages are on pages", timeout_s=300)
    of = f"/console/agents/{agent}"
    views = {
        "agents": "/console/agents", "overview": of, "memory": f"{of}/memory",
        "network of 300": f"{of}/memory/network?nodes=300",
        "network of 2,000": f"{of}/memory/network?nodes=2000", "node": f"{of}/memory/nodes/500",
        "context": f"{of}/context?query=w1+w3", "window": f"{of}/window",
        "search": f"{of}/search?query=w1+w3", "timeline": f"{of}/sessions", "work": f"{of}/work",
        "documents": f"{of}/documents", "usage": f"{of}/usage",
    }  # fmt: skip
    for name, path in views.items():
        times = [_timed(page, stack.url + path) for _ in range(5)]
        print(f"console: {name:<18} {statistics.median(times):6.0f} ms")
        assert statistics.median(times) < 1_500, name
    open_memory(page, stack, agent, nodes=2000)
    shown = page.evaluate("performance.getEntriesByName('graph-shown')[0].startTime")
    frames = 1000 / statistics.median(page.evaluate(_FRAMES))
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator("#graph")).to_have_attribute("data-at", "now", timeout=120_000)
    steps = [
        e["duration"]
        for e in page.evaluate("performance.getEntriesByName('step').map(e => e.toJSON())")
    ]
    print(f"console: graph of 2,000 nodes shown after {shown:.0f} ms, {frames:.0f} frames/s,")
    print(f"console: a step of its time-lapse {statistics.median(steps[3:]):.0f} ms (median)")
    assert frames >= 15
    assert statistics.median(steps[3:]) < 200


_FETCH = """async (url) => {
  const begin = performance.now(), answer = await fetch(url);
  await answer.text();
  if (!answer.ok) throw new Error(url);
  return performance.now() - begin;
}"""


def _timed(page: Page, url: str) -> float:
    took: float = page.evaluate(_FETCH, url)
    return took
