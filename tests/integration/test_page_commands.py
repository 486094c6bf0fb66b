"""Operations on pages in a real database, and the window that comes of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
from pydantic import SecretStr, ValidationError

from memci.commands import configure
from memci.commands.pages.perform import Asked, PageCommands
from memci.config import Settings
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.pages.block import Format
from memci.domain.pages.page import DEEPEST, Lifecycle
from memci.domain.pages.permission import Actor
from memci.domain.pages.rules import PageRules
from memci.domain.pages.state import PageState
from memci.errors import InvalidInputError, NotFoundError, PageStoreError, RefusedError
from memci.reading.activity import ReadActivity
from memci.reading.models import ReadingDefaults, ReadingModels, Tokenizers
from memci.reading.search import Search
from memci.reading.window import Windows
from memci.shapes.read import SearchRequest
from memci.shapes.told import told as models_told
from memci.shapes.tools import BY_NAME
from memci.shapes.window import WindowRequest
from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.tokens import OfflineTokenCounter
from memci.storage.page_store.memory import MemoryPageStore
from memci.storage.page_store.postgres import PostgresPageStore
from tests.support.network import AgentUnderTest

COUNTER = OfflineTokenCounter()


@pytest.fixture
def ada(database):
    return AgentUnderTest(database)


@pytest.fixture
def commands(database):
    return PageCommands(database, PostgresPageStore(database), COUNTER, PageRules())


def asked(verb, /, **values):
    tool = BY_NAME[verb]
    return Asked(tool, tool.request(**values))


def do(commands, verb, actor=Actor.AGENT, /, **values):
    return commands.run("ada", actor, [asked(verb, **values)])[0]


def window(commands, **how):
    return Windows(commands.database, commands.store, COUNTER, commands.rules).show(
        "ada", WindowRequest(**how)
    )


def told(ada, number, session="s1"):
    for each in range(number):
        ada.say(f"Question {each}?", session=session)
        ada.say(f"Answer {each}.", role="assistant", session=session)


def test_what_was_said_is_in_the_window_at_once(ada, commands):
    told(ada, 1)
    shown = window(commands)
    assert "Question 0?" in shown.messages[0].content
    assert "Answer 0." in shown.messages[0].content
    assert shown.tokens == COUNTER.count(shown.messages[0].content) + 7


def test_an_operation_says_what_it_did_in_tokens(ada, commands):
    told(ada, 2)
    done = do(commands, "hide_details", index="usr-1")
    assert done.changed == ["usr-1"]
    assert done.tokens_after < done.tokens_before
    assert done.tokens_after == window(commands).tokens
    assert "Answer 0." not in window(commands).messages[0].content
    assert "Answer 1." in window(commands).messages[0].content


@pytest.mark.parametrize("written", ["[usr-1]", " usr-1 ", "\n[ usr-1 ]"])
def test_an_index_may_stand_in_the_brackets_of_its_heading(ada, commands, written):
    told(ada, 2)
    assert do(commands, "hide_details", index=written).changed == ["usr-1"]
    assert do(commands, "get_page", index=written).page.index == "usr-1"


@pytest.mark.parametrize("written", ["[usr-1", "[[usr-1]]", "USR-1", "[]", "usr 1"])
def test_what_is_no_index_is_taken_for_none(written):
    with pytest.raises(ValidationError, match="as the window shows it"):
        asked("hide_details", index=written)


@pytest.mark.parametrize(
    ("said", "names"),
    [("How is the weather?", ["System", "Conversation"]), ("天气怎么样？", ["系统", "对话"])],
)
def test_roots_have_the_names_of_the_window_in_answers(ada, commands, said, names):
    ada.say(said, session="s1")
    made = do(commands, "create_detail_page", Actor.DEVELOPER, name="A", detail="B", parent="sys-0")
    roots = [do(commands, "get_page", index=each).page.name for each in ("sys-0", "usr-0")]
    assert roots == names
    assert all(f"[{index}] {name}" in "".join(each.content for each in window(commands).messages)
               for index, name in zip(("sys-0", "usr-0"), names, strict=True))  # fmt: skip
    above = do(commands, "get_ancestors", index=made.page.index).pages
    assert [each.name for each in above] == names[:1]
    assert [each.name for each in do(commands, "get_parent", index="usr-1").pages] == names[1:]


def test_what_comes_into_sight_with_its_folders_has_changed_as_they_have(ada, commands):
    told(ada, 3)
    made = do(commands, "create_contents_page", name="A", parent="usr-0", children=["usr-1"])
    folder = made.page.index
    assert do(commands, "expand_details", index="usr-1").changed == [folder, "usr-1"]
    do(commands, "hide_details", index=folder)
    assert do(commands, "expand_details", index="usr-1").changed == [folder, "usr-1"]
    assert do(commands, "expand_details", index="usr-1").changed == []


def test_a_note_is_kept_and_shown_when_it_is_opened(ada, commands):
    told(ada, 1)
    made = do(commands, "create_detail_page", name="Lesson", detail="Ask first.", parent="usr-0")
    assert "Ask first." not in window(commands).messages[0].content
    do(commands, "expand_details", index=made.page.index)
    assert "Ask first." in window(commands).messages[0].content


def test_all_of_several_operations_are_done_or_none(ada, commands):
    told(ada, 2)
    before = window(commands)
    with pytest.raises(NotFoundError):
        commands.run(
            "ada",
            Actor.AGENT,
            [
                asked("create_contents_page", name="Old", parent="usr-0", children=["usr-1"]),
                asked("hide_details", index="usr-99"),
            ],
        )
    assert window(commands) == before


def test_a_note_that_cannot_be_stored_is_not_made(ada, commands):
    class Full(MemoryPageStore):
        def save(self, key, text):
            raise PageStoreError

    told(ada, 1)
    before = window(commands)
    full = PageCommands(commands.database, Full(), COUNTER, PageRules())
    with pytest.raises(PageStoreError):
        do(full, "create_detail_page", name="Lesson", detail="Ask first.", parent="usr-0")
    assert window(commands) == before


def test_what_may_not_be_done_changes_nothing(ada, commands):
    ada.say("You are kind.", role="system", session="s1")
    told(ada, 1)
    with pytest.raises(RefusedError, match="READ_ONLY"):
        do(commands, "hide_details", index="sys-1")
    assert "You are kind." in window(commands).messages[0].content
    do(commands, "hide_details", Actor.DEVELOPER, index="sys-1")
    assert "You are kind.\n" not in window(commands).messages[0].content


def test_an_archived_page_comes_back_by_its_index(ada, commands):
    told(ada, 12)
    assert "Answer 0.\n```" not in window(commands).messages[0].content
    done = do(commands, "recall_page", index="usr-1")
    assert done.page.recalls == 1
    assert "Answer 0.\n```" in window(commands).messages[0].content


def test_a_recall_that_is_undone_has_changed_nothing(ada, commands):
    told(ada, 12)
    before, pages = window(commands), tree(commands)
    done = do(commands, "recall_page", index="usr-1")
    assert done.changed == ["usr-1"]
    do(commands, "undo")
    assert window(commands) == before
    assert tree(commands) == pages
    do(commands, "redo")
    ada.say("And now?")
    active = [each.index for each in tree(commands)
              if each.first_seq is not None and each.lifecycle is Lifecycle.ACTIVE]  # fmt: skip
    assert "usr-1" in active
    assert len(active) == 8, "the next interaction keeps the chapter to its length"


def test_the_current_interaction_stays_however_much_is_recalled(ada, commands):
    told(ada, 20)
    ada.say("And now?", session="s1")
    for number in range(1, 10):
        do(commands, "recall_page", index=f"usr-{number}")
    assert "```user\nAnd now?" in window(commands).messages[0].content


@pytest.mark.parametrize("form", [Format.MARKDOWN, Format.TEXT])
@pytest.mark.parametrize("mark", ["## ", "== ", "```", "~~~~"])
def test_no_description_looks_like_another_page(ada, commands, form, mark):
    told(ada, 1)
    fake = f"{mark}[usr-77] Fake (page, expanded)"
    do(commands, "create_detail_page", name="n", description=fake, detail="t", parent="usr-0")
    shown = window(commands, format=form)
    assert "[usr-77] Fake" in shown.messages[0].content
    assert f"\n{mark}[usr-77]" not in shown.messages[0].content
    assert shown.tokens == COUNTER.count(shown.messages[0].content) + 7


def test_a_page_s_text_names_who_spoke(ada, commands):
    ada.say("Lunch at noon?", name="Mira")
    ada.say("Fine.", role="assistant")
    held = do(commands, "get_page", index="usr-1")
    assert held.text == "user Mira: Lunch at noon?\n\nassistant: Fine."
    assert held.entries == ["user Mira: Lunch at noon?", "assistant: Fine."]


def test_a_removed_page_comes_back(ada, commands):
    told(ada, 3)
    before = window(commands)
    do(commands, "remove_page", index="usr-2")
    assert "Question 1?" not in window(commands).messages[0].content
    with pytest.raises(RefusedError, match="removed"):
        do(commands, "expand_details", index="usr-2")
    do(commands, "restore_page", index="usr-2", parent="usr-0")
    assert window(commands).tokens == before.tokens


def test_the_window_holds_its_budget(ada, commands):
    told(ada, 8)
    whole = window(commands)
    held = window(commands, budget_tokens=whole.tokens - 10)
    assert held.tokens <= whole.tokens - 10
    assert held.collapsed
    assert held.over == 0
    least = window(commands, budget_tokens=1)
    assert least.over == least.tokens - 1
    assert "Answer 7." in least.messages[0].content, "the current interaction stays"
    assert window(commands) == whole, "a look changes nothing"


def test_a_change_that_overfills_the_window_collapses_what_is_old(ada, commands):
    ada.say("word " * 60)
    ada.say("So many words.", role="assistant")
    told(ada, 3)
    small = PageCommands(
        commands.database, commands.store, COUNTER, PageRules(window_max_tokens=400)
    )
    long = "word " * 200
    made = do(small, "create_detail_page", name="Long", detail=long, parent="usr-0")
    done = do(small, "expand_details", index=made.page.index)
    assert "usr-1" in done.collapsed
    assert made.page.index not in done.collapsed, "it was opened just now"
    assert done.tokens_after <= 400


@pytest.mark.parametrize("form", list(Format))
def test_what_is_over_the_limit_is_said_in_answers_and_in_the_window(ada, commands, form):
    told(ada, 1)
    small = replace(commands, rules=PageRules(window_max_tokens=120))
    long = {"name": "Long", "detail": "word " * 200, "parent": "usr-0"}
    made = do(small, "create_detail_page", **long)
    assert made.over == 0
    do(small, "pin_page", index=made.page.index)
    assert "Over the token limit" not in window(small, format=form).messages[0].content
    ada.say("word " * 400)
    done = do(small, "update_page", index=made.page.index, name="Longer")
    assert done.over == done.tokens_after - 120 > 0
    shown = window(small, format=form)
    assert shown.over == shown.tokens - 120
    assert f" Over the token limit of 120 by {shown.over:,}: " in shown.messages[0].content
    if form is Format.MARKDOWN:
        assert (done.tokens_after, done.over) == (shown.tokens, shown.over)
        pinned = do(small, "pin", text="Be brief.")
        assert pinned.over == window(small).over > done.over
        assert do(small, "undo").over == window(small).over
        assert do(small, "auto_collapse", max_tokens=200).over == window(small).tokens - 200
    assert window(commands).over == 0


def test_the_window_s_own_limit_is_said_in_chinese(ada, commands):
    ada.say("请记住" * 200)
    small = replace(commands, rules=PageRules(window_max_tokens=120))
    shown = window(small)
    assert f"超出上限 {shown.over:,} token（上限 120）" in shown.messages[0].content


@pytest.mark.parametrize("verb", ["pin", "hide_details", "auto_collapse", "undo"])
def test_an_operation_begins_with_the_window_that_was_shown(ada, commands, verb):
    """What another session has opened may be too much for this one's window."""
    small = replace(commands, rules=PageRules(window_max_tokens=600))
    notes = opened_elsewhere(ada, small)
    shown = window(small, session_id="s2")
    assert shown.collapsed
    given = {"pin": {"text": "Be brief."}, "hide_details": {"index": notes[0]}}
    given |= {"auto_collapse": {"max_tokens": 600}}
    asked_for = [asked(verb, **given.get(verb, {}))]
    (done,) = small.run("ada", Actor.AGENT, asked_for, session_id="s2")
    assert done.tokens_before == shown.tokens
    assert done.collapsed == []
    after = window(small, session_id="s2")
    assert after.tokens == done.tokens_after
    states = {each.index: each.expanded for each in tree(small, session_id="s2")}
    assert not any(states[each] for each in shown.collapsed)
    assert list(after.collapsed) == [], "and it is kept"


def test_a_rehearsal_begins_with_the_window_that_was_shown(ada, commands):
    small = replace(commands, rules=PageRules(window_max_tokens=600))
    opened_elsewhere(ada, small)
    before = tree(small, session_id="s1")
    shown = window(small, session_id="s2")
    with small.rehearsal("ada", Actor.AGENT, session_id="s2") as bench:
        assert bench.tokens == shown.tokens
    assert tree(small, session_id="s1") == before


def opened_elsewhere(ada, commands):
    """Say much in s2, and open notes in s1 that are then in both windows; return their indexes."""
    told(ada, 3)
    for each in range(3):
        ada.say(f"Long {each}?", session="s2")
        ada.say("word " * 90, role="assistant", session="s2")
    made = []
    for each in range(3):
        note = {"name": f"Note {each}", "detail": "text " * 100, "parent": "usr-0"}
        for verb, given in (("create_detail_page", note), ("expand_details", None)):
            wanted = asked(verb, **(given or {"index": made[-1]}))
            (done,) = commands.run("ada", Actor.AGENT, [wanted], session_id="s1")
            if given:
                made.append(done.page.index)
    return made


@pytest.mark.parametrize("verb", ["expand_details", "recall_page"])
def test_what_does_not_fit_is_not_opened_and_nothing_else_is_closed(ada, commands, verb):
    ada.say("word " * 700)
    ada.say("So many words.", role="assistant")
    told(ada, 6 if verb == "expand_details" else 12)
    small = replace(commands, rules=PageRules(window_max_tokens=900))
    if verb == "expand_details":
        do(commands, "hide_details", index="usr-1")
    do(small, "update_page", index="usr-6", name="Six")
    before, open_pages = window(small), [each.index for each in tree(small) if each.expanded]
    with pytest.raises(RefusedError, match="usr-1 does not fit: it takes 7") as refused:
        do(small, verb, index="usr-1")
    assert "of 900 can be free for it; get_page reads" in str(refused.value)
    assert window(small) == before
    assert [each.index for each in tree(small) if each.expanded] == open_pages
    small = replace(small, rules=replace(small.rules, window_max_tokens=1_500))
    assert do(small, verb, index="usr-1").page.expanded


def test_what_is_pinned_is_not_opened_beyond_the_limit_either(ada, commands):
    told(ada, 2)
    small = replace(commands, rules=PageRules(window_max_tokens=300))
    long = {"name": "Long", "detail": "word " * 400, "parent": "usr-0"}
    made = do(small, "create_detail_page", **long).page.index
    do(small, "pin_page", index=made)
    with pytest.raises(RefusedError, match="does not fit"):
        do(small, "expand_details", index=made)


def test_what_is_being_answered_is_opened_however_long_it_is(ada, commands):
    ada.say("word " * 400)
    small = replace(commands, rules=PageRules(window_max_tokens=300))
    do(small, "hide_details", Actor.DEVELOPER, index="usr-1")
    assert do(small, "expand_details", index="usr-1").over > 100


def test_the_contents_page_is_hidden_before_what_is_spoken_of(ada, commands):
    for number in range(30):
        ada.say(f"Question {number}? " + "word " * 20)
        ada.say(f"Answer {number}. " + "word " * 30, role="assistant")
    pages = {each.index: each for each in tree(commands)}
    contents = next(index for index, each in pages.items() if each.children and index != "usr-0")
    whole = window(commands)
    held = window(commands, budget_tokens=whole.tokens - 900)
    assert contents in held.collapsed
    recent = [f"Answer {number}." for number in (27, 28, 29)]
    assert all(each in held.messages[0].content for each in recent)
    assert held.tokens <= whole.tokens - 900
    assert held.collapsed == [contents], "what was hidden before it is opened again"


def test_what_is_short_is_not_hidden_for_nothing(ada, commands):
    told(ada, 8)
    whole = window(commands)
    small = replace(commands, rules=PageRules(window_max_tokens=int(whole.tokens * 1.1)))
    assert window(small).collapsed == []
    assert do(small, "update_page", index="usr-1", name="Question 0?").collapsed == []


@pytest.mark.parametrize("actor", Actor)
def test_an_agent_collapses_nothing_that_it_may_not_hide(ada, commands, actor):
    told(ada, 2)
    segment = {"id": "law", "name": "Law", "kind": "tool", "permission": "READ_ONLY"}
    do(commands, "create_segment", Actor.DEVELOPER, **segment)
    law = {"name": "Rules", "detail": "Never lie. " * 50, "parent": "law-0"}
    do(commands, "create_detail_page", Actor.DEVELOPER, **law)
    do(commands, "expand_details", Actor.DEVELOPER, index="law-1")
    done = do(commands, "auto_collapse", actor, max_tokens=50)
    assert ("law-1" in done.collapsed) == (actor is Actor.DEVELOPER)
    assert done.over == done.tokens_after - 50 > 0


def test_what_a_developer_pinned_is_unpinned_by_no_agent(ada, commands):
    told(ada, 3)
    do(commands, "pin_page", Actor.DEVELOPER, index="usr-1")
    with pytest.raises(RefusedError, match="pinned by the developer"):
        do(commands, "unpin_page", index="usr-1")
    do(commands, "pin_page", index="usr-1")  # is none of its own
    with pytest.raises(RefusedError, match="pinned by the developer"):
        do(commands, "unpin_page", index="usr-1")
    do(commands, "pin_page", index="usr-2")
    assert do(commands, "unpin_page", index="usr-2").page.pinned is False
    assert do(commands, "unpin_page", Actor.DEVELOPER, index="usr-1").page.pinned is False


def test_what_is_pinned_stays_in_the_window_and_is_marked_there(ada, commands):
    told(ada, 2)
    assert models_told(do(commands, "pin_page", index="usr-1"))["pinned"] is True
    told(ada, 10)
    assert "## [usr-1] Question 0? (page, expanded, pinned)" in window(commands).messages[0].content
    assert do(commands, "get_page", index="usr-2").page.state == "archived"
    assert models_told(do(commands, "get_page", index="usr-1"))["page"]["pinned"] is True
    assert "pinned" not in models_told(do(commands, "unpin_page", index="usr-1"))
    told(ada, 1)
    assert do(commands, "get_page", index="usr-1").page.state == "archived"
    with pytest.raises(RefusedError, match="usr-1 is archived: recall_page"):
        do(commands, "pin_page", index="usr-1")
    with pytest.raises(RefusedError, match="usr-1 would be both pinned and archived"):
        do(commands, "undo")


def test_what_a_developer_pins_is_sent_back_to_the_archive_by_no_undo(ada, commands):
    told(ada, 10)
    do(commands, "recall_page", index="usr-1")
    do(commands, "pin_page", Actor.DEVELOPER, index="usr-1")
    before = window(commands)
    with pytest.raises(RefusedError, match="usr-1 would be both pinned and archived"):
        do(commands, "undo")
    assert window(commands) == before
    do(commands, "unpin_page", Actor.DEVELOPER, index="usr-1")
    do(commands, "undo")
    assert do(commands, "get_page", index="usr-1").page.state == "archived"


def test_what_a_developer_pinned_is_put_out_of_sight_by_no_agent(ada, commands):
    told(ada, 3)
    inner = do(commands, "create_contents_page", name="In", parent="usr-0", children=["usr-1"])
    inner, outer = inner.page.index, folder(commands)
    do(commands, "move_page", source=inner, target=outer)
    do(commands, "expand_details", index="usr-1")
    closed = folder(commands)
    do(commands, "pin_page", Actor.DEVELOPER, index="usr-1")
    refused = [
        (verb, {"index": each})
        for verb in ("hide_details", "remove_page")
        for each in ("usr-1", inner, outer)
    ]
    refused += [("move_page", {"source": each, "target": closed}) for each in ("usr-1", inner)]
    refused += [
        ("hide_details", {"index": "usr-0"}),
        ("create_contents_page", {"name": "x", "parent": "usr-0", "children": [outer]}),
    ]
    before = window(commands)
    for verb, values in refused:
        with pytest.raises(RefusedError, match="pinned by the developer"):
            do(commands, verb, **values)
    assert window(commands) == before
    # What it has pinned itself it hides, and what lies beside it, too.
    do(commands, "pin_page", index="usr-2")
    assert not do(commands, "hide_details", index="usr-2").page.expanded
    assert not do(commands, "hide_details", Actor.DEVELOPER, index=outer).page.expanded
    do(commands, "unpin_page", Actor.DEVELOPER, index="usr-1")
    assert do(commands, "remove_page", index="usr-1").page.state == PageState.REMOVED


@pytest.mark.parametrize("done", ["create_detail_page", "expand_details", "move_page"])
def test_an_agent_s_undo_keeps_in_sight_what_a_developer_has_pinned_since(ada, commands, done):
    told(ada, 2)
    closed = do(commands, "create_contents_page", name="x", parent="usr-0", children=["usr-1"])
    values = {
        "create_detail_page": {"name": "New", "detail": "x", "parent": "usr-0"},
        "expand_details": {"index": "usr-1"},
        "move_page": {"source": "usr-1", "target": "usr-0"},
    }
    changed = do(commands, done, **values[done]).page.index
    do(commands, "pin_page", Actor.DEVELOPER, index=changed)
    before = window(commands)
    with pytest.raises(RefusedError, match=f"{changed}, which was pinned by the developer"):
        do(commands, "undo")
    assert window(commands) == before
    do(commands, "unpin_page", Actor.DEVELOPER, index=changed)
    assert changed in do(commands, "undo").changed
    assert not do(commands, "get_page", index=closed.page.index).page.expanded


def test_sessions_have_windows_of_their_own(ada, commands):
    told(ada, 1, session="s1")
    ada.say("Something else", session="s2")
    assert "Question 0?" not in window(commands).messages[0].content
    assert "Question 0?" in window(commands, session_id="s1").messages[0].content


def test_a_session_is_told_of_its_own_interactions_alone_settled_or_not(ada, commands):
    told(ada, 2, "a")
    told(ada, 1, "b")
    for _ in range(2):
        root = do(commands, "get_page", index="usr-0").page
        children = do(commands, "get_children", index="usr-0").pages
        assert ([each.index for each in children], root.children) == (["usr-3"], 1)
        commands.settle("ada")


def test_operations_at_the_same_time_lose_nothing(ada, commands):
    told(ada, 1)

    def make(number):
        return do(commands, "create_detail_page", name=f"Note {number}", detail="…",
                  parent="usr-0").page.index  # fmt: skip

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, range(12)))
    assert len(set(made)) == 12
    content = window(commands).messages[0].content
    assert all(f"[{index}]" in content for index in made)


def test_nobody_has_no_window(commands):
    with pytest.raises(NotFoundError):
        window(commands)
    with pytest.raises(NotFoundError):
        do(commands, "hide_details", index="usr-1")


def test_what_an_agent_did_is_undone_and_redone(ada, commands):
    told(ada, 3)
    first = window(commands)
    do(commands, "create_contents_page", name="Old", parent="usr-0", children=["usr-1", "usr-2"])
    second = window(commands)
    do(commands, "update_page", index="usr-3", name="The third")
    undone = do(commands, "undo")
    assert undone.operations == ["update_page"]
    assert window(commands) == second
    assert do(commands, "undo").tokens_after == first.tokens
    assert window(commands) == first
    with pytest.raises(RefusedError, match="nothing to undo"):
        do(commands, "undo")
    assert do(commands, "redo").operations == ["create_contents_page"]
    assert window(commands) == second
    do(commands, "redo")
    with pytest.raises(RefusedError, match="nothing to redo"):
        do(commands, "redo")


def test_what_is_done_after_an_undo_takes_the_place_of_what_was_undone(ada, commands):
    told(ada, 2)
    do(commands, "hide_details", index="usr-1")
    do(commands, "undo")
    do(commands, "update_page", index="usr-1", name="Another name")
    with pytest.raises(RefusedError, match="nothing to redo"):
        do(commands, "redo")
    do(commands, "undo")
    assert "Another name" not in window(commands).messages[0].content


def test_what_has_changed_since_is_not_undone(ada, commands):
    told(ada, 2)
    do(commands, "update_page", index="usr-1", name="Mine")
    do(commands, "update_page", Actor.DEVELOPER, index="usr-1", name="Ours")
    with pytest.raises(RefusedError, match="changed since"):
        do(commands, "undo")
    assert "Ours" in window(commands).messages[0].content


def test_what_the_system_hides_before_a_step_is_over_stands_in_the_way_of_no_undo(ada, commands):
    told(ada, 1)
    small = replace(commands, rules=PageRules(window_max_tokens=500))
    notes = [
        do(small, "create_detail_page", name=f"Note {each}", detail="plum " * 300, parent="usr-0")
        for each in range(2)
    ]
    first, second = (each.page.index for each in notes)
    before = window(small).messages
    opening = [asked("expand_details", index=each) for each in (first, second)]
    done = small.run("ada", Actor.AGENT, opening)
    assert first in done[1].collapsed
    undone = do(small, "undo")
    assert undone.operations == ["expand_details", "expand_details"]
    assert window(small).messages == before
    assert do(small, "redo").changed == undone.changed
    assert do(small, "get_page", index=second).page.state == PageState.EXPANDED
    for _ in range(2):
        do(small, "undo")
    assert notes[1].page.index not in window(small).messages[0].content


def search(ada, query):
    tokenizers = Tokenizers(OfflineTokenCounter)
    models = ReadingModels(ada.models.embedder, ada.models.lexicon, tokenizers, OfflineSummarizer())
    settings = Settings(
        database_url=SecretStr("postgresql://x/x"), broker_url=SecretStr("redis://x")
    )
    activity = ReadActivity(ada.database)
    with closing(activity):
        found = Search(ada.database, models, ReadingDefaults.of(settings), activity)
        return found.run("ada", SearchRequest(query=query))


@pytest.mark.parametrize("session", ["s1", None])
def test_what_search_finds_says_which_page_it_is_on_though_that_was_removed(ada, commands, session):
    ada.say("A zebra crossed the road.", session=session)
    ada.say("How odd.", role="assistant", session=session)
    ada.say("Another zebra came along.", session="s2")
    assert {each.page for each in search(ada, "zebra").hits} == {None}, "they are on none yet"
    do(commands, "remove_page", Actor.DEVELOPER, index="usr-1")
    pages = {each.text: each.page for each in search(ada, "zebra").hits}
    assert pages == {"A zebra crossed the road.": "usr-1", "Another zebra came along.": "usr-2"}


def test_folders_hold_so_many_levels_and_no_more(ada, commands):
    told(ada, 1)
    parent = "usr-0"
    with pytest.raises(RefusedError, match="too deep"):
        for _ in range(DEEPEST + 1):
            made = do(commands, "create_contents_page", name="Deeper", parent=parent)
            parent = made.page.index
    assert parent == f"usr-{DEEPEST}"
    window(commands)
    with pytest.raises(RefusedError, match="too deep"):
        do(commands, "move_page", source="usr-2", target=parent)
    lowest, above = f"usr-{DEEPEST}", f"usr-{DEEPEST - 1}"
    with pytest.raises(RefusedError, match="too deep"):
        do(commands, "create_contents_page", name="Between", parent=above, children=[lowest])


def deeper(commands, parent, levels):
    """Make folders, one in the other, as a developer; return the lowest."""
    for _ in range(levels):
        made = do(commands, "create_contents_page", Actor.DEVELOPER, name="Deeper", parent=parent)
        parent = made.page.index
    return parent


def folder(commands, parent="usr-0"):
    return do(commands, "create_contents_page", name="Folder", parent=parent).page.index


@pytest.mark.parametrize("levels", [DEEPEST - 3, DEEPEST - 2])
@pytest.mark.parametrize("turn", ["undo", "redo"])
def test_what_is_undone_or_done_again_lies_no_deeper_than_folders_go(ada, commands, levels, turn):
    told(ada, 1)
    home = folder(commands)
    page = folder(commands, home if turn == "undo" else "usr-0")
    do(commands, "move_page", source=page, target="usr-0" if turn == "undo" else home)
    if turn == "redo":
        do(commands, "undo")
    lowest = deeper(commands, "usr-0", levels)
    do(commands, "move_page", Actor.DEVELOPER, source=home, target=lowest)
    before = tree(commands)
    if levels == DEEPEST - 3:
        do(commands, turn)
        assert {each.index: each.parent for each in tree(commands)}[page] == home
    else:
        with pytest.raises(RefusedError, match=f"{page} cannot go back into {home}.*too deep"):
            do(commands, turn)
        assert tree(commands) == before


def test_what_was_removed_counts_with_all_that_is_in_it_when_that_is_undone(ada, commands):
    told(ada, 1)
    home = folder(commands)
    page = folder(commands, home)
    folder(commands, page)
    do(commands, "remove_page", index=page)
    lowest = deeper(commands, "usr-0", DEEPEST - 3)
    do(commands, "move_page", Actor.DEVELOPER, source=home, target=lowest)
    with pytest.raises(RefusedError, match="too deep"):
        do(commands, "undo")
    do(commands, "move_page", Actor.DEVELOPER, source=home, target="usr-0")
    do(commands, "undo")


def test_what_lies_in_a_removed_folder_is_not_undone_with_a_reason(ada, commands):
    told(ada, 1)
    home = folder(commands)
    page = folder(commands, home)
    do(commands, "move_page", source=page, target="usr-0")
    do(commands, "remove_page", Actor.DEVELOPER, index=home)
    with pytest.raises(RefusedError, match="that was moved or removed"):
        do(commands, "undo")


def test_other_rules_leave_the_indexes_that_were_seen(ada, commands):
    told(ada, 4)
    seen = window(commands).messages[0].content
    commands.settle("ada")
    other = replace(commands, rules=PageRules(active_pages=2))
    told(ada, 1)
    assert [index for index in ("[usr-3]", "[usr-4]") if index in seen] == ["[usr-3]", "[usr-4]"]
    now = {each.index: each.name for each in tree(other)}
    assert [now[f"usr-{number}"] for number in range(1, 6)] == [
        "Question 0?", "Question 1?", "Question 2?", "Question 3?", "Question 0?",
    ]  # fmt: skip
    commands.settle("nobody")


class Overtaken(PageCommands):
    """After whose first look somebody speaks."""

    def settle(self, agent_id):
        super().settle(agent_id)
        told(AgentUnderTest(self.database, known=True), 3)


def test_rules_that_change_while_somebody_speaks_leave_the_indexes_that_were_seen(ada, commands):
    told(ada, 4)
    slow = Overtaken(commands.database, commands.store, COUNTER, commands.rules)
    defaults = configure.Defaults(MemoryParameters(), PageRules())
    configure.run(slow, "ada", {"active_pages": 2}, defaults)
    told(ada, 1)
    names = {each.index: each.name for each in tree(commands)}
    assert [names[f"usr-{number}"] for number in range(5, 9)] == [
        "Question 0?", "Question 1?", "Question 2?", "Question 0?",
    ]  # fmt: skip


def tree(commands, **whose):
    windows = Windows(commands.database, commands.store, COUNTER, commands.rules)
    return windows.tree("ada", **whose).pages


@pytest.mark.parametrize("form", list(Format))
def test_of_what_is_archived_only_lines_are_seen(ada, commands, form):
    told(ada, 12)
    shown = window(commands, format=form).messages
    said = "\n".join(each.content for each in shown)
    assert said.count("- assistant: Answer 0.") == 1
    assert said.count("Answer 0.") == 1
    assert said.count("Answer 11.") == 1


def test_an_agent_keeps_in_sight_what_it_is_answering(ada, commands):
    told(ada, 1)
    ada.say("And now?")
    do(commands, "create_contents_page", name="Old", parent="usr-0")
    do(commands, "expand_details", index="usr-3")
    do(commands, "move_page", source="usr-2", target="usr-3")
    before = window(commands)
    refused = [
        ("hide_details", {"index": "usr-2"}),
        ("hide_details", {"index": "usr-3"}),
        ("remove_page", {"index": "usr-2"}),
        ("remove_page", {"index": "usr-3"}),
        ("create_contents_page", {"name": "x", "parent": "usr-0", "children": ["usr-2"]}),
        ("create_contents_page", {"name": "x", "parent": "usr-0", "children": ["usr-3"]}),
    ]
    for verb, values in refused:
        with pytest.raises(RefusedError, match="until the user's next message"):
            do(commands, verb, **values)
    hidden = do(commands, "create_contents_page", name="Hidden", parent="usr-0").page.index
    with pytest.raises(RefusedError, match="until the user's next message"):
        do(commands, "move_page", source="usr-2", target=hidden)
    do(commands, "undo")
    assert window(commands) == before
    do(commands, "hide_details", index="usr-0")
    do(commands, "expand_details", index="usr-0")
    ada.say("So far so good.", role="assistant")
    ada.say("Thanks!")
    assert not do(commands, "hide_details", index="usr-3").page.expanded, "another goes on"


def test_an_agent_s_undo_keeps_in_sight_what_it_is_answering(ada, commands):
    told(ada, 1)
    do(commands, "hide_details", Actor.DEVELOPER, index="usr-1")
    do(commands, "expand_details", index="usr-1")
    with pytest.raises(RefusedError, match="would hide the interaction"):
        do(commands, "undo")
    do(commands, "hide_details", Actor.DEVELOPER, index="usr-1")
    assert "Question 0?\n```" not in window(commands).messages[0].content, "a developer may"


def test_a_conversation_that_was_closed_is_opened_by_what_the_user_says(ada, commands):
    told(ada, 2)
    do(commands, "hide_details", index="usr-0")
    assert "(folder, hidden, 2 inside" in window(commands).messages[0].content
    ada.say("Something else", session="s2")
    assert "(folder, hidden" not in window(commands).messages[0].content
    ada.say("And now?")
    assert "And now?" in window(commands).messages[0].content


def test_what_a_session_recalls_of_another_is_in_its_own_window(ada, commands):
    told(ada, 10, session="a")
    told(ada, 1, session="b")
    done = commands.run("ada", Actor.AGENT, [asked("recall_page", index="usr-1")], session_id="b")[
        0
    ]
    assert done.tokens_after > done.tokens_before
    assert (
        "## [usr-1] Question 0? (page, expanded)"
        in window(commands, session_id="b").messages[0].content
    )
    assert "[usr-1]" not in window(commands, session_id="a").messages[0].content
    do(commands, "undo")
    shown = window(commands, session_id="b").messages[0].content
    assert "### [usr-1]" in shown, "it is a line again"


def test_a_model_reads_a_long_page_in_parts_and_a_developer_whole(ada, commands):
    text = "".join(f"Line {number} of many.\n" for number in range(5_000))
    made = do(commands, "create_detail_page", name="Long", detail=text, parent="usr-0")
    told(ada, 1)
    for number in range(60):
        ada.say(f"Answer {number}, again.", role="assistant", session="s1")
    read, offset = "", 0
    while offset is not None:
        part = do(commands, "get_page", index=made.page.index, offset=offset)
        assert COUNTER.count(part.text) <= 4_000
        read, offset = read + part.text, part.next_offset
    assert read == text
    whole = do(commands, "get_page", Actor.DEVELOPER, index=made.page.index, offset=5)
    assert (whole.text, whole.next_offset) == (text[5:], None)
    said = do(commands, "get_page", index="usr-2")
    assert (len(said.entries), said.next_offset) == (50, None)
    assert len(do(commands, "get_page", Actor.DEVELOPER, index="usr-2").entries) == 62
    with pytest.raises(InvalidInputError, match="the text ends before that"):
        do(commands, "get_page", index=made.page.index, offset=10**6)


@pytest.mark.parametrize("where", ["postgres", "elsewhere"])
def test_what_notes_say_is_found(ada, commands, where):
    store = commands.store if where == "postgres" else MemoryPageStore()
    commands = PageCommands(commands.database, store, COUNTER, PageRules())

    def note(name, detail):
        made = do(commands, "create_detail_page", name=name, detail=detail, parent="usr-0")
        return made.page.index

    def found(query):
        return [each.index for each in do(commands, "find_pages", query=query).pages]

    told(ada, 1)
    valves, other = note("Plant", "The Valves leak."), note("A valve", "Nothing.")
    chinese = note("笔记", "明天上午开会讨论预算。")
    removed = note("Old", "the valves of last year")
    do(commands, "remove_page", index=removed)
    assert found("valve") == [other, removed, valves] if where == "postgres" else [other, valves]
    assert found("开会") == [chinese]
    do(commands, "create_contents_page", name="Box", parent="usr-0", children=[valves])
    assert found("they leak") == [valves]
    assert found("submarine") == []


def test_a_note_that_was_just_written_is_found_by_the_same_call(ada, commands):
    told(ada, 1)
    write = asked("create_detail_page", name="Plant", detail="Valves leak.", parent="usr-0")
    _, listed = commands.run("ada", Actor.AGENT, [write, asked("find_pages", query="valves")])
    assert [each.name for each in listed.pages] == ["Plant"]


def test_texts_that_lie_elsewhere_are_not_all_read(ada, commands):
    class Watched(MemoryPageStore):
        read = 0

        def load(self, key):
            self.read += 1
            return super().load(key)

    store = Watched()
    far = PageCommands(commands.database, store, COUNTER, PageRules())
    told(ada, 1)
    for number in range(60):
        written = {"name": f"Note {number}", "detail": "Valves leak.", "parent": "usr-0"}
        do(far, "create_detail_page", **written)
    store.read = 0
    assert len(do(far, "find_pages", query="valves", limit=100).pages) == 50
    assert store.read == 50


def test_a_large_folder_is_listed_in_parts(ada, commands):
    told(ada, 1)
    notes = [
        do(commands, "create_detail_page", name=f"N{n}", detail="x", parent="usr-0").page.index
        for n in range(7)
    ]
    box = do(commands, "create_contents_page", name="B", parent="usr-0", children=notes)
    for actor in Actor:
        found, offset = [], 0
        while offset is not None:
            part = do(commands, "get_children", actor, index=box.page.index, limit=3, offset=offset)
            assert 0 < len(part.pages) <= 3
            found += [each.index for each in part.pages]
            offset = part.next_offset
        assert found == notes
    whole = do(commands, "get_children", index=box.page.index, limit=7)
    assert (len(whole.pages), whole.next_offset) == (7, None)
    behind = do(commands, "get_children", index=box.page.index, offset=7)
    assert (behind.pages, behind.next_offset) == ([], None)


def test_a_window_tells_of_what_was_collapsed_in_its_own_session_alone(ada, commands):
    note = do_in(commands, "s1", "create_detail_page", name="N", detail="x " * 99, parent="usr-0")
    do_in(commands, "s1", "expand_details", index=note.page.index)
    for session in ("s1", "s2"):
        for each in range(3):
            ada.say(f"Question {each}? " * 9, session=session)
            ada.say(f"Answer {each}. " * 9, role="assistant", session=session)
    hidden = do_in(commands, "s1", "auto_collapse", max_tokens=1).collapsed
    assert len(hidden) == 3
    assert list(window(commands, session_id="s1").collapsed) == hidden
    other = window(commands, session_id="s2")
    assert other.collapsed == [note.page.index]
    assert f"1 ({note.page.index})" in other.messages[0].content


def do_in(commands, session, verb, /, **values):
    return commands.run("ada", Actor.AGENT, [asked(verb, **values)], session_id=session)[0]
