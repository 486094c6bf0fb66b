"""How a comparison of two networks is printed."""

from __future__ import annotations

from collections.abc import Sequence

from memci.cli.output import counted, hint, print_table, say, shortened
from memci.shapes.edition import ComparisonAnswer, NetworkNumbers, ShownMemory

_WIDTH = 90


def print_comparison(found: ComparisonAnswer) -> None:
    """Print numbers, then what differs, then what recalls find."""
    _print_numbers(found.current, found.rebuilt)
    say()
    memories = f"{found.same_memories} memories in both, {found.same_texts} with the same text"
    say(f"{memories}; {found.only_current} only current, {found.only_rebuilt} only rebuilt")
    links = f"{found.same_links} links in both; {found.links_only_current} only current"
    say(f"{links}, {found.links_only_rebuilt} only rebuilt")
    say(largest_differences(found))
    for pair in found.changed:
        lengths = f"{pair.current.length} and {pair.rebuilt.length}"
        say(f"\n~ {lengths} of {pair.current.original_length} characters")
        say(f"  current  {shortened(pair.current.text, _WIDTH)}")
        say(f"  rebuilt  {shortened(pair.rebuilt.text, _WIDTH)}")
    _print_memories("only current", found.shown_only_current)
    _print_memories("only rebuilt", found.shown_only_rebuilt)
    for probe in found.probes:
        say(f"\nrecall {' '.join(probe.keywords)}: {probe.both} in both")
        for name, texts in (("current", probe.only_current), ("rebuilt", probe.only_rebuilt)):
            for text in texts:
                say(f"  only {name}  {shortened(text, _WIDTH)}")


def print_left_out(found: ComparisonAnswer, messages: int) -> None:
    """Print which memories a switch would let go of; ``messages``: how many the agent has."""
    edition, count = found.edition, found.only_current
    them = counted(count, "memory", "memories")
    are = "is" if count == 1 else "are"
    say(f"edition {edition.edition} was made up to message {edition.up_to_seq} of {messages}: "
        f"{them} of the current network {are} not in it", style="yellow")  # fmt: skip
    _print_memories("not in it", found.shown_only_current)
    if hidden := count - len(found.shown_only_current):
        hint(f"and {hidden} more")


def largest_differences(found: ComparisonAnswer) -> str:
    """Say how far apart those are that both have; entities may be common to them too."""
    if not found.same_memories:
        return "no memory in common: there is nothing to tell differences of"
    importance = f"{found.largest_importance_difference:.3g} in importance"
    if not found.same_links:
        return f"largest difference: {importance}; no link in common"
    strength = f"{found.largest_strength_difference:.3g} in strength"
    return f"largest difference: {strength}, {importance}"


def _print_numbers(current: NetworkNumbers, rebuilt: NetworkNumbers) -> None:
    columns = ("memories", "entities", "links", "dangling", "characters", "of", "importance")
    print_table(
        ("", *columns, "focus"),
        (
            (
                name,
                each.memories,
                each.entities,
                each.links,
                each.dangling,
                each.characters,
                each.original_characters,
                each.importance,
                each.focus,
            )
            for name, each in (("current", current), ("rebuilt", rebuilt))
        ),
    )


def _print_memories(title: str, memories: Sequence[ShownMemory]) -> None:
    if memories:
        say(f"\n{title}:")
        for each in memories:
            say(f"  node {each.node_id}, importance {each.importance:.2f}: "
                f"{shortened(each.text, _WIDTH)}")  # fmt: skip
