"""The routes of the console: who may see a page, and what is shown when something is wrong."""

from collections.abc import Callable, Mapping
from importlib.resources import files
from inspect import iscoroutinefunction
from typing import Any, Protocol
from urllib.parse import parse_qsl

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from memci.api_keys import Scope
from memci.commands.audit import recorded
from memci.config.groups import ApiKey
from memci.console import agents, events, keys, memory, questions, records, webhooks, window, work
from memci.console.sessions import Sessions
from memci.console.visit import HEADERS, ROOT, THEME_COOKIE, THEMES, Visit, link
from memci.console.words import LANGUAGE_COOKIE, LANGUAGES, words_for
from memci.errors import MemciError, NotFoundError, TooLargeError, UnauthorizedError
from memci.runtime import Runtime
from memci.schemas.problems import problem_of

_log = structlog.get_logger("memci.console")
_MOST_FORM_BYTES = 512 * 1024
_YEAR_S = 365 * 86_400
Handler = Callable[[Visit], Any]  # returns a Response, or awaits one
# (path below /console, handler, scope); of pages, and of actions, which forms send.
_PAGES: tuple[tuple[str, Handler, Scope], ...] = (
    *agents.PAGES, *memory.PAGES, *questions.PAGES, *window.PAGES, *records.PAGES, *work.PAGES,
    *keys.PAGES, *webhooks.PAGES, *events.PAGES,
)  # fmt: skip
_ACTIONS: tuple[tuple[str, Handler, Scope], ...] = (
    *memory.ACTIONS, *window.ACTIONS, *work.ACTIONS, *keys.ACTIONS, *webhooks.ACTIONS,
)  # fmt: skip


class Gate(Protocol):
    """Authorizes requests, as of the API."""

    def admit(
        self, request: Request, needed: Scope, authorization: str | None = None
    ) -> str | None:
        """Check key, rate, agent id and rights; store the key in ``request.state``."""
        ...


class Console:
    """Serves the pages."""

    def __init__(
        self, runtime: Runtime, gate: Gate, audit_entry: Callable[[Request, str], Any]
    ) -> None:
        """Take what the pages show, what authorizes their readers, and entries of the audit log."""
        self._runtime = runtime
        self._gate = gate
        self._audit_entry = audit_entry
        secret = runtime.settings.console_secret
        self._sessions = Sessions(None if secret is None else secret.get_secret_value())

    def routes(self) -> list[BaseRoute]:
        """Return all routes; the docs of the API do not list them."""
        static = _Static(directory=str(files(__package__).joinpath("static")))
        listed = [
            *(self._route(path, do, scope, "GET") for path, do, scope in _PAGES),
            *(self._route(path, do, scope, "POST") for path, do, scope in _ACTIONS),
            self._route("/login", self._ask_key, None, "GET"),
            self._route("/login", self._log_in, None, "POST"),
            self._route("/logout", self._log_out, None, "POST"),
            self._route("/preferences", self._prefer, None, "POST"),
            self._route("", lambda _: RedirectResponse(link("agents")), None, "GET"),
        ]
        nowhere = self._route("/{rest:path}", _nowhere, Scope.READ, "GET")
        return [*listed, Mount(f"{ROOT}/static", static), nowhere]

    def _route(self, path: str, do: Handler, scope: Scope | None, method: str) -> Route:
        async def answer(request: Request) -> Response:
            visit = self._visit(request, {})
            try:
                if method == "POST":
                    visit = self._visit(request, await _form(request))
                    self._sessions.check_form(request, visit.form.get("csrf", ""))
                if scope is not None:
                    self._admit(request, scope, self._sessions.key(request))
                    visit = self._visit(request, visit.form, request.state.key)
                if iscoroutinefunction(do):
                    response: Response = await do(visit)
                    return response
                if scope is Scope.ADMIN and method == "POST":
                    return await run_in_threadpool(self._recorded, visit, do)
                return await run_in_threadpool(do, visit)
            except UnauthorizedError:
                return self._to_login(request)
            except MemciError as error:
                problem = problem_of(error)
            except Exception:  # noqa: BLE001 - a person gets a page, the log the rest
                _log.exception("page failed", page=path)
                problem = problem_of(MemciError())
            shown = self._visit(request, visit.form, getattr(request.state, "key", None))
            part = "problem.html" if "hx-request" in request.headers else "error.html"
            return shown.page(part, status=problem.status, problem=problem)

        return Route(ROOT + path, answer, methods=[method], include_in_schema=False)

    def _visit(self, request: Request, form: Mapping[str, str], key: ApiKey | None = None) -> Visit:
        words, token = words_for(request), self._sessions.token(request)
        return Visit(request, self._runtime, words, key, token, form)

    def _recorded(self, visit: Visit, do: Handler) -> Response:
        """Do an action of administration; in the audit log it has the name of the API's."""
        entry = self._audit_entry(visit.request, do.__name__.removeprefix("_"))
        with recorded(self._runtime.database, entry) as recording:
            response: Response = do(visit)
            recording.subject = getattr(visit.request.state, "subject", None)
        return response

    def _admit(self, request: Request, scope: Scope, key: str | None) -> None:
        self._gate.admit(request, scope, "" if key is None else f"Bearer {key}")

    def _to_login(self, request: Request) -> Response:
        """Ask for a key, and come back then; a script is told to do so."""
        came = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        to = link("login", next=came if request.method == "GET" else None)
        if "hx-request" in request.headers:
            return Response(status_code=204, headers={**HEADERS, "HX-Redirect": link("login")})
        return RedirectResponse(to, 303, HEADERS)

    def _ask_key(self, visit: Visit) -> Response:
        return visit.page("login.html", refused=False, next=visit.given("next") or "")

    def _log_in(self, visit: Visit) -> Response:
        key, after = visit.given("key") or "", visit.given("next") or ""
        try:
            self._admit(visit.request, Scope.READ, key)
        except UnauthorizedError:
            return visit.page("login.html", status=401, refused=True, next=after)
        response = RedirectResponse(_inside(after), 303, HEADERS)
        self._sessions.begin(response, key, secure=visit.request.url.scheme == "https")
        return response

    def _log_out(self, _visit: Visit) -> Response:
        response = RedirectResponse(link("login"), 303, HEADERS)
        self._sessions.end(response)
        return response

    def _prefer(self, visit: Visit) -> Response:
        """Keep language and theme in cookies, which say nothing about a person."""
        response = RedirectResponse(_inside(visit.given("next") or ""), 303, HEADERS)
        chosen = ((LANGUAGE_COOKIE, "language", LANGUAGES), (THEME_COOKIE, "theme", THEMES))
        for cookie, field, known in chosen:
            value = visit.given(field)
            if value in known:
                response.set_cookie(
                    cookie, value or "", max_age=_YEAR_S, path=ROOT, samesite="strict"
                )
        return response


def _nowhere(visit: Visit) -> Response:
    path = visit.request.url.path
    if path.endswith("/"):
        return RedirectResponse(f"/{path.strip('/')}")
    raise NotFoundError("there is no such page")


def _inside(address: str) -> str:
    """Return an address of the console; its first page instead of any other."""
    return address if address.startswith(f"{ROOT}/") and "\\" not in address else link("agents")


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; raises ``TooLargeError``."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_FORM_BYTES:
            raise TooLargeError(f"expected at most {_MOST_FORM_BYTES} bytes in a form")
    fields = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=64)
    return dict(fields)


class _Static(StaticFiles):
    """Files that a browser asks for again only if they have changed."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        """Answer with a file and the headers of pages."""
        response = super().file_response(*args, **options)
        response.headers.update({**HEADERS, "Cache-Control": "no-cache"})
        return response
