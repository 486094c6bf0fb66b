"""The requests of each adapter, and the results of its answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memci.config.settings import Settings
from memci.domain.memory.node import NodeType
from memci.errors import ConfigurationError, SmallModelAnswerError, SmallModelUnavailableError
from memci.language.detection import Language
from memci.message import Message, Role, note_metadata
from memci.smallmodel.litellm.embedder import LlmEmbedder
from memci.smallmodel.ports import Annotation, Judgement
from memci.smallmodel.registry import SmallModels, build_small_models
from memci.smallmodel.vector_space import Vectors
from tests.support.model_server import ModelServer, Reply, fails, hangs, says

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def talk(*texts: str, role: Role = Role.USER) -> list[Message]:
    return [
        Message(seq, f"m{seq}", role, text, BEGIN + timedelta(minutes=seq))
        for seq, text in enumerate(texts, 1)
    ]


def flat(messages: list[Message]) -> Vectors:
    """Vectors of a conversation without any change of topic."""
    return np.tile(np.array([[1, 0]], dtype=np.float32), (len(messages), 1))


def cuts_of(models: SmallModels, messages: list[Message]) -> list[tuple[int, ...]]:
    segments = models.segmenter.segment(messages, flat(messages))
    expected = "".join("".join(each.text.split()) for each in messages)
    assert "".join("".join(each.text.split()) for each in segments) == expected
    return [each.seqs for each in segments]


def test_the_model_says_where_topics_begin(server: ModelServer, models: SmallModels):
    server.rest = says({"starts": [3, 1, 3]})
    messages = talk("Hi Ada", "Hello!", "Shall we move the backups?", "Yes, to Oslo.")
    assert cuts_of(models, messages) == [(1, 2), (3, 4)]
    assert server.requests[0].data["messages"][2] == {
        "n": 3, "speaker": "user", "text": "Shall we move the backups?",
    }  # fmt: skip


@pytest.mark.parametrize(
    "answer", [{"starts": [0]}, {"starts": [5]}, {"starts": ["2"]}, {"starts": [1.5]}, {}, "2"]
)
def test_wrong_cuts_use_the_offline_model(server: ModelServer, models: SmallModels, answer: object):
    server.rest = says(answer)
    assert cuts_of(models, talk("Hi Ada", "Hello!", "How are you?", "Well.")) == [(1, 2, 3, 4)]
    assert len(server.requests) == 3


def test_a_silence_cuts_and_a_tool_result_stays_with_its_call(
    server: ModelServer, models: SmallModels
):
    server.rest = says({"starts": [1, 2]})
    messages = talk("List the files.", "a.txt", "Thanks.")
    messages[1] = Message(2, "m2", Role.TOOL, "a.txt", messages[1].said_at)
    messages[2] = Message(3, "m3", Role.USER, "Thanks.", BEGIN + timedelta(hours=7))
    assert cuts_of(models, messages) == [(1, 2), (3,)]
    assert len(server.requests) == 1  # one message alone needs no model


def test_a_long_conversation_is_asked_about_window_by_window(
    server: ModelServer, models: SmallModels
):
    """The last topic of a window is shown again, whole, in the next window."""
    server.script = [says({"starts": [1, 31]}), says({"starts": [1, 11]})]
    messages = talk(*(f"Message number {n} of this talk." for n in range(60)))
    cuts = cuts_of(models, messages)
    assert [each[0] for each in cuts] == [1, 31, 41]
    windows = [[each["n"] for each in asked.data["messages"]] for asked in server.requests]
    assert [len(each) for each in windows] == [40, 30]
    assert server.requests[1].data["messages"][0]["text"] == "Message number 30 of this talk."


def test_a_long_last_topic_is_not_shown_again_and_again(server: ModelServer, models: SmallModels):
    server.rest = says({"starts": [1, 2]})
    cuts_of(models, talk(*(f"Message {n}." for n in range(400))))
    assert len(server.requests) == 10


def test_a_topic_that_is_too_long_is_cut_by_the_rules(server: ModelServer, models: SmallModels):
    server.rest = says({"starts": [1]})
    messages = talk("Some words. " * 100, "More words. " * 100, "", "Few words.")
    segments = models.segmenter.segment(messages, flat(messages))
    assert max(len(each.text) for each in segments) <= 1_500
    assert {seq for each in segments for seq in each.seqs} == {1, 2, 4}
    assert len(server.requests[0].data["messages"][0]["text"]) <= 600


def test_the_model_annotates_texts(server: ModelServer, models: SmallModels):
    notes = {
        "phrase": "Ada moves to Oslo", "keywords": ["Oslo", "flat"], "entities": ["Ada", "it"],
        "type": "procedural",
    }  # fmt: skip
    server.script = [says(notes)]
    texts = ["Ada moves to Oslo, into a flat.", "Grace stays in Bergen. It rains."]
    first, second = models.annotator.annotate(texts)
    assert first == Annotation("Ada moves to Oslo", ("Oslo", "flat"), ("Ada",), NodeType.PROCEDURAL)
    assert second.entities == ("Grace", "Bergen")
    assert [asked.data["text"] for asked in server.requests] == texts


def test_relations_are_named_in_one_call(server: ModelServer, models: SmallModels):
    server.script = [says({"relations": ["likes", "lives  in\n"]})]
    names = models.relation_namer.names("Ada likes Oslo", ["Oslo", "Ada"], Language.ENGLISH)
    assert names == ["likes", "lives in"]
    assert models.relation_namer.names("Ada likes Oslo", [], Language.ENGLISH) == []
    assert len(server.requests) == 1


def test_relations_are_asked_for_in_the_agents_language(server: ModelServer, models: SmallModels):
    server.rest = says({"relations": ["喜欢"]})
    assert models.relation_namer.names("李明喜欢上海", ["上海"], Language.CHINESE) == ["喜欢"]
    assert "记忆网络" in server.requests[0].instructions


def test_the_model_judges_texts(server: ModelServer, models: SmallModels):
    server.script = [says({"eligible": True, "worth": 8}), says({"eligible": False, "worth": 0})]
    judgements = models.judge.judge(["Ada decided to go.", "Hi!"], ["About a trip.", ""])
    assert judgements == [Judgement(eligible=True, worth=8.0), Judgement(eligible=False, worth=0.0)]
    assert [asked.data for asked in server.requests] == [
        {"text": "Ada decided to go.", "summary": "About a trip."}, {"text": "Hi!"},
    ]  # fmt: skip


def test_a_short_target_uses_the_offline_model(server: ModelServer, models: SmallModels):
    text = "Ada met Grace in Oslo and they decided to move the backups."
    assert 0 < len(models.compressor.compress(text, 15)) <= 15
    assert server.requests == []
    models.compressor.compress(text, 16)
    assert len(server.requests) == 1


def test_a_summary_continues_the_one_before(server: ModelServer, models: SmallModels):
    server.script = [
        says({"summary": "Ada moves."}),
        says({"summary": "Ada moves to Oslo."}),
    ]
    messages = talk(*["Ada moves to Oslo. " * 90] * 20)
    assert models.summarizer.summarize(messages, "", 200) == "Ada moves to Oslo."
    assert [asked.data["previous"] for asked in server.requests] == ["", "Ada moves."]
    assert sum(len(asked.data["messages"]) for asked in server.requests) == 20
    assert all(len(each["text"]) <= 2_000 for each in server.requests[0].data["messages"])


def test_a_note_of_an_agent_is_shown_without_a_speaker(server: ModelServer, models: SmallModels):
    server.rest = says({"summary": "Ada moves to Oslo."})
    (message,) = talk("Ada moves to Oslo.")
    note = replace(message, role=Role.ASSISTANT, metadata=note_metadata())
    models.summarizer.summarize([message, note], "", 200)
    sent = server.requests[0].data["messages"]
    assert [each["speaker"] for each in sent] == [message.name or message.role, "(note)"]
    assert '"(note)"' in server.requests[0].instructions


@pytest.mark.parametrize(
    "answer", [{"summary": "x" * 201}, {"summary": " "}, {"text": "Ada"}, {"summary": "In 1999."}]
)
def test_a_wrong_summary_uses_the_offline_model(
    server: ModelServer, models: SmallModels, answer: object
):
    server.rest = says(answer)
    summary = models.summarizer.summarize(talk("We decided to move to Oslo."), "", 200)
    assert summary.splitlines()[-1] == "user: We decided to move to Oslo."
    assert len(server.requests) == 3


def test_a_summary_without_new_messages_needs_no_model(server: ModelServer, models: SmallModels):
    assert models.summarizer.summarize([], "user: We decided it.", 200) == "user: We decided it."
    assert len(models.summarizer.summarize([], "We decided it.\n" * 50, 60)) <= 60
    assert server.requests == []


def embedder(server: ModelServer, **options: object) -> LlmEmbedder:
    access = {"api_base": server.url, "api_key": "x", "timeout_ms": 20_000, **options}
    tiny = {"model": "llm:openai/tiny", **access}
    made = build_small_models(Settings(models={"embedder": tiny})).embedder
    assert isinstance(made, LlmEmbedder)
    return made


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(server: ModelServer):
    model = embedder(server, dimension=8)
    texts = [f"word{n}" for n in range(100)]
    vectors = model.embed([*texts, "", "word7"])
    assert vectors.shape == (102, 8)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[7], vectors[-1])
    assert [len(asked.body["input"]) for asked in server.requests] == [64, 38]
    assert model.embed([]).shape == (0, 8)
    assert model.model == "openai/tiny"


def test_a_long_text_is_the_mean_of_its_windows(server: ModelServer):
    model = embedder(server, dimension=8)
    (vector,) = model.embed(["alpha " * 1_000])
    assert np.allclose(vector, model.embed(["alpha"])[0], atol=0.01)
    assert max(len(text) for text in server.requests[0].body["input"]) <= 2_000


def test_vectors_of_another_length_are_refused(server: ModelServer):
    with pytest.raises(SmallModelAnswerError, match="MEMCI_MODELS__EMBEDDER__DIMENSION"):
        embedder(server, dimension=16).embed(["a"])


def test_an_unknown_dimension_has_to_be_set(server: ModelServer):
    with pytest.raises(ConfigurationError, match="MEMCI_MODELS__EMBEDDER__DIMENSION"):
        embedder(server).load()
    known = Settings(models={"embedder": "llm:openai/text-embedding-3-small"})
    assert build_small_models(known).embedder.dimension == 1536


@pytest.mark.parametrize("reply", [fails(500), fails(429), fails(422), hangs])
def test_a_failed_embedding_is_one_request(server: ModelServer, reply: Reply):
    server.rest = reply
    with pytest.raises((SmallModelUnavailableError, SmallModelAnswerError)):
        embedder(server, dimension=8, timeout_ms=300).embed(["a"])
    assert len(server.requests) == 1
