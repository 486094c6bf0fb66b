"""ATTP calls are found anywhere in a model's answer; a refusal says what was expected."""

from __future__ import annotations

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memci.commands.attp.protocol import EXAMPLE, LONGEST_CODE, read_answer
from memci.errors import InvalidInputError, TooLargeError
from memci.schemas.attp import LONGEST_ANSWER, AttpStatus

CALL = """\
thought = "look"

[tool_call]
status = "success"
target = "usr-1"
code = '''
__result__ = get_page(index="usr-1")
'''
"""


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"```toml\n{CALL}```",
        f"```\n{CALL}```\n",
        f"~~~ toml\n{CALL}~~~",
        f"Sure, I will look at it:\n\n```toml\n{CALL}```\n\nThat should do.",
        f"I will look.\n\n{CALL}",
        f"{CALL}\nThis opens the page, as you asked.\n",
        f"Here you are:\n{CALL}```\n",
        f"```python\nprint(1)\n```\nand\n```toml\n{CALL}```",
        CALL.replace("\n", "\r\n"),
        f"\ufeff{CALL}",
        f"  \n{CALL}",
        f"```toml\n{CALL}",
    ],
)
def test_the_call_is_found(text: str):
    call = read_answer(text)
    assert (call.thought, call.target, call.status) == ("look", "usr-1", AttpStatus.SUCCESS)
    assert call.code.strip() == '__result__ = get_page(index="usr-1")'


@pytest.mark.parametrize("around", ["{}", "```toml\n{}```", "Look:\n```toml\n{}```\nDone."])
def test_fences_in_the_code_are_part_of_it(around: str):
    code = 'create_detail_page(name="n", parent="usr-0", detail="""\n```toml\nx = 1\n```\n""")\n'
    text = around.format(f"[tool_call]\nstatus = 'success'\ncode = '''\n{code}'''\n")
    assert read_answer(text).code == code


def test_a_model_can_give_up():
    call = read_answer('[tool_call]\nstatus = "fail"\nmessage = "没有这样的页面"')
    assert (call.status, call.message, call.code) == (AttpStatus.FAIL, "没有这样的页面", "")


def test_the_example_is_a_valid_call():
    assert read_answer(EXAMPLE).status is AttpStatus.SUCCESS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the answer is empty"),
        ("  \n", "the answer is empty"),
        ("I do not know.", "not valid TOML"),
        ("{}", "not valid TOML"),
        ('{"tool_call": {"status": "success"}}', "not valid TOML"),
        ('thought = "x"', "expected a table [tool_call], found thought"),
        ("tool_call = 3", "expected a table [tool_call], found tool_call"),
        ("[[tool_call]]\nstatus = 'fail'", "make one call at a time"),
        ("[tool_call]", "tool_call.status: expected"),
        ("[tool_call]\nstatus = 'maybe'", "found 'maybe'"),
        ("[tool_call]\nstatus = 1", "found '1'"),
        ("[tool_call]\nstatus = 'success'", "tool_call.code is expected, found status"),
        ("[tool_call]\nstatus = 'success'\ncode = ' '", "tool_call.code is expected"),
        ("[tool_call]\nstatus = 'fail'\ncode = 'x'", "tool_call.message is expected"),
        ("[tool_call]\nstatus = 'success'\ncode = 3", "tool_call.code: expected text in quotes"),
        (
            "[tool_call]\nstatus = 'success'\ncode = 'x'\nmessage = 'y'",
            "with success only code is expected",
        ),
        ("[tool_call]\nstatus = 'success'\ncode = 'x'\ntarget = 3", "tool_call.target: expected"),
        ("thought = 3\n[tool_call]\nstatus = 'success'\ncode = 'x'", "thought: expected text"),
        ('[tool_call]\nstatus = "success"\ncode = """\nre.findall("\\d", x)\n"""', "three single"),
        ('[tool_call]\nstatus = "success"\ncode = "a\nb"', "three quotes"),
        ('[tool_call]\nstatus = "success"\ncode = """\na', "end a text with the same"),
        ("[tool_call]\nstatus = 'success'\ncode = '''\na", "end a text with the same"),
        ("[tool_call]\nstatus = success\ncode = 'x'", "put text in quotes"),
        ("[tool_call]\nstatus = 'fail'\nstatus = 'fail'", "write each key"),
        ("[tool_call]\nx = " + "[" * 5_000 + "]" * 5_000, "nested too deeply"),
    ],
)
def test_an_answer_without_a_valid_call_is_refused_with_the_expected_form(text: str, expected: str):
    with pytest.raises(InvalidInputError) as caught:
        read_answer(text)
    message = str(caught.value)
    assert expected in message
    assert EXAMPLE in message


def test_lines_are_counted_in_the_whole_answer():
    text = "Sure.\n\n```toml\nthought = 'x'\n[tool_call]\nstatus = success\n```"
    with pytest.raises(InvalidInputError, match=r"\(line 6, column 10\)"):
        read_answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "x" * (LONGEST_ANSWER + 1),
        f"[tool_call]\nstatus = 'success'\ncode = '{'x' * (LONGEST_CODE + 1)}'",
        f"[tool_call]\nstatus = 'fail'\nmessage = '{'x' * 8_001}'",
        f"thought = '{'x' * 8_001}'\n[tool_call]\nstatus = 'success'\ncode = 'x'",
    ],
)
def test_a_too_long_answer_is_refused(text: str):
    with pytest.raises(TooLargeError, match=r"expected .*at most"):
        read_answer(text)


@pytest.mark.parametrize(
    "rest",
    [
        ".".join(["a"] * 49_000) + " = 1",
        " . ".join(['"a"'] * 15_000) + " = 1",
        "[" + ".".join(["a"] * 49_000) + "]",
        "x = " + "{a = " * 9_000,
        "x = [" + "1, " * 30_000,
        "a = 1\n" * 16_000,
        "a" * 99_000,
        " " * 99_000 + "x",
        "\n\n" * 49_000 + "x",
        "```\n" * 24_000,
        "thought =\n" * 9_900,
        '"' * 99_000,
    ],
    ids=lambda rest: rest[:8],
)
def test_every_bad_answer_is_refused_quickly(rest: str):
    begun = thread_time()  # not the clock: other processes may be busy
    with pytest.raises(InvalidInputError, match="this is no ATTP"):
        read_answer(f"thought = 'x'\n[tool_call]\n{rest}")
    assert thread_time() - begun < 3


def test_long_dotted_names_in_code_are_accepted():
    text = f"[tool_call]\nstatus = 'success'\ncode = 'x = \"{'a.' * 60}\"'"
    assert read_answer(text).code.startswith("x = ")


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            ["```", "toml", "[tool_call]", "\n", "status", "=", "'", '"""', "code", " "]
        ),
        max_size=40,
    ).map("".join)
)
def test_any_text_is_read_or_refused(text: str):
    try:
        call = read_answer(text)
    except InvalidInputError:
        return
    assert call.code or call.message
