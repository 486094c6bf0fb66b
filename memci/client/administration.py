"""Methods for who administers a server: API keys, the audit log."""

from collections.abc import Mapping
from typing import Any, Unpack
from urllib.parse import quote

from memci.client.keyword_arguments import AuditOptions, KeyOptions
from memci.client.method import Methods, TransportT, method
from memci.client.requests import Flow
from memci.schemas.audit import AuditList
from memci.schemas.keys import DEFAULT_GRACE_S, KeyAnswer, KeyList, NewKeyAnswer


class AdministrationMethods(Methods[TransportT]):
    """Manages keys, and reads the audit log; both need a key of scope admin, if there are any."""

    @method
    def audit(self, **options: Unpack[AuditOptions]) -> Flow[AuditList]:
        """List who administered or erased what, the latest first."""
        return self._get("/v1/audit", AuditList, options)

    @method
    def keys(self) -> Flow[KeyList]:
        """List the keys that this key may see, without themselves."""
        return self._get("/v1/keys", KeyList)

    @method
    def new_key(self, name: str, **options: Unpack[KeyOptions]) -> Flow[NewKeyAnswer]:
        """Make a key; its answer alone shows it."""
        json: Mapping[str, Any] = {"name": name, **options}
        return self._post("/v1/keys", NewKeyAnswer, json, repeatable=False)

    @method
    def change_key(self, name: str, **changes: Unpack[KeyOptions]) -> Flow[KeyAnswer]:
        """Change a key; what is left out stays."""
        return self._fetch("PATCH", _path(name), KeyAnswer, json=changes)

    @method
    def rotate_key(self, name: str, *, grace_s: int = DEFAULT_GRACE_S) -> Flow[NewKeyAnswer]:
        """Replace a key; the former one is accepted for ``grace_s``."""
        path, json = f"{_path(name)}/rotate", {"grace_s": grace_s}
        return self._post(path, NewKeyAnswer, json, repeatable=False)

    @method
    def revoke_key(self, name: str) -> Flow[KeyAnswer]:
        """Accept a key no more."""
        return self._fetch("DELETE", _path(name), KeyAnswer, repeatable=False)


def _path(name: str) -> str:
    return f"/v1/keys/{quote(name, safe='')}"
