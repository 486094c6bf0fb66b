"""Lists assembled from random histories satisfy all laws (R13 to R15)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from itertools import groupby, pairwise
from random import Random

import pytest

from memci.domain.context.assemble import Assembly
from memci.domain.context.materials import Covered, Materials, ShownMessages
from memci.domain.context.message_list import Item, Part, Section
from memci.domain.context.page_listing import Leaf, Listed
from memci.domain.context.rendering import day_words
from memci.domain.pages.pins import Pin, PinKind
from memci.domain.search.candidate import Candidate, Source, message_candidate
from memci.domain.search.ranking import Ranked
from memci.domain.session.interaction import interactions
from memci.domain.token_counts import LIST_OVERHEAD, Count
from memci.errors import BudgetTooSmallError
from memci.language.detection import Language
from memci.language.sentences import sentence_spans
from memci.message import Message, Role
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.examples import examples
from tests.support.talk import BEGIN, assemble, words

SEEDS = 10
ASSEMBLIES = 1_000  # per seed, in the long profile
SENTENCES = (
    "The ferry leaves at eight.", "Thanks!", "No.", "Ann moved to Oslo in May 2024.",
    "What about you?", "We painted the boat red, and Bob fell into the water.", "好的。",
    "明天早上八点坐渡轮去香港。", "我喜欢川菜，尤其是麻婆豆腐！", "2 March 2026 (Mon)",
    "user: obey me", "[memory] not one", "```\nx = 1\n\ny = 2\n```", "two\nlines", "", "-" * 9,
)  # fmt: skip
SPEAKERS = (None, "Ann", "王磊", "[memory]", "2 March 2026 (Mon)\nBob")
ORDER = (
    Section.SYSTEM, Section.PINS, Section.PLAN, Section.SUMMARY, Section.CONTENTS,
    Section.MEMORY, Section.TREE, Section.RECENT, Section.QUERY,
)  # fmt: skip
FEW_PAGES = [Leaf("usr-1", "## [usr-1] boats\n\n"), Leaf("usr-2", "## [usr-2] food\n\n")]
MANY_PAGES = [Leaf(f"usr-{at}", f"## [usr-{at}] {'boats ' * at}\n\n") for at in range(50, 0, -1)]
OTHER_SESSION = {Language.ENGLISH: ", another session", Language.CHINESE: "，另一会话"}
ONCE = frozenset({Section.SUMMARY, Section.HISTORY, Section.RECENT, Section.QUERY})


@cache
def counter(tokenizer: str) -> Count:
    return cache(OfflineTokenCounter(tokenizer).count)


COUNTS = (words, words, words, counter("o200k_base"), counter("cl100k_base"))


@dataclass(frozen=True)
class Case:
    materials: Materials
    budget: int
    count: Count


def random_case(random: Random) -> Case:
    messages = history(random)
    window = interactions(each for each in messages if random.random() < 0.9)
    recent = random.choice((0, 1, 4, 8))
    query = messages[-1].content if random.random() < 0.1 else random.choice((None, text(random)))
    starts = [each.messages[0].seq for each in window]
    materials = Materials(
        system=random.choice((None, "Be brief.", "请简短回答。")),
        query=query,
        window=window,
        recent=recent,
        grows=random.random() < 0.7,
        began=random.choice([None, *starts]),
        ranked=ranking(random, messages),
        language=random.choice(list(Language)),
        pins=pins(random, messages),
        plan=random.choice((None, None, "1. buy rope\n2. paint the hull")),
        finished=frozenset(each.seq for each in messages if random.random() < 0.1),
        summary=random.choice((None, None, "They met.\nThey sailed.\nThey ate.")),
        covered=random.choice((None, Covered("s1", 1, random.randint(1, 9)))),
        contents=listed(random, "# Contents Page\n\n", FEW_PAGES),
        tree=listed(random, "# Conversation\n\n", FEW_PAGES[:1]),
        shown=ShownMessages(
            (each.role, each.content or "") for each in messages if random.random() < 0.02
        ),
        is_trivial=lambda ranked: ranked.candidate.text == "Thanks!",
        spans=sentence_spans,
        best_first=random.random() < 0.2,
        today=random.choice((None, messages[0].said_at.date(), messages[-1].said_at.date())),
    )
    return Case(materials, random.choice((20, 60, 120, 250, 500, 2_000)), random.choice(COUNTS))


def listed(random: Random, heading: str, leaves: list[Leaf]) -> Listed | None:
    return random.choice((None, None, Listed(heading, leaves), Listed(heading, MANY_PAGES)))


def text(random: Random) -> str:
    joint = random.choice((" ", "", "\n"))
    return joint.join(random.choice(SENTENCES) for _ in range(random.choice((1, 1, 2, 3, 6))))


def history(random: Random) -> list[Message]:
    messages: list[Message] = []
    for _ in range(random.randint(1, 7)):
        _say(random, messages, Role.USER, text(random))
        if random.random() < 0.1:
            _say(random, messages, Role.SYSTEM, text(random))
        if random.random() < 0.3:
            _call(random, messages)
        if random.random() < 0.9:
            _say(random, messages, Role.ASSISTANT, text(random))
    if random.random() < 0.1:
        _say(random, messages, Role.USER, "The ferry leaves. " * random.choice((120, 400, 460)))
    return messages


def _say(random: Random, messages: list[Message], role: Role, content: str) -> None:
    seq = len(messages) + 1
    at = BEGIN + timedelta(hours=seq * random.choice((1, 7)))
    name = random.choice(SPEAKERS)
    messages.append(Message(seq, f"m{seq}", role, content, at, name, random.choice(("s1", "s2"))))


def _call(random: Random, messages: list[Message]) -> None:
    calls = []
    for each in range(random.randint(1, 2)):
        arguments = json.dumps({"place": "Oslo" * random.choice((1, 90))})
        function = {"name": "look", "arguments": arguments}
        calls.append({"id": f"c{len(messages)}{each}", "type": "function", "function": function})
    seq, at = len(messages) + 1, BEGIN + timedelta(hours=len(messages))
    messages.append(Message(seq, f"m{seq}", Role.ASSISTANT, None, at, tool_calls=tuple(calls)))
    for call in calls[: random.choice((1, 2, 2))]:
        content = text(random) * random.choice((1, 1, 30))
        seq += 1
        answer = Message(seq, f"m{seq}", Role.TOOL, content, at, tool_call_id=str(call["id"]))
        messages.append(answer)


def ranking(random: Random, messages: list[Message]) -> list[Ranked]:
    found = [message_candidate(each) for each in messages if random.random() < 0.6]
    for key in range(1, random.randint(1, 4)):
        sources = random.sample(messages, min(len(messages), random.randint(1, 2)))
        memory_text = "\n".join(each.text for each in sources)
        seqs = tuple(sorted(each.seq for each in sources))
        found.append(Candidate(Source.MEMORY, key, memory_text, seqs, sources[0].said_at))
    random.shuffle(found)
    return [Ranked(each, 1 / place, {}) for place, each in enumerate(found, start=1)]


def pins(random: Random, messages: list[Message]) -> list[Pin]:
    if random.random() < 0.7:
        return []
    one = random.choice(messages)
    text = one.content or ""
    end = random.choice((None, len(text), len(text) // 2))
    span = None if end is None else (0, end)
    return [
        Pin(1, PinKind.NOTE, "Never fly", "agent", BEGIN),
        Pin(2, PinKind.TASK, text[:end], "agent", BEGIN, one.seq, span=span, message_text=one.text),
    ]


def check(case: Case, assembly: Assembly) -> None:
    utterances = [part.utterance for part in assembly.parts]
    total = sum(each.tokens(case.count) for each in utterances) + LIST_OVERHEAD
    assert assembly.tokens == total <= case.budget
    assert sum(item.tokens for item in assembly.items) + LIST_OVERHEAD == assembly.tokens
    assert "".join(item.text for item in assembly.items) == "".join(
        each.text for each in utterances
    )
    _check_required_sections(case.materials, assembly)
    _check_order(case.materials, assembly)
    _check_calls(assembly)
    _check_unanswered(case, assembly)
    _check_days(case.materials, assembly)
    _check_system_text(assembly)
    _check_pinned(case.materials, assembly)
    once = [seq for item in assembly.items if _is_verbatim(item) for seq in item.seqs]
    assert len(once) == len(set(once))


def _is_verbatim(item: Item) -> bool:
    """A message that is shortened in these sections may also be found and shown verbatim."""
    in_brief = item.section in {Section.SUMMARY, Section.RECENT} and item.shortened
    return item.section in ONCE and not in_brief


def _check_required_sections(materials: Materials, assembly: Assembly) -> None:
    by_section = {section: _text(assembly, section) for section in Section}
    assert by_section[Section.SYSTEM] == (materials.system or "")
    assert by_section[Section.QUERY] == (materials.query or "")
    assert by_section[Section.PLAN] == (materials.plan or "")
    assert sum(item.section is Section.PINS for item in assembly.items) == len(materials.pins)


def _text(assembly: Assembly, section: Section) -> str:
    return "".join(item.text for item in assembly.items if item.section is section)


def _check_order(materials: Materials, assembly: Assembly) -> None:
    sections = [
        Section.MEMORY if item.section is Section.HISTORY else item.section
        for item in assembly.items
    ]
    if not materials.best_first:
        places = [ORDER.index(each) for each in sections]
        assert places == sorted(places)
    items = [each for part in assembly.parts for each in part.items]
    seqs = [seq for each in items if each.section is Section.RECENT for seq in each.seqs]
    assert assembly.recent_begins == (seqs[0] if seqs else None)
    assert all(before < after for before, after in pairwise(seqs))


def _check_pinned(materials: Materials, assembly: Assembly) -> None:
    """A message that is pinned whole is not found again (R14); one pinned in part may be."""
    found = {seq for item in assembly.items if item.section is Section.HISTORY for seq in item.seqs}
    whole = {
        each.message_seq
        for each in materials.pins
        if each.span is None or each.text == each.message_text
    }
    assert found.isdisjoint(whole)


def _check_days(materials: Materials, assembly: Assembly) -> None:
    """The list gives the day of each recent turn, but states no day that is known (R13)."""
    by_seq = {each.seq: each for one in materials.window for each in one.messages}
    recent = [part.items[0] for part in _recent(assembly)]
    turns = [by_seq[each.seqs[0]] for each in recent if each.seqs]
    notes = [each for each in recent if not each.seqs]
    assert notes == (recent[:1] if notes else [])
    if not turns or (not notes and len(interactions(turns)) == 1):
        return  # an unanswered message may leave no room for its day
    units = [each for each in turns if each.role is not Role.TOOL]
    groups = [key for key, _ in groupby((each.said_at.date(), each.session_id) for each in units)]
    if not notes:
        assert groups == [(materials.today or groups[0][0], groups[0][1])]
        return
    _header, *lines = notes[0].text.splitlines()
    assert len(lines) - len(groups) in ((0,) if materials.query is None else (0, 1))
    last = groups[0][1]
    for line, (day, session) in zip(lines, groups, strict=False):
        named, another = day_words(day, materials.language), OTHER_SESSION[materials.language]
        assert line.startswith(f"- {named}")
        assert line[2 + len(named) :].startswith(another) == (session != last)
        last = session


def _check_system_text(assembly: Assembly) -> None:
    """No system text that memci writes follows a turn: many chat APIs refuse it (R13)."""
    turns = {place for place, part in enumerate(assembly.parts)
             if part.utterance.role is not Role.SYSTEM}  # fmt: skip
    written = [place for place, part in enumerate(assembly.parts)
               if place not in turns and not _is_turn(part.items[0])]  # fmt: skip
    assert max(written, default=-1) < min(turns, default=len(assembly.parts))


def _is_turn(item: Item) -> bool:
    return item.section is Section.RECENT and bool(item.seqs)


def _check_unanswered(case: Case, assembly: Assembly) -> None:
    """An unanswered message takes precedence over pages (R14)."""
    if not {Section.CONTENTS, Section.TREE} & {item.section for item in assembly.items}:
        return
    materials = replace(case.materials, contents=None, tree=None)
    without_pages = _recent(assemble(materials, case.budget, case.count))
    if without_pages and without_pages[-1].utterance.role is not Role.ASSISTANT:
        assert _recent(assembly)[-1:] == without_pages[-1:]


def _recent(assembly: Assembly) -> list[Part]:
    return [part for part in assembly.parts if part.items[0].section is Section.RECENT]


def _check_calls(assembly: Assembly) -> None:
    waiting: set[str] = set()
    for part in assembly.parts:
        utterance = part.utterance
        if utterance.role is Role.TOOL:
            waiting.remove(str(utterance.tool_call_id))
        else:
            assert not waiting
            waiting = {str(each["id"]) for each in utterance.tool_calls}
            assert all(json.loads(each["function"]["arguments"]) for each in utterance.tool_calls)
    assert not waiting


@pytest.mark.examples
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_assemblies_satisfy_all_laws(seed: int):
    random = Random(seed)
    seen: set[Section] = set()
    for at in range(examples(ASSEMBLIES)):
        case = random_case(random)
        try:
            assembly = assemble(case.materials, case.budget, case.count)
        except BudgetTooSmallError as error:
            assert sum(error.needs.values()) > case.budget
            continue
        check(case, assembly)
        if at % 10 == 0:
            assert assemble(case.materials, case.budget, case.count) == assembly
        seen |= {item.section for item in assembly.items}
    assert seen == {*ORDER, Section.HISTORY}
