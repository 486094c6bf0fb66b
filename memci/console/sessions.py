"""Logins of the console: an API key, sealed into a cookie that expires, and tokens against CSRF."""

import base64
import hashlib
import hmac
import secrets
from urllib.parse import urlsplit

from cryptography.fernet import Fernet, InvalidToken
from starlette.requests import Request
from starlette.responses import Response

from memci.errors import ForbiddenError

COOKIE = "memci_console"
SESSION_S = 12 * 3600
PATH = "/console"


class Sessions:
    """Seals and opens cookies. The key inside is checked again at each request, as in the API."""

    def __init__(self, secret: str | None) -> None:
        """Take the secret that all API processes share; None: sessions end with this process."""
        given = secrets.token_bytes(32) if secret is None else secret.encode()
        self._secret = hashlib.sha256(given).digest()
        self._fernet = Fernet(base64.urlsafe_b64encode(self._secret))

    def begin(self, response: Response, key: str, *, secure: bool) -> None:
        """Set the cookie; ``secure``: the browser asked over TLS."""
        response.set_cookie(
            COOKIE,
            self._fernet.encrypt(key.encode()).decode(),
            max_age=SESSION_S,
            path=PATH,
            secure=secure,
            httponly=True,
            samesite="strict",
        )

    def end(self, response: Response) -> None:
        """Delete the cookie."""
        response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")

    def key(self, request: Request) -> str | None:
        """Return the key of the request's session; None without one, or after its end."""
        try:
            sealed = request.cookies.get(COOKIE, "").encode()
            return self._fernet.decrypt(sealed, ttl=SESSION_S).decode()
        except InvalidToken:
            return None

    def token(self, request: Request) -> str:
        """Return the token that forms of this session send with their fields."""
        sealed = request.cookies.get(COOKIE, "").encode()
        return hmac.new(self._secret, sealed, hashlib.sha256).hexdigest()

    def check_form(self, request: Request, token: str) -> None:
        """Raise ``ForbiddenError`` unless a form comes from a page of ours in this session."""
        origin = request.headers.get("origin")
        foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
        if foreign or not hmac.compare_digest(token.encode(), self.token(request).encode()):
            raise ForbiddenError("this form is not of your session: load its page again")
