"""Laws of interactions' pages, the archive and the collapse (P6 to P10, P13), for any history."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import dropwhile, pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memci.domain.context.budget import Utterance
from memci.domain.context.interaction import units_of
from memci.domain.language import Language
from memci.domain.memory.note import note_metadata
from memci.domain.message import Message, Role
from memci.domain.pages.block import Format, Held, Writer
from memci.domain.pages.chapters import keep, settle
from memci.domain.pages.collapse import auto_collapse, collapse_to
from memci.domain.pages.labels import labels_of
from memci.domain.pages.making import create_contents_page
from memci.domain.pages.moving import move_page, recall_page, remove_page, restore_page
from memci.domain.pages.opening import expand_details, pin_page
from memci.domain.pages.page import Lifecycle, Page, session_key
from memci.domain.pages.permission import Actor
from memci.domain.pages.render import Rendering
from memci.domain.pages.rules import PageRules
from memci.domain.pages.state import PageState, state_of
from memci.domain.pages.tree import Tree
from memci.domain.pages.viewer import Viewer
from memci.errors import RefusedError
from memci.smallmodel.offline.tokens import OfflineTokenCounter

many = settings(max_examples=500, deadline=None)
count = OfflineTokenCounter().count
RULES = st.builds(
    PageRules,
    active_pages=st.integers(1, 4),
    archive_unused=st.integers(1, 6),
    archive_unrecalled=st.integers(1, 8),
    contents_max_tokens=st.sampled_from([0, 60, 200, 2_000]),
)
SAID = st.lists(
    st.tuples(
        st.sampled_from(Role),
        st.sampled_from(["s1", "s2", None]),
        st.text("a #\n`页", max_size=60),
        st.integers(0, 12),  # a recall before it, if one of so many is in the archive
    ),
    max_size=40,
)
# Before which message which page is pinned, or unpinned if it was.
PINS = st.dictionaries(st.integers(1, 40), st.integers(0, 30), max_size=8)
USERS = {"s1": "alice", "s2": "bob", None: None}

LONG_TALK = [Role.USER, Role.ASSISTANT] * 5
NO_ROOM_BELOW = [Role.SYSTEM, *([*[Role.USER] * 3, Role.ASSISTANT] * 2), Role.USER]
# Hidden at once, two pages take one more in the line that tells of them than fits.
A_LINE_TOO_MANY = [
    *[(Role.SYSTEM, "s1", text, 0) for text in [*[""] * 7, "`#`", "``````", "#`#`#`#`"]],
    *[(Role.USER, "s1", text, 0) for text in [*[""] * 4, "```````"]],
    *[
        (role, "s1", "", 0)
        for role in (Role.ASSISTANT, *[Role.USER] * 3, Role.ASSISTANT, *[Role.USER] * 3)
    ],
]


def written(said, users=None):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Message(seq, f"m{seq}", role, text or "…", now, None, session, (users or {}).get(session))
        for seq, (role, session, text, _) in enumerate(said, 1)
    ]


def rendering_of(tree, messages, session_id=None, form=Format.MARKDOWN):
    def reads(page: Page) -> Held:
        return Held(list(shown(page, messages)))

    return Rendering(tree, Writer(form, labels_of(Language.ENGLISH)), count, reads, session_id)


def shown(page, messages):
    """What a page is a view of: its span, without other sessions and other kinds."""
    span = page.span
    for each in messages if span else ():
        if (
            span.first_seq <= each.seq <= span.last_seq
            and each.session_id == span.session_id
            and (each.role is Role.SYSTEM) == (span.number == 0)
        ):
            yield each


def spoken_on(page, messages):
    """What a chat API takes of it: no result of a tool without its call."""
    units, _ = units_of(list(shown(page, messages)))
    return [Utterance.of(message) for unit in units for message in unit]


def told(said, rules, users=None, pins=None):
    """Tell it message by message, with recalls and pins between."""
    tree, messages = Tree.planted(), written(said, users)
    for message, (_, session, _, recall) in zip(messages, said, strict=True):
        rendering = rendering_of(tree, messages)
        archived = tree.children(tree.clock.archive) if tree.clock.archive else []
        if recall < len(archived):
            whose = archived[recall].span.session_id
            tree.viewer = Viewer(whose)
            recall_page(tree, Actor.AGENT, index=archived[recall].index)
            keep(tree, whose, rules, rendering.own_tokens)
            assert not tree.is_archived(tree.latest(whose)), "what goes on stays in sight"
        pin(tree, (pins or {}).get(message.seq))
        rendering = rendering_of(tree, messages)
        settle(tree, [message], rules, rendering.own_tokens, rendering.count)
        assert len(unpinned(tree, session)) <= rules.active_pages
    return tree, messages


def pin(tree, which):
    """Pin the page that is the one of this place, or unpin it; nothing where that is refused."""
    if which is not None:
        page = tree[sorted(tree.pages)[which % len(tree.pages)]]
        with suppress(RefusedError):
            pin_page(tree, Actor.DEVELOPER, index=page.index, pinned=not page.pinned)


def unpinned(tree, session):
    return [each for each in tree.chapter(session) if not each.pinned]


@many
@given(SAID, RULES)
def test_every_message_is_on_one_page_and_all_can_be_reached(said, rules):
    tree, messages = told(said, rules)
    reached = Counter(each.seq for page in tree.pages.values() for each in shown(page, messages))
    assert reached == Counter(each.seq for each in messages)


@many
@given(SAID, RULES, st.sets(st.integers(1, 40)))
def test_what_an_agent_notes_changes_no_page_but_how_far_it_reaches(said, rules, noted):
    def noting(message):
        note = message.role is Role.ASSISTANT and message.seq in noted
        return replace(message, metadata=note_metadata()) if note else message

    def settled(messages):
        tree = Tree.planted()
        rendering = rendering_of(tree, messages)
        settle(tree, messages, rules, rendering.own_tokens, rendering.count)
        return tree

    messages = [noting(each) for each in written(said)]
    talk = settled([each for each in messages if not each.is_note])
    whole = settled(messages)

    def apart_from_its_end(page):
        return replace(page, span=page.span and replace(page.span, last_seq=page.span.first_seq))

    assert list(map(apart_from_its_end, whole.pages.values())) == list(
        map(apart_from_its_end, talk.pages.values())
    )
    for page in whole.pages.values():
        assert page.span is None or page.span.last_seq >= talk[page.index].span.last_seq


@many
@given(SAID, RULES)
def test_a_page_is_what_the_user_said_and_what_answered_it(said, rules):
    tree, messages = told(said, rules)
    for page in tree.pages.values():
        roles = [each.role for each in shown(page, messages)]
        answers = list(dropwhile(lambda role: role is Role.USER, roles))
        assert Role.USER not in answers
        if page.span and page.span.number:
            assert len(page.entries) == len(roles)


@many
@given(SAID, RULES)
def test_told_at_once_is_told_one_by_one(said, rules):
    said = [(role, session, text, 99) for role, session, text, _ in said]
    one_by_one, messages = told(said, rules)
    at_once = Tree.planted()
    settle(at_once, messages, rules, rendering_of(at_once, messages).own_tokens, count)
    assert at_once.pages == one_by_one.pages
    assert at_once.clock == one_by_one.clock


@many
@given(SAID, RULES, PINS)
def test_told_at_once_is_told_one_by_one_whatever_is_pinned_between(said, rules, pins):
    said = [(role, session, text, 99) for role, session, text, _ in said]
    one_by_one, messages = told(said, rules, pins=pins)
    at_once = Tree.planted()
    breaks = sorted({*(each for each in {1, *pins} if each <= len(said)), len(said) + 1})
    for first, behind in pairwise(breaks):
        pin(at_once, pins.get(first))
        rendering = rendering_of(at_once, messages)
        settle(at_once, messages[first - 1 : behind - 1], rules, rendering.own_tokens, count)
    assert at_once.pages == one_by_one.pages
    assert at_once.clock == one_by_one.clock


@many
@given(SAID, SAID, RULES)
def test_so_it_is_where_what_goes_on_lies_in_the_chapter_of_another_session(before, after, rules):
    """There it is archived although it goes on, and its line grows."""
    before, after = ([(*each[:3], 99) for each in said] for said in (before, after))
    messages = written([*before, *after])
    trees = []
    for _ in range(2):
        tree, _ = told(before, rules)
        for session, other in (("s1", "s2"), ("s2", "s1")):
            if latest := tree.latest(session):
                tree.put(replace(latest, chapter=session_key(other)))
        trees.append(tree)
    one_by_one, at_once = trees
    for message in messages[len(before) :]:
        lines = rendering_of(one_by_one, messages).own_tokens
        settle(one_by_one, [message], rules, lines, count)
    settle(
        at_once, messages[len(before) :], rules, rendering_of(at_once, messages).own_tokens, count
    )
    assert at_once.pages == one_by_one.pages
    assert at_once.clock == one_by_one.clock


@many
@given(SAID, RULES, PINS)
def test_what_is_pinned_stays_and_takes_no_place_of_others(said, rules, pins):
    tree, messages = Tree.planted(), written(said)
    for message in messages:
        pin(tree, pins.get(message.seq))
        before = dict(tree.pages)
        rendering = rendering_of(tree, messages)
        settle(tree, [message], rules, rendering.own_tokens, rendering.count)
        for page in (each for each in before.values() if each.pinned):
            now = tree[page.index]
            assert (now.parent, now.place, now.cold) == (page.parent, page.place, page.cold)
            assert not tree.is_archived(now)
        if any(tree.is_archived(tree[each]) and before[each].parent == "usr-0" for each in before):
            assert len(unpinned(tree, message.session_id)) == rules.active_pages


@many
@given(SAID, RULES, st.sampled_from([USERS, None]))
def test_lines_leave_the_contents_page_when_their_time_is_over(said, rules, users):
    tree, messages = told(said, rules, users)
    now, rendering = tree.clock.interactions, rendering_of(tree, messages)
    lines = tree.children(tree.clock.archive) if tree.clock.archive else []
    for page in lines:
        assert tree.lifecycle(page.index) is Lifecycle.HOT_ARCHIVED
        assert state_of(tree, page.index) is PageState.ARCHIVED
        if page.recalls.count:
            assert now - page.recalls.last_at < rules.archive_unrecalled
        else:
            assert now - page.recalls.archived_at < rules.archive_unused
    for user in {page.user_id for page in lines}:
        seen = [page for page in lines if Viewer(None, user, is_new=user is None).sees(page)]
        shown = [tree[tree.clock.archive], *seen]
        assert sum(map(rendering.own_tokens, shown)) <= rules.contents_max_tokens


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]), st.sampled_from(Format), PINS)
def test_tokens_are_what_a_recount_says(said, rules, session, form, pins):
    tree, messages = told(said, rules, pins=pins)
    rendering = rendering_of(tree, messages, session, form)
    window = rendering.window()
    whole = sum(each.tokens(count) for each in window.messages) + (3 if window.messages else 0)
    assert window.tokens == whole == rendering.tokens()
    assert sum(window.by_segment.values()) + (3 if window.messages else 0) == whole


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]), st.data())
def test_native_tokens_are_what_a_recount_says_after_each_change(said, rules, session, data):
    tree, messages = told(said, rules)
    kept_up = rendering_of(tree, messages, session, Format.NATIVE)
    for _ in range(3):
        assert kept_up.tokens() == rendering_of(tree, messages, session, Format.NATIVE).tokens()
        tree.changed.clear()
        page = tree[data.draw(st.sampled_from(sorted(tree.pages)))]
        pinned_by = data.draw(st.sampled_from(["agent", None]))
        tree.put(replace(page, expanded=not page.expanded, pinned_by=pinned_by))
        kept_up.refresh(tree.changed)
        window = kept_up.window()
        whole = sum(each.tokens(count) for each in window.messages) + (3 if window.messages else 0)
        assert kept_up.tokens() == window.tokens == whole


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]))
def test_a_native_window_says_what_is_open_and_nothing_of_the_archive(said, rules, session):
    tree, messages = told(said, rules)
    window = rendering_of(tree, messages, session, Format.NATIVE).window()
    spoken = [each for each in window.messages if not (each.content or "").startswith("#")]
    open_pages = [
        page
        for page in tree.pages.values()
        if page.expanded
        and page.span is not None
        and page.span.number
        and page.shown_in == session_key(session)
        and tree.lifecycle(page.index) is Lifecycle.ACTIVE
    ]
    said_there = [each for page in open_pages for each in spoken_on(page, messages)]
    assert Counter(spoken) == Counter(
        each for each in said_there if not (each.content or "").startswith("#")
    )


@many
@given(SAID, RULES, st.sampled_from(["s1", "s2", None]), st.data())
def test_a_native_window_ends_with_the_current_interaction(said, rules, session, data):
    """Whatever was put behind it: a model answers what it reads last."""
    tree, messages = told(said, rules)
    current = tree.latest(session)
    if current is None or tree.lifecycle(current.index) is not Lifecycle.ACTIVE:
        return
    tree.viewer = Viewer(session)
    behind = tree.add_page(replace(current, index="", span=None, place=0))
    moved = data.draw(st.sampled_from([current.index, behind.index]))
    folder = create_contents_page(tree, Actor.AGENT, name="x", description="", parent="usr-0")
    expand_details(tree, Actor.AGENT, index=folder.index)
    move_page(tree, Actor.AGENT, source=moved, target=folder.index)
    window = rendering_of(tree, messages, session, Format.NATIVE).window()
    spoken = spoken_on(current, messages)
    assert list(window.messages[len(window.messages) - len(spoken) :]) == spoken
    assert f"[{current.index}]" in window.messages[-len(spoken) - 1].content


@settings(max_examples=5_000, deadline=None)
@given(SAID, RULES, st.integers(20, 1_500), st.data())
def test_a_collapse_keeps_to_the_budget_or_says_that_it_cannot(said, rules, budget, data):
    tree, messages = told(said, rules)
    some = sorted(tree.pages)
    for index in data.draw(st.sets(st.sampled_from(some), max_size=3)):
        if not tree[index].cold:
            tree.put(replace(tree[index], pinned_by="agent"))
    pinned = {page.index for page in tree.pages.values() if page.pinned and page.expanded}
    rendering = rendering_of(tree, messages, "s1")
    done = collapse_to(rendering, budget)
    window = rendering.window()
    assert window == rendering_of(tree, messages, "s1").window()
    assert window.tokens == done.after
    assert done.after <= budget or done.over == done.after - budget
    assert all(tree[each].expanded for each in pinned)
    latest = tree.latest("s1")
    assert latest is None or latest.expanded
    assert all(page.expanded for page in tree.children("sys-0"))
    again = collapse_to(rendering, budget)
    assert again.hidden == ()
    assert rendering.window() == window


@many
@given(SAID, st.integers(100, 800))
@example([(role, "s1", "", 0) for role in NO_ROOM_BELOW], 133)
@example([(role, "s1", "word " * 300, 99) for role in LONG_TALK], 3_300)
@example(A_LINE_TOO_MANY, 354)
def test_the_window_is_looked_after_only_when_it_is_nearly_full(said, limit):
    tree, messages = told(said, PageRules())
    rules = PageRules(window_max_tokens=limit)
    rendering = rendering_of(tree, messages, "s1")
    before = rendering.tokens()
    done = auto_collapse(rendering, rules)
    assert (done is None) == (before <= 0.875 * limit)
    if done is not None:
        assert done.over == max(0, rendering.tokens() - limit)
        low = int(0.75 * limit)
        assert done.hidden == () or rendering.tokens() < before
        further = collapse_to(rendering, low) if rendering.tokens() > low else done
        if further is not done and tokens_telling_of(rendering, done, further) <= low:
            for index in further.hidden:
                assert not saves_its_line(rendering, tree[index]), "it should have been hidden"


def tokens_telling_of(rendering, *done):
    """Tokens of the window that tells of what was hidden, where all of it is hidden at once."""
    tree, clock = rendering.tree, rendering.tree.clock
    tree.clock = replace(clock, notice=tuple(index for each in done for index in each.hidden))
    tokens = rendering.tokens()
    tree.clock = clock
    return tokens


def saves_its_line(rendering, hidden):
    closed, line = rendering.tokens(), rendering.own_tokens(hidden)
    rendering.put(replace(hidden, expanded=True))
    opened = rendering.tokens()
    rendering.put(hidden)
    return opened - closed >= line


@many
@given(SAID, RULES, st.integers(20, 1_500))
def test_a_collapse_hides_no_more_than_it_must(said, rules, budget):
    tree, messages = told(said, rules)
    rendering = rendering_of(tree, messages, "s1")
    done = collapse_to(rendering, budget)
    if done.over:
        return
    for index in done.hidden[:-1]:
        if tree.lifecycle(index) is not Lifecycle.ACTIVE:
            continue
        hidden = tree[index]
        rendering.put(replace(hidden, expanded=True))
        tree.clock = replace(
            tree.clock, notice=tuple(each for each in done.hidden if each != index)
        )
        assert rendering.tokens() > budget
        rendering.put(hidden)
        tree.clock = replace(tree.clock, notice=done.hidden)


@many
@given(SAID, RULES)
def test_out_and_back_again_holds_the_same_messages(said, rules):
    """P10: nothing else moves, and nothing is copied."""
    tree, messages = told(said, rules)
    for page in [each for each in tree.children("usr-0") if each.span]:
        before = [list(shown(each, messages)) for each in tree.children("usr-0")]
        remove_page(tree, Actor.DEVELOPER, index=page.index)
        restore_page(tree, Actor.AGENT, index=page.index, parent="usr-0")
        after = {each.index: list(shown(each, messages)) for each in tree.children("usr-0")}
        assert after[page.index] == list(shown(page, messages))
        assert sorted(map(str, after.values())) == sorted(map(str, before))
