"""Which sentences are courtesy and are left out of a summary (R8)."""

from __future__ import annotations

import pytest

from memci.language.cue_phrases import is_courtesy


@pytest.mark.parametrize(
    "sentence",
    [
        "Not that one.", "We should not do it.", "Do not do that again.", "Yes, do it.",
        "Let's go with it.", "I don’t want that any more.", "I am not going.", "不要这个。",
        "就这样吧。", "算了，不做了。", "It costs 12 euros.", "Hi Nova, I'm Priya.",
    ],
)  # fmt: skip
def test_decisions_denials_and_introductions_are_no_courtesy(sentence: str) -> None:
    assert not is_courtesy(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["Good.", "Thanks!", "Will do.", "Understood.", "What can I do for you?", "好的。", "没问题。",
     "不客气！", "有什么可以帮你的？"],
)  # fmt: skip
def test_greetings_thanks_offers_and_acknowledgements_are_courtesy(sentence: str) -> None:
    assert is_courtesy(sentence)
