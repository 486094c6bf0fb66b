"""Query analysis (R10): what a question asks, of whom, of when, and how much it wants."""

from memci.domain.context.bounds import Bounds
from memci.domain.context.query.analysis import Analysis, analyse, as_read
from memci.domain.context.query.asks import Asks
from memci.domain.context.query.names import holds
from memci.domain.context.query.parts import parts_of
from memci.domain.context.query.time_range import TimeRange

__all__ = ["Analysis", "Asks", "Bounds", "TimeRange", "analyse", "as_read", "holds", "parts_of"]
