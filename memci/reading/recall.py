"""``memci.read.recall``: a breadth-first search from the focus (M20, M23)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from memci.domain.memory import recall as rules
from memci.domain.memory.changed_facts import EndedParts, with_notes
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.recall import Forgotten, Miss, Reached, Walk
from memci.domain.token_counts import Count, fitting
from memci.language.detection import Language, language_of
from memci.reading.deferred_writes import use_of
from memci.reading.reader import Reader, ReadingModels, wait_until_fresh
from memci.schemas.reads import (
    ForgottenMemory,
    RecallAnswer,
    RecalledMemory,
    RecallRequest,
    RecallText,
)
from memci.smallmodel.vector_space import Vectors
from memci.storage.agents import parameters_of
from memci.storage.network.node_history import Successor, successors_of
from memci.storage.reading import recall as network
from memci.storage.reading.messages import message_ids, pending_messages
from memci.storage.reading.nodes import ended_parts
from memci.storage.reading.recall import Memory, Visibility
from memci.storage.reading.snapshot_state import Progress, progress
from memci.storage.session import Connection

# Layers of a walk to what is out of reach.
_FARTHEST = 10
_LONGEST_KEYWORD = 256  # characters that are read
# The largest number of forgotten memories without links in an answer.
_MOST_THAT_KNEW = 3
# Messages on their way to memory that are searched when nothing was found, and how far.
_PENDING_MESSAGES = 200
_PENDING_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Keywords:
    """The keywords of a recall."""

    terms: tuple[frozenset[str], ...]  # of each keyword; all of one must match together
    characters: tuple[str, ...]  # keywords of one Chinese character, which no index term holds
    vectors: Vectors  # shape (n, d), of the keywords
    model: str
    languages: tuple[Language, ...]  # of the texts of the vectors
    least_cosines: tuple[float, float]  # of a match in the same language, and across languages
    language: Language
    everything: bool  # no keyword was given, so all memories match

    @classmethod
    def of(
        cls, keywords: Sequence[str], models: ReadingModels, vectors: Vectors | None = None
    ) -> Keywords:
        """Read keywords. Calls the embedder unless the vectors are given."""
        short = [each[:_LONGEST_KEYWORD].strip() for each in keywords]
        if vectors is None:
            vectors = models.embedder.embed_questions([each for each in short if each])
        characters = [
            each for each in short if len(each) == 1 and language_of(each) is Language.CHINESE
        ]
        words = [each for each in short if each not in characters]
        space = models.embedder.space
        return cls(
            terms=tuple(frozenset(models.lexicon.terms(each)) for each in words),
            characters=tuple(characters),
            vectors=vectors,
            model=models.embedder.model,
            languages=tuple(language_of(each) for each in short if each),
            least_cosines=(space.cosine(rules.MATCH), space.cosine(rules.MATCH_ACROSS)),
            language=language_of(" ".join(short)),
            everything=not keywords,
        )

    def are_in(self, text: str, models: ReadingModels) -> bool:
        """Return True if a text has any of them as a token."""
        if self.everything or any(character in text for character in self.characters):
            return True
        return rules.mentions(frozenset(models.lexicon.terms(text)), self.terms)


def was_known(
    connection: Connection, agent_id: str, keywords: Keywords, visibility: Visibility
) -> bool:
    """Return True if visible messages of former memories contain a keyword that no memory has."""
    terms = [each for each in keywords.terms if each]
    if not (terms or keywords.characters or keywords.everything):
        return False
    return network.was_known(connection, agent_id, terms, keywords.characters, visibility)


def forgotten_with_keyword(
    connection: Connection, agent_id: str, keywords: Keywords, visibility: Visibility
) -> list[int]:
    """Return restorable forgotten memories that contained a keyword, the latest first."""
    terms = [each for each in keywords.terms if each]
    nodes = network.nodes_with_keyword(connection, agent_id, terms, keywords.characters, visibility)
    successors = successors_of(connection, agent_id, nodes)
    last = (successors[each].last for each in nodes if successors[each].living is None)
    forgotten = list(dict.fromkeys(last))
    restorable = network.restorable(connection, agent_id, forgotten)
    return [each for each in forgotten if each in restorable][:_MOST_THAT_KNEW]


@dataclass(frozen=True, slots=True)
class Recalled:
    """The results of a recall, in order."""

    memories: Sequence[tuple[Reached, Memory]]
    # The match score of each memory: 1 for a token, else the best cosine. None: all match.
    matches: Mapping[int, float] | None
    forgotten: Sequence[Forgotten]
    last: Mapping[int, int]  # by forgotten node, its last successor, or itself
    restorable: frozenset[int]  # of the last successors
    forgotten_at: Mapping[int, datetime]  # likewise
    ids: Mapping[int, str]  # of the messages that memories came from, by seq
    miss: Miss | None
    out_of_reach: bool  # the memories are: nothing in reach matches
    knew: Sequence[int]  # forgotten memories without links that contained a keyword
    now: Progress
    drops: bool  # links to reported forgotten nodes are removed (M15)


class Reply(NamedTuple):
    """An answer with the nodes that fit in it."""

    answer: RecallAnswer | RecallText
    forgotten: frozenset[int]
    memories: Sequence[Memory]


class Recall(Reader):
    """Recalls memories; an unknown agent has none, without an error."""

    def run(
        self, agent_id: str, request: RecallRequest, *, vectors: Vectors | None = None
    ) -> RecallAnswer | RecallText:
        """Return the matching memories in reach, nearest first. It changes nothing.

        With ``drop_on_visit``, a job later removes the links to the forgotten nodes in the answer
        (M15). ``vectors`` (shape (n, d)) are the keywords' embeddings, if the caller has them.
        """
        wait_until_fresh(self.database, agent_id, request)
        keywords = Keywords.of(request.keywords, self.models, vectors)
        with self.database.agent_snapshot(agent_id) as connection:
            recalled = self._recall(connection, agent_id, request, keywords)
        count = self.models.tokenizers.count(self.defaults.tokenizer)
        if request.format == "structured":
            reply = as_structure(recalled, request.budget_tokens, count)
        else:
            reply = as_text(recalled, request.budget_tokens, count, keywords.language)
        seqs = {seq for memory in reply.memories for seq in memory.seqs}
        nodes = [memory.node_id for memory in reply.memories]
        use = use_of(agent_id, "recall", recalled.now, (seqs, nodes), recalled.ids)
        dropping = reply.forgotten if recalled.drops else ()
        self.activity.note(agent_id, dropping=dropping, use=use)
        return reply.answer

    def _recall(
        self, connection: Connection, agent_id: str, request: RecallRequest, keywords: Keywords
    ) -> Recalled:
        visibility = Visibility(request.session_id, request.user_id, request.as_of)
        matches = None
        if not keywords.everything:
            matches = _matches(connection, agent_id, keywords, visibility)
        walk = Walk(network.focus_points(connection, agent_id))
        search = _Search(connection, agent_id, request, matches, visibility, walk)
        depth = request.depth
        if depth is None:
            depth = self._parameters(connection, agent_id).default_search_depth
        search.walk_to(depth)
        found = search.found()
        forgotten, successors = self._named(connection, agent_id, walk.forgotten.values(), keywords)
        miss, knew = None, list[int]()
        if not found:
            # A forgotten node out of reach may still have links.
            everywhere = network.dangling_links(connection, agent_id, request.relations, visibility)
            if not forgotten:
                forgotten, successors = self._named(connection, agent_id, everywhere, keywords)
            search.walk_on()
            found = search.found()
            miss = rules.why_nothing(
                pending=self._is_pending(connection, agent_id, request, keywords),
                out_of_reach=bool(found),
                forgotten=bool(forgotten),
            )
            if miss is Miss.NEVER_KNOWN and was_known(connection, agent_id, keywords, visibility):
                miss = Miss.FORGOTTEN
                knew = forgotten_with_keyword(connection, agent_id, keywords, visibility)
        forgotten = forgotten[: request.limit]
        last = {each.node_id: successors[each.node_id].last for each in forgotten}
        last_nodes = list(last.values())
        seqs = {seq for _, memory in found for seq in memory.seqs}
        known = ended_parts(connection, agent_id, seqs, request.as_of)
        return Recalled(
            memories=[(reached, _with_notes(memory, known)) for reached, memory in found],
            matches=matches,
            forgotten=forgotten,
            last=last,
            restorable=frozenset(network.restorable(connection, agent_id, last_nodes)),
            forgotten_at=network.forgotten_at(connection, agent_id, last_nodes),
            ids=message_ids(connection, agent_id, seqs),
            miss=miss,
            out_of_reach=miss is not None,
            knew=knew,
            now=progress(connection, agent_id),
            drops=bool(last_nodes) and self._parameters(connection, agent_id).drops_on_visit,
        )

    def _parameters(self, connection: Connection, agent_id: str) -> MemoryParameters:
        return parameters_of(connection, agent_id, self.defaults.memory)

    def _named(
        self,
        connection: Connection,
        agent_id: str,
        forgotten: Iterable[Forgotten],
        keywords: Keywords,
    ) -> tuple[list[Forgotten], Mapping[int, Successor]]:
        """Return those whose relation or hint has a keyword, in order, and their successors.

        Nodes that were restored or merged into a living memory are left out: links to them still
        dangle (M14), but they are not forgotten.
        """
        named = rules.in_order(
            each
            for each in forgotten
            if keywords.are_in(f"{each.relation} {each.hint}", self.models)
        )
        successors = successors_of(connection, agent_id, [each.node_id for each in named])
        return [each for each in named if successors[each.node_id].living is None], successors

    def _is_pending(
        self, connection: Connection, agent_id: str, request: RecallRequest, keywords: Keywords
    ) -> bool:
        """Return True if a message that is not yet a memory has a keyword, in any session."""
        pending = pending_messages(
            connection,
            agent_id,
            user_id=request.user_id,
            as_of=request.as_of,
            most=_PENDING_MESSAGES,
        )
        texts = (message.text[:_PENDING_CHARACTERS] for message in pending)
        return any(keywords.are_in(text, self.models) for text in texts)


@dataclass(frozen=True, slots=True)
class _Search:
    """The breadth-first search of one recall."""

    connection: Connection
    agent_id: str
    request: RecallRequest
    matches: Mapping[int, float] | None  # None: every memory matches
    visibility: Visibility
    walk: Walk

    def walk_to(self, depth: int) -> None:
        """Walk to this layer, or until there are enough: layers come before all else.

        Without matches there is no walk.
        """
        walk, request = self.walk, self.request
        if self.matches is not None and not self.matches:
            return
        while (
            walk.layer < depth
            and walk.frontier
            and len(walk.memories(self.matches)) < request.limit
        ):
            walk.advance(
                network.steps_from(
                    self.connection,
                    self.agent_id,
                    walk.frontier,
                    request.relations,
                    self.visibility,
                )
            )

    def walk_on(self) -> None:
        """Walk to what is out of reach, and add what no way leads to."""
        self.walk_to(_FARTHEST)
        unreached: Iterable[int] | None = self.matches
        if unreached is None:
            unreached = network.latest_memories(
                self.connection, self.agent_id, self.visibility, self.request.limit
            )
        self.walk.add_unreached(unreached)

    def found(self) -> list[tuple[Reached, Memory]]:
        """Return the best matching memories that were reached."""
        reached = self.walk.memories(self.matches)[: self.request.limit]
        nodes = [each.node_id for each in reached]
        memories = network.memories(self.connection, self.agent_id, nodes)
        return _newer_first(
            self.connection, self.agent_id, self.request, self.walk, reached, memories
        )


def _matches(
    connection: Connection, agent_id: str, keywords: Keywords, visibility: Visibility
) -> dict[int, float]:
    """Return the match score of each visible node: 1 for a token, else its best cosine."""
    matches = network.nodes_by_cosine(
        connection,
        agent_id,
        keywords.vectors,
        keywords.languages,
        keywords.model,
        keywords.least_cosines,
    )
    exact = network.nodes_by_terms(connection, agent_id, keywords.terms)
    exact |= network.nodes_by_character(connection, agent_id, keywords.characters)
    matches |= dict.fromkeys(exact, 1.0)
    visible = network.seen(connection, agent_id, matches, visibility)
    return {node: match for node, match in matches.items() if node in visible}


def _newer_first(
    connection: Connection,
    agent_id: str,
    request: RecallRequest,
    walk: Walk,
    reached: list[Reached],
    memories: dict[int, Memory],
) -> list[tuple[Reached, Memory]]:
    """Put the successors of a memory before it, if they are in reach (R6).

    Their own successors come first. A memory superseded after ``as_of`` is still valid.
    """
    memories = _as_of(memories, request.as_of)
    while missing := (_successors(memories) & walk.reached.keys()) - memories.keys():
        newer = network.memories(connection, agent_id, sorted(missing))
        if not newer:
            break
        memories |= _as_of(newer, request.as_of)
    ordered: dict[int, Reached] = {}
    for each in reached:
        for node in reversed(list(_chain(each.node_id, memories))):
            ordered.setdefault(node, walk.reached[node])
    return [(each, memories[each.node_id]) for each in ordered.values()][: request.limit]


def _as_of(memories: Mapping[int, Memory], until: datetime | None) -> dict[int, Memory]:
    return {
        node: replace(each, superseded_by=None, superseded_at=None)
        if until is not None and each.superseded_at is not None and each.superseded_at > until
        else each
        for node, each in memories.items()
    }


def _successors(memories: Mapping[int, Memory]) -> set[int]:
    return {each.superseded_by for each in memories.values() if each.superseded_by is not None}


def _chain(node: int, memories: Mapping[int, Memory]) -> Iterator[int]:
    passed = set[int]()
    current: int | None = node
    while current is not None and current in memories and current not in passed:
        yield current
        passed.add(current)
        current = memories[current].superseded_by


def _with_notes(memory: Memory, known: Sequence[EndedParts]) -> Memory:
    """Note in a memory that is not superseded which parts of it hold no more (R6)."""
    if memory.superseded_at is not None or not known:
        return memory
    return replace(memory, content=with_notes(memory.content, memory.seqs, known))


def as_structure(recalled: Recalled, budget: int | None, count: Count) -> Reply:
    """Return the answer for a program; the contents together are within the budget."""
    contents = [memory.content for _, memory in recalled.memories]
    contents += [f"{each.relation} {each.hint}" for each in recalled.forgotten]
    fit = fitting(contents, budget, count, joint="\n")
    forgotten = _forgotten(recalled, fit)
    memories = [recalled.memories[place] for place in fit if place < len(recalled.memories)]
    answer = RecallAnswer(
        memories=[_recalled_memory(recalled, *each) for each in memories],
        forgotten=[
            ForgottenMemory(
                node_id=(last := recalled.last[each.node_id]),
                relation=each.relation,
                hint=each.hint,
                restorable=last in recalled.restorable,
                forgotten_at=recalled.forgotten_at.get(last),
            )
            for each in forgotten
        ],
        miss=recalled.miss,
        knew=list(recalled.knew),
        seq=recalled.now.seq,
        pending=recalled.now.pending,
        new_agent=recalled.now.new_agent,
    )
    ids = frozenset(each.node_id for each in forgotten)
    return Reply(answer, ids, [memory for _, memory in memories])


def as_text(recalled: Recalled, budget: int | None, count: Count, language: Language) -> Reply:
    """Return the answer for a model, within the budget; a miss is explained in ``language``."""
    entries = [
        rules.memory_entry(
            each.content, each.language, each.superseded_at, out_of_reach=recalled.out_of_reach
        )
        for _, each in recalled.memories
    ]
    entries += [rules.forgotten_entry(each.relation, each.hint) for each in recalled.forgotten]
    # The entries of forgotten nodes and of those out of reach need no explanation.
    explained = {Miss.FORGOTTEN: recalled.forgotten, Miss.OUT_OF_REACH: recalled.memories}
    if recalled.miss is not None and not explained.get(recalled.miss):
        entries.append(rules.miss_entry(recalled.miss, language))
    fit = fitting(entries, budget, count, joint=rules.SEPARATOR)
    answer = RecallText(
        text=rules.SEPARATOR.join(entries[place] for place in fit),
        miss=recalled.miss,
        knew=list(recalled.knew),
        seq=recalled.now.seq,
        pending=recalled.now.pending,
        new_agent=recalled.now.new_agent,
    )
    ids = frozenset(each.node_id for each in _forgotten(recalled, fit))
    memories = [recalled.memories[at][1] for at in fit if at < len(recalled.memories)]
    return Reply(answer, ids, memories)


def _forgotten(recalled: Recalled, fit: Sequence[int]) -> list[Forgotten]:
    """Return the forgotten nodes at the fitting indexes: they come after the memories."""
    places = range(len(recalled.memories), len(recalled.memories) + len(recalled.forgotten))
    return [recalled.forgotten[place - places.start] for place in fit if place in places]


def _recalled_memory(recalled: Recalled, reached: Reached, memory: Memory) -> RecalledMemory:
    node, matches = memory.node_id, recalled.matches
    return RecalledMemory(
        node_id=node,
        content=memory.content,
        phrase=memory.phrase,
        type=memory.type,
        layer=reached.layer,
        out_of_reach=recalled.out_of_reach,
        strength=reached.strength,
        match=1.0 if matches is None else matches.get(node, 0.0),
        importance=memory.importance,
        message_ids=[recalled.ids[seq] for seq in memory.seqs if seq in recalled.ids],
        said_at=memory.said_at,
        superseded_by=memory.superseded_by,
        superseded_at=memory.superseded_at,
    )
