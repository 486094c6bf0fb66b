"""The token limit of the window, and the pages that are hidden to keep it (P13)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memci.commands.pages.perform import PageCommands
from memci.domain.pages.parameters import PageRules
from memci.domain.pages.permission import Actor
from memci.domain.pages.window_text import Format
from memci.errors import RefusedError
from tests.support.page_asking import (
    COUNTER,
    add_interactions,
    run_tool,
    run_tool_in_session,
    tool_request,
    tree,
    window,
)


def test_the_window_keeps_its_budget(ada, commands):
    add_interactions(ada, 8)
    whole = window(commands)
    limited = window(commands, budget_tokens=whole.tokens - 10)
    assert limited.tokens <= whole.tokens - 10
    assert limited.collapsed
    assert limited.over == 0
    least = window(commands, budget_tokens=1)
    assert least.over == least.tokens - 1
    assert "Answer 7." in least.messages[0].content, "the current interaction stays"
    assert window(commands) == whole, "a look changes nothing"


def test_a_change_above_the_limit_collapses_old_pages(ada, commands):
    ada.say("word " * 60)
    ada.say("So many words.", role="assistant")
    add_interactions(ada, 3)
    small = PageCommands(
        commands.database, commands.store, COUNTER, PageRules(window_max_tokens=400)
    )
    long = "word " * 200
    made = run_tool(small, "create_detail_page", name="Long", detail=long, parent="usr-0")
    done = run_tool(small, "expand_details", index=made.page.index)
    assert "usr-1" in done.collapsed
    assert made.page.index not in done.collapsed, "it was opened just now"
    assert done.tokens_after <= 400


@pytest.mark.parametrize("form", list(Format))
def test_tokens_above_the_limit_are_in_answers_and_in_the_window(ada, commands, form):
    add_interactions(ada, 1)
    small = replace(commands, rules=PageRules(window_max_tokens=120))
    long = {"name": "Long", "detail": "word " * 200, "parent": "usr-0"}
    made = run_tool(small, "create_detail_page", **long)
    assert made.over == 0
    run_tool(small, "pin_page", index=made.page.index)
    assert "Over the token limit" not in window(small, format=form).messages[0].content
    ada.say("word " * 400)
    done = run_tool(small, "update_page", index=made.page.index, name="Longer")
    assert done.over == done.tokens_after - 120 > 0
    shown = window(small, format=form)
    assert shown.over == shown.tokens - 120
    assert f" Over the token limit of 120 by {shown.over:,}: " in shown.messages[0].content
    if form is Format.MARKDOWN:
        assert (done.tokens_after, done.over) == (shown.tokens, shown.over)
        pinned = run_tool(small, "pin", text="Be brief.")
        assert pinned.over == window(small).over > done.over
        assert run_tool(small, "undo").over == window(small).over
        assert run_tool(small, "auto_collapse", max_tokens=200).over == window(small).tokens - 200
    assert window(commands).over == 0


def test_the_note_about_the_limit_is_in_chinese(ada, commands):
    ada.say("请记住" * 200)
    small = replace(commands, rules=PageRules(window_max_tokens=120))
    shown = window(small)
    assert f"超出上限 {shown.over:,} token（上限 120）" in shown.messages[0].content


@pytest.mark.parametrize("verb", ["pin", "hide_details", "auto_collapse", "undo"])
def test_an_operation_begins_with_the_window_that_was_shown(ada, commands, verb):
    """Pages that another session expanded can exceed the limit of this window."""
    small = replace(commands, rules=PageRules(window_max_tokens=600))
    notes = expand_notes_elsewhere(ada, small)
    shown = window(small, session_id="s2")
    assert shown.collapsed
    given = {"pin": {"text": "Be brief."}, "hide_details": {"index": notes[0]}}
    given |= {"auto_collapse": {"max_tokens": 600}}
    requests = [tool_request(verb, **given.get(verb, {}))]
    (done,) = small.run("ada", Actor.AGENT, requests, session_id="s2")
    assert done.tokens_before == shown.tokens
    assert done.collapsed == []
    after = window(small, session_id="s2")
    assert after.tokens == done.tokens_after
    states = {each.index: each.expanded for each in tree(small, session_id="s2")}
    assert not any(states[each] for each in shown.collapsed)
    assert list(after.collapsed) == [], "and it is kept"


def test_a_dry_run_begins_with_the_shown_window(ada, commands):
    small = replace(commands, rules=PageRules(window_max_tokens=600))
    expand_notes_elsewhere(ada, small)
    before = tree(small, session_id="s1")
    shown = window(small, session_id="s2")
    with small.dry_run("ada", Actor.AGENT, session_id="s2") as context:
        assert context.rendering.tokens() == shown.tokens
    assert tree(small, session_id="s1") == before


def expand_notes_elsewhere(ada, commands):
    """Store long messages in s2, expand notes in s1 for both windows; return their indexes."""
    add_interactions(ada, 3)
    for each in range(3):
        ada.say(f"Long {each}?", session="s2")
        ada.say("word " * 90, role="assistant", session="s2")
    made = []
    for each in range(3):
        note = {"name": f"Note {each}", "detail": "text " * 100, "parent": "usr-0"}
        for verb, given in (("create_detail_page", note), ("expand_details", None)):
            request = tool_request(verb, **(given or {"index": made[-1]}))
            (done,) = commands.run("ada", Actor.AGENT, [request], session_id="s1")
            if given:
                made.append(done.page.index)
    return made


@pytest.mark.parametrize("verb", ["expand_details", "recall_page"])
def test_a_page_that_does_not_fit_is_not_expanded_and_none_is_hidden(ada, commands, verb):
    ada.say("word " * 700)
    ada.say("So many words.", role="assistant")
    add_interactions(ada, 6 if verb == "expand_details" else 12)
    small = replace(commands, rules=PageRules(window_max_tokens=900))
    if verb == "expand_details":
        run_tool(commands, "hide_details", index="usr-1")
    run_tool(small, "update_page", index="usr-6", name="Six")
    before, open_pages = window(small), [each.index for each in tree(small) if each.expanded]
    with pytest.raises(RefusedError, match="usr-1 does not fit: it takes 7") as refused:
        run_tool(small, verb, index="usr-1")
    assert "of 900 can be free for it; get_page reads" in str(refused.value)
    assert window(small) == before
    assert [each.index for each in tree(small) if each.expanded] == open_pages
    small = replace(small, rules=replace(small.rules, window_max_tokens=1_500))
    assert run_tool(small, verb, index="usr-1").page.expanded


def test_a_pinned_page_that_does_not_fit_is_not_expanded(ada, commands):
    add_interactions(ada, 2)
    small = replace(commands, rules=PageRules(window_max_tokens=300))
    long = {"name": "Long", "detail": "word " * 400, "parent": "usr-0"}
    made = run_tool(small, "create_detail_page", **long).page.index
    run_tool(small, "pin_page", index=made)
    with pytest.raises(RefusedError, match="does not fit"):
        run_tool(small, "expand_details", index=made)


def test_the_current_interaction_is_expanded_above_the_limit(ada, commands):
    ada.say("word " * 400)
    small = replace(commands, rules=PageRules(window_max_tokens=300))
    run_tool(small, "hide_details", Actor.DEVELOPER, index="usr-1")
    assert run_tool(small, "expand_details", index="usr-1").over > 100


def test_the_contents_page_is_hidden_before_recent_interactions(ada, commands):
    for number in range(30):
        ada.say(f"Question {number}? " + "word " * 20)
        ada.say(f"Answer {number}. " + "word " * 30, role="assistant")
    pages = {each.index: each for each in tree(commands)}
    contents = next(index for index, each in pages.items() if each.children and index != "usr-0")
    whole = window(commands)
    limited = window(commands, budget_tokens=whole.tokens - 900)
    assert contents in limited.collapsed
    recent = [f"Answer {number}." for number in (27, 28, 29)]
    assert all(each in limited.messages[0].content for each in recent)
    assert limited.tokens <= whole.tokens - 900
    assert limited.collapsed == [contents], "what was hidden before it is opened again"


def test_no_page_is_hidden_below_the_limit(ada, commands):
    add_interactions(ada, 8)
    whole = window(commands)
    small = replace(commands, rules=PageRules(window_max_tokens=int(whole.tokens * 1.1)))
    assert window(small).collapsed == []
    assert run_tool(small, "update_page", index="usr-1", name="Question 0?").collapsed == []


@pytest.mark.parametrize("actor", Actor)
def test_an_agent_collapses_no_page_that_it_may_not_hide(ada, commands, actor):
    add_interactions(ada, 2)
    segment = {"id": "law", "name": "Law", "kind": "tool", "permission": "READ_ONLY"}
    run_tool(commands, "create_segment", Actor.DEVELOPER, **segment)
    law = {"name": "Rules", "detail": "Never lie. " * 50, "parent": "law-0"}
    run_tool(commands, "create_detail_page", Actor.DEVELOPER, **law)
    run_tool(commands, "expand_details", Actor.DEVELOPER, index="law-1")
    done = run_tool(commands, "auto_collapse", actor, max_tokens=50)
    assert ("law-1" in done.collapsed) == (actor is Actor.DEVELOPER)
    assert done.over == done.tokens_after - 50 > 0


def test_a_window_lists_only_collapsed_pages_of_its_own_session(ada, commands):
    note = run_tool_in_session(
        commands, "s1", "create_detail_page", name="N", detail="x " * 99, parent="usr-0"
    )
    run_tool_in_session(commands, "s1", "expand_details", index=note.page.index)
    for session in ("s1", "s2"):
        for each in range(3):
            ada.say(f"Question {each}? " * 9, session=session)
            ada.say(f"Answer {each}. " * 9, role="assistant", session=session)
    hidden = run_tool_in_session(commands, "s1", "auto_collapse", max_tokens=1).collapsed
    assert len(hidden) == 3
    assert list(window(commands, session_id="s1").collapsed) == hidden
    other = window(commands, session_id="s2")
    assert other.collapsed == [note.page.index]
    assert f"1 ({note.page.index})" in other.messages[0].content
