"""Query analysis (R10): names, times, subquestions and scope of a question."""

from memci.language.hit_limits import HitLimits
from memci.language.question.analysis import (
    QueryAnalysis,
    analyse,
    analyse_with_names,
    shortened_question,
    time_expressions_in,
    times_of,
)
from memci.language.question.intent import AnswerKind, Order, asks_about_present, names_only_times
from memci.language.question.last_session import Conversation, find_last_session
from memci.language.question.subquestions import split_questions
from memci.language.times.ranges import TimeExpression, TimeRange, TimeSpan, spans_to_search

__all__ = [
    "AnswerKind",
    "Conversation",
    "HitLimits",
    "Order",
    "QueryAnalysis",
    "TimeExpression",
    "TimeRange",
    "TimeSpan",
    "analyse",
    "analyse_with_names",
    "asks_about_present",
    "find_last_session",
    "names_only_times",
    "shortened_question",
    "spans_to_search",
    "split_questions",
    "time_expressions_in",
    "times_of",
]
