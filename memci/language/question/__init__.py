"""Query analysis (R10): what a question asks, of whom, of when, and how much it wants."""

from memci.language.question.analysis import (
    Analysis,
    analyse,
    analyse_anew,
    as_read,
    moments_in,
    times_of,
)
from memci.language.question.intent import Asks, Bounds, Order, asks_of_now, is_bare
from memci.language.question.last_session import Talk, last_session_in
from memci.language.question.names import holds
from memci.language.question.subquestions import parts_of
from memci.language.times.ranges import Moment, Stretch, TimeRange, stretches_of

__all__ = [
    "Analysis",
    "Asks",
    "Bounds",
    "Moment",
    "Order",
    "Stretch",
    "Talk",
    "TimeRange",
    "analyse",
    "analyse_anew",
    "as_read",
    "asks_of_now",
    "holds",
    "is_bare",
    "last_session_in",
    "moments_in",
    "parts_of",
    "stretches_of",
    "times_of",
]
