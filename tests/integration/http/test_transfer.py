"""Export and import of agents over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from memci.api_keys import new_key
from memci.client import Memci
from memci.errors import ConflictError, InvalidInputError, NotFoundError
from memci.http.routers import erasing
from tests.integration.http.conftest import Serve
from tests.integration.http.serving import Served
from tests.support.archives import files_of, tables_of, zipped
from tests.support.complete_agent import complete_agent

IMPORT = "/v1/agents/bob/import"
ZIP = {"Content-Type": "application/zip"}


@pytest.fixture
def archive(server: Served, http: httpx.Client) -> bytes:
    complete_agent(server.runtime.database)
    return http.post("/v1/agents/ada/export").raise_for_status().content


def test_an_agent_is_exported_and_imported(http: httpx.Client, archive: bytes) -> None:
    answer = http.post(IMPORT, content=archive, headers=ZIP)
    assert answer.status_code == 200
    body = answer.json()
    assert (body["agent_id"], body["from_agent_id"]) == ("bob", "ada")
    again = http.post("/v1/agents/bob/export")
    assert again.headers["content-type"] == "application/zip"
    assert again.headers["content-disposition"] == 'attachment; filename="bob.zip"'
    assert tables_of(again.content) == tables_of(archive)
    about = [http.get(f"/v1/agents/{each}").json() for each in ("ada", "bob")]
    fields = ("nodes", "links", "dangling", "focus", "messages", "dead", "seq")
    assert [about[0][each] for each in fields] == [about[1][each] for each in fields]


def test_an_imported_agent_has_the_same_lists(http: httpx.Client, archive: bytes) -> None:
    http.post(IMPORT, content=archive, headers=ZIP).raise_for_status()
    for path in ("nodes", "links", "focus", "messages", "passes", "settings", "sessions", "fading",
                 "network"):  # fmt: skip
        ours, theirs = (http.get(f"/v1/agents/{each}/{path}") for each in ("ada", "bob"))
        assert ours.status_code == 200
        assert ours.text.replace('"ada"', '"bob"') == theirs.text, path
    for node in http.get("/v1/agents/ada/nodes").json()["nodes"]:
        for path in (f"nodes/{node['id']}", f"nodes/{node['id']}/history"):
            ours, theirs = (http.get(f"/v1/agents/{each}/{path}") for each in ("ada", "bob"))
            assert ours.json() == theirs.json()


def test_a_second_import_is_a_conflict(http: httpx.Client, archive: bytes) -> None:
    for status in (200, 409):
        assert http.post(IMPORT, content=archive, headers=ZIP).status_code == status


def test_invalid_archives_are_refused(http: httpx.Client, server: Served) -> None:
    for content in (b"", b"no zip", zipped({"a": b""})):
        answer = http.post(IMPORT, content=content, headers=ZIP)
        assert (answer.status_code, answer.json()["type"]) == (
            422,
            "urn:memci:problem:invalid-input",
        )
    assert http.get("/v1/agents/bob").status_code == 404


def test_another_kind_of_body_is_refused(http: httpx.Client) -> None:
    answer = http.post(IMPORT, json={})
    assert answer.status_code == 415
    assert "application/zip" in answer.json()["detail"]


def test_an_unknown_agent_is_not_exported(http: httpx.Client) -> None:
    assert http.post("/v1/agents/nobody/export").status_code == 404


@pytest.mark.parametrize("with_length", [True, False])
def test_an_archive_over_the_limit_is_not_read_to_its_end(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, *, with_length: bool
) -> None:
    monkeypatch.setattr(erasing, "MAX_ARCHIVE_BYTES", 100_000)
    server = serve()
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(200):
            sent += 1
            yield bytes(64 * 1024)

    length = {"Content-Length": str(200 * 64 * 1024)} if with_length else {}
    with closing(httpx.Client(base_url=server.url, timeout=20)) as http:
        try:
            answer = http.post(IMPORT, content=pieces(), headers={**ZIP, **length})
        except httpx.WriteError:
            assert sent < 200
        else:
            assert answer.status_code == 413
            assert "at most 100000 bytes" in answer.json()["detail"]


def test_export_and_import_need_scope_admin(serve: Serve) -> None:
    key, entry = new_key("writer", scope="write")
    server = serve(api_keys=(entry,))
    with closing(httpx.Client(base_url=server.url)) as http:
        http.headers["Authorization"] = f"Bearer {key}"
        assert http.post("/v1/agents/ada/export").status_code == 403
        assert http.post(IMPORT, content=b"", headers=ZIP).status_code == 403


def test_the_client_saves_and_sends_files(server: Served, archive: bytes, tmp_path: Path) -> None:
    file = tmp_path / "ada.zip"
    with Memci(server.url) as memci:
        manifest = memci.agent("ada").export(file)
        assert manifest.agent_id == "ada"
        assert tables_of(file.read_bytes()) == tables_of(archive)
        with pytest.raises(InvalidInputError, match="is there already"):
            memci.agent("ada").export(file)
        assert memci.agent("eve").import_(file).from_agent_id == "ada"
        with pytest.raises(ConflictError):
            memci.agent("eve").import_(file)
        with pytest.raises(NotFoundError):
            memci.agent("nobody").export(tmp_path / "nobody.zip")
        with pytest.raises(InvalidInputError, match="no such file"):
            memci.agent("zoe").import_(tmp_path / "missing.zip")
    assert [each.name for each in tmp_path.iterdir()] == ["ada.zip"]


def test_an_async_client_moves_an_agent(server: Served, archive: bytes, tmp_path: Path) -> None:
    file = tmp_path / "ada.zip"

    async def go() -> str:
        async with Memci(server.url).aio as memci:
            await memci.agent("ada").export(file)
            with pytest.raises(NotFoundError):
                await memci.agent("nobody").export(tmp_path / "nobody.zip")
            return (await memci.agent("zoe").import_(file)).agent_id

    assert asyncio.run(go()) == "zoe"
    assert files_of(file.read_bytes()).keys() == files_of(archive).keys()
    assert [each.name for each in tmp_path.iterdir()] == ["ada.zip"]
