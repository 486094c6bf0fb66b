"""Says of a summary what has room, in whole lines and sentences (R8).

Where a summary goes on it keeps something at any length; where it is only shown in less room, a
scrap of a sentence says less than nothing, and may mislead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from memci.domain.context.summary_lines import Line, lines_of
from memci.smallmodel.offline.digest import TOOL_MARK, body_of, tells_alone, told_most, written
from memci.smallmodel.offline.sentences import sentences

# Longer lines are somebody else's paragraphs: the extractor's own lines have a sentence each.
_LONGEST_LINE = 240


def whole_lines(summary: str, target: int) -> str:
    """Return those lines that tell most in ``target`` characters, under their days.

    All if they fit; else none that tells nothing without the line before it: "" if no other fits.
    """
    if len(summary) <= target:
        return summary
    lines = [part for each in lines_of(summary) for part in _in_sentences(each)]
    leaning = [
        (before, each) for before, each in pairwise([Line(""), *lines]) if not tells_alone(each)
    ]
    while True:
        kept = told_most(lines, target)
        lost = [each for before, each in leaning if each in kept and before not in kept]
        if not lost:
            return written(kept, target)
        lines = [each for each in lines if each not in lost]


def _in_sentences(line: Line) -> Iterator[Line]:
    if len(line.text) <= _LONGEST_LINE or TOOL_MARK in line.text:
        yield line
        return
    body = body_of(line.text)
    lead = line.text[: len(line.text) - len(body)]
    for sentence in sentences(body):
        yield replace(line, text=f"{lead}{sentence}")
