"""The command line without a server: help, wrong use, keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from memci import __version__, api_keys
from memci.cli import app
from memci.config.groups import ApiKey
from memci.errors import UnauthorizedError
from tests.support.command_line import MEMCI, environment, run

COMMANDS = (
    "up", "demo", "sample", "doctor",
    "remember", "recall", "search", "context", "erase", "audit", "tools", "mcp",
    "agents", "memory", "sessions", "jobs", "documents", "webhooks", "pages", "settings", "keys",
    "db",
)  # fmt: skip
SUBCOMMANDS = [
    f"{group} {app.name_of(each)}" for group, (_, all_) in app.GROUPS.items() for each in all_
]
HEAVY = (
    "torch",
    "sentence_transformers",
    "jieba",
    "sqlalchemy",
    "celery",
    "fastapi",
    "numpy",
    "matplotlib",
)
NO_SERVER = {"MEMCI_API_URL": "http://127.0.0.1:9"}


def test_help_lists_every_command():
    done = run("--help")
    assert done.returncode == 0
    listed = done.stdout.partition("Commands:")[2].splitlines()
    assert {line.split()[0] for line in listed if line} == set(COMMANDS)


def test_the_version_is_printed():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"memci {__version__}\n", "")


def test_help_shows_whole_descriptions():
    assert "..." not in run("--help").stdout.partition("Commands:")[2]


@pytest.mark.parametrize("command", [*COMMANDS, *SUBCOMMANDS])
def test_every_command_explains_itself(command: str):
    done = run(*command.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage:" in done.stdout


def test_help_imports_nothing_heavy():
    program = (
        "import json, sys; sys.argv = ['memci', '--help']\n"
        "from memci.cli.app import run\n"
        "run(); sys.stderr.write(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, check=True
    )
    assert not set(HEAVY) & set(json.loads(done.stderr))


def test_help_takes_less_than_one_and_a_half_seconds_of_cpu_time():
    process = subprocess.Popen([*MEMCI, "--help"], env=environment(), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert used.ru_utime + used.ru_stime < 1.5


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["recall"],
        ["recall", "word"],
        ["recall", "word", "--agent", ".."],
        ["recall", "word", "--agent", "a", "--depth", "99"],
        ["agents", "show", "--agent", "a/b"],
        ["jobs", "show", "not-a-uuid", "--agent", "a"],
        ["jobs", "retry", "--agent", "a"],
        ["remember", "/no/such/file", "--agent", "a"],
        ["remember", "/", "--agent", "a"],
        ["keys", "new", "", "--scope", "admin"],
        ["keys", "new", "x", "--scope", "root"],
    ],
)
def test_wrong_use_is_exit_code_2(arguments: list[str]):
    done = run(*arguments, settings=NO_SERVER)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["memory", "nodes", "x", "-a", "a"], "'ID': expected a whole number"),
        (["jobs", "show", "x", "-a", "a"], "'ID': expected a UUID, as an answer gave it"),
        (["agents", "list", "--limit", "0"], "'--limit': expected 1 or more"),
        (["jobs", "list", "-a", "a", "--state", "lost"], "'--state': 'lost' is not one of"),
        (["search", "x", "-a", "a", "--source", "web"], "'--source': 'web' is not one of"),
        (["agents", "show", "-a", "a b"], "memci: agent_id: expected 1 to 128 of the characters"),
        (["keys", "new", ""], "memci: name: expected 1 to 64 of"),
        (["keys", "new", "x", "--agents", "a b"], "memci: agents: expected patterns such as"),
    ],
)
def test_wrong_use_is_reported_in_plain_words(arguments: list[str], complaint: str):
    done = run(*arguments, settings=NO_SERVER)
    assert done.returncode == 2
    assert complaint in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["agents", "list"],
        ["recall", "word", "--agent", "a"],
        ["memory", "compress", "--agent", "a"],
        ["db", "status"],
        ["db", "upgrade"],
    ],
)
def test_a_failure_is_one_line_and_exit_code_1(arguments: list[str], tmp_path):
    done = run(*arguments, settings={**NO_SERVER, "MEMCI_DATA_DIR": str(tmp_path)})
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("memci: ")


def test_a_misspelt_setting_gives_a_warning_without_its_value():
    settings = {**NO_SERVER, "MEMCI_DATBASE_URL": "postgresql://me:secret@db/x"}
    done = run("agents", "list", settings=settings)
    warning, failure = done.stderr.splitlines()
    assert warning.startswith("memci: warning: MEMCI_DATBASE_URL is no setting")
    assert warning.endswith("did you mean MEMCI_DATABASE_URL?")
    assert failure.startswith("memci: no answer")
    assert "secret" not in done.stderr
    examined = run("doctor", settings={**settings, "MEMCI_DATA_DIR": "/nowhere"})
    assert "MEMCI_DATBASE_URL is no setting" in examined.stdout
    assert "secret" not in examined.stdout + examined.stderr
    assert "MEMCI_DATBASE_URL is no setting" in run("settings", "show", settings=settings).stderr


def test_wrong_settings_are_named():
    done = run("agents", "list", settings={"MEMCI_PORT": "many", "MEMCI_API_KEY": "secret"})
    assert done.returncode == 1
    assert "MEMCI_PORT" in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.parametrize(
    ("setting", "value"), [("MEMCI_API_URL", "127.0.0.1:9"), ("MEMCI_API_KEY", "sec\nret")]
)
def test_an_invalid_address_or_key_is_not_reported_as_no_answer(setting: str, value: str):
    done = run("agents", "list", settings={**NO_SERVER, setting: value})
    assert done.returncode == 1
    assert done.stderr.startswith(f"memci: {setting}: expected")
    assert "no answer" not in done.stderr


@pytest.mark.parametrize("name", ["MEMCI_API_KEYS", "MEMCI_MEMORY", "MEMCI_BROKER_URL"])
def test_an_invalid_setting_is_reported_in_one_line(name: str):
    done = run("agents", "list", settings={name: "nonsense-of-mine"})
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"memci: wrong settings: {name}: ")
    assert "nonsense-of-mine" not in line


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "the file is empty"),
        (b"\x7fELF\x02\x01\x01\x00\xff", "a binary file"),
        (b"caf\xe9: hello", "line 1: this is not UTF-8"),
        (b'[{"role": "user", "content": 1}]', "message 1: content: "),
        (b"user: " + b"x" * 2_000_000, "line 1: a message of 2,"),
    ],
)
def test_a_bad_file_is_refused_before_anything_is_sent(content: bytes, complaint: str):
    done = run("remember", "-", "--agent", "a", settings=NO_SERVER, standard_input=content)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert complaint in line


def test_a_new_key_works_with_the_printed_setting():
    done = run("keys", "new", "reader", "--agents", "team-*", "--env")
    assert done.returncode == 0
    (key,) = done.stdout.splitlines()
    setting = done.stderr.splitlines()[-1]
    name, _, value = setting.partition("=")
    assert name == "MEMCI_API_KEYS"
    entries = [ApiKey.model_validate(each) for each in json.loads(value.strip("'"))]
    ring = api_keys.KeyRing(entries, demanded=True)
    known = ring.authenticate(f"Bearer {key}", datetime.now(UTC))
    assert (known.name, known.agents, known.scope) == ("reader", "team-*", "read")
    assert key not in done.stderr
    with pytest.raises(UnauthorizedError):
        ring.authenticate(f"Bearer {key}x", datetime.now(UTC))


def test_a_second_key_keeps_the_first_and_needs_another_name():
    first = json.loads(run("keys", "new", "one", "--env", "--json").stdout)
    settings = {"MEMCI_API_KEYS": json.dumps(first["api_keys"])}
    second = json.loads(run("keys", "new", "two", "--env", "--json", settings=settings).stdout)
    assert [each["name"] for each in second["api_keys"]] == ["one", "two"]
    assert second["api_keys"][0] == first["entry"]
    again = run("keys", "new", "one", "--env", settings=settings)
    assert again.returncode == 2
    assert "already" in again.stderr
