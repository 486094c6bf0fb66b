"""`memci db reembed` and `memci up` with another embedder than the database's."""

from __future__ import annotations

import json

import pytest

from memci.cli.up.prepare import check_embedder
from memci.config.settings import Settings
from memci.errors import WrongEmbedderError
from tests.support.network import AgentUnderTest


@pytest.fixture
def memci(monkeypatch, database_url, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMCI_DATABASE_URL", database_url)

    def run(*arguments):
        from memci.cli.app import run

        monkeypatch.setattr("sys.argv", ["memci", *arguments])
        code = run()
        captured = capsys.readouterr()
        assert code == 0, captured.err
        return code, captured.out

    return run


def test_reembed_takes_the_embedder_from_the_settings(memci, database):
    code, printed = memci("db", "reembed", "--status")
    assert (code, printed) == (
        0,
        "there are no vectors yet: the first worker's embedder will be used\n",
    )
    AgentUnderTest(database).remember("[Ann] keeps bees")
    code, printed = memci("db", "reembed", "--status")
    assert "made by bag-of-words (64 numbers)" in printed
    code, printed = memci("db", "reembed")
    assert code == 0
    assert "made by multilingual-e5-small (384 numbers)" in printed
    assert "1 agent still to be embedded again" in printed
    assert "start the workers" in printed
    code, printed = memci("db", "reembed")
    assert "nothing to do: MEMCI_MODELS__EMBEDDER__MODEL names the embedder" in printed
    assert "start the workers" not in printed
    AgentUnderTest(database, "ben").say("[Ben] keeps cats")
    assert "start the workers" in memci("db", "reembed", "--force")[1]
    code, printed = memci("db", "reembed", "--json")
    answer = json.loads(printed)
    assert (answer["model"], answer["dimension"]) == ("multilingual-e5-small", 384)
    assert (answer["asked"], answer["agents_left"], answer["agents_dead"]) == (0, 2, 0)


def test_up_refuses_another_embedder_before_any_worker_starts(database, database_url):
    check_embedder(Settings(), database_url)
    AgentUnderTest(database).remember("[Ann] keeps bees")
    with pytest.raises(WrongEmbedderError, match="run `memci db reembed`"):
        check_embedder(Settings(), database_url)
