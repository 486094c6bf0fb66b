"""Routes for API keys. A key sees and gives only what it has itself."""

from typing import Annotated, TypeAlias

from fastapi import Path

from memci.commands.keys import Keys
from memci.config.groups import KEY_NAME
from memci.http.auth import Gate
from memci.http.documentation import CONFLICT
from memci.http.request import Call
from memci.http.routing import Routes
from memci.schemas.keys import (
    KeyAnswer,
    KeyChanges,
    KeyList,
    KeyRequest,
    NewKeyAnswer,
    RotateRequest,
)

routes = Routes("keys")
Name: TypeAlias = Annotated[str, Path(pattern=f"^{KEY_NAME}$")]


@routes.admin.get("/keys")
def list_keys(call: Call) -> KeyList:
    """List the keys for agents of this key's pattern, by name; never the keys themselves."""
    return KeyList(keys=_keys(call).list())


@routes.admin.post("/keys", status_code=201, responses=CONFLICT)
def new_key(body: KeyRequest, call: Call) -> NewKeyAnswer:
    """Make a key, which only this answer shows.

    It may do at most what the asking key may. After the first key, the server demands one.
    """
    call.state.subject = body.name
    answer = _keys(call).new(body)
    _refresh(call)
    return answer


@routes.admin.patch("/keys/{name}", responses=CONFLICT)
def change_key(name: Name, body: KeyChanges, call: Call) -> KeyAnswer:
    """Change agents, scope, end or limits of a key; what is left out stays."""
    answer = _keys(call).change(name, body)
    _refresh(call)
    return answer


@routes.admin.post("/keys/{name}/rotate", responses=CONFLICT)
def rotate_key(name: Name, call: Call, body: RotateRequest | None = None) -> NewKeyAnswer:
    """Replace a key by a new one, which only this answer shows; the former is accepted a while."""
    answer = _keys(call).rotate(name, grace_s=(body or RotateRequest()).grace_s)
    _refresh(call)
    return answer


@routes.admin.delete("/keys/{name}", responses=CONFLICT)
def revoke_key(name: Name, call: Call) -> KeyAnswer:
    """Accept a key no more; other API processes follow within seconds. Its name stays taken."""
    answer = _keys(call).revoke(name)
    _refresh(call)
    return answer


def _keys(call: Call) -> Keys:
    return call.runtime.keys.held_by(call.state.key)


def _refresh(call: Call) -> None:
    gate: Gate = call.app.state.gate
    gate.keys.refresh()
