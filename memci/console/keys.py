"""API keys with their limits and usage, and the audit log."""

from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from memci.api_keys import Scope
from memci.commands.keys import Keys
from memci.config.groups import KeyLimits
from memci.console.visit import Visit
from memci.errors import ConflictError, InvalidInputError
from memci.schemas.keys import KeyRequest, NewKeyAnswer, RotateRequest

_LIMITS = tuple(KeyLimits.model_fields)
# Seconds that the former key may be accepted: none, an hour, a day, a week.
_GRACES_S = (0, 3_600, 86_400, 604_800)
_RECORDS = 50


def _listing(visit: Visit, made: NewKeyAnswer | None = None) -> Response:
    """Show the keys; with the one that was just made, which no other page shows."""
    return visit.page(
        "keys.html",
        keys=_keys(visit).list(),
        made=made,
        limits=_LIMITS,
        defaults=visit.runtime.settings.key_limits,
        graces_s=_GRACES_S,
        tomorrow=datetime.now(UTC).date() + timedelta(days=1),
    )


def _keys(visit: Visit) -> Keys:
    return visit.runtime.keys.held_by(visit.key)


def _refresh(visit: Visit) -> None:
    visit.request.app.state.gate.keys.refresh()


def _new_key(visit: Visit) -> Response:
    ends = visit.given("expires_at")
    request = visit.asked(
        KeyRequest,
        name=visit.given("name"),
        agents=visit.given("agents"),
        scope=visit.given("scope"),
        expires_at=ends and f"{ends}T00:00:00Z",
        limits={name: visit.number(f"limit.{name}") for name in _LIMITS},
    )
    visit.request.state.subject = request.name
    if visit.key is None and request.scope != "admin":  # nobody could make one afterwards
        raise InvalidInputError("the first key needs scope admin: the console asks for a key then")
    made = _keys(visit).new(request)
    _refresh(visit)
    return _listing(visit, made)


def _rotate_key(visit: Visit) -> Response:
    request = visit.asked(RotateRequest, grace_s=visit.number("grace_s"))
    made = _keys(visit).rotate(visit.request.path_params["name"], grace_s=request.grace_s)
    _refresh(visit)
    return _listing(visit, made)


def _revoke_key(visit: Visit) -> Response:
    name = visit.request.path_params["name"]
    active = [each for each in visit.runtime.keys.list() if each.state == "active"]
    if [each.name for each in active if each.scope == "admin"] == [name]:
        raise ConflictError("this is the last admin key: make another one first")
    _keys(visit).revoke(name)
    _refresh(visit)
    return visit.back_to("keys", done="revoke_key")


def _audit(visit: Visit) -> Response:
    agent = visit.given("agent_id")
    listed = visit.runtime.listings.audit(
        pattern=visit.request.state.agents,
        agent_id=agent,
        cursor=visit.given("cursor"),
        limit=_RECORDS,
    )
    return visit.page("audit.html", listed=listed, agent_id=agent or "")


PAGES = (("/keys", _listing, Scope.ADMIN), ("/audit", _audit, Scope.ADMIN))
ACTIONS = (
    ("/keys", _new_key, Scope.ADMIN),
    ("/keys/{name}/rotate", _rotate_key, Scope.ADMIN),
    ("/keys/{name}/revoke", _revoke_key, Scope.ADMIN),
)
