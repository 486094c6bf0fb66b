"""A shortened summary has whole informative sentences or is empty (R8)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memci.language.summary_lines import shorten_summary
from tests.support.examples import examples

ENGLISH = (
    "2026-11-09\nuser: Hi, I'm Nora.\nuser: Our oven, a Miwe Condo, broke down: error code E17.\n"
    "assistant: Check the plug behind the left panel first.\nuser: It was the plug.\n"
    "2026-11-12\nuser: My daughter Lena turns seven on 3 December.\nuser: She loves octopuses.\n"
    "user: I'm nervous."
)
CHINESE = (
    "2026-11-10\n用户：昨天进了二十斤龙井，每斤八百六十元，供应商是梅家坞的老周。\n助手：记下了。\n"
    "用户：我妈妈对花生过敏，来店里时不要给她端花生酥。\n"
    "2026-11-12\n用户：空调坏了，修理师傅说压缩机要换，报价两千三百元。\n用户：他很好。"
)


@pytest.mark.parametrize("summary", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_each_line_is_whole_and_under_its_day(summary: str):
    lines = summary.splitlines()
    days = [at for at, each in enumerate(lines) if each.startswith("2026")]
    counts = set()
    for target in range(len(summary) + 1):
        short = shorten_summary(summary, target)
        assert len(short) <= target
        counts.add(len(short.splitlines()))
        day = ""
        for each in short.splitlines():
            if each.startswith("2026"):
                day = each
            else:
                at = lines.index(each)
                assert day == lines[max(one for one in days if one < at)]
    assert len(counts) >= len(lines) - 3
    assert shorten_summary(summary, len(summary)) == summary


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("user: She loves octopuses.", "user: My daughter Lena turns seven on 3 December."),
        ("user: I'm nervous.", "user: She loves octopuses."),
        ("user: It was the plug.", "assistant: Check the plug behind the left panel first."),
        ("助手：记下了。", "用户：昨天进了二十斤龙井，每斤八百六十元，供应商是梅家坞的老周。"),
    ],
)
def test_a_line_that_needs_another_line_follows_it_or_is_left_out(line: str, after: str):
    summary = ENGLISH if line in ENGLISH else CHINESE
    shortened = [shorten_summary(summary, target) for target in range(len(summary) + 1)]
    assert [after in each for each in shortened if line in each] == [
        True for each in shortened if line in each
    ]
    assert line in shortened[-1]


@pytest.mark.parametrize(
    ("summary", "target"),
    [
        ("2026-11-09\nuser: Hi, I'm Nora and I run a bakery.", 30),
        ("2026-11-12\n用户：空调坏了，修理师傅说压缩机要换，报价两千三百元。", 20),
        ("user: I'm nervous.\nuser: Thanks!\nuser: What else do we need for the engine?", 60),
        ("2026-11-12\n2026-11-13", 15),
    ],
)
def test_without_room_for_a_whole_informative_line_the_summary_is_empty(summary: str, target: int):
    assert shorten_summary(summary, target) == ""


def test_a_paragraph_is_shortened_by_sentences():
    sentences = [
        "Nora runs a bakery in Graz called Morgenrot.",
        "Her oven, a Miwe Condo, broke down with error code E17.",
        "The bakery will close on Mondays, starting in January.",
        "Nora bought a used Skoda Fabia for 4,200 euros.",
        "Flour of Mühle Farina would be 9 percent cheaper than that of Hager.",
    ]
    short = shorten_summary(" ".join(sentences), 120).splitlines()
    assert short
    assert set(short) < set(sentences)
    labelled = shorten_summary(f"Ann: {' '.join(sentences)}", 120).splitlines()
    assert labelled
    assert all(each.removeprefix("Ann: ") in sentences and "Ann: " in each for each in labelled)


def test_a_tool_result_is_kept_or_left_out_as_one_line():
    line = f'load({{"file": "{"x" * 70}"}}) → ERROR. Line 1288340 is too long. ' + "More. " * 40
    assert shorten_summary(f"{line}\nuser: Our oven broke down: error code E17.", 60) == (
        "user: Our oven broke down: error code E17."
    )


@settings(max_examples=examples(200))
@given(
    st.lists(st.sampled_from([*ENGLISH.splitlines(), *CHINESE.splitlines(), "", "x → y"])),
    st.integers(0, 400),
)
def test_no_part_of_a_line_is_shown(lines: list[str], target: int):
    short = shorten_summary("\n".join(lines), target)
    assert len(short) <= target or short == "\n".join(lines)
    assert set(short.splitlines()) <= set(lines)
