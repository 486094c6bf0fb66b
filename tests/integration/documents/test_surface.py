"""Documents over HTTP and with the client, indexed by a real worker."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from memci.api_keys import Scope, authorize, is_for, new_key
from memci.client import Memci
from memci.domain.documents import DocumentState
from memci.errors import ForbiddenError, InvalidInputError, NotFoundError, TooLargeError
from tests.integration.http.serving import Served
from tests.support import files

TIMEOUT_S = 40


@pytest.fixture
def memci(working: Served):
    with Memci(working.url) as client:
        yield client


def test_a_file_is_sent_indexed_listed_and_removed(memci: Memci, tmp_path: Path):
    ada = memci.agent("ada")
    (tmp_path / "手册.docx").write_bytes(files.docx())
    sent = ada.add_file(tmp_path / "手册.docx")
    assert (sent.name, sent.unchanged) == ("手册.docx", False)
    done = ada.wait_document(sent.id, timeout_s=TIMEOUT_S)
    assert (done.state, done.error) == (DocumentState.READY, None)
    assert done.chunks == done.indexed_chunks == 3
    assert ada.job(sent.job_id).result == {"document": sent.id, "indexed": 3, "left": 0}
    assert ada.add_file(tmp_path / "手册.docx").unchanged
    assert [each.name for each in ada.documents().documents] == ["手册.docx"]
    assert ada.about().documents == 1
    removed = ada.remove_document(sent.id)
    assert (removed.documents, removed.chunks) == (1, 3)
    with pytest.raises(NotFoundError):
        ada.document(sent.id)


def test_a_file_that_cannot_be_read_has_an_error(memci: Memci):
    bob = memci.agent("bob")
    sent = bob.add_document("laughs.xml", files.LAUGHS)
    done = bob.wait_document(sent.id, timeout_s=TIMEOUT_S)
    assert done.state is DocumentState.FAILED
    assert "never expanded" in str(done.error)


def test_documents_are_listed_by_prefix_and_in_pages(memci: Memci):
    eve = memci.agent("eve")
    for number in range(3):
        eve.add_document(f"docs/{number}.md", f"text {number}")
    eve.add_document("other.md", "text")
    first = eve.documents(prefix="docs/", limit=2)
    assert [each.name for each in first.documents] == ["docs/0.md", "docs/1.md"]
    rest = eve.documents(prefix="docs/", cursor=first.next_cursor)
    assert [each.name for each in rest.documents] == ["docs/2.md"]
    assert eve.remove_documents("docs/").documents == 3


def test_collections_are_no_agents(memci: Memci):
    lib = memci.collection("lib")
    with pytest.raises(NotFoundError, match="no collection lib"):
        lib.documents()
    sent = lib.add_document("a.py", "def read():\n    return 1\n")
    done = lib.wait_document(sent.id, timeout_s=TIMEOUT_S)
    assert done.state is DocumentState.READY
    (listed,) = [each for each in memci.collections().collections if each.name == "lib"]
    assert (listed.documents, listed.chunks) == (1, 1)
    assert not [each for each in memci.agents().agents if "lib" in each.agent_id]
    assert lib.remove_documents("").documents == 1
    assert "lib" not in {each.name for each in memci.collections().collections}
    with pytest.raises(InvalidInputError, match="collection"):
        memci.collection("a/b")


def test_documents_with_the_asyncio_client(memci: Memci):
    async def send_documents() -> None:
        async with memci.aio as aio:
            sent = await aio.collection("async").add_document("a.md", "text")
            done = await aio.collection("async").wait_document(sent.id, timeout_s=TIMEOUT_S)
            assert done.state is DocumentState.READY
            assert (await aio.agent("zoe").add_document("b.md", "text")).name == "b.md"

    asyncio.run(send_documents())


def test_bodies_as_json_as_forms_and_invalid_ones(working: Served):
    with httpx.Client(base_url=f"{working.url}/v1/agents/http", timeout=20) as http:
        assert http.post("/documents", json={"name": "a.md", "text": "你好"}).status_code == 202
        form = http.post("/documents", files={"file": ("b.md", b"text")})
        assert (form.status_code, form.json()["name"]) == (202, "b.md")
        named = http.post(
            "/documents", files={"file": ("b.md", b"text")}, data={"name": "文档/c.md"}
        )
        assert named.json()["name"] == "文档/c.md"
        twice = {"file": ("b.md", b"text")}, {"name": ["a.md", "b.md"]}
        assert http.post("/documents", files=twice[0], data=twice[1]).status_code == 422
        assert http.post("/documents", content=b"x").status_code == 415
        assert http.post("/documents", json={"name": "a.md"}).status_code == 422
        assert http.post("/documents", json={"name": "a.md", "text": ""}).status_code == 422
        assert http.post("/documents", data={"name": "x"}, files={"x": b"1"}).status_code == 422
        broken = http.post(
            "/documents", content=b"--x", headers={"Content-Type": "multipart/form-data"}
        )
        assert broken.status_code == 400
        assert http.delete("/documents").status_code == 422
        assert http.get("/documents/99").status_code == 404


def test_a_file_above_the_limit_is_refused(memci: Memci, working: Served):
    most = working.runtime.settings.http_max_document_bytes
    with pytest.raises(TooLargeError, match="MEMCI_HTTP_MAX_DOCUMENT_BYTES"):
        memci.agent("ada").add_document("a.txt", b"x" * (most + 1))


@pytest.mark.parametrize(
    ("pattern", "owner", "allowed"),
    [
        ("*", "ada", True),
        ("*", "collection/lib", True),
        ("c*", "carl", True),
        ("c*", "collection/lib", False),
        ("collection/*", "collection/lib", True),
        ("collection/*", "ada", False),
        ("team-*,collection/lib", "team-1", True),
        ("team-*,collection/lib", "collection/lib", True),
        ("team-*,collection/lib", "collection/other", False),
    ],
)
def test_a_key_pattern_allows_agents_and_collections(pattern: str, owner: str, allowed: bool):
    assert is_for(pattern, owner) is allowed
    _, key = new_key("test", agents=pattern, scope="write")
    if allowed:
        authorize(key, Scope.WRITE, owner)
    else:
        with pytest.raises(ForbiddenError):
            authorize(key, Scope.READ, owner)


def test_a_key_for_another_collection_or_scope_is_refused(working: Served):
    secret, reader = new_key("reader", agents="team-?,collection/lib*", scope="read")
    settings = working.runtime.settings.model_copy(update={"api_keys": (reader,)})
    from tests.integration.http.serving import served

    with served(settings) as guarded, Memci(guarded.url, api_key=secret) as memci:
        with pytest.raises(ForbiddenError, match="scope write"):
            memci.collection("library").add_document("a.md", "text")
        with pytest.raises(ForbiddenError, match="not for this collection"):
            memci.collection("secret").documents()
        for name in ("secret", "no-such"):  # the answer does not show which exist
            with pytest.raises(ForbiddenError, match="not for this collection"):
                memci.agent("team-1").search("lathe", collections=[name])
        assert memci.collections().collections == []
        assert memci.agents().agents == []
