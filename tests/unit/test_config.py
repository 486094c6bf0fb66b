"""An error about wrong settings names them, but never their values."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memci.api_keys import new_key
from memci.config.effective import effective_settings
from memci.config.settings import load_settings
from memci.config.unknown_names import misspelt_settings
from memci.errors import ConfigurationError


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [each for each in os.environ if each.startswith("MEMCI_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("MEMCI_API_KEYS", "word-of-mine", "MEMCI_API_KEYS: expected JSON"),
        ("MEMCI_MEMORY", "word-of-mine", "MEMCI_MEMORY: expected JSON"),
        ("MEMCI_MEMORY", '"word-of-mine"', "MEMCI_MEMORY: "),
        ("MEMCI_MEMORY__WORD", "word-of-mine", "MEMCI_MEMORY: memory.word: "),
        ("MEMCI_MODELS__EMBEDER__MODEL", "word-of-mine", "MEMCI_MODELS__EMBEDER: expected"),
        ("MEMCI_PORT", "word-of-mine", "MEMCI_PORT: "),
        ("MEMCI_DATABASE_URL", "mysql://word-of-mine", "MEMCI_DATABASE_URL: expected an address"),
        ("MEMCI_DATABASE_URL", "word-of-mine", "such as postgresql://…"),
        ("MEMCI_BROKER_URL", "http://word-of-mine", "MEMCI_BROKER_URL: expected an address"),
    ],
)
def test_a_wrong_setting_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, complaint: str
):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert complaint in str(caught.value)
    assert "word-of-mine" not in str(caught.value)
    assert "Value error" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"port = = 1", "is not TOML: "), (b'host = "\xff"', "is not UTF-8 text")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes, complaint: str):
    (tmp_path / "memci.toml").write_bytes(content)
    with pytest.raises(ConfigurationError, match=rf"^memci\.toml {complaint}"):
        load_settings()


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMCI_CONFIG", "no-such.toml")
    with pytest.raises(ConfigurationError, match=r"names no-such\.toml, and there is no such file"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "url"),
    [
        *(("database_url", f"{scheme}://h/d") for scheme in ("postgresql", "postgresql+psycopg")),
        ("database_url", "postgres://h/d"),
        *(("broker_url", f"{scheme}://h") for scheme in ("redis", "rediss", "amqp", "pyamqp")),
        ("broker_url", "redis+socket:///run/redis.sock"),
    ],
)
def test_all_valid_kinds_of_addresses_are_accepted(name: str, url: str):
    assert getattr(load_settings(**{name: url}), name).get_secret_value() == url


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),  # noqa: S104 - nothing is bound
        ("::", "http://[::1]:8000"),
        ("::1", "http://[::1]:8000"),
        ("memci.example", "http://memci.example:8000"),
    ],
)
def test_the_client_url_reaches_the_server_on_this_machine(host: str, url: str):
    _, entry = new_key("ann")
    assert load_settings(host=host, api_keys=(entry,)).client_url == url


def test_each_setting_is_shown_with_its_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("MEMCI_PORT", "8123")
    monkeypatch.setenv("MEMCI_DATABASE_URL", "postgresql://me:word-of-mine@db/x")
    monkeypatch.setenv("MEMCI_MODELS__JUDGE__API_KEY", "word-of-mine")
    monkeypatch.setenv("MEMCI_MEMORY__DECAY_RATE", "0.5")
    (tmp_path / "memci.toml").write_text(
        'port = 1\nqueue_on_dead = "halt"\n[memory]\nfocus_limit = 3\n'
        "[simplemem.window]\nsize = 12\n"
    )
    found = {each.name: (each.value, each.source) for each in effective_settings()}
    assert found["MEMCI_PORT"] == ("8123", "MEMCI_PORT")
    assert found["MEMCI_MEMORY__DECAY_RATE"] == ("0.5", "MEMCI_MEMORY__DECAY_RATE")
    assert found["MEMCI_QUEUE_ON_DEAD"] == ("halt", "memci.toml: queue_on_dead")
    assert found["MEMCI_MEMORY__FOCUS_LIMIT"] == ("3", "memci.toml: memory.focus_limit")
    assert found["MEMCI_MEMORY__WINDOW_SIZE"] == ("12", "memci.toml: simplemem.window.size")
    assert found["MEMCI_HOST"] == ("127.0.0.1", "default")
    assert found["MEMCI_MODELS__EMBEDDER__MODEL"] == ("offline", "default")
    assert found["MEMCI_DATABASE_URL"][0] == found["MEMCI_MODELS__JUDGE__API_KEY"][0] == "(set)"


class TestMisspelt:
    def test_unknown_names_are_reported_with_the_nearest_setting(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ):
        monkeypatch.setenv("MEMCI_DATBASE_URL", "word-of-mine")
        monkeypatch.setenv("MEMCI_MEMROY__DECAY_RATE", "0.5")
        monkeypatch.setenv("MEMCI_ZZZZZZ", "1")
        (tmp_path / "memci.toml").write_text(
            'prot = "word-of-mine"\nqueue_lease_ms = 1000\n[other]\n'
        )
        found = sorted(misspelt_settings())
        assert [(each.name, each.nearest) for each in found] == [
            ("'other' in memci.toml", None),
            ("'prot' in memci.toml", "'port'"),
            ("MEMCI_DATBASE_URL", "MEMCI_DATABASE_URL"),
            ("MEMCI_MEMROY__DECAY_RATE", "MEMCI_MEMORY"),
            ("MEMCI_ZZZZZZ", None),
        ]
        assert "word-of-mine" not in " ".join(map(str, found))
        assert str(found[2]).endswith("did you mean MEMCI_DATABASE_URL?")

    @pytest.mark.parametrize(
        "name",
        [
            "MEMCI_PORT", "memci_host", "MEMCI_CONFIG", "MEMCI_MEMORY__DECAY_RATE",
            "MEMCI_DATABASE_PASSWORD", "MEMCI_POSTGRES_SERVICE_HOST", "MEMCI_API_PORT",
            "MEMCI_API_SERVICE_PORT_HTTP", "MEMCI_API_PORT_8000_TCP_ADDR", "OTHER_PORT",
        ],
    )  # fmt: skip
    def test_names_of_settings_and_other_variables_are_not_reported(
        self, monkeypatch: pytest.MonkeyPatch, name: str
    ):
        monkeypatch.setenv(name, "1")
        assert misspelt_settings() == []
