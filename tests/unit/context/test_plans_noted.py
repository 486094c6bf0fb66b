"""The note that was stored when a plan was made is omitted if the plan is shown (R7, R14)."""

from __future__ import annotations

import pytest

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import LeftOut
from memci.domain.search.candidate import Candidate, Kept, Source
from memci.domain.search.duplicates import without_repeated
from memci.domain.search.ranking import Ranked
from memci.domain.session.plan import (
    Item,
    StepState,
    made_of,
    plan_text,
    steps_listed,
    whole_text,
    with_states,
)
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.message import Role
from tests.support.talk import BEGIN, assemble, in_order, message, words

STEPS = {
    Language.ENGLISH: ("Sign the contract with Farina", "Tell Hager"),
    Language.CHINESE: ("买茶叶", "订票"),
}


@pytest.mark.parametrize("language", Language)
def test_a_written_plan_is_recognised(language: Language) -> None:
    plan = made_of(map(Item, STEPS[language]), 7, "s1", None)
    assert steps_listed(whole_text(plan, language)) == set(STEPS[language])


@pytest.mark.parametrize(
    "text",
    ["", "Plan:", "1. [x] Tell Hager", "Plan:\n1. Tell Hager", "Plan:\n1. [x] Tell Hager\nSoon.",
     "My plan:\n1. [x] Tell Hager", "Plan:\n\n1. [x] Tell Hager"],
)  # fmt: skip
def test_other_texts_are_not_recognised_as_plans(text: str) -> None:
    assert not steps_listed(text)


@pytest.mark.parametrize("language", Language)
def test_a_message_list_has_the_plan_once_in_its_current_state(language: Language) -> None:
    made = made_of(map(Item, STEPS[language]), 7, "s1", None)
    now = with_states(made, [(1, StepState.DONE)], 9)
    noted = message(7, whole_text(made, language), lexical=2.0, role=Role.ASSISTANT)
    remark = message(8, "The contract with Farina is long.", lexical=1.0)
    other = message(5, "Plan:\n1. [>] Paint the boat", lexical=0.5, role=Role.ASSISTANT)
    materials = Materials(
        None, None, [], 0, in_order(noted, remark, other), language,
        plan=plan_text(now, language), spans=sentence_spans,
    )  # fmt: skip
    assembly = assemble(materials, 500, words)
    text = "\n".join(part.utterance.text for part in assembly.parts)
    assert text.count(STEPS[language][0]) == 1
    assert f"[x] {STEPS[language][0]}" in text
    assert "The contract with Farina is long." in text
    assert "Paint the boat" in text  # another plan
    assert [(each.candidate.key, why) for each, why in assembly.left_out] == [(7, LeftOut.PRESENT)]


def step(place: int, text: str, seq: int) -> Ranked:
    kept = Kept(str(place), (seq, seq), state=StepState.DONE)
    return Ranked(
        Candidate(Source.PLAN, place, text, (seq,), BEGIN, "s1", kept=kept), 0.4, {}
    )  # fmt: skip


def test_a_search_returns_the_steps_and_not_their_note() -> None:
    plan = made_of(map(Item, STEPS[Language.ENGLISH]), 7, "s1", None)
    noted = Ranked(message(7, whole_text(plan, Language.ENGLISH), session_id="s1"), 0.9, {})
    found = step(1, STEPS[Language.ENGLISH][0], 7)
    assert without_repeated([noted, found]) == [found]
    assert without_repeated([noted]) == [noted]
    spoken = Ranked(message(7, "Let us sign the contract with Farina.", session_id="s1"), 0.9, {})
    assert without_repeated([spoken, found]) == [spoken]
