"""Query analysis (R10): names, times, subquestions and scope of a question."""

from memci.language.question.analysis import shortened_question
from memci.language.question.subquestions import split_questions

__all__ = ["shortened_question", "split_questions"]
