"""Making memories: messages of one worker against bare batched encoding of the same texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from benchmarks.bare_encoding import BareEncoding
from benchmarks.celery_messages import CeleryMessages
from benchmarks.compare import Size, alternate
from benchmarks.draining import drain, lane_tokens
from benchmarks.fading import running_pass
from benchmarks.report import Bar, Finding
from benchmarks.sentences import conversation
from benchmarks.stage import LANE_POOL, Stage
from memci.broker.names import LANE_QUEUE
from memci.message import NewMessage
from memci.queue.intake import Append, append_in
from memci.storage.session import Database

_EACH_REQUEST = 20
_AGENTS = 8


class Creation:
    """Puts conversations into mailboxes, and lets a worker make memories of them."""

    def __init__(self, database: Database, stage: Stage, tokens: CeleryMessages) -> None:
        self._database = database
        self._stage = stage
        self._tokens = tokens

    def rate(self, messages: list[NewMessage], run: str) -> float:
        """Return messages a second."""
        agents = [f"{run}-{number}" for number in range(_AGENTS)]
        for start in range(0, len(messages), _EACH_REQUEST):
            agent_id = agents[start // _EACH_REQUEST % _AGENTS]
            request = Append(agent_id, messages[start : start + _EACH_REQUEST], session_id="s")
            with self._database.agent_transaction(agent_id) as connection:
                append_in(connection, request)
        return len(messages) / drain(self._stage, self._tokens, agents)


def said_in(messages: Sequence[NewMessage]) -> list[str]:
    """Return the texts of messages."""
    return [message.content or "" for message in messages]


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure creation."""
    runs, count = size.pick((1, 40), (3, 320), (5, 800))
    bare = BareEncoding()
    worker = stage.start_worker("workers", LANE_QUEUE, *LANE_POOL)
    # Each run has other texts, since vectors are cached.
    texts = {run: list(islice(conversation(seed=run), count)) for run in range(runs + 1)}
    with stage.database() as database:
        creation = Creation(database, stage, lane_tokens(stage))
        creation.rate(texts[runs][:160], "warm-up")
        bare.rate(said_in(texts[runs][:64]))
        ours, theirs = iter(range(runs)), iter(range(runs))

        def create() -> float:
            run = next(ours)
            return creation.rate(texts[run], f"run{run}")

        compared = alternate(
            create, lambda: bare.rate(said_in(texts[next(theirs)])), runs, "creation"
        )
    yield compared.finding(
        "memory creation, one worker",
        "messages/s",
        "bare batched MiniLM encoding",
        Bar(0.6),
        f"{_EACH_REQUEST} messages a job, {_AGENTS} agents",
    )
    with stage.database() as database:
        creation = Creation(database, stage, lane_tokens(stage))
        yield _beside_a_pass(stage, creation, size)
    stage.stop([worker])


def _beside_a_pass(stage: Stage, creation: Creation, size: Size) -> Finding:
    runs, count = size.pick((1, 40), (1, 320), (3, 800))
    conversations = (list(islice(conversation(seed), count)) for seed in range(100, 100 + 2 * runs))
    names = (f"beside{run}" for run in range(2 * runs))

    def create() -> float:
        return creation.rate(next(conversations), next(names))

    def create_beside() -> float:
        with running_pass(stage):
            return create()

    return alternate(create_beside, create, runs, "creation beside a pass").finding(
        "memory creation while a pass runs",
        "messages/s",
        "the same without it",
        Bar(0.8),
        "one lane worker and one compress worker on the same machine",
    )
