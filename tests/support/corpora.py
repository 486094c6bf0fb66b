"""A small corpus to train on."""

from __future__ import annotations

from pathlib import Path

TALK = """## maya-and-tom
@ 2024-03-02 18:40
Maya: Guess who booked the course!
Tom [t1]: The one by the canal?
  Or not?

@ 2024-03-09
Maya [m1]: 是的：周二，180 欧元。
? multi t1 m1 t1
Which course?
= By the canal, 180 euros
? situation m1
Tom: I have 20 left.
  Maya: Then you can't pay.
= the price
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "talk.txt"
    path.write_text(text, "utf-8")
    return path
