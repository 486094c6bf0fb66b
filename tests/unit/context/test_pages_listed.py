"""How many pages a message list has room for (R13, R14)."""

from __future__ import annotations

from memci.domain.context.materials import Materials
from memci.domain.context.message_list import Part, Section, part_tokens
from memci.domain.context.page_listing import Leaf, Listed, PageRoom, list_pages
from memci.domain.session.interaction import interactions
from memci.domain.token_counts import MESSAGE_OVERHEAD
from memci.language.detection import Language
from memci.message import Message, Role
from tests.support.talk import BEGIN, assemble, words

PLENTY = PageRoom(2_000, 2_000, 2_000)


def leaves(number: int, each: int = 10) -> list[Leaf]:
    return [Leaf(f"usr-{at}", "ferry " * (each - 2) + "\n\n") for at in range(1, number + 1)]


def long_leaf(page: str, closed: str = "") -> Leaf:
    return Leaf(page, "ferry " * 400 + "\n\n", closed)


def pages(parts: tuple[Part, ...]) -> list[object]:
    return [item.origin["page"] for part in parts for item in part.items]


def test_the_current_interaction_has_priority_over_pages():
    messages = [
        Message(1, "m1", Role.USER, "Where are we?", BEGIN),
        Message(2, "m2", Role.ASSISTANT, "At sea.", BEGIN),
        Message(3, "m3", Role.USER, "word " * 1_501, BEGIN),
    ]
    lines = Listed("# Contents Page\n\n", leaves(40))
    materials = Materials(
        None, None, interactions(messages), 8, [], Language.ENGLISH, contents=lines, tree=lines
    )
    made = assemble(materials, 1_700, words)
    recent = [item.seqs for item in made.items if item.section is Section.RECENT]
    assert recent[-1] == (3,)
    sections = {item.section for item in made.items}
    assert Section.CONTENTS in sections  # in the rest
    assert made.tokens <= 1_700
    assert Section.CONTENTS not in {
        item.section for item in assemble(materials, 1_515, words).items
    }


def test_a_page_that_is_too_long_is_left_out_and_the_others_are_listed():
    listed = Listed("# Tree\n\n", [long_leaf("usr-9"), *leaves(2)])
    assert pages(list_pages(Section.TREE, listed, PLENTY, words)) == ["usr-1", "usr-2"]
    newest = Listed("# Contents\n\n", [*leaves(2), long_leaf("usr-9")])
    assert pages(list_pages(Section.CONTENTS, newest, PLENTY, words)) == ["usr-1", "usr-2"]


def test_a_page_that_is_too_long_is_listed_closed():
    listed = Listed("# Tree\n\n", [long_leaf("usr-9", "## [usr-9] Ferries\n\n"), *leaves(1)])
    [part] = list_pages(Section.TREE, listed, PLENTY, words)
    assert part.items[0].text == "# Tree\n\n## [usr-9] Ferries\n\n"
    assert pages((part,)) == ["usr-9", "usr-1"]


def test_the_newest_lines_and_the_first_pages_fill_their_share():
    many = leaves(100)
    contents = list_pages(Section.CONTENTS, Listed("# C\n\n", many), PLENTY, words)
    tree = list_pages(Section.TREE, Listed("# T\n\n", many), PLENTY, words)
    heading = MESSAGE_OVERHEAD + words("# C\n\n")
    assert pages(contents) == [each.page for each in many[-((300 - heading) // 10) :]]
    assert pages(tree) == [each.page for each in many[: (200 - heading) // 10]]
    assert part_tokens(contents) <= 300
    assert part_tokens(tree) <= 200


def test_texts_of_pages_are_counted_once():
    many = leaves(400)
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return words(text)

    list_pages(Section.CONTENTS, Listed("# C\n\n", many), PLENTY, count)
    assert sum(map(len, counted)) < 2 * sum(len(each.text) for each in many[-32:])
