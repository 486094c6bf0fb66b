"""Hostile code cannot leave the sandbox, and each run ends in time with a message.

Each case has a part of the expected message or, if the code only looks hostile, the expected
result.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any, NamedTuple

import pytest

from memci.commands.attp.sandbox import Limits, Sandbox
from memci.commands.attp.sandbox_functions import CallError, Function

# Endless code gets a short time; other code gets enough time for a busy machine.
SECONDS = 0.3
AMPLE_S = 20.0
# The interpreter is killed 0.2 s after its time limit; the rest is a margin for a busy machine.
LATE_S = 3.0

TIME = "TimeoutError: the code ran for more than 0.3 s. Do less in one call."
MEMORY = "the code needed more than 32 MiB of memory. Work on less at a time."
NO_FILES = "there are no files"
ONLY = "only math, json, datetime, re, random can be imported"
DEEP = "RecursionError"
NESTED = "Source is too deeply nested"
NO_ATTRIBUTE = "AttributeError"
NO_FUNCTION = "NameError"


class Hostile(NamedTuple):
    """Code, a part of its error message (None: it is harmless), and the result of harmless code."""

    code: str
    message: str | None
    result: Any = None


def _laughs(times: int) -> str:
    return "a = [0] * 1000\n" + "a = [a] * 1000\n" * times


CASES = {
    # Imports
    "os": Hostile("import os\nos.system('id')", ONLY),
    "sys": Hostile("import sys\nsys.exit(3)", ONLY),
    "subprocess": Hostile("from subprocess import run", ONLY),
    "socket": Hostile("import math, socket", ONLY),
    "builtins": Hostile("import builtins", ONLY),
    "os as another": Hostile("import os as math", ONLY),
    "below os": Hostile("from os.path import join", ONLY),
    "relative": Hostile("from . import config", ONLY),
    "ours": Hostile("import memci.config.settings", ONLY),
    "in a line": Hostile("if True: import os", ONLY),
    "wide letters": Hostile("import ｏｓ", ONLY),
    "__import__": Hostile("__import__('os')", NO_FUNCTION),
    "importlib": Hostile("import importlib\nimportlib.import_module('os')", ONLY),
    "by exec": Hostile("exec('import os')", "write the code itself"),
    "by eval": Hostile("eval('__import__(\"os\")')", "write the code itself"),
    "by wide eval": Hostile("ｅｖａｌ('1')", "write the code itself"),
    "by compile": Hostile("compile('import os', 'x', 'exec')", NO_FUNCTION),
    "within json": Hostile("json.codecs", NO_ATTRIBUTE),
    "within random": Hostile("random._os.system('id')", NO_ATTRIBUTE),
    "within re": Hostile("re.sys", NO_ATTRIBUTE),
    # Files, environment, the machine
    "open": Hostile("open('/etc/passwd').read()", NO_FILES),
    "open to write": Hostile("with open('/tmp/x', 'w') as f:\n  f.write('x')", NO_FILES),
    "input": Hostile("input()", NO_FUNCTION),
    "breakpoint": Hostile("breakpoint()", NO_FUNCTION),
    "exit": Hostile("exit()", NO_FUNCTION),
    "SystemExit": Hostile("raise SystemExit(1)", "RuntimeError"),
    "KeyboardInterrupt": Hostile("raise KeyboardInterrupt", "KeyboardInterrupt in line 1"),
    # Attributes with double underscores
    "mro": Hostile("().__class__.__mro__[1].__subclasses__()", NO_ATTRIBUTE),
    "base": Hostile("''.__class__.__base__", NO_ATTRIBUTE),
    "globals": Hostile("(lambda: 0).__globals__", NO_ATTRIBUTE),
    "code": Hostile("(lambda: 0).__code__", NO_ATTRIBUTE),
    "self": Hostile("print.__self__", NO_ATTRIBUTE),
    "builtins by name": Hostile("__builtins__", NO_FUNCTION),
    "loader": Hostile("__loader__", NO_FUNCTION),
    "globals()": Hostile("globals()['__builtins__']", NO_FUNCTION),
    "vars()": Hostile("vars()", NO_FUNCTION),
    "getattr": Hostile("getattr(1, '__cla' + 'ss__')", NO_ATTRIBUTE),
    "format": Hostile("'{0.__class__.__mro__}'.format(1)", NO_ATTRIBUTE),
    "format of a function": Hostile("'{0.__globals__}'.format(look)", NO_ATTRIBUTE),
    "format_map": Hostile("'{x.__class__}'.format_map({'x': 1})", NO_ATTRIBUTE),
    "f-string": Hostile("f'{().__class__}'", NO_ATTRIBUTE),
    "wide dunder": Hostile("().__ｃｌａｓｓ__", NO_ATTRIBUTE),
    "function's self": Hostile("look.__self__", NO_ATTRIBUTE),
    "function's closure": Hostile("look.__closure__", NO_ATTRIBUTE),
    "traceback": Hostile(
        "try:\n  1 / 0\nexcept Exception as e:\n  e.__traceback__.tb_frame", NO_ATTRIBUTE
    ),
    "generator's frame": Hostile("(x for x in [1]).gi_frame", NO_ATTRIBUTE),
    # Time
    "endless": Hostile("while True: pass", TIME),
    "endless, caught": Hostile(
        "while True:\n  try:\n    while True: pass\n  except BaseException: pass", TIME
    ),
    "endless, finally": Hostile("try:\n  while True: pass\nfinally:\n  while True: pass", TIME),
    "sum": Hostile("sum(range(10**12))", TIME),
    "in": Hostile("10**9 in iter(range(10**12))", TIME),
    "printing": Hostile("while True: print('a' * 1000)", TIME),
    "big power as text": Hostile("str(10 ** 10**7)", TIME),
    "big products": Hostile("x = 9**99999\nfor i in range(30): x = x * x", TIME),
    "comparing twins": Hostile(
        "a = b = ()\nfor i in range(50): a = (a, a); b = (b, b)\na == b", TIME
    ),
    "comparing": Hostile(
        "a = ()\nb = ()\nfor i in range(50):\n  a = (a, a)\n  b = (b, b)\na == b", TIME
    ),
    "factorial": Hostile("math.factorial(10**6)", TIME),
    "regex": Hostile(r"__result__ = re.match('(a+)+$', 'a' * 40 + 'b')", None),
    "regex with groups": Hostile(r"__result__ = re.match('(a|aa)+$', 'a' * 60 + 'b')", None),
    "regex nests": Hostile("re.compile('(' * 10000 + ')' * 10000)", "too deeply nested"),
    "waiting functions": Hostile("for i in range(50): look()\nwhile True: pass", TIME),
    # Memory
    "power": Hostile("10 ** 10**8", MEMORY),
    "shift": Hostile("1 << 10**10", MEMORY),
    "text": Hostile("'a' * 10**10", MEMORY),
    "list": Hostile("[0] * 10**10", MEMORY),
    "bytes": Hostile("bytes(10**10)", MEMORY),
    "doubling": Hostile("x = 'a'\nwhile True: x += x", MEMORY),
    "appending": Hostile("x = []\nwhile True: x.append('a' * 100)", MEMORY),
    "appending, caught": Hostile(
        "x = []\nwhile True:\n  try: x.append('a' * 100)\n  except BaseException: pass", MEMORY
    ),
    "dict": Hostile("{i: i for i in range(10**8)}", MEMORY),
    "set": Hostile("set(range(10**8))", MEMORY),
    "sort": Hostile("sorted(range(10**7))", MEMORY),
    "f-string width": Hostile("f'{1:>1000000000}'", MEMORY),
    "format width": Hostile("'%1000000000d' % 1", MEMORY),
    "digits": Hostile("f'{1:.{10**8}f}'", MEMORY),
    "join": Hostile("'a'.join(['b' * 1000] * 10**6)", MEMORY),
    "replace": Hostile("('a' * 10**6).replace('a', 'b' * 1000)", MEMORY),
    "justified": Hostile("'a'.ljust(10**10)", MEMORY),
    "sample": Hostile("random.sample(range(10**9), 10**8)", MEMORY),
    "bits": Hostile("random.getrandbits(10**10)", MEMORY),
    "laughs as json": Hostile(f"{_laughs(2)}json.dumps(a)", MEMORY),
    # Depth
    "recursion": Hostile("def f(n): return f(n + 1)\nf(0)", DEEP),
    "recursion by eq": Hostile("class A:\n  def __eq__(s, o): return s == o\nA() == A()", DEEP),
    "recursion by repr": Hostile("class A:\n  def __repr__(s): return repr(s)\nrepr(A())", DEEP),
    "json nests": Hostile("json.loads('[' * 100000 + ']' * 100000)", "recursion limit"),
    "json of nests": Hostile("x = []\nfor i in range(9999): x = [x]\njson.dumps(x)", DEEP),
    "hash of nests": Hostile("x = ()\nfor i in range(9999): x = (x,)\nhash(x)", DEEP),
    "brackets": Hostile("(" * 5000 + "1" + ")" * 5000, NESTED),
    "signs": Hostile("-" * 5000 + "1", NESTED),
    "sums": Hostile("1" + "+1" * 9000, NESTED),
    "dots": Hostile("x" + ".a" * 5000, NESTED),
    "blocks": Hostile("".join(" " * n + "if 1:\n" for n in range(300)) + " " * 300 + "x", NESTED),
    # Output
    "long result": Hostile(
        "__result__ = 'x' * 10**6", "__result__ is longer than 20000 characters"
    ),
    "wide result": Hostile("__result__ = list(range(10**5))", "longer than 20000 characters"),
    "laughing result": Hostile(f"{_laughs(2)}__result__ = a", "longer than 20000 characters"),
    "endless result": Hostile("x = []\nx.append(x)\n__result__ = x", None, ["[...]"]),
    "deep result": Hostile("x = []\nfor i in range(9999): x = [x]\n__result__ = x", "nested"),
    "result of a type": Hostile("__result__ = print", "which is no value of JSON"),
    "result of an instance": Hostile("class A: pass\n__result__ = A()", "of type A"),
    "result of bytes": Hostile("__result__ = b'x'", "use .decode()"),
    "nan": Hostile("__result__ = float('nan')", "no number of JSON"),
    "huge number": Hostile("__result__ = 10**5000", "use str() or float()"),
    "long error": Hostile("raise ValueError('x' * 10**6)", "ValueError in line 1"),
    "much printed": Hostile("print('x' * 10**6)\n__result__ = 1", None, 1),
    # Functions
    "calls in a loop": Hostile("while True: look()", "more than 60 calls"),
    "calls, caught": Hostile("while True:\n  try: look(1)\n  except TypeError: pass", "60 calls"),
    "names in a loop": Hostile("while True:\n  try: nothing\n  except NameError: pass", "too many"),
    "of developers": Hostile("create_segment(id='x', name='x')", "for developers alone"),
    "caught and gone on": Hostile(
        "try:\n  fail()\nexcept BaseException:\n  __result__ = 'went on'",
        "fail failed within memci",
    ),
    "a host's error": Hostile("fail()", "InternalError in line 1 (fail())"),
    "shadowing": Hostile("def look(): return 'mine'\n__result__ = look()", None, "mine"),
    "shadowing what is at hand": Hostile(
        "json = re = math = None\n__result__ = mean([1])", NO_ATTRIBUTE
    ),
    "laughing argument": Hostile(f"{_laughs(2)}keep(a)", "longer than 200000 characters"),
    "deep argument": Hostile("x = []\nfor i in range(9999): x = [x]\nkeep(x)", "nested"),
    "huge argument": Hostile("keep(10**5000)", "use str() or float()"),
    "argument of a function": Hostile("keep(keep)", None),
    "many arguments": Hostile("keep(*range(10**5))", "longer than 200000"),
    "strange names": Hostile("keep(**{'__class__': 1})", "missing a required argument"),
    "changing modules": Hostile("math.pi = 3", NO_ATTRIBUTE),
    "changing functions": Hostile("look.__code__ = None", NO_ATTRIBUTE),
    "as a key": Hostile("sorted([1, 2], key=keep)", "in a loop of your own"),
    "awaited": Hostile("await look()", "can't be awaited"),
    # Code that is not valid Python
    "U+0000": Hostile("x = '\x00'\n__result__ = len(x)", None, 1),
    "half a pair": Hostile("__result__ = '\ud800'", None, "?"),
    "broken": Hostile("if x:\n  y(", "SyntaxError in line 2"),
    "binary": Hostile("\x7fELF\x01\x02", "SyntaxError in line 1"),
}


def _functions() -> Mapping[str, Function]:
    def look() -> str:
        return "nothing"

    def keep(what: Any) -> None:
        assert what is None or isinstance(what, (str, int, float, bool, list, dict))

    def fail() -> None:
        raise OSError("secret: postgresql://user:word@host")

    def create_segment(**_: Any) -> None:
        raise CallError("PermissionError", "create_segment is for developers alone")

    return {each.__name__: each for each in (look, keep, fail, create_segment)}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = Sandbox(Limits(seconds=AMPLE_S, calls=60))
    yield sandbox
    sandbox.close()


def test_there_are_at_least_60_cases():
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_hostile_code_ends_in_time_with_a_message(sandbox: Sandbox, name: str):
    case = CASES[name]
    seconds = SECONDS if case.message == TIME else AMPLE_S
    begun = monotonic()
    outcome = sandbox.run(case.code, _functions(), seconds=seconds)
    assert monotonic() - begun < seconds + LATE_S
    message = str(outcome.fault)
    if case.message is None:
        assert (message, outcome.result) == ("None", case.result)
    else:
        assert case.message in message
        assert "secret" not in message
        assert len(message) < 1_500
    assert len(outcome.printed) <= 4_001
    # The next run works as usual.
    assert sandbox.run("__result__ = json.dumps([1])", {}).result == "[1]"


def test_hostile_code_does_not_grow_this_process(sandbox: Sandbox):
    for name in ("laughing result", "laughing argument", "much printed", "wide result"):
        sandbox.run(CASES[name].code, _functions())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name in ("laughing result", "laughing argument", "much printed", "wide result") * 3:
        sandbox.run(CASES[name].code, _functions())
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 100 * 1024
