"""Cut messages into topic segments (M3), with a language model.

The model only names the messages that begin a topic. The texts of the segments are assembled here,
so none can be lost or invented.
"""

from collections.abc import Sequence
from itertools import pairwise

from memci.errors import SmallModelAnswerError
from memci.language.detection import language_of
from memci.message import Message, Role
from memci.smallmodel.litellm import language_model
from memci.smallmodel.offline.segmenter import LONGEST_SEGMENT, PAUSE
from memci.smallmodel.ports import Segmenter, TopicSegment
from memci.smallmodel.vector_space import Vectors

# Messages and characters that one call shows.
_MOST_SHOWN = 40
_LONGEST_SHOWN = 12_000
# Characters shown of one message.
_LONGEST_MESSAGE = 600


class LlmSegmenter(language_model.ModelTask[Segmenter]):
    """Asks for the beginnings of topics, window by window.

    The last topic of a window may continue after it, so the next window begins with it. The offline
    model cuts inside single messages, segments that are too long, and windows with wrong answers.
    """

    def segment(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        """Cut ``messages`` (ascending seq), one row of ``vectors`` each."""
        rows = [row for row, message in enumerate(messages) if message.text.strip()]
        with_text = [messages[row] for row in rows]
        segments: list[TopicSegment] = []
        for start, end in pairwise(self._seams(with_text, vectors[rows])):
            segments += self._whole(with_text[start:end], vectors[rows[start:end]])
        return segments

    def _whole(self, messages: Sequence[Message], vectors: Vectors) -> list[TopicSegment]:
        text = "\n".join(message.text.strip() for message in messages)
        if len(messages) == 1 or len(text) > LONGEST_SEGMENT:
            return self._offline.segment(messages, vectors)
        seqs = tuple(message.seq for message in messages)
        return [TopicSegment(text, seqs, language_of(text))]

    def _seams(self, messages: Sequence[Message], vectors: Vectors) -> list[int]:
        """Return the starts of segments, and the end; hours of silence start a segment."""
        pauses = [at for at in range(1, len(messages)) if _is_after_pause(messages, at)]
        seams = {0, *pauses, len(messages)}
        for first, end in pairwise(sorted(seams)):
            start = first
            while start < end:
                stop = start + _window(messages[start:end])
                begins = self._topic_starts(messages[start:stop], vectors[start:stop])
                seams |= {start + at for at in begins}
                # Continue with the last topic, which the window may have cut. A topic of half the
                # window is cut, or the same messages would be shown repeatedly.
                reopened = stop < end and begins[-1] >= (stop - start) / 2
                start = start + begins[-1] if reopened else stop
        return sorted(seams)

    def _topic_starts(self, messages: Sequence[Message], vectors: Vectors) -> list[int]:
        """Return the places of the messages that begin a topic, 0 included."""
        if len(messages) == 1:
            return [0]

        def read(cuts: language_model.Cuts) -> list[int]:
            if not all(1 <= number <= len(messages) for number in cuts.starts):
                raise SmallModelAnswerError("the model named messages that it was not shown")
            begins = {number - 1 for number in cuts.starts}
            # A tool's result stays with its call.
            return sorted({0} | {at for at in begins if messages[at].role is not Role.TOOL})

        question = language_model.Question(
            prompt="segment",
            language=language_of("\n".join(message.text for message in messages)),
            data={"messages": [_prompt_item(at, each) for at, each in enumerate(messages, 1)]},
            shape=language_model.Cuts,
            read=read,
        )
        return self._model.ask(question, lambda: self._by_rules(messages, vectors))

    def _by_rules(self, messages: Sequence[Message], vectors: Vectors) -> list[int]:
        places = {message.seq: at for at, message in enumerate(messages)}
        cut = self._offline.segment(messages, vectors)
        return sorted({0} | {places[segment.seqs[0]] for segment in cut})


def _prompt_item(number: int, message: Message) -> dict[str, object]:
    text = language_model.excerpt(message.text, _LONGEST_MESSAGE)
    return {"n": number, "speaker": language_model.speaker(message), "text": text}


def _window(messages: Sequence[Message]) -> int:
    """Return the number of messages in one call; at least one."""
    room = _LONGEST_SHOWN
    for count, message in enumerate(messages[:_MOST_SHOWN]):
        room -= min(len(message.text), _LONGEST_MESSAGE)
        if room < 0:
            return max(count, 1)
    return min(len(messages), _MOST_SHOWN)


def _is_after_pause(messages: Sequence[Message], at: int) -> bool:
    silent = messages[at].said_at - messages[at - 1].said_at
    return silent >= PAUSE and messages[at].role is not Role.TOOL
