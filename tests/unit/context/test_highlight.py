"""Which sentences of a long entry are shown (R14)."""

from __future__ import annotations

import pytest

from memci.domain.search.highlight import (
    Highlighter,
    Speakers,
    is_all_courtesy,
    is_courtesy,
    join_sentences,
    whole,
)
from memci.language.sentences import sentence_spans
from memci.language.small_talk import has_many_content_words
from tests.support.talk import words

LONG = (
    "Thanks! The weather was nice and we had some fun there all the time, as one has in summer. "
    "Ann sold the red canoe in Bergen last week. It was good to see you again, too."
)
CHINESE = (
    "谢谢你！今天天气还不错，我们玩得挺开心的。王磊上周在成都把那辆红色的自行车卖掉了。下次再聊吧。"
)


def highlighter(asked: str | None) -> Highlighter:
    return Highlighter(asked, [LONG, "We had fun.", "The weather was nice."], sentence_spans, words)


def test_a_text_that_fits_loses_its_courtesy_only() -> None:
    assert highlighter("canoe").cut(LONG, 600) == LONG.removeprefix("Thanks! ").removesuffix(
        " It was good to see you again, too."
    )


@pytest.mark.parametrize("asked", ["Who sold the canoe?", None])
def test_other_entries_keep_the_sentences_with_asked_and_rare_words(asked: str | None) -> None:
    shown = highlighter(asked).cut(LONG, 24)
    assert "Ann sold the red canoe in Bergen last week." in shown
    assert "Thanks" not in shown
    assert len(shown) < len(LONG)


def test_other_forms_of_asked_words_count() -> None:
    text = (
        "My sister keeps a small bakery near the harbour of Bergen these days with much success. "
        "Somebody was painting all of the old wooden fence by the garden gate slowly again. "
        "The neighbour drove his tractor through the muddy field behind our barn on and on."
    )
    texts = [text, *("The boat was late today." for _ in range(30))]
    assert "painting" in Highlighter("who painted it", texts, sentence_spans, words).cut(text, 24)


def test_chinese_is_cut_at_its_sentences() -> None:
    def characters(text: str) -> int:
        return len(text)

    shown = Highlighter("谁卖了自行车？", [CHINESE], sentence_spans, characters).cut(CHINESE, 24)
    assert shown == "…王磊上周在成都把那辆红色的自行车卖掉了。"


def test_at_least_one_sentence_is_kept_and_a_single_one_is_not_cut() -> None:
    highlight = Highlighter("x", ["Hi! Thanks!"], sentence_spans, words)
    assert highlight.cut("Hi! Thanks!", 9) == "Hi! Thanks!"
    endless = "word " * 199
    assert highlight.cut(endless, 9) == endless
    assert Highlighter("x", [LONG], whole, words).cut(LONG, 9) == LONG


def rows(count: int) -> str:
    return " ".join(
        f"Row {row}: shelf {row} has {row * 7} of type T{row % 13}." for row in range(count)
    )


@pytest.mark.parametrize("count", [30, 300, 3_000])
def test_the_asked_row_is_kept_among_many(count: int) -> None:
    text, asked = rows(count), count * 2 // 3
    for question in (f"What is in row {asked}?", f"How many are on shelf {asked}?"):
        # Characters are counted: a row with longer figures is worth less for its length.
        shown = Highlighter(question, [text, "We had fun."], sentence_spans, len).cut(text, 400)
        assert f"Row {asked}: shelf {asked} has" in shown
        assert len(shown) < 1_200


@pytest.mark.parametrize("text", ["Thanks!", "What about you?", "谢谢！", "Hey, Ann!"])
def test_courtesy(text: str) -> None:
    assert is_courtesy(text)


@pytest.mark.parametrize("text", ["No.", "No, thanks!", "不好。", "The ferry is late.", "Room 14"])
def test_statements_and_denials_are_no_courtesy(text: str) -> None:
    assert not is_courtesy(text)


@pytest.mark.parametrize(
    ("lines", "courtesy"),
    [
        ("John: Cool, James!\nJames: Got it, John!", True),
        ("James: Definitely, James! \n\nJohn: Thanks!", True),
        ("小明：好的，谢谢！", True),
        ("Ada: No.", False),
        ("Ada: Thanks!\nBen: I moved to Porto.", False),
        ("Ada: 15 May", False),
    ],
)
def test_a_memory_of_courtesy_alone_is_recognised(lines: str, courtesy: bool) -> None:
    assert is_all_courtesy(lines) is courtesy


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("[Assistant: Shall I delete the backup of March?]\nUser: Yes.",) * 2,
        ("助手：要不要删掉三月的备份？\n用户：好的。",) * 2,
        ("Assistant: I moved to Porto.\nUser: Cool!", "Assistant: I moved to Porto."),
        ("Ann: Shall we meet in Porto?\nBen: Thanks!", "Ann: Shall we meet in Porto?"),
    ],
)
def test_an_answer_to_a_question_in_a_memory_is_no_courtesy(text: str, kept: str) -> None:
    voices = Speakers(["Ann", "Ben"]).in_memory(text)
    assert highlighter(None).cut(text, 60, voices) == kept
    assert highlighter(None).without_courtesy(text, voices) == kept


def test_the_blanks_between_neighbouring_sentences_are_kept() -> None:
    text = "One.  Two.\nThree. 四。五。六。"
    spans = sentence_spans(text)
    assert join_sentences(text, spans) == text
    assert join_sentences(text, [spans[0], spans[2]]) == "One.\nThree."
    assert join_sentences(text, [spans[3], spans[5]]) == "四。六。"
    assert join_sentences(text, [spans[0], spans[1]]) == "One.  Two."
    assert join_sentences(text, [spans[2], spans[4]]) == "Three. 五。"
    assert join_sentences(text, []) == ""


def test_a_mark_replaces_omitted_sentences() -> None:
    text = "One.  Two.\nThree. 四。五。六。"
    spans = sentence_spans(text)
    assert join_sentences(text, [spans[0], spans[2]], spans) == "One. …\nThree. …"
    assert join_sentences(text, [spans[3], spans[5]], spans) == "…四。…六。"
    assert join_sentences(text, spans[1:], spans) == "… Two.\nThree. 四。五。六。"
    assert join_sentences(text, spans[1:], spans[1:]) == "Two.\nThree. 四。五。六。"
    # Sentences that are not in the last argument are courtesy.
    assert join_sentences(text, [spans[0], spans[2]], [spans[0], spans[2]]) == "One.\nThree."


def test_a_denial_is_kept() -> None:
    text = (
        "The other generator is cheaper than that one by far. It has a handle and wheels. "
        "I would not take it. It can be had in any colour that one likes."
    )
    assert "I would not take it." in Highlighter("x", [text], sentence_spans, words).cut(text, 24)


def test_without_courtesy_keeps_all_other_sentences() -> None:
    courtesy = highlighter(None)
    kept = LONG.removeprefix("Thanks! ").removesuffix(" It was good to see you again, too.")
    assert courtesy.without_courtesy(LONG) == kept
    assert courtesy.without_courtesy("Thanks!") == "Thanks!"


def test_texts_with_many_content_words_are_recognised() -> None:
    assert has_many_content_words("Ann sold her red canoe to the baker in Bergen.")
    assert not has_many_content_words("Thanks so much, that is very kind of you!")
    assert not has_many_content_words("王磊上周在成都把那辆红色的自行车卖掉了。")


@pytest.mark.parametrize(
    ("text", "kept", "expected"),
    [
        ("Ann: A one. A two.\nBen: B one. B two.", (1, 3), "Ann: … A two.\nBen: … B two."),
        ("Ann: A one. A two.\nBen: B one.", (0, 2), "Ann: A one. …\nBen: B one."),
        ("Ann: A one.\nBen: B one.\nAnn: A two. A three.", (0, 3), "Ann: A one. …\nA three."),
        ("Ann: A one.\nA two.\nBen: B one. B two.", (1, 3), "Ann: … A two.\nBen: … B two."),
        ("助手: 一。二。\n用户：三。四。", (1, 3), "助手: …二。\n用户：…四。"),
        ("[Assistant: Which?]\nUser: Red. Now.", (2,), "User: … Now."),
        ("[Assistant: Which? Say!]\nUser: Red.", (1, 2), "[Assistant: … Say!]\nUser: Red."),
        # Cid is no known speaker: the line may belong to the speaker above.
        ("User: A one.\nCid: C one. C two.", (1,), "User: …\nCid: C one. …"),
        ("User: A one.\nCid: C one. C two.", (2,), "User:\nCid: … C two."),
        ("User: A one.\nCid: C one. C two.", (0, 2), "User: A one.\nCid: … C two."),
        ("Cid: C one. C two.\nDee: D one. D two.", (1, 3), "Cid: … C two.\nDee: … D two."),
        ("Ann: A one.\nBen: B one.", (1,), "…\nBen: B one."),
        ("At 8:15 we sail. Bring boots.", (1,), "… Bring boots."),
    ],
)
def test_sentences_of_a_memory_keep_their_speaker(
    text: str, kept: tuple[int, ...], expected: str
) -> None:
    spans = sentence_spans(text)
    voices = Speakers(["Ann", None, "Ben"]).in_memory(text)
    assert join_sentences(text, [spans[at] for at in kept], spans, voices) == expected
