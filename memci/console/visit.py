"""One request to the console: who asks, in which language, and how a page is made for them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memci.api_keys import Scope, allows
from memci.config.groups import ApiKey
from memci.console import charts
from memci.console.words import LANGUAGES, Words
from memci.domain.events import EventType
from memci.errors import InvalidInputError
from memci.message import WITHHELD, is_note
from memci.runtime import Runtime
from memci.schemas.problems import describe_faults

ROOT = "/console"
THEMES = ("auto", "light", "dark")
THEME_COOKIE = "memci_theme"
# Pages of one agent in the order of the navigation: what follows the agent in their path, and the
# name of their text. A page of a new subject needs one line here.
AGENT_PAGES = (
    ("", "nav.overview"),
    ("/memory", "nav.memory"),
    ("/context", "nav.context"),
    ("/window", "nav.window"),
    ("/search", "nav.search"),
    ("/sessions", "nav.sessions"),
    ("/work", "nav.work"),
    ("/documents", "nav.documents"),
    ("/usage", "nav.usage"),
)
# The same of pages about all agents, with the scope that they need.
PAGES = (
    ("/agents", "nav.agents", Scope.READ),
    ("/work", "nav.lanes", Scope.READ),
    ("/collections", "nav.collections", Scope.READ),
    ("/keys", "nav.keys", Scope.ADMIN),
    ("/webhooks", "nav.webhooks", Scope.ADMIN),
    ("/audit", "nav.audit", Scope.ADMIN),
)
# Nothing from elsewhere, nothing inline, no frames around.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
B = TypeVar("B", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request whose key may do what it asks."""

    request: Request
    runtime: Runtime
    words: Words
    key: ApiKey | None  # None: the server has no keys, or nobody has logged in
    token: str  # of forms
    form: Mapping[str, str]

    @property
    def agent(self) -> str:
        """The agent of the path."""
        agent: str = self.request.path_params["agent"]
        return agent

    def may(self, scope: Scope) -> bool:
        """Return True if the key has a scope."""
        return allows(self.key, scope)

    def given(self, name: str) -> str | None:
        """Return a field of the form or a parameter of the address; None for a blank one."""
        value = self.form.get(name) or self.request.query_params.get(name) or ""
        return value.strip() or None

    def number(self, name: str) -> int | None:
        """Return a whole number that was given; raises ``InvalidInputError`` for another text."""
        value = self.given(name)
        if value is not None and not (value.isascii() and value.isdigit() and len(value) <= 18):  # noqa: PLR2004 - fits a bigint
            raise InvalidInputError("expected a whole number", field=name)
        return None if value is None else int(value)

    def asked(self, schema: type[B], **values: Any) -> B:
        """Return a request of the API with the values that are given; raises as the API does."""
        try:
            return schema.model_validate({k: v for k, v in values.items() if v is not None})
        except ValidationError as error:
            raise InvalidInputError(describe_faults(error, schema)) from None

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page, or a part of one."""
        html = (
            _templates()
            .get_template(template)
            .render(
                visit=self,
                t=self.words,
                agent=self.request.path_params.get("agent"),
                theme=self.request.cookies.get(THEME_COOKIE, "auto"),
                **values,
            )
        )
        return Response(html, status, {**HEADERS, "Content-Language": self.words.language},
                        media_type="text/html; charset=utf-8")  # fmt: skip

    def live(self, name: str, **values: Any) -> Response:
        """Return a page, or its part that changes, if a script asks for it."""
        part = "_live" if "hx-request" in self.request.headers else ""
        return self.page(f"{name}{part}.html", **values)

    def data(self, value: Any) -> Response:
        """Return JSON for a script."""
        return Response(_json(value), headers=HEADERS, media_type="application/json")

    def back_to(self, *parts: str, **parameters: str | None) -> Response:
        """Lead to another page of the console after a form."""
        return RedirectResponse(link(*parts, **parameters), 303, HEADERS)


def link(*parts: object, **parameters: object) -> str:
    """Return the address of a page; parameters that are None are left out."""
    path = "/".join([ROOT, *(quote(str(each), safe="") for each in parts)])
    query = urlencode({name: str(each) for name, each in parameters.items() if each is not None})
    return f"{path}?{query}" if query else path


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _moment(at: datetime | None) -> str:
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("memci.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"moment": _moment, "count": "{:,}".format, "json": _json}
    environment.globals |= {
        "link": link, "charts": charts, "Scope": Scope, "AGENT_PAGES": AGENT_PAGES, "PAGES": PAGES,
        "ROOT": ROOT, "EVENT_TYPES": tuple(EventType), "LANGUAGES": LANGUAGES, "THEMES": THEMES,
        "WITHHELD": WITHHELD, "is_note": is_note,
    }  # fmt: skip
    return environment
