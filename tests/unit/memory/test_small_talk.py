"""Recognition of small talk, questions and answers."""

from __future__ import annotations

import pytest

from memci.language.small_talk import (
    asks_something,
    can_answer,
    content_words,
    is_trivial,
    last_question,
    split_words,
)

SMALL_TALK = [
    "Hi!", "Hello there, how are you doing today?", "Thanks!", "Thank you so much, I really do!",
    "ok", "OK.", "Sure, sounds good!", "That makes sense.", "Got it, thanks for your help!",
    "Hey Mel! Good to see you!", "Thanks, Caro", "No worries, you've got this!", "Bye! Take care!",
    "👍", "...", "?!", "haha", "Yes, I’m sure.", "Same here!",
    "你好", "您好！", "好的", "好的，谢谢！", "嗯嗯", "谢谢你的推荐，我会去看一看。",
    "您好，请问有什么可以帮您？", "您好！有什么我可以帮您的吗？", "还有其他需要吗？",
    "还有什么可以帮到您的吗", "好的，已为您记录", "好的，已为您记录。还有其他需要吗？",
    "不客气，祝您生活愉快", "好的，我已经记下来了。", "好的，我记住了。", "请问还有别的问题吗？",
    "不客气，如有其他问题，随时告诉我。", "没问题，还需要我帮您做什么吗？", "很高兴为您服务！",
    "祝你周末愉快！", "您好，很高兴为您服务，请问有什么可以帮助您的？", "请问您需要什么帮助？",
    "Hello! How can I help you today?", "Anything else?", "Got it, I’ve noted that.",
    "You're welcome! Let me know if you need anything else.", "I've saved that for you.",
    "没关系", "哈哈哈", "辛苦了！", "明白了", "好的，我知道了，谢谢你。", "祝你顺利！", "ＯＫ",
]  # fmt: skip
WORTH_KEEPING = [
    "He died.", "I quit.", "I'm vegan", "We broke up", "I moved", "I'm pregnant!", "Paris",
    "At 5", "42", "I hate Mondays", "I need support", "Ann!", "I love tea", "It hurts",
    "OK, Monday!", "Thanks, but I resigned", "Hi, I'm Zoe from Oslo", "She said no",
    "我喜欢吃苹果", "我对花生过敏", "他走了", "不要", "不去", "我叫张曼婷",
    "他需要帮助", "我需要休息", "好的，已为您记录：生日是5月8日", "我身体健康",
    "已为您预约周五下午三点", "还有其他需要吗？我想去上海", "还有鱼吗？", "还有什么菜需要买？",
    "我记住了你的生日", "我想找李明", "祝王芳生日快乐", "他帮我记录了", "我没有记住",
    "我生活在上海",
    "你能帮我找工作吗？", "需要帮忙搬家吗？", "我随时可以去上海", "请联系王经理",
    "I've noted that Mia is allergic to nuts.", "I saved it in Dropbox", "I'll remember Ann",
    "Let me know if you need a lift on Friday",
    "明天三点", "你好，我是李雪",
    "Merci beaucoup", "ありがとう", "Спасибо", "x = 3", "git push",
]  # fmt: skip


@pytest.mark.parametrize("text", SMALL_TALK)
def test_small_talk_is_trivial(text: str) -> None:
    assert is_trivial(text, 20)


@pytest.mark.parametrize("text", WORTH_KEEPING)
def test_short_informative_messages_are_not_trivial(text: str) -> None:
    assert not is_trivial(text, 20)


def test_a_text_without_names_is_trivial_only_when_it_is_short() -> None:
    text = "we are going to get one of those"
    assert not is_trivial(text, 20)
    assert is_trivial(text, len(text) + 1)


def test_courtesy_may_contain_the_names_of_participants() -> None:
    assert not is_trivial("Sure, James!", 20)
    assert is_trivial("Sure, James!", 20, {"James"})
    assert not is_trivial("James", 20, {"James"})


@pytest.mark.parametrize(
    "text",
    [
        "Anything else that is fun to play with others?",
        "Do you like it?",
        "Where to?",
        "Shall I book it, then?",
        "do you smoke",
        "what is it",
        "Nice! What did you buy?",
        "Have you been there",
        "你喜欢什么？",
        "你抽烟吗",
        "是不是",
        "要不要加糖呢",
    ],
)
def test_questions_ask_something(text: str) -> None:
    assert asks_something(text)


@pytest.mark.parametrize(
    "text",
    [
        "How are you?",
        "Hey Ann, how's it going?",
        "What's up?",
        "Really?",
        "Can't wait!",
        "Have a great day!",
        "Will do.",
        "What a day!",
        "How can I help you today?",
        "Is there anything else?",
        "你好吗？",
        "真的吗？",
        "有什么可以帮你的吗？",
        "您好，请问有什么可以帮您？",
        "还有其他需要吗？",
        "没问题，还需要我帮您做什么吗？",
        "I like it.",
        "",
        "?",
    ],
)
def test_courtesy_and_statements_ask_nothing(text: str) -> None:
    assert not asks_something(text)


@pytest.mark.parametrize(
    "text", ["Yes", "No.", "Two", "Fine", "No, thanks", "OK, thanks!", "好的，谢谢", "对"]
)
def test_short_answers_can_answer(text: str) -> None:
    assert can_answer(text)


@pytest.mark.parametrize("text", ["Thanks!", "Bye, take care!", "Hello", "谢谢！", "再见"])
def test_thanks_and_farewells_cannot_answer(text: str) -> None:
    assert not can_answer(text)


def test_the_last_real_question_of_a_text_is_returned() -> None:
    assert last_question("I see. Since when? And do you like it? Really?") == "And do you like it?"
    assert last_question("nothing is asked") == "nothing is asked"


def test_words_are_normalised_and_chinese_is_split_into_characters() -> None:
    assert split_words("Don’t GO to Ｏslo, 小雨! 3.5") == [
        "don't",
        "go",
        "to",
        "oslo",
        "小",
        "雨",
        "3.5",
    ]
    assert content_words("OK, I'll see 张三 at 5") == ["张", "三", "5"]
