"""``memci.read.recall``: a breadth-first search from the focus (M20, M23)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.recall import (
    MATCH_COSINE,
    Forgotten,
    Miss,
    Reached,
    Walk,
    in_order,
    mentions,
    why_nothing,
)
from memci.domain.search.candidate import reads
from memci.language.detection import Language, language_of
from memci.reading.deferred_writes import use_of
from memci.reading.reader import Reader, ReadingModels, wait_until_fresh
from memci.reading.recall_answer import Found, Recalled, as_structure, as_text
from memci.schemas.reads import RecallAnswer, RecallRequest, RecallText
from memci.smallmodel.ports import Vectors
from memci.storage.agents import parameters_of
from memci.storage.network.node_history import Successor, successors_of
from memci.storage.reading import forgotten
from memci.storage.reading import recall as network
from memci.storage.reading.forgotten import forgotten_at
from memci.storage.reading.messages import message_ids, pending_messages
from memci.storage.reading.recall import Visibility, has_memories, restorable, seen
from memci.storage.reading.snapshot_state import progress
from memci.storage.session import Connection

# What is longer names nothing: the rest of it is not read.
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class Keywords:
    """What is looked for. ``terms`` of each keyword; all of them have to be there together.

    ``characters`` are keywords of a single Chinese character, which no index term holds.
    ``vectors`` (shape (n, d)) are of those whose language the embedding model reads.
    ``everything``: no keyword was given, so all memories match.
    """

    terms: tuple[frozenset[str], ...]
    characters: tuple[str, ...]
    vectors: Vectors
    model: str
    language: Language
    everything: bool

    @classmethod
    def of(
        cls, keywords: Sequence[str], models: ReadingModels, vectors: Vectors | None = None
    ) -> Keywords:
        """Read keywords. Calls the embedder, unless it is given their vectors."""
        model = models.embedder.model
        short = [each[:_LONGEST].strip() for each in keywords]
        if vectors is None:
            read = [each for each in short if each and reads(model, language_of(each))]
            vectors = models.embedder.embed(read)
        characters = [each for each in short if _is_one_character(each)]
        words = [each for each in short if not _is_one_character(each)]
        return cls(
            terms=tuple(frozenset(models.lexicon.terms(each)) for each in words),
            characters=tuple(characters),
            vectors=vectors,
            model=model,
            language=language_of(" ".join(short)),
            everything=not keywords,
        )

    def are_in(self, text: str, models: ReadingModels) -> bool:
        """Tell whether a text holds any of them, as a token."""
        if self.everything or any(character in text for character in self.characters):
            return True
        return mentions(frozenset(models.lexicon.terms(text)), self.terms)


def _is_one_character(keyword: str) -> bool:
    return len(keyword) == 1 and language_of(keyword) is Language.CHINESE


def was_known(connection: Connection, agent_id: str, keywords: Keywords, sight: Visibility) -> bool:
    """Tell whether messages in sight that became memories hold what no memory holds now."""
    terms = [each for each in keywords.terms if each]
    if not (terms or keywords.characters or keywords.everything):
        return False
    return forgotten.was_known(connection, agent_id, terms, keywords.characters, sight)


def who_knew(
    connection: Connection, agent_id: str, keywords: Keywords, sight: Visibility, most: int
) -> list[int]:
    """Return forgotten memories that can be restored and told of a keyword, the latest first."""
    terms = [each for each in keywords.terms if each]
    nodes = forgotten.who_knew(connection, agent_id, terms, keywords.characters, sight)
    heirs = successors_of(connection, agent_id, nodes)
    gone = list(dict.fromkeys(heirs[each].last for each in nodes if heirs[each].living is None))
    can = restorable(connection, agent_id, gone)
    return [each for each in gone if each in can][:most]


# Forgotten memories that are named where no link tells of them.
_MOST_THAT_KNEW = 3
# Messages on their way to memory that are looked into when nothing was found, and how far.
_PENDING_MESSAGES = 200
_PENDING_CHARACTERS = 20_000


class Recall(Reader):
    """Recalls. An agent that nobody has written to yet never knew anything, which is no error."""

    def run(
        self, agent_id: str, request: RecallRequest, *, vectors: Vectors | None = None
    ) -> RecallAnswer | RecallText:
        """Answer with the memories in reach that match, nearest first. It changes nothing.

        With ``drop_on_visit``, links to the forgotten ones that the answer names go later, by a
        job (M15). ``vectors`` (shape (n, d)) are the keywords' own, if the caller has them.
        """
        wait_until_fresh(self.database, agent_id, request)
        keywords = Keywords.of(request.keywords, self.models, vectors)
        with self.database.agent_snapshot(agent_id) as connection:
            recalled = self._recall(connection, agent_id, request, keywords)
        count = self.models.tokenizers.count(self.defaults.tokenizer)
        if request.format == "structured":
            told = as_structure(recalled, request.budget_tokens, count)
        else:
            told = as_text(recalled, request.budget_tokens, count, keywords.language)
        seqs = {seq for memory in told.memories for seq in memory.seqs}
        nodes = [memory.node_id for memory in told.memories]
        use = use_of(agent_id, "recall", recalled.now, (seqs, nodes), recalled.ids)
        dropping = told.forgotten if recalled.drops else ()
        self.activity.note(agent_id, dropping=dropping, use=use)
        return told.answer

    def _recall(
        self, connection: Connection, agent_id: str, request: RecallRequest, keywords: Keywords
    ) -> Recalled:
        sight = _sight(request)
        matches = None
        if not keywords.everything:
            matches = _matches(connection, agent_id, keywords, sight)
        walk = self._walk(connection, agent_id, request, matches)
        reached = walk.memories(matches)[: request.limit]
        memories = network.memories(connection, agent_id, [each.node_id for each in reached])
        reached, memories = _newer_first(connection, agent_id, request, walk, reached, memories)
        forgotten, heirs = self._named(connection, agent_id, walk.forgotten.values(), keywords)
        miss, knew = None, list[int]()
        if not reached:
            # What is out of reach may still be known to have been forgotten.
            everywhere = network.dangling_links(connection, agent_id, request.relations, sight)
            if not forgotten:
                forgotten, heirs = self._named(connection, agent_id, everywhere, keywords)
            known = matches if matches is not None else has_memories(connection, agent_id, sight)
            told = bool(forgotten)
            waits = self._is_pending(connection, agent_id, request, keywords)
            miss = why_nothing(pending=waits, out_of_reach=bool(known), forgotten=told)
            if miss is Miss.NEVER_KNOWN and was_known(connection, agent_id, keywords, sight):
                miss = Miss.FORGOTTEN
                knew = who_knew(connection, agent_id, keywords, sight, _MOST_THAT_KNEW)
        forgotten = forgotten[: request.limit]
        last = {each.node_id: heirs[each.node_id].last for each in forgotten}
        gone = list(last.values())
        seqs = {seq for memory in memories.values() for seq in memory.seqs}
        match = dict.fromkeys(memories, 1.0) if matches is None else matches
        return Recalled(
            memories=[
                Found(each, memories[each.node_id], match.get(each.node_id, 0.0))
                for each in reached
            ],
            forgotten=forgotten,
            last=last,
            restorable=frozenset(network.restorable(connection, agent_id, gone)),
            forgotten_at=forgotten_at(connection, agent_id, gone),
            ids=message_ids(connection, agent_id, seqs),
            miss=miss,
            knew=knew,
            now=progress(connection, agent_id),
            drops=bool(gone) and self._parameters(connection, agent_id).drops_on_visit,
        )

    def _walk(
        self,
        connection: Connection,
        agent_id: str,
        request: RecallRequest,
        matches: Mapping[int, float] | None,
    ) -> Walk:
        """Walk ``depth`` layers out, or until there is enough: layers come before all else.

        Where nothing matches, there is nothing to walk to.
        """
        depth = request.depth
        if depth is None:
            depth = self._parameters(connection, agent_id).default_search_depth
        walk = Walk(network.focus_points(connection, agent_id))
        if matches is not None and not matches:
            return walk
        sight = _sight(request)
        while walk.layer < depth and walk.frontier and len(walk.memories(matches)) < request.limit:
            steps = network.steps_from(
                connection, agent_id, walk.frontier, request.relations, sight
            )
            walk.advance(steps)
        return walk

    def _parameters(self, connection: Connection, agent_id: str) -> MemoryParameters:
        return parameters_of(connection, agent_id, self.defaults.memory)

    def _named(
        self,
        connection: Connection,
        agent_id: str,
        forgotten: Iterable[Forgotten],
        keywords: Keywords,
    ) -> tuple[list[Forgotten], Mapping[int, Successor]]:
        """Return those whose relation or hint holds a keyword, in order, and their heirs.

        What was restored or merged into a living memory is none of them: links to it dangle
        still (M14), but it is not forgotten.
        """
        named = in_order(
            each
            for each in forgotten
            if keywords.are_in(f"{each.relation} {each.hint}", self.models)
        )
        heirs = successors_of(connection, agent_id, [each.node_id for each in named])
        return [each for each in named if heirs[each.node_id].living is None], heirs

    def _is_pending(
        self, connection: Connection, agent_id: str, request: RecallRequest, keywords: Keywords
    ) -> bool:
        """Tell whether what waits may answer; of any session, since most of it will be in sight."""
        waiting = pending_messages(
            connection,
            agent_id,
            user_id=request.user_id,
            as_of=request.as_of,
            most=_PENDING_MESSAGES,
        )
        texts = (message.text[:_PENDING_CHARACTERS] for message in waiting)
        return any(keywords.are_in(text, self.models) for text in texts)


def _sight(request: RecallRequest) -> Visibility:
    return Visibility(request.session_id, request.user_id, request.as_of)


def _newer_first(
    connection: Connection,
    agent_id: str,
    request: RecallRequest,
    walk: Walk,
    reached: list[Reached],
    memories: dict[int, network.Memory],
) -> tuple[list[Reached], dict[int, network.Memory]]:
    """Put what supersedes a memory in front of it, where it is in reach at all (R6).

    And before that what supersedes it in turn. As of a time, what was superseded later held still.
    """
    memories = _as_held(memories, request.as_of)
    while missing := (_successors(memories) & walk.reached.keys()) - memories.keys():
        newer = network.memories(connection, agent_id, sorted(missing))
        if not newer:
            break
        memories |= _as_held(newer, request.as_of)
    ordered: dict[int, Reached] = {}
    for each in reached:
        for node in reversed(list(_line(each.node_id, memories))):
            ordered.setdefault(node, walk.reached[node])
    kept = list(ordered.values())[: request.limit]
    return kept, {each.node_id: memories[each.node_id] for each in kept}


def _as_held(
    memories: Mapping[int, network.Memory], until: datetime | None
) -> dict[int, network.Memory]:
    return {
        node: replace(each, superseded_by=None, superseded_at=None)
        if until is not None and each.superseded_at is not None and each.superseded_at > until
        else each
        for node, each in memories.items()
    }


def _successors(memories: Mapping[int, network.Memory]) -> set[int]:
    return {each.superseded_by for each in memories.values() if each.superseded_by is not None}


def _line(node: int, memories: Mapping[int, network.Memory]) -> Iterator[int]:
    """Yield a memory and what supersedes it, one after the other, as far as it is known."""
    passed = set[int]()
    current: int | None = node
    while current is not None and current in memories and current not in passed:
        yield current
        passed.add(current)
        current = memories[current].superseded_by


def _matches(
    connection: Connection, agent_id: str, keywords: Keywords, sight: Visibility
) -> dict[int, float]:
    """Return how well each node in sight matches: 1 by a token, else its best cosine."""
    matches = network.nodes_by_cosine(
        connection, agent_id, keywords.vectors, model=keywords.model, least=MATCH_COSINE
    )
    for node_id in network.nodes_by_terms(connection, agent_id, keywords.terms):
        matches[node_id] = 1.0
    for node_id in network.nodes_by_character(connection, agent_id, keywords.characters):
        matches[node_id] = 1.0
    in_sight = seen(connection, agent_id, matches, sight)
    return {node: match for node, match in matches.items() if node in in_sight}
