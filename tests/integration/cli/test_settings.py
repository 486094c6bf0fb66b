"""`memci agents settings`: an agent's own parameters, set one by one."""

from __future__ import annotations

import pytest

from memci import Memci
from memci.domain.pages.parameters import PageRules
from tests.integration.http.serving import Served
from tests.support.command_line import run, run_json


@pytest.fixture
def settings(server: Served) -> dict[str, str]:
    """Settings for a server that has the agent ann."""
    with Memci(server.url) as memci:
        memci.agent("ann").remember([{"role": "user", "content": "Hi"}])
    return {"MEMCI_API_URL": server.url}


def changed(settings: dict[str, str], *changes: str) -> dict[str, object]:
    answer = run_json("agents", "settings", *changes, "--agent", "ann", settings=settings)
    return {name: answer["parameters"][name] for name in answer["changed"]}


def test_values_are_set_kept_and_unset_one_by_one(settings: dict[str, str]):
    assert changed(settings) == {}
    assert changed(settings, "focus_limit=3", "skip_trivial=false") == {
        "focus_limit": 3,
        "skip_trivial": False,
    }
    assert changed(settings, "dangling_links=drop_on_visit", "decay_rate=0.9") == {
        "focus_limit": 3,
        "skip_trivial": False,
        "dangling_links": "drop_on_visit",
        "decay_rate": 0.9,
    }
    assert set(changed(settings, "--unset", "focus_limit")) == {
        "skip_trivial",
        "dangling_links",
        "decay_rate",
    }
    assert changed(settings, "--reset", "focus_limit=1") == {"focus_limit": 1}
    printed = run("agents", "settings", "--agent", "ann", settings=settings).stdout
    assert [line.split() for line in printed.splitlines() if "changed" in line] == [
        ["focus_limit", "1", "changed"]
    ]
    assert "skip_trivial" in printed
    assert "true" in printed


def test_after_a_change_only_changed_values_are_shown(settings: dict[str, str]):
    def rows(*change: str) -> list[list[str]]:
        printed = run("agents", "settings", *change, "--agent", "ann", settings=settings).stdout
        return [line.split() for line in printed.splitlines()[1:]]

    assert rows("window_max_tokens=3000") == [["window_max_tokens", "3000", "changed"]]
    assert rows("focus_limit=3", "--unset", "window_max_tokens") == [
        ["focus_limit", "3", "changed"],
        ["window_max_tokens", str(PageRules().window_max_tokens)],
    ]
    assert [row[0] for row in rows("--reset", "decay_rate=0.9")] == ["decay_rate", "focus_limit"]
    assert len(rows()) > 30


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (["focus_limit"], "focus_limit: expected NAME=VALUE"),
        (["focus_limit=101"], "focus_limit: "),
        (["focus_limit=many"], "focus_limit: "),
        (["decay_rate=nan"], "decay_rate: expected a number"),
        (["llm_cost_per_day=Infinity"], "llm_cost_per_day: expected a number"),
        (["skip_trivial=1"], "skip_trivial: "),
        (["decayrate=1"], "decayrate: unknown parameter; did you mean decay_rate?"),
        (["--unset", "xyz"], "xyz: unknown parameter; `memci agents settings` lists all"),
    ],
)
def test_wrong_changes_are_named_and_change_nothing(
    settings: dict[str, str], change: list[str], complaint: str
):
    done = run("agents", "settings", *change, "--agent", "ann", settings=settings)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert changed(settings) == {}


def test_an_agent_is_set_up_before_its_first_message(settings: dict[str, str]):
    done = run("agents", "settings", "focus_limit=3", "--agent", "bob", settings=settings)
    assert done.returncode == 0
    assert "bob has no messages yet" in done.stderr
    assert done.stdout.split() == ["parameter", "value", "focus_limit", "3", "changed"]
    printed = run("agents", "settings", "--agent", "bob", settings=settings)
    assert ["focus_limit", "3", "changed"] in [each.split() for each in printed.stdout.splitlines()]
