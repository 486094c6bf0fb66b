"""Query analysis (R10): what a question asks, of whom, of when, and how much it wants."""

from memci.domain.context.bounds import Bounds
from memci.domain.context.query.analysis import (
    Analysis,
    analyse,
    analyse_anew,
    as_read,
    moments_in,
    times_of,
)
from memci.domain.context.query.asks import Asks
from memci.domain.context.query.bare import is_bare
from memci.domain.context.query.last_session import last_session_in
from memci.domain.context.query.moment import Moment
from memci.domain.context.query.names import holds
from memci.domain.context.query.order import Order
from memci.domain.context.query.parts import parts_of
from memci.domain.context.query.stretch import Stretch, stretches_of
from memci.domain.context.query.talks import Talk
from memci.domain.context.query.tense import asks_of_now
from memci.domain.context.query.time_range import TimeRange

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
