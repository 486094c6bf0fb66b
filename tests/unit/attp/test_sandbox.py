"""A model's code runs in the sandbox, calls functions and returns a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from memci.commands.attp.outcome import Fault, StopError
from memci.commands.attp.sandbox import Limits, Sandbox
from memci.commands.attp.sandbox_functions import CallError
from memci.errors import ConfigurationError, UnavailableError


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(Limits(calls=20, result=1_000, printed=20))
    yield sandbox
    sandbox.close()


class Shelf:
    """Functions that code can call; it records the arguments of `put`."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    @property
    def functions(self) -> Mapping[str, Any]:
        return {"put": self.put, "refuse": self.refuse, "end": self.end, "break_": self.break_}

    def put(self, what: Any, *, times: int = 1) -> Any:
        self.values += [what] * times
        return {"held": len(self.values), "last": what, "nothing": None}

    def refuse(self) -> None:
        raise CallError("PermissionError", "the shelf is read-only")

    def end(self) -> None:
        raise StopError(Fault("RuntimeError", "the shelf is gone"))

    def break_(self) -> None:
        raise OSError("/secret/place does not answer")


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("__result__ = 1 + 1", 2),
        ("x = 1", None),
        ("__result__ = None", None),
        ("__result__ = [mean([1, 2, 6]), median([3, 1, 2]), median([1, 2]), stdev([2, 4])]",
         [3.0, 2, 1.5, pytest.approx(2**0.5)]),
        ("__result__ = json.loads('{\"a\": [1, null]}')", {"a": [1, None]}),
        ("import math\n__result__ = math.floor(math.pi)", 3),
        ("from datetime import date, timedelta\n__result__ = str(date(2024, 2, 28) + timedelta(2))",
         "2024-03-01"),
        ("__result__ = re.sub(r'(\\d+)', r'<\\1>', 'a1b22')", "a<1>b<22>"),
        ("random.seed(1)\n__result__ = random.choice([7])", 7),
        ("名字 = '中文'\n__result__ = {名字: (1, 2)}", {"中文": [1, 2]}),
        ("def f(n):\n    return 1 if n < 2 else n * f(n - 1)\n__result__ = f(10)", 3_628_800),
        ("__result__ = put('a', times=2)['held']", 2),
        ("for each in 'abc':\n    put(each)\n__result__ = put('d')",
         {"held": 4, "last": "d", "nothing": None}),
        ("also = put\n__result__ = also(3)['last']", 3),
        ("try:\n    refuse()\nexcept PermissionError as error:\n    __result__ = str(error)",
         "the shelf is read-only"),
        ("try:\n    put({1, 2})\nexcept TypeError as error:\n    __result__ = str(error)",
         "the input of put[0] is of type set, which is no value of JSON: use sorted(…) or list(…)"),
        ("def put(what):\n    return 'mine'\n__result__ = put(1)", "mine"),
        ("print('x', file=None)\n__result__ = 1", 1),
    ],
)  # fmt: skip
def test_the_result_of_code_is_returned(sandbox: Sandbox, shelf: Shelf, code: str, result: Any):
    outcome = sandbox.run(code, shelf.functions)
    assert outcome.fault is None, str(outcome.fault)
    assert outcome.result == result


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("x = 1\n\nput(what=1, when=2)",
         "TypeError in line 3 (put(what=1, when=2)): put: got an unexpected keyword argument"),
        ("puts(1)", "NameError in line 1 (puts(1)): there is no function puts; did you mean put?"),
        ("x = 1\nrefuse()", "PermissionError in line 2 (refuse()): the shelf is read-only."),
        ("end()", "RuntimeError in line 1 (end()): the shelf is gone."),
        ("try:\n  end()\nexcept BaseException:\n  pass", "RuntimeError in line 2 (end())"),
        ("break_()", "InternalError in line 1 (break_()): break_ failed within memci"),
        ("for n in range(99):\n  put(n)", "line 2 (put(n)): the code made more than 20 calls"),
        ("if x:\n  y(", "SyntaxError in line 2"),
        ("__result__ = 'x' * 1001", "__result__ is longer than 1000 characters"),
        ("__result__ = {'a': {3}}", "__result__['a'] is of type set, which is no value of JSON"),
        ("mean([])", "ValueError in line 1 (mean([])): mean needs at least one number."),
        ("x = 1\nstdev([1])", "line 2 (stdev([1])): stdev needs at least two numbers."),
        ("list(map(put, [1]))", "call them in a loop of your own"),
        ("del x", "this Python does not have the 'del' statement"),
        ("class A: pass\n__result__ = A()", "__result__ is of type A, which is no value of JSON"),
    ],
)  # fmt: skip
def test_an_error_is_reported_with_its_line(
    sandbox: Sandbox, shelf: Shelf, code: str, message: str
):
    outcome = sandbox.run(code, shelf.functions)
    assert outcome.result is None
    assert message in str(outcome.fault)
    assert "secret" not in str(outcome.fault)


def test_printed_text_is_kept_up_to_a_limit(sandbox: Sandbox):
    assert sandbox.run("print('a', 1)\nprint('b')", {}).printed == "a 1\nb\n"
    assert sandbox.run("print('a' * 100)", {}).printed == "a" * 20 + "…"
    assert sandbox.run("print('why')\n1 / 0", {}).printed == "why\n"


def test_no_run_sees_the_variables_of_another(sandbox: Sandbox):
    assert sandbox.run("left = 1\nmean = 3\njson = None", {}).fault is None
    for _ in range(4):
        fault = sandbox.run("__result__ = left", {}).fault
        assert fault is not None
        assert fault.kind == "NameError"
        assert sandbox.run("__result__ = mean([1])", {}).result == 1.0


def test_the_sandbox_works_after_an_interpreter_crash(sandbox: Sandbox):
    assert sandbox.run('"a".join(["b" * 1000] * 10**6)', {}).fault is not None
    assert sandbox.run("__result__ = 1", {}).result == 1


def test_time_in_host_functions_counts_into_the_limit():
    sandbox = Sandbox(Limits(seconds=0.3))
    try:
        outcome = sandbox.run("while True:\n  wait()", {"wait": _wait_shortly()})
    finally:
        sandbox.close()
    assert str(outcome.fault).startswith("TimeoutError")
    assert outcome.calls < 20


def _wait_shortly() -> Any:
    from threading import Event

    return lambda: Event().wait(0.05)


def test_runs_wait_for_a_free_process():
    sandbox = Sandbox(processes=2)
    try:
        with ThreadPoolExecutor(8) as threads:
            outcomes = threads.map(lambda n: sandbox.run(f"__result__ = {n}", {}), range(32))
            assert [each.result for each in outcomes] == list(range(32))
    finally:
        sandbox.close()


def test_a_nested_run_without_a_free_process_is_refused():
    sandbox = Sandbox(Limits(seconds=0.2), processes=1)
    errors: list[str] = []

    def ask() -> None:
        with pytest.raises(UnavailableError, match="all sandboxes are in use") as caught:
            sandbox.run("__result__ = 1", {})
        errors.append(str(caught.value))

    try:
        sandbox.run("ask()", {"ask": ask})
        assert len(errors) == 1
        with (
            sandbox.reserve(),
            pytest.raises(UnavailableError, match="all sandboxes are in use"),
            sandbox.reserve(),
        ):
            pytest.fail("there is no second place")
        with sandbox.reserve():
            assert sandbox.run("__result__ = 1", {}, seconds=20).result == 1
    finally:
        sandbox.close()


def test_without_the_interpreter_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MONTY_BIN", "/nowhere/monty")
    with pytest.raises(ConfigurationError, match="pydantic-monty"):
        Sandbox().run("1", {})
