"""``memci erase``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memci.cli.connection import agent_of
from memci.cli.options import AgentOption, id_option
from memci.cli.output import (
    PRINTS_JSON,
    confirm,
    counted,
    hint,
    print_table,
    printed_json,
    say,
    shortened,
)
from memci.errors import InvalidInputError

if TYPE_CHECKING:
    from memci.client import Agent
    from memci.schemas.agents import ReceiptAnswer
    from memci.schemas.archive import ErasurePreview

_EXCERPT = 80


def erase(  # noqa: PLR0913 - each is an argument or option of the command
    *,
    message: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Messages to erase.")
    ] = None,
    agent: AgentOption,
    page: Annotated[
        list[str] | None,
        typer.Option(metavar="INDEX", help="Erase this note, or the page's name and description."),
    ] = None,
    pin: Annotated[list[int] | None, typer.Option(metavar="NUMBER", help="A pinned text.")] = None,
    session: Annotated[str | None, id_option(help="All messages of a session.")] = None,
    query: Annotated[
        str | None,
        typer.Option(metavar="WORDS", help="Find messages, notes and pins with all these words."),
    ] = None,
    most: Annotated[
        int, typer.Option("--k", "-k", min=1, max=200, help="Maximum number of results of --query.")
    ] = 20,
    everything: Annotated[bool, typer.Option("--all", help="The agent with all its data.")] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what would be erased; erase nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Erase messages, pages or pins and all made of them, for good.

    The command first shows what it would erase. Erased data cannot be restored, and memci refuses
    an erased message that is sent again. --query compares words in all their forms, not meanings.
    """
    listed = bool(message or page or pin)
    if [listed, session is not None, query is not None, everything].count(True) != 1:
        raise InvalidInputError(
            "name messages, pages or pins, or use one of --session, --query and --all"
        )
    named: dict[str, Any] = {
        "message_ids": message,
        "page_indexes": page,
        "pins": pin,
        "session_id": session,
        "query": query,
    }
    chosen = {name: value for name, value in named.items() if value}
    with agent_of(agent) as memory:
        if everything:
            _erase_agent(memory, agent, preview=preview, yes=yes)
        else:
            chosen |= {"k": most} if query is not None else {}
            _erase_messages(memory, chosen, preview=preview, yes=yes)


def _erase_messages(memory: Agent, chosen: dict[str, Any], *, preview: bool, yes: bool) -> None:
    found = memory.preview_erasure(**chosen)
    if preview and printed_json(found):
        return
    if found.unread and not PRINTS_JSON.get():
        hint(f"the texts of {counted(found.unread, 'older note')} were not searched")
    if not (found.message_ids or found.page_indexes or found.pins):
        if not printed_json(found):
            say("nothing found; nothing was erased", style="yellow")
        return
    if not PRINTS_JSON.get():
        _print_preview(found)
        if chosen.get("k") in {len(found.message_ids), len(found.page_indexes), len(found.pins)}:
            hint("there may be more: -k finds up to 200")
    if preview:
        return
    others = {"page": len(found.page_indexes), "pin": len(found.pins)}
    more = "".join(f" and {counted(some, what)}" for what, some in others.items() if some)
    _confirm(f"Erase {counted(len(found.message_ids), 'message')}{more} for good?", yes=yes)
    # A query could match other messages by now, so the ids of the preview are erased.
    ids = {name: getattr(found, name) for name in ("message_ids", "page_indexes", "pins")}
    which = chosen if "session_id" in chosen else {name: each for name, each in ids.items() if each}
    _print_receipt(memory.erase(**which))


def _erase_agent(memory: Agent, agent: str, *, preview: bool, yes: bool) -> None:
    from memci.cli.commands.agents import print_agent

    about = memory.about()
    if preview and printed_json(about):
        return
    if not PRINTS_JSON.get():
        print_agent(about)
    if not preview:
        _confirm(f"Erase agent {agent} with all its data, for good?", yes=yes)
        _print_receipt(memory.erase_agent())


def _confirm(question: str, *, yes: bool) -> None:
    confirm(question, yes=yes, to="erase it", refused="nothing was erased")


def _print_preview(found: ErasurePreview) -> None:
    if found.messages:
        print_table(
            ("message", "said", "by", "text"),
            ((m.id, m.timestamp, m.role, shortened(m.excerpt, _EXCERPT)) for m in found.messages),
        )
    if found.own_words:
        print_table(
            ("page", "", "text"),
            (
                (p.index, "removed" if p.removed else "name erased", shortened(p.excerpt, _EXCERPT))
                for p in found.own_words
            ),
        )
    if found.pinned:
        print_table(
            ("pin", "text"),
            ((each.pin, shortened(each.excerpt, _EXCERPT)) for each in found.pinned),
        )
    hidden = len(found.message_ids) - len(found.messages)
    if hidden > 0:
        hint(f"and {hidden} more")
    memories = "1 memory" if found.memories == 1 else f"{found.memories} memories"
    names = counted(found.entities, "name")
    pages = counted(found.pages, "page")
    say(f"also erased: {memories}, {names}; {found.forgotten} forgotten; {pages} changed")
    also_deleted = {
        "summary": (found.summaries, "summaries"),
        "pinned sentence": (found.pinned_sentences, None),
        "step of plans": (found.plan_steps, "steps of plans"),
        "checkpoint": (found.checkpoints, None),
    }
    counts = [counted(count, what, many) for what, (count, many) in also_deleted.items() if count]
    if counts:
        say(f"and {', '.join(counts)}")
    if found.again:
        become = "becomes a memory" if found.again == 1 else "become memories"
        say(f"{counted(found.again, 'message')} that shared a memory {become} again")


def _print_receipt(receipt: ReceiptAnswer) -> None:
    if printed_json(receipt):
        return
    rows: Any = receipt.body["rows"]
    pages: Any = receipt.body.get("pages", 0)
    went = ", ".join(f"{table} {count}" for table, count in rows.items())
    pins: Any = receipt.body.get("pins", ())
    if pins:
        say(f"pins removed and erased for good: {len(pins)}")
    if went:
        say(f"erased for good, in rows: {went}")
    elif pages:  # these stay
        say(f"erased for good: name and description of {counted(pages, 'page')}")
    elif not pins:
        say("nothing was left to erase: it was erased before")
    say(f"receipt {receipt.id}")
