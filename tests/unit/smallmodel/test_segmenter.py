import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memci.language.detection import Language
from memci.message import Message, Role
from memci.smallmodel.offline.segmenter import LONGEST_SEGMENT, OfflineSegmenter
from memci.smallmodel.vector_space import VectorSpace

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
TREKKING = [
    "I want to buy new hiking boots for the mountains.",
    "For mountain hiking, leather boots with ankle support are best.",
    "Do leather hiking boots need waterproofing?",
    "Yes, wax your leather boots before each hike.",
]
TAXES = [
    "My tax return is due in June and I have no receipts.",
    "For the tax return you can ask your bank for account statements.",
    "Can I deduct my home office from income tax?",
    "Yes, the income tax office accepts a flat rate for a home office.",
]
COOKING = [
    "今天我学做了清蒸鲈鱼，鲈鱼要先用姜葱腌一下。",
    "清蒸鲈鱼很健康，鲈鱼蒸十分钟就够了。",
    "蒸鲈鱼的时候要放料酒吗？",
    "放一点料酒，鲈鱼会更鲜。",
]
TRAVEL = [
    "下个月我打算坐高铁去厦门旅行，想住鼓浪屿。",
    "厦门旅行可以住鼓浪屿的民宿，高铁票要早点买。",
    "厦门的高铁票多少钱？",
    "高铁票大概五百元，去厦门旅行很方便。",
]


def talk(texts, **changes):
    roles = [Role.USER, Role.ASSISTANT]
    return [
        Message(seq, f"m{seq}", roles[(seq - 1) % 2], text, NOON, **changes)
        for seq, text in enumerate(texts, start=1)
    ]


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [(TREKKING, TAXES, Language.ENGLISH), (COOKING, TRAVEL, Language.CHINESE)],
)
def test_a_segment_ends_where_the_topic_changes(segmenter, one, other, language):
    first, second = segmenter.segment(talk([*one, *other]))
    assert first.seqs == (1, 2, 3, 4)
    assert second.seqs == (5, 6, 7, 8)
    assert first.text == "\n".join(one)
    assert {first.language, second.language} == {language}


@pytest.mark.parametrize(
    ("parts", "blank"),
    [
        (["我今天去了公园，看到了很多花。", "然后去了图书馆。"], ""),
        (
            [
                "My sister Ines moved to Porto last month and loves it.",
                "The invoice for the website redesign is still unpaid; I'll call them on Monday.",
                "For dinner I'd like to try that lentil soup with cumin.",
            ],
            "\n\n",
        ),
        (["The dentist moved my appointment to Friday.", "Ben's new number is 555 0199."], " "),
        (["王老师下周请假，李老师代课。", "周末的羽毛球场地我已经订好了。"], ""),
    ],
)
def test_a_message_on_several_matters_is_cut_between_them(segmenter, parts, blank):
    assert [each.text for each in segmenter.segment(talk([blank.join(parts)]))] == parts


@pytest.mark.parametrize(
    "text",
    [
        "We took the train to Ghent. It was late again, forty minutes this time.",
        "Yes, I love it too! Where did you buy it? Was it expensive?",
        "火车又晚点了。这次晚了四十分钟，车上还没有暖气。",
    ],
)
def test_a_message_on_one_matter_stays_whole(segmenter, text):
    assert len(segmenter.segment(talk([text]))) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ["My passport expires in March.", "The wifi code is in the drawer.", "Tom hates olives."],
        ["护照三月份过期。", "洗衣机坏了要换新的。", "小王的生日是五月二号。"],
    ],
)
def test_short_messages_on_other_matters_are_cut(segmenter, texts):
    said = [Message(seq, f"m{seq}", Role.USER, text, NOON) for seq, text in enumerate(texts, 1)]
    assert [each.text for each in segmenter.segment(said)] == texts


def test_a_long_silence_is_a_topic_change(segmenter):
    early, late = talk(["Hiking boots are heavy.", "Hiking boots are very heavy."])
    later = Message(late.seq, late.id, late.role, late.content, NOON + timedelta(hours=7))
    assert len(segmenter.segment([early, late])) == 1
    assert len(segmenter.segment([early, later])) == 2


def test_a_new_session_is_a_topic_change(segmenter):
    (first,) = talk(["Hiking boots are heavy."], session_id="a")
    second = Message(2, "m2", Role.USER, "Hiking boots are heavy.", NOON, session_id="b")
    assert [segment.seqs for segment in segmenter.segment([first, second])] == [(1,), (2,)]


def test_a_tool_call_stays_with_its_result(segmenter):
    call = {"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    messages = [
        Message(1, "a", Role.ASSISTANT, None, NOON, tool_calls=(call,)),
        Message(2, "b", Role.TOOL, "-4 °C, snow", NOON, tool_call_id="c1"),
    ]
    (segment,) = segmenter.segment(messages)
    assert segment.text == 'weather({"city": "Oslo"})\n-4 °C, snow'


def test_messages_without_text_give_no_segment(segmenter):
    assert segmenter.segment(talk(["", " \n ", "\t"])) == []
    assert segmenter.segment([]) == []


def test_a_long_message_is_cut_at_its_paragraphs_and_sentences(segmenter):
    paragraphs = [
        f"Chapter {n}. "
        + " ".join(f"On day {20 * n + d} we sailed {30 + d} miles to the south." for d in range(22))
        for n in range(5)
    ]
    segments = segmenter.segment(talk(["\n\n".join(paragraphs)]))
    assert [segment.text[:9] for segment in segments] == [f"Chapter {n}" for n in range(5)]
    sentences = "我们在船上吃了晚饭，然后睡觉。" * 300
    assert all(segment.text.endswith("。") for segment in segmenter.segment(talk([sentences])))


@pytest.mark.parametrize("unit", ["x", "中", "word ", "A. ", "é", "👩‍🚀"])
def test_a_huge_message_is_cut_quickly(reader, unit):
    text = unit * (900 * 1024 // len(unit))
    vectors = np.eye(2, 384, dtype=np.float32)
    before = time.process_time()  # not the clock: other processes may be busy
    segments = OfflineSegmenter(VectorSpace, reader).segment(
        talk([text, "What was that?"]), vectors
    )
    assert time.process_time() - before < 15
    assert max(len(segment.text) for segment in segments) <= LONGEST_SEGMENT
    joined = "".join("".join(segment.text.split()) for segment in segments)
    assert joined == "".join(text.split()) + "Whatwasthat?"


def test_a_cut_never_splits_an_emoji(segmenter):
    for segment in segmenter.segment(talk(["👩‍🚀" * 2000])):
        assert segment.text.startswith("👩")
        assert segment.text.endswith("🚀")
