"""Plots of fading memories; the tests read the files that are drawn."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from io import BytesIO

import numpy as np
import pytest
from matplotlib.image import imread

from memci.cli.network.fading_plot import (
    Fonts,
    _color,
    end_of,
    last_seen,
    medians,
    plot,
    shares_of,
    switches_in,
    ticks_up_to,
)
from memci.domain.memory.node import RemovalReason
from memci.schemas.network import FadingAnswer
from tests.support.command_line import environment
from tests.support.networks import fading


@pytest.fixture(autouse=True)
def _no_missing_glyphs() -> Iterator[None]:
    """Raise the warnings of matplotlib about characters without a glyph as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("memories", [0, 1, 10, 12, 13, 500])
def test_a_picture_is_drawn_for_few_and_for_many(memories: int):
    pixels = imread(BytesIO(plot(fading(memories, 40), "png")), format="png")
    height, width, _ = pixels.shape
    assert (height, width) == (1400, 1400)
    colours = {tuple(each) for each in (pixels[::3, ::3, :3].reshape(-1, 3) * 20).astype(int)}
    assert len(colours) > 10
    white = float(np.mean(np.all(pixels[:, :, :3] > 0.99, axis=2)))
    assert 0.2 < white < 0.95


@pytest.mark.parametrize(("kind", "begin"), [("svg", b"<?xml"), ("pdf", b"%PDF-")])
def test_files_have_the_format_of_their_name(kind: str, begin: bytes):
    drawn = plot(fading(5, 10), kind)
    assert drawn.startswith(begin)
    assert len(drawn) > 5_000


def test_one_pass_is_drawn_as_points():
    assert plot(fading(3, 1), "png").startswith(b"\x89PNG")


def svg(answer: FadingAnswer) -> str:
    return plot(answer, "svg").decode()


def test_a_plot_marks_the_pass_after_which_a_rebuilt_network_was_used():
    whole = fading(3, 10)
    first = whole.passes[0].number
    switched = whole.model_copy(update={"switched_after": [first - 1, first + 4]})
    assert switches_in(whole) == []
    assert switches_in(switched) == [first + 4]
    assert f"rebuilt after pass {first + 4}" in svg(switched)
    assert "rebuilt" not in svg(whole)
    # One line in each of the three panels, and one in the legend.
    assert svg(switched).count("#9467bd") - svg(whole).count("#9467bd") == 4
    assert "switched to a rebuilt network: only its memories are drawn" in svg(switched)


def test_merged_memories_are_neither_counted_nor_marked_as_forgotten():
    whole = fading(3, 10)
    merged = whole.model_copy(
        update={
            "memories": [
                each.model_copy(
                    update={
                        "forgotten": False,
                        "removal_reason": each.removal_reason and RemovalReason.MERGED,
                    }
                )
                for each in whole.memories
            ]
        }
    )
    assert "3 memories, 1 forgotten, passes" in svg(whole)
    assert "3 memories, 0 forgotten, 1 merged, passes" in svg(merged)
    assert "#3 (forgotten)" in svg(whole)
    assert "#3 (merged)" in svg(merged)
    assert crosses(whole) == crosses(merged) + 1


def crosses(answer: FadingAnswer) -> int:
    """Return the number of marks at the ends of lines, with those of the legend."""
    return svg(answer).count('style="fill: #d62728; stroke: #d62728"')


@pytest.mark.parametrize(
    "phrase", ["costs $5 or $x_{$", "$\\frac{", 'a < b & "c"', "我们去云南旅行", "🎉 party", "\x07"]
)
def test_any_phrase_can_be_a_name(phrase: str):
    assert svg(fading(4, 10, phrase))


def test_a_phrase_that_cannot_be_drawn_leaves_the_id():
    fonts = Fonts()
    assert fonts.can_draw("Zoë, Łódź, Москва, Αθήνα")
    assert not fonts.can_draw("\U0010fffd")
    # Text is drawn as outlines; a comment before each outline holds the text.
    drawn = svg(fading(1, 5, "beyond \U0010fffd words"))
    assert "<!-- #1 -->" in drawn
    assert "beyond" not in drawn
    assert "<!-- #1 within words -->" in svg(fading(1, 5, "within words"))


def test_only_a_plot_imports_matplotlib():
    program = (
        "import sys, memci.cli.app, memci.cli.commands.network, memci.cli.network.tree\n"
        "import memci.cli.network.watch, memci.cli.network.tree\n"
        "sys.exit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True)


def test_medians_count_forgotten_memories_as_zero_and_skip_future_ones():
    lines = [
        [None, 0.8, 0.4, None, None],
        [None, None, 1.0, 1.0, 1.0],
        [None, 0.6, None, None, None],
    ]
    found = medians(lines)
    assert np.isnan(found[0])
    assert found[1:] == pytest.approx([0.7, 0.4, 0.0, 0.0])
    assert [last_seen(line) for line in lines] == [2, 4, 1]
    assert medians([]) == []


def test_a_memory_ends_in_the_pass_that_forgot_it():
    passes = [21, 22, 23, 24]
    assert end_of(passes, [1.0, 0.5, 0.2, None]) == 24
    assert end_of(passes, [None, 0.5, None, None]) == 23
    assert end_of(passes, [1.0, 0.5, 0.2, 0.1]) == 24  # the last pass that was drawn


@pytest.mark.parametrize("highest", [0.0, 0.3, 1.0, 4.2, 9.4, 31.0, 260.0, 12_345.0])
def test_every_importance_has_ticks_on_both_sides(highest: float):
    ticks = ticks_up_to(highest)
    assert ticks == sorted(set(ticks))
    assert ticks[0] == 0
    assert highest <= ticks[-1] <= max(1, 2 * highest)
    assert 2 <= len(ticks) <= 15


def test_the_colours_of_neighbours_are_far_apart():
    colours = np.array([_color(place) for place in range(40)])[:, :3]
    for near in (1, 2):
        assert np.abs(colours[near:] - colours[:-near]).sum(axis=1).min() > 0.4


def test_lengths_are_shares_of_the_original():
    (memory,) = fading(1, 3).memories
    assert shares_of(memory) == pytest.approx([1.0, 0.5, 0.0])
