"""The console over HTTP: pages, logins, forms, rights, escaping, the off switch."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from uuid import uuid4

import httpx
import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr

from memci.api_keys import Scope, new_key
from memci.commands import edit_memories
from memci.console import app
from memci.console.sessions import COOKIE, SESSION_S, Sessions
from memci.domain.job import JobState
from memci.schemas.keys import KeyRequest
from memci.storage.network.edits import withhold
from memci.testing import wait_until
from memci.webhooks.manage import Webhooks
from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served
from tests.support.large_agents import fill, fill_with_origin
from tests.support.receiver import receiver

AGENT = "team-1"
KEYS = {
    scope: new_key(scope, agents="team-*", scope=scope)  # type: ignore[arg-type]
    for scope in ("read", "write", "admin")
}
PATHS = [path for path, _, _ in app._PAGES if path != "/events"]
JOB = uuid4()
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>javascript:alert(3)\u202e{{7*7}}"


_TRAIL = """
INSERT INTO trail (agent_id, node_id, event, pass_number, details)
VALUES (%(agent)s, 201, 'created', 0, jsonb_build_object('messages', '[1, 2]'::jsonb,
        'note', %(text)s::text))
"""
_JOB = """
INSERT INTO job (agent_id, id, kind, payload, source, state, last_error, finished_at)
VALUES (%(agent)s, %(job)s, 'memci.memory.create', '{}', 'http', 'dead', %(text)s, now())
"""


def at(path: str) -> str:
    """Return the address of a page, of this module's agent."""
    for field, value in (
        ("agent", AGENT),
        ("node:int", "201"),
        ("job_id:uuid", str(JOB)),
        ("webhook_id:uuid", str(JOB)),
    ):
        path = path.replace(f"{{{field}}}", value)
    return f"/console{path}"


@pytest.fixture(scope="module")
def keys() -> tuple[object, ...]:
    return tuple(entry for _, entry in KEYS.values())


@pytest.fixture
def server(serve: Serve, keys: tuple[object, ...]) -> Served:
    return serve(api_keys=keys)


@pytest.fixture
def open_server(serve: Serve) -> Served:
    """A server without keys."""
    server = serve()
    _fill(server)
    return server


def _fill(server: Served) -> None:
    """Make an agent with every kind of text that a page shows, and all of them hostile."""
    database = server.runtime.database
    fill(database, AGENT, messages=60, nodes=20, dimension=8)
    with database.agent_transaction(AGENT) as connection:
        for statement in (
            "UPDATE message SET content = %(text)s || seq, session_id = %(text)s, name = %(text)s",
            "UPDATE node SET content = %(text)s, phrase = %(text)s",
            "UPDATE link SET hint = %(text)s, relation = %(text)s",
            "UPDATE node SET entity_key = %(text)s || id WHERE kind = 'entity'",
            _TRAIL,
            _JOB,
        ):
            connection.exec_driver_sql(statement, {"text": HOSTILE, "agent": AGENT, "job": JOB})


@pytest.fixture
def browser(server: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=20) as client:
        yield client


def token(client: httpx.Client, path: str = "/console/login") -> str:
    """Return the token of the forms of a page."""
    return re.findall(r'name="csrf" value="([0-9a-f]{64})"', client.get(path).text)[0]


def log_in(client: httpx.Client, scope: str) -> httpx.Response:
    fields = {"key": KEYS[scope][0], "csrf": token(client)}
    answer = client.post("/console/login", data=fields)
    assert answer.status_code == 303
    return answer


@pytest.mark.parametrize("trusted", ["127.0.0.1", ""])
def test_the_cookie_is_secure_behind_a_proxy_that_is_trusted(
    serve: Serve, keys: tuple[object, ...], monkeypatch: pytest.MonkeyPatch, trusted: str
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
    url, forwarded = serve(api_keys=keys).url, {"X-Forwarded-Proto": "https"}
    with httpx.Client(base_url=url, headers=forwarded) as browser:
        cookie = log_in(browser, "read").headers["set-cookie"]
    assert ("; secure" in cookie.lower()) is bool(trusted)


@pytest.mark.parametrize("path", PATHS)
def test_pages_answer_and_escape_what_agents_say(open_server: Served, path: str) -> None:
    query = {"find": HOSTILE, "prefix": HOSTILE, "session": HOSTILE, "done": HOSTILE}
    with httpx.Client(base_url=open_server.url, timeout=20) as client:
        for parameters in ({}, query):
            answer = client.get(at(path), params=parameters)
            assert answer.status_code == 200, answer.text
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["cache-control"] == "no-store"
            if answer.headers["content-type"].startswith("text/html"):
                for text in ("<script>alert", "<img", ' style="', "onerror=alert(2)>", ">49<"):
                    assert text not in answer.text
                # Scripts are files of our own, and links lead to the console.
                assert set(re.findall(r'<script[^>]* src="([^"]*)/[^/"]*"', answer.text)) <= {
                    "/console/static",
                    "/console/static/vendor",
                }
                assert all(
                    each.startswith(("/console", "#main", "?", "http://127.0.0.1:"))
                    for each in re.findall(r'href="([^"]*)"', answer.text)
                )


def test_what_an_agent_says_is_shown(open_server: Served) -> None:
    shown = httpx.get(f"{open_server.url}{at('/agents/{agent}/memory/nodes/{node:int}')}").text
    escaped = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")
    assert shown.count(escaped) > 3
    assert escaped + "1" in shown  # its first message


def test_without_keys_only_this_machine_is_served(open_server: Served) -> None:
    for header in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        answer = httpx.get(f"{open_server.url}/console/agents", headers=header)
        assert answer.status_code == 403
        assert AGENT not in answer.text


def test_a_login_opens_a_session_that_a_script_cannot_read(browser: httpx.Client) -> None:
    asked = browser.get("/console/agents?find=x")
    assert asked.status_code == 303
    assert asked.headers["location"] == "/console/login?next=%2Fconsole%2Fagents%3Ffind%3Dx"
    answer = log_in(browser, "read")
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/console", f"Max-Age={SESSION_S}"} <= set(
        cookie.split("; ")
    )
    assert KEYS["read"][0] not in cookie
    assert browser.get("/console/agents").status_code == 200
    browser.post("/console/logout", data={"csrf": token(browser, "/console/agents")})
    assert browser.get("/console/agents").status_code == 303


def test_a_wrong_key_is_refused_and_not_shown(browser: httpx.Client) -> None:
    answer = browser.post("/console/login", data={"key": "memci_wrong", "csrf": token(browser)})
    assert answer.status_code == 401
    assert "memci_wrong" not in answer.text
    assert "set-cookie" not in answer.headers


def test_changed_and_expired_sessions_are_over(browser: httpx.Client) -> None:
    log_in(browser, "admin")
    sealed = browser.cookies[COOKIE]
    foreign = Sessions("another secret")._fernet.encrypt(KEYS["admin"][0].encode()).decode()
    for changed in (sealed[:-4] + "AAA=", "", "é", foreign):
        header = {"Cookie": f"{COOKIE}={changed}".encode("latin-1")}
        assert httpx.get(f"{browser.base_url}/console/agents", headers=header).status_code == 303


def test_a_session_expires(serve: Serve, keys: tuple[object, ...]) -> None:
    server = serve(api_keys=keys, console_secret=SecretStr("shared by all processes"))
    fernet: Fernet = Sessions("shared by all processes")._fernet
    for age_s, status in ((SESSION_S - 60, 200), (SESSION_S + 60, 303)):
        then = int(time.time()) - age_s
        sealed = fernet.encrypt_at_time(KEYS["read"][0].encode(), then).decode()
        answer = httpx.get(f"{server.url}/console/agents", cookies={COOKIE: sealed})
        assert answer.status_code == status


def test_forms_need_the_token_of_their_session(browser: httpx.Client, server: Served) -> None:
    _fill(server)
    before_login = token(browser)
    log_in(browser, "admin")
    here = at("/agents/{agent}/jobs/{job_id:uuid}/discard")
    good = token(browser, at("/agents/{agent}/work"))
    attempts: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({"csrf": before_login}, {}),
        ({"csrf": good}, {"Origin": "https://evil.example"}),
        ({"csrf": good}, {"Origin": "null"}),
    ]
    for fields, headers in attempts:
        assert browser.post(here, data=fields, headers=headers).status_code == 403
    assert browser.get(here).status_code == 404
    assert _state(server) is JobState.DEAD
    assert browser.post(here, data={"csrf": good}).status_code == 303
    assert _state(server) is JobState.CANCELLED


def _state(server: Served) -> JobState:
    return server.runtime.listings.job(AGENT, JOB).state


def test_a_reading_key_sees_no_action_and_may_do_none(
    browser: httpx.Client, server: Served
) -> None:
    _fill(server)
    log_in(browser, "read")
    for path in PATHS:
        page = browser.get(at(path)).text
        actions = set(re.findall(r'method="post" action="([^"]*)"', page))
        assert actions <= {"/console/preferences", "/console/logout"}, path
    given = token(browser, "/console/agents")
    for path, _, _ in app._ACTIONS:
        assert browser.post(at(path), data={"csrf": given}).status_code == 403
    assert _state(server) is JobState.DEAD


def test_an_admin_sees_the_actions(browser: httpx.Client, server: Served) -> None:
    _fill(server)
    log_in(browser, "admin")
    page = browser.get(at("/agents/{agent}/work")).text
    assert f"{JOB}/replay" in page
    assert f"{JOB}/discard" in page


def test_a_key_sees_its_own_agents_only(browser: httpx.Client, server: Served) -> None:
    _fill(server)
    with server.runtime.database.lane_transaction() as connection:
        connection.exec_driver_sql("INSERT INTO lane (agent_id) VALUES ('rival')")
    log_in(browser, "admin")
    assert "rival" not in browser.get("/console/agents").text
    assert "rival" not in browser.get("/console/work").text
    for path in PATHS:
        if "{agent}" in path:
            answer = browser.get(at(path).replace(AGENT, "rival"))
            assert answer.status_code == 403, path


def test_agents_are_found_by_a_part_of_their_id(open_server: Served) -> None:
    def found(text: str) -> bool:
        return AGENT in httpx.get(f"{open_server.url}/console/agents", params={"find": text}).text

    assert found("EAM-1")
    assert not found("%")
    assert not found("team_1")


def test_what_does_not_exist_is_a_page(open_server: Served) -> None:
    for path in ("/agents/nobody", f"/agents/{AGENT}/memory/nodes/99999999999999999999",
                 f"/agents/{AGENT}/jobs/{uuid4()}"):  # fmt: skip
        answer = httpx.get(f"{open_server.url}/console{path}")
        assert answer.status_code == 404
        assert answer.headers["content-type"].startswith("text/html")
    answer = httpx.get(f"{open_server.url}{at('/agents/{agent}/memory')}?nodes=-1")
    assert answer.status_code == 422


def test_a_slash_at_the_end_of_an_address_does_no_harm(open_server: Served) -> None:
    for path in ("", "/agents"):
        answer = httpx.get(f"{open_server.url}/console{path}/", follow_redirects=True)
        assert answer.url.path == "/console/agents"
        assert answer.is_success


@pytest.mark.parametrize(
    ("path", "said"),
    [("/nope", "没有这个页面。"), ("/agents/nobody", "该内容可能已被移除，或地址有误。")],
)
def test_an_error_is_a_page_with_the_menu_in_the_language_of_its_reader(
    open_server: Served, path: str, said: str
) -> None:
    asked = f"{open_server.url}/console{path}"
    answer = httpx.get(asked, headers={"Accept-Language": "zh-CN"})
    assert answer.status_code == 404
    assert '<html lang="zh-Hans"' in answer.text
    assert f'href="/console/work">{"工作"}</a>' in answer.text
    assert said in answer.text
    assert said not in httpx.get(asked).text


def test_language_and_theme_are_chosen(open_server: Served) -> None:
    with httpx.Client(base_url=open_server.url, timeout=20) as client:
        page = "/console/agents"
        assert '<html lang="en"' in client.get(page).text
        chinese = {"Accept-Language": "fr;q=0.9, zh-CN, en"}
        assert '<html lang="zh-Hans"' in client.get(page, headers=chinese).text
        fields = {
            "csrf": token(client),
            "language": "zh",
            "theme": "dark",
            "next": f"{page}?find=a",
        }
        answer = client.post("/console/preferences", data=fields)
        assert answer.headers["location"] == f"{page}?find=a"
        assert '<html lang="zh-Hans" data-theme="dark"' in client.get(page).text
        for outside in (
            "https://evil.example/console/",
            "//evil.example",
            "/console/\\evil",
            "/v1",
        ):
            answer = client.post("/console/preferences", data={**fields, "next": outside})
            assert answer.headers["location"] == page


def test_a_large_form_is_refused(open_server: Served) -> None:
    answer = httpx.post(f"{open_server.url}/console/login", content=b"key=" + b"x" * 600_000)
    assert answer.status_code == 413


def test_a_question_that_no_worker_answers_says_so(open_server: Served) -> None:
    for path in ("context", "search"):
        address = f"{open_server.url}/console/agents/{AGENT}/{path}"
        answer = httpx.get(address, params={"query": "x"}, timeout=20)
        assert "No answer in time" in answer.text


def test_an_expired_session_leads_a_script_to_the_login(browser: httpx.Client) -> None:
    answer = browser.get("/console/work", headers={"HX-Request": "true"})
    assert answer.headers["hx-redirect"] == "/console/login"


def test_a_console_that_is_off_is_not_loaded(serve: Serve) -> None:
    assert httpx.get(f"{serve(console=False).url}/console/agents").status_code == 404
    program = (
        "import sys\nfrom memci.config.settings import Settings\n"
        "from memci.http.app import create_app\nfrom memci.runtime import Runtime\n"
        "create_app(Runtime(Settings(console='off', database_url='postgresql://x@h/d',"
        " broker_url='redis://h')))\n"
        "print([each for each in sys.modules if each.startswith(('memci.console', 'jinja2'))])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


def test_static_files_are_served_with_the_policy(open_server: Served) -> None:
    answer = httpx.get(f"{open_server.url}/console/static/graph.js")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    for path in ("..%2f..%2fapp.py", "../app.py", "vendor/", "nothing.js"):
        assert httpx.get(f"{open_server.url}/console/static/{path}").status_code in {404, 422}


def _memory(server: Served, agent: str = AGENT) -> str:
    """Make an agent whose memory 201 tells of its first two messages; return its page."""
    fill_with_origin(server.runtime.database, agent)
    return at("/agents/{agent}/memory/nodes/{node:int}")


def test_a_memory_is_corrected_pinned_and_deleted(browser: httpx.Client, server: Served) -> None:
    here, listings = _memory(server), server.runtime.listings
    log_in(browser, "write")
    given = token(browser, here)

    def do(action: str, **fields: str) -> str:
        answer = browser.post(f"{here}/{action}", data={"csrf": given, **fields})
        assert answer.headers["location"] == f"{here}?done={action}"
        return browser.get(answer.headers["location"]).text

    assert "does not fade" in do("pin")
    assert listings.node(AGENT, 201).pinned
    graph = browser.get(at("/agents/{agent}/memory/network")).json()["nodes"]
    assert [each[0] for each in graph if each[-1]] == [201]
    assert "fades like others" in do("unpin")
    assert not listings.node(AGENT, 201).pinned
    same = listings.node(AGENT, 201).content.replace("\n", "\r\n")
    answer = browser.post(f"{here}/correct", data={"csrf": given, "text": same})
    assert "nothing was changed" in browser.get(answer.headers["location"]).text
    assert "which is pinned" in browser.get(here).text
    shown = do("correct", text=f"Biscuit must not get {HOSTILE}")
    assert 'hx-trigger="every 2s"' in shown  # until a worker has made the memory of the new text
    assert "set by a person" in shown
    assert "由人设定" in browser.get(here, headers={"Accept-Language": "zh"}).text
    assert server.messages(AGENT)[-1] == f"Biscuit must not get {HOSTILE}"
    assert "Hidden: its memory was corrected" in shown
    assert browser.post(f"{here}/correct", data={"csrf": given, "text": "b"}).status_code == 409
    other = here.replace("201", "202")
    assert browser.post(f"{other}/correct", data={"csrf": given, "text": " "}).status_code == 422
    assert browser.post(f"{other}/delete", data={"csrf": given}).status_code == 303
    for language, word in (("en", "deleted"), ("zh", "已删除")):
        shown = browser.get(other, headers={"Accept-Language": language}).text
        assert f'<span class="chip bad">{word}</span>' in shown
        assert "/correct" not in shown
    with server.runtime.database.lane_transaction() as connection:
        done = connection.exec_driver_sql(
            "SELECT action, subject, status FROM audit WHERE key_name = 'write' ORDER BY id"
        ).all()
    assert done == [
        *[("edit_nodes", "201", 200)] * 3,
        ("edit_nodes", "201", 409),
        ("delete_nodes", "202", 200),
    ]


def test_what_was_deleted_is_not_among_the_last_words(
    browser: httpx.Client, server: Served
) -> None:
    _memory(server)
    log_in(browser, "read")
    pages, said = (at("/agents"), at("/agents/{agent}")), server.messages(AGENT)[-1]
    assert all(said[:20] in browser.get(page).text for page in pages)
    with server.runtime.database.agent_transaction(AGENT) as connection:
        withhold(connection, AGENT, {60: [(0, len(said))]})
    assert not any(said[:20] in browser.get(page).text for page in pages)
    assert "Hidden: its memory was corrected or deleted." in browser.get(pages[1]).text


def test_a_restored_memory_leads_to_the_new_one(browser: httpx.Client, server: Served) -> None:
    here = _memory(server).replace("201", "999")
    log_in(browser, "write")
    told = "INSERT INTO trail (agent_id, node_id, event, pass_number, details)"
    for event, details in (("forgotten", "{}"), ("restored", '{"as": 201}')):
        with server.runtime.database.agent_transaction(AGENT) as connection:
            values = (AGENT, event, details)
            connection.exec_driver_sql(f"{told} VALUES (%s, 999, %s, 1, %s)", values)
        shown, waiting = (browser.get(here, params=each).text for each in ({}, {"done": "restore"}))
        gone = event == "forgotten"
        assert ("/restore" in shown, "waits_for=restore" in waiting) == (gone, gone)
        assert 'action="' + here not in waiting
    assert f'href="{here.replace("999", "201")}"' in shown


def test_an_undo_of_nothing_is_told_in_the_window(open_server: Served) -> None:
    window = f"{open_server.url}{at('/agents/{agent}/window')}"
    for language, words in (("en", "There is nothing to undo."), ("zh", "没有可撤销的更改。")):
        with httpx.Client(headers={"Accept-Language": language}) as client:
            fields = {"csrf": token(client, window), "tool": "undo"}
            shown = client.post(window, data=fields).text
        assert words in shown
        assert 'class="tree"' in shown


def test_the_first_and_the_last_key_are_of_an_administrator(open_server: Served) -> None:
    with httpx.Client(base_url=open_server.url, timeout=20) as client:
        assert '<option value="admin" selected>' in client.get("/console/keys").text
        fields = {"csrf": token(client, "/console/keys"), "name": "app", "scope": "read"}
        assert "needs the scope admin" in client.post("/console/keys", data=fields).text
        past = {**fields, "scope": "admin", "expires_at": "2001-01-01"}
        assert "a time in the future" in client.post("/console/keys", data=past).text
        key = _secret(client.post("/console/keys", data={**fields, "scope": "admin"}))
        client.post("/console/login", data={"key": key, "csrf": token(client)})
        fields["csrf"] = token(client, "/console/keys")
        assert "the last admin key" in client.post("/console/keys/app/revoke", data=fields).text
        client.post("/console/keys", data={**fields, "name": "other", "scope": "admin"})
        assert client.post("/console/keys/app/revoke", data=fields).status_code == 303


def test_the_login_shows_no_pages(serve: Serve) -> None:
    """Also if all keys are in the database."""
    server = serve()
    server.runtime.keys.new(KeyRequest(name="app"))
    login = f"{server.url}{at('/login')}"
    wait_until(lambda: at("/audit") not in httpx.get(login).text, "the key is known")


def test_a_memory_is_added_and_a_script_gets_the_panel(
    browser: httpx.Client, server: Served
) -> None:
    here = _memory(server)
    log_in(browser, "write")
    memory = at("/agents/{agent}/memory")
    fields = {"csrf": token(browser, memory), "text": HOSTILE, "user_id": "ann", "pinned": "1"}
    answer = browser.post(memory, data={**fields, "type": "semantic"})
    assert answer.headers["location"] == f"{memory}?done=add"
    listed = server.runtime.listings.messages(AGENT, session_id=None, cursor=None, limit=500)
    (note,) = [each for each in listed.messages if each.content == HOSTILE]
    assert note.user_id == "ann"
    timeline = browser.get(at("/agents/{agent}/sessions"), params={"all": "1"}).text
    assert timeline.count('<span class="chip">Note</span>') == 1
    assert browser.post(memory, data={**fields, "type": "rumour"}).status_code == 422
    for path, status in (("pin", 200), ("restore", 409)):
        answer = browser.post(f"{here}/{path}", data=fields, headers={"HX-Request": "true"},
                              follow_redirects=True)  # fmt: skip
        assert answer.status_code == status
        assert "<html" not in answer.text
        assert 'role="status"' in answer.text or 'role="alert"' in answer.text


def test_what_an_administrator_does_is_in_the_audit_log(
    browser: httpx.Client, server: Served
) -> None:
    _fill(server)
    log_in(browser, "admin")
    fields = {"csrf": token(browser, "/console/agents")}
    for status in (303, 409):
        action = browser.post(at("/agents/{agent}/jobs/{job_id:uuid}/discard"), data=fields)
        assert action.status_code == status
    log = server.runtime.listings.audit(pattern="*", agent_id=AGENT, cursor=None, limit=5)
    told = [(e.action, e.key_name, e.subject, e.status) for e in reversed(log.records)]
    assert told == [("discard", "admin", str(JOB), status) for status in (200, 409)]


def test_actions_of_administration_have_the_names_of_the_api(open_server: Served) -> None:
    paths = httpx.get(f"{open_server.url}/openapi.json").json()["paths"].values()
    known = {operation["operationId"] for path in paths for operation in path.values()}
    named = {do.__name__.lstrip("_") for _, do, scope in app._ACTIONS if scope is Scope.ADMIN}
    assert named - known == set()


def test_a_key_is_made_rotated_and_revoked(browser: httpx.Client, server: Served) -> None:
    log_in(browser, "admin")
    fields = {"csrf": token(browser, "/console/keys"), "agents": "team-*", "scope": "write"}
    wide = browser.post("/console/keys", data={**fields, "name": "wide", "agents": "*"})
    hostile = browser.post("/console/keys", data={**fields, "name": HOSTILE})
    assert (wide.status_code, hostile.status_code) == (403, 422)
    assert "<script>alert" not in hostile.text
    limits = {"limit.messages_per_day": "40", "limit.requests_per_minute": "0"}
    made = browser.post(
        "/console/keys", data={**fields, **limits, "name": "bot", "expires_at": "2999-01-01"}
    )
    first = _secret(made)
    assert first not in browser.get("/console/keys").text
    (key,) = [each for each in server.runtime.keys.list() if each.name == "bot"]
    assert (key.scope, key.agents, key.limits.messages_per_day) == ("write", "team-*", 40)
    second = _secret(browser.post("/console/keys/bot/rotate", data={**fields, "grace_s": "0"}))
    assert _status(server, first) == 401
    assert _status(server, second) == 200
    answer = browser.post("/console/keys/bot/revoke", data=fields)
    assert answer.headers["location"] == "/console/keys?done=revoke_key"
    assert _status(server, second) == 401
    assert browser.post("/console/keys/read/revoke", data=fields).status_code == 409
    for language, words in (("en", "revoked</span>"), ("zh", "已吊销</span>")):
        shown = browser.get("/console/keys", headers={"Accept-Language": language}).text
        assert words in shown
        assert "no limit" in shown or "无限制" in shown
    log = server.runtime.listings.audit(pattern="*", agent_id=None, cursor=None, limit=9).records
    assert [(each.action, each.subject, each.status) for each in log if each.subject == "bot"] == [
        ("revoke_key", "bot", 200),
        ("rotate_key", "bot", 200),
        ("new_key", "bot", 200),
    ]


def _secret(answer: httpx.Response) -> str:
    """Return what a page shows once."""
    assert answer.headers["cache-control"] == "no-store"
    return re.findall(r'<code class="secret">([^<]+)</code>', answer.text)[0]


def _status(server: Served, key: str) -> int:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.get(f"{server.url}/v1/agents", headers=headers).status_code


def test_the_audit_log_is_shown(open_server: Served) -> None:
    with httpx.Client(base_url=open_server.url, timeout=20) as client:
        client.post(f"/v1/agents/{AGENT}/pause", headers={"X-Request-Id": "mine"})
        client.post("/v1/agents/rival/pause")
        for language, word in (("en", "done"), ("zh", "完成")):
            shown = client.get("/console/audit", headers={"Accept-Language": language}).text
            assert "<code>pause</code>" in shown
            assert ">mine</code>" in shown
            assert f'<span class="chip good">{word}</span>' in shown
        found = client.get("/console/audit", params={"agent_id": "nobody"}).text
        assert "<code>pause</code>" not in found


def test_a_webhook_is_added_tested_and_removed(serve: Serve, keys: tuple[object, ...]) -> None:
    server = serve(api_keys=keys, webhooks_allow_private=True)
    with (
        receiver() as target,
        httpx.Client(base_url=server.url, timeout=20) as browser,
    ):
        log_in(browser, "admin")
        fields = {"csrf": token(browser, "/console/webhooks")}
        new = {"url": f"{target.url}?q=<script>alert(1)</script>", "agents": "team-*"}
        wide = browser.post("/console/webhooks", data={**fields, **new, "agents": "*"})
        assert wide.status_code == 403
        for url in ("javascript:alert(1)", "http://user:secret@host/", HOSTILE):
            refused = browser.post("/console/webhooks", data={**fields, **new, "url": url})
            assert refused.status_code == 422
            assert "<script>alert" not in refused.text
        added = browser.post(
            "/console/webhooks", data={**fields, **new, "type:memory.created": "1"}
        )
        secret = _secret(added)
        shown = browser.get("/console/webhooks").text
        assert secret not in shown
        assert "<dt>Last delivered</dt><dd>never</dd>" in shown
        (webhook,) = Webhooks(server.runtime.courier, "*").all().webhooks
        assert webhook.types == ["memory.created"]
        here = f"/console/webhooks/{webhook.id}"
        tested = browser.post(f"{here}/test", data=fields, headers={"Accept-Language": "zh"})
        assert "测试事件已送达" in tested.text
        assert [each["type"] for each in target.events(secret)] == ["webhook.test"]
        target.answer = lambda _number: 500
        assert "has not arrived" in browser.post(f"{here}/test", data=fields).text
        browser.post(f"{here}/change", data={**fields, "enabled": "0"})
        assert ">disabled</span>" in browser.get("/console/webhooks").text
        browser.post(f"{here}/change", data={**fields, "enabled": "1"})
        assert browser.post(f"{here}/replay", data={**fields, "after": "x"}).status_code == 422
        browser.post(f"{here}/replay", data={**fields, "after": ""})
        webhook = Webhooks(server.runtime.courier, "*").get(webhook.id)
        assert (webhook.enabled, webhook.position) == (True, "0.0")
        assert _secret(browser.post(f"{here}/rotate", data=fields)) != secret
        browser.post(f"{here}/remove", data=fields)
        assert Webhooks(server.runtime.courier, "*").all().webhooks == []
        assert browser.post(f"{here}/test", data=fields).status_code == 404


def test_events_are_streamed_to_a_session(serve: Serve, keys: tuple[object, ...]) -> None:
    server = serve(api_keys=keys, http_max_streams=1)
    _memory(server, "rival")
    here = _memory(server)
    with httpx.Client(base_url=server.url, timeout=20) as browser:
        assert browser.get("/console/events").status_code == 303
        log_in(browser, "write")
        fields = {"csrf": token(browser, here)}
        with browser.stream("GET", "/console/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == ":"  # it has begun
            assert browser.get("/console/events").status_code == 429
            runtime = server.runtime
            edit_memories.delete(runtime.database, runtime.wakeups, "rival", [201])
            assert browser.post(f"{here}/delete", data=fields).status_code == 303
            assert next(each for each in lines if "event" in each) == "event: memory.deleted"
            assert AGENT in next(lines)

        def goes_on() -> bool:
            last = {"Last-Event-ID": "0.0"}
            with browser.stream("GET", "/console/events", headers=last) as stream:
                return any(each.startswith("event: ") for each in islice(stream.iter_lines(), 6))

        wait_until(goes_on, "a page that connects again gets the events before")
