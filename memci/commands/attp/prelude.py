"""What sandboxed code finds at hand beside the functions that it is given (P15).

It is run in the sandbox before the code. The interpreter has no ``statistics``; and code that is
built from text is not needed for anything that a model does here.
"""

from __future__ import annotations

PRELUDE = """
import math, json, datetime, re, random

def mean(values):
    numbers = list(values)
    if not numbers:
        raise ValueError("mean needs at least one number")
    return math.fsum(numbers) / len(numbers)

def median(values):
    numbers = sorted(values)
    if not numbers:
        raise ValueError("median needs at least one number")
    middle = len(numbers) // 2
    if len(numbers) % 2:
        return numbers[middle]
    return (numbers[middle - 1] + numbers[middle]) / 2

def stdev(values):
    numbers = list(values)
    if len(numbers) < 2:
        raise ValueError("stdev needs at least two numbers")
    center = mean(numbers)
    return math.sqrt(math.fsum([(each - center) ** 2 for each in numbers]) / (len(numbers) - 1))

def eval(*values):
    raise PermissionError("eval and exec are not at hand: write the code itself")

exec = eval
"""
