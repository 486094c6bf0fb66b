"""``memci.read.recall``: a breadth-first search from the focus (M20, M23)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from memci.domain.memory import recall as rules
from memci.domain.memory.changed_facts import EndedParts, with_notes
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.recall import Forgotten, Miss, Reached, Walk
from memci.domain.token_counts import fitting
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
from memci.storage.network.links import focus_nodes
from memci.storage.network.node_history import successors_of
from memci.storage.reading import recall as network
from memci.storage.reading.messages import message_ids, pending_messages
from memci.storage.reading.nodes import ended_parts, newest_memories
from memci.storage.reading.recall import Memory
from memci.storage.reading.snapshot_state import Progress, progress
from memci.storage.search.find import Restriction
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
            terms=tuple(filter(None, (frozenset(models.lexicon.terms(each)) for each in words))),
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
    connection: Connection, agent_id: str, keywords: Keywords, restriction: Restriction
) -> bool:
    """Return True if visible messages of former memories contain a keyword that no memory has."""
    terms, characters = keywords.terms, keywords.characters
    if not (terms or characters or keywords.everything):
        return False
    return network.was_known(connection, agent_id, terms, characters, restriction)


def forgotten_with_keyword(
    connection: Connection, agent_id: str, keywords: Keywords, restriction: Restriction
) -> list[int]:
    """Return restorable forgotten memories that contained a keyword, the latest first."""
    nodes = network.nodes_with_keyword(
        connection, agent_id, keywords.terms, keywords.characters, restriction
    )
    successors = successors_of(connection, agent_id, nodes)
    last = (successors[each].last for each in nodes if successors[each].living is None)
    forgotten = list(dict.fromkeys(last))
    restorable = network.restorable(connection, agent_id, forgotten)
    return [each for each in forgotten if each in restorable][:_MOST_THAT_KNEW]


@dataclass(frozen=True, slots=True)
class Recalled:
    """The results of a recall, in order. With a miss, the memories are out of reach."""

    memories: Sequence[tuple[Reached, Memory]]
    # The match score of each memory: 1 for a token, else the best cosine. None: all match.
    matches: Mapping[int, float] | None
    forgotten: Sequence[tuple[int, ForgottenMemory]]  # by the node to which links lead
    ids: Mapping[int, str]  # of the messages that memories came from, by seq
    miss: Miss | None
    knew: Sequence[int]  # forgotten memories without links that contained a keyword
    now: Progress
    drops: bool  # links to reported forgotten nodes are removed (M15)

    def contents(self) -> list[str]:
        """Return the texts of the answer for a program."""
        contents = [memory.content for _, memory in self.memories]
        return contents + [f"{each.relation} {each.hint}" for _, each in self.forgotten]

    def entries(self, language: Language) -> list[str]:
        """Return the entries of the answer for a model; ``language``: of the reason for a miss."""
        out_of_reach = self.miss is not None
        entries = [
            rules.memory_entry(
                each.content, each.language, each.superseded_at, out_of_reach=out_of_reach
            )
            for _, each in self.memories
        ]
        entries += [rules.forgotten_entry(each.relation, each.hint) for _, each in self.forgotten]
        # The entries of forgotten nodes and of those out of reach need no explanation.
        explained = {Miss.FORGOTTEN: self.forgotten, Miss.OUT_OF_REACH: self.memories}
        if self.miss is not None and not explained.get(self.miss):
            entries.append(rules.miss_entry(self.miss, language))
        return entries


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
            recalled = _Search(self, connection, agent_id, request, keywords).recalled()
        structured = request.format == "structured"
        texts = recalled.contents() if structured else recalled.entries(keywords.language)
        joint = "\n" if structured else rules.SEPARATOR
        count = self.models.tokenizers.count(self.defaults.tokenizer)
        fit = fitting(texts, request.budget_tokens, count, joint=joint)
        # The forgotten nodes come after the memories, and the reason for a miss after them.
        number = len(recalled.memories)
        ends = number + len(recalled.forgotten)
        memories = [recalled.memories[at] for at in fit if at < number]
        forgotten = [recalled.forgotten[at - number] for at in fit if number <= at < ends]
        seqs = {seq for _, memory in memories for seq in memory.seqs}
        nodes = [memory.node_id for _, memory in memories]
        use = use_of(agent_id, "recall", recalled.now, (seqs, nodes), recalled.ids)
        dropping = {node for node, _ in forgotten} if recalled.drops else ()
        self.activity.note(agent_id, dropping=dropping, use=use)
        outcome = {
            "miss": recalled.miss,
            "knew": list(recalled.knew),
            "seq": recalled.now.seq,
            "pending": recalled.now.pending,
            "new_agent": recalled.now.new_agent,
        }
        if not structured:
            return RecallText(text=joint.join(texts[place] for place in fit), **outcome)
        return RecallAnswer(
            memories=[_recalled_memory(recalled, *each) for each in memories],
            forgotten=[each for _, each in forgotten],
            **outcome,
        )


class _Search:
    """The breadth-first search of one recall, on its snapshot."""

    def __init__(
        self,
        reader: Reader,
        connection: Connection,
        agent_id: str,
        request: RecallRequest,
        keywords: Keywords,
    ) -> None:
        self._reader = reader
        self._of_agent = connection, agent_id  # what all statements begin with
        self._request = request
        self._keywords = keywords
        self._sight = Restriction(
            session_id=request.session_id, user_id=request.user_id, as_of=request.as_of
        )
        self._matches = None if keywords.everything else self._find_matches()
        self._walk = Walk(focus_nodes(*self._of_agent))

    def recalled(self) -> Recalled:
        request, sight = self._request, self._sight
        depth = request.depth
        self._walk_to(self._parameters.default_search_depth if depth is None else depth)
        found = self._found()
        named = self._named(self._walk.forgotten.values())
        miss, knew = None, list[int]()
        if not found:
            # A forgotten node out of reach may still have links.
            everywhere = network.dangling_links(*self._of_agent, request.relations, sight)
            named = named or self._named(everywhere)
            self._walk_on()
            found = self._found()
            miss = rules.why_nothing(
                pending=self._is_pending(), out_of_reach=bool(found), forgotten=bool(named)
            )
            if miss is Miss.NEVER_KNOWN and was_known(*self._of_agent, self._keywords, sight):
                miss = Miss.FORGOTTEN
                knew = forgotten_with_keyword(*self._of_agent, self._keywords, sight)
                named = self._living_no_more(each for each in everywhere if each.node_id in knew)
        seqs = {seq for _, memory in found for seq in memory.seqs}
        known = ended_parts(*self._of_agent, seqs, request.as_of)
        forgotten = self._forgotten_memories(named[: request.limit])
        return Recalled(
            memories=[(reached, _with_notes(memory, known)) for reached, memory in found],
            matches=self._matches,
            forgotten=forgotten,
            ids=message_ids(*self._of_agent, seqs),
            miss=miss,
            knew=knew,
            now=progress(*self._of_agent),
            drops=bool(forgotten) and self._parameters.drops_on_visit,
        )

    @property
    def _parameters(self) -> MemoryParameters:
        return parameters_of(*self._of_agent, self._reader.defaults.memory)

    def _find_matches(self) -> dict[int, float]:
        """Return the match score of each visible node: 1 for a token, else its best cosine."""
        keywords = self._keywords
        matches = network.nodes_by_cosine(
            *self._of_agent,
            keywords.vectors,
            keywords.languages,
            keywords.model,
            keywords.least_cosines,
        )
        exact = network.nodes_by_words(*self._of_agent, keywords.terms, keywords.characters)
        matches |= dict.fromkeys(exact, 1.0)
        visible = network.seen(*self._of_agent, matches, self._sight)
        return {node: match for node, match in matches.items() if node in visible}

    def _named(self, forgotten: Iterable[Forgotten]) -> list[tuple[Forgotten, int]]:
        """Return those whose relation or hint has a keyword, with their last successors."""
        models = self._reader.models
        return self._living_no_more(
            each
            for each in forgotten
            if self._keywords.are_in(f"{each.relation} {each.hint}", models)
        )

    def _living_no_more(self, forgotten: Iterable[Forgotten]) -> list[tuple[Forgotten, int]]:
        """Return nodes in order with their last successors.

        Nodes that were restored or merged into a living memory are left out: links to them still
        dangle (M14), but they are not forgotten.
        """
        named = rules.in_order(forgotten)
        successors = successors_of(*self._of_agent, [each.node_id for each in named])
        pairs = ((each, successors[each.node_id]) for each in named)
        return [(each, heir.last) for each, heir in pairs if heir.living is None]

    def _forgotten_memories(
        self, named: Sequence[tuple[Forgotten, int]]
    ) -> list[tuple[int, ForgottenMemory]]:
        nodes = [last for _, last in named]
        restorable = network.restorable(*self._of_agent, nodes)
        forgotten_at = network.forgotten_at(*self._of_agent, nodes)
        return [
            (
                each.node_id,
                ForgottenMemory(
                    node_id=last,
                    relation=each.relation,
                    hint=each.hint,
                    restorable=last in restorable,
                    forgotten_at=forgotten_at.get(last),
                ),
            )
            for each, last in named
        ]

    def _is_pending(self) -> bool:
        """Return True if a message that is not yet a memory has a keyword, in any session."""
        pending = pending_messages(
            *self._of_agent,
            user_id=self._request.user_id,
            as_of=self._request.as_of,
            most=_PENDING_MESSAGES,
        )
        texts = (message.text[:_PENDING_CHARACTERS] for message in pending)
        return any(self._keywords.are_in(text, self._reader.models) for text in texts)

    def _walk_to(self, depth: int) -> None:
        """Walk to this layer, or until there are enough: layers come before all else.

        Without matches there is no walk.
        """
        walk, request = self._walk, self._request
        if self._matches is not None and not self._matches:
            return
        while (
            walk.layer < depth
            and walk.frontier
            and len(walk.memories(self._matches)) < request.limit
        ):
            walk.advance(
                network.steps_from(*self._of_agent, walk.frontier, request.relations, self._sight)
            )

    def _walk_on(self) -> None:
        """Walk to what is out of reach, and add what no way leads to."""
        self._walk_to(_FARTHEST)
        unreached: Iterable[int] | None = self._matches
        if unreached is None:
            limit = self._request.limit
            unreached = newest_memories(*self._of_agent, self._sight, limit=limit)
        self._walk.add_unreached(unreached)

    def _found(self) -> list[tuple[Reached, Memory]]:
        """Return the best matching memories that were reached.

        The successors of a memory come before it, if they are in reach (R6), and their own
        successors before them. A memory superseded after ``as_of`` is still valid.
        """
        known, limit = self._walk.reached, self._request.limit
        reached = self._walk.memories(self._matches)[:limit]
        memories = self._memories([each.node_id for each in reached])
        while missing := (_successors(memories) & known.keys()) - memories.keys():
            newer = self._memories(sorted(missing))
            if not newer:
                break
            memories |= newer
        ordered: dict[int, Reached] = {}
        for each in reached:
            for node in reversed(list(_chain(each.node_id, memories))):
                ordered.setdefault(node, known[node])
        return [(each, memories[each.node_id]) for each in ordered.values()][:limit]

    def _memories(self, nodes: Sequence[int]) -> dict[int, Memory]:
        """Read memories; what supersedes them after ``as_of`` does not count."""
        until = self._request.as_of
        return {
            node: replace(each, superseded_by=None, superseded_at=None)
            if until is not None and each.superseded_at is not None and each.superseded_at > until
            else each
            for node, each in network.memories(*self._of_agent, nodes).items()
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


def _recalled_memory(recalled: Recalled, reached: Reached, memory: Memory) -> RecalledMemory:
    node, matches = memory.node_id, recalled.matches
    return RecalledMemory(
        **asdict(memory),
        layer=reached.layer,
        strength=reached.strength,
        out_of_reach=recalled.miss is not None,
        match=1.0 if matches is None else matches.get(node, 0.0),
        message_ids=[recalled.ids[seq] for seq in memory.seqs if seq in recalled.ids],
    )
