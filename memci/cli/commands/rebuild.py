"""``memci memory rebuild``: rebuild a network, compare it, then switch to it or drop it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memci.cli.connection import agent_of, why_still
from memci.cli.options import AgentOption, TimeoutOption, WaitOption
from memci.cli.output import (
    PRINTS_JSON,
    confirm,
    counted,
    hint,
    print_answer,
    print_rows,
    say,
    shortened,
)
from memci.errors import InvalidInputError, MemciError, NotFoundError

if TYPE_CHECKING:
    from memci.client import Agent
    from memci.schemas.network_editions import (
        ComparisonAnswer,
        EditionAnswer,
        MemoryPreview,
        NetworkNumbers,
    )

# Memories that a switch drops are listed up to this number, the largest a comparison returns.
_LISTED = 100
_OPEN = frozenset({"building", "ready", "switching"})


def rebuild(
    *,
    agent: AgentOption,
    up_to: Annotated[
        int | None,
        typer.Option("--up-to", min=1, metavar="SEQ", help="Use only messages up to this seq."),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare", help="Compare with the current network; start a rebuild if none exists."
        ),
    ] = False,
    probe: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDS", help="With --compare: also compare a recall of these words."),
    ] = None,
    switch: Annotated[
        bool,
        typer.Option("--switch", help="Replace the current network by the rebuilt one."),
    ] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Delete the rebuilt network.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    wait: WaitOption = False,
    timeout: TimeoutOption = 3_600.0,
) -> None:
    """Rebuild the network as a second one beside the current one.

    Starts a rebuild, or prints the progress of the one that exists. A rebuild repeats all creations
    and passes on the agent's messages. --compare waits until the rebuild is ready. --switch and
    --drop need an existing rebuild; --switch needs it ready. After a rebuild with --up-to, --switch
    lists the memories that the rebuilt network lacks, and asks for confirmation.
    """
    if sum([compare, switch, drop]) > 1:
        raise InvalidInputError("choose one of --compare, --switch and --drop")
    if up_to is not None and (switch or drop):
        raise InvalidInputError("--up-to is for a new rebuild, not for --switch or --drop")
    with agent_of(agent) as memory:
        if compare:
            _compare(memory, up_to, probe or [], timeout)
            return
        if drop:
            rebuilt = memory.drop_rebuilt()
        elif switch:
            rebuilt = _switch(memory, agent, timeout, yes=yes)
        else:
            rebuilt = _get_or_begin(memory, up_to)
            if wait:
                rebuilt = _wait(memory, timeout)
    print_answer(rebuilt, _print_state)


def _get_or_begin(memory: Agent, up_to: int | None) -> EditionAnswer:
    """Return the open rebuilt network; begin one if there is none."""
    try:
        rebuilt = memory.rebuilt()
    except NotFoundError:
        return memory.rebuild(up_to_seq=up_to)
    if rebuilt.state.value not in _OPEN:
        return memory.rebuild(up_to_seq=up_to)
    if up_to is not None and up_to != rebuilt.up_to_seq:
        raise InvalidInputError("there is a rebuilt network already: --drop it first")
    return rebuilt


def _switch(memory: Agent, agent: str, timeout_s: float, *, yes: bool) -> EditionAnswer:
    """Switch; ask first if the rebuilt network lacks memories of the current one."""
    lost = _dropped_by_switch(memory)
    if lost is not None:
        if not PRINTS_JSON.get():
            print_left_out(lost, memory.about().messages)
        if not yes:
            hint(f"`memci agents export --agent {agent}` saves a copy of the whole agent")
        confirm(
            "Switch, and drop these memories?", yes=yes, to="switch to it",
            refused="nothing was switched",
        )  # fmt: skip
    memory.switch_rebuilt()
    switched = _wait(memory, timeout_s)
    if lost is not None:
        hint(
            f"`memci memory restore ID --agent {agent}` restores one of them; ID is the number of "
            "its node above. A rebuild does not restore them"
        )
    return switched


def _dropped_by_switch(memory: Agent) -> ComparisonAnswer | None:
    """Return a comparison if a switch would drop memories; None if not, or if it is not ready."""
    try:
        rebuilt = memory.rebuilt()
    except NotFoundError:  # the switch says so in its own words
        return None
    if rebuilt.up_to_seq is None or rebuilt.state.value != "ready":
        return None
    found = memory.compare_rebuilt(limit=_LISTED)
    return found if found.only_current else None


def _wait(memory: Agent, timeout_s: float) -> EditionAnswer:
    if still := why_still(memory):
        raise MemciError(f"not waiting: {still}")
    return memory.wait_rebuilt(timeout_s=timeout_s)


def _compare(memory: Agent, up_to: int | None, probes: list[str], timeout_s: float) -> None:
    _get_or_begin(memory, up_to)
    _wait(memory, timeout_s)
    comparison = memory.compare_rebuilt([each.split() for each in probes])
    print_answer(comparison, print_comparison)


def _print_state(rebuilt: EditionAnswer) -> None:
    edition = f"edition {rebuilt.edition}"
    up_to = f" up to message {rebuilt.up_to_seq}" if rebuilt.up_to_seq else ""
    how_far = f"{rebuilt.replayed} of {rebuilt.events} events"
    match rebuilt.state.value:
        case "building" | "switching":
            say(f"{edition} is {rebuilt.state}{up_to}: {how_far}")
            if rebuilt.job is None:
                hint("no job works on it: --drop it, then start a new rebuild")
            elif rebuilt.job.error:
                hint(f"job {rebuilt.job.id} ({rebuilt.job.state}): {rebuilt.job.error}")
        case "ready":
            say(f"{edition} is ready{up_to}: {how_far}")
            hint("--compare shows the differences; then use --switch or --drop")
        case state:
            say(f"{edition} was {'switched to' if state == 'switched' else state}")


_WIDTH = 90


def print_comparison(found: ComparisonAnswer) -> None:
    """Print the numbers, then the differences, then the results of the probes."""
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
    """Print the memories that a switch would drop; ``messages``: how many the agent has."""
    edition, count = found.edition, found.only_current
    them = counted(count, "memory", "memories")
    are = "is" if count == 1 else "are"
    say(f"edition {edition.edition} was made up to message {edition.up_to_seq} of {messages}: "
        f"{them} of the current network {are} not in it", style="yellow")  # fmt: skip
    _print_memories("not in it", found.shown_only_current)
    if hidden := count - len(found.shown_only_current):
        hint(f"and {hidden} more")


def largest_differences(found: ComparisonAnswer) -> str:
    """Return a line about the largest differences of the memories and links in both networks."""
    if not found.same_memories:
        return "the networks share no memory"
    importance = f"{found.largest_importance_difference:.3g} in importance"
    if not found.same_links:
        return f"largest difference: {importance}; no link in common"
    strength = f"{found.largest_strength_difference:.3g} in strength"
    return f"largest difference: {strength}, {importance}"


def _print_numbers(current: NetworkNumbers, rebuilt: NetworkNumbers) -> None:
    print_rows(
        {
            "": name,
            "memories": each.memories,
            "entities": each.entities,
            "links": each.links,
            "dangling": each.dangling,
            "characters": each.characters,
            "of": each.original_characters,
            "importance": each.importance,
            "focus": each.focus,
        }
        for name, each in (("current", current), ("rebuilt", rebuilt))
    )


def _print_memories(title: str, memories: Sequence[MemoryPreview]) -> None:
    if memories:
        say(f"\n{title}:")
        for each in memories:
            say(f"  node {each.node_id}, importance {each.importance:.2f}: "
                f"{shortened(each.text, _WIDTH)}")  # fmt: skip
