"""``memci sessions``: list sessions and their summaries, end one, hand one over."""

from typing import Annotated, Literal

import typer

from memci.cli.connection import agent_of
from memci.cli.options import AgentOption, CursorOption, LimitOption, SessionOption, id_option
from memci.cli.output import print_answer, print_list, print_next, printed_json, say


def list_sessions(
    *, agent: AgentOption, limit: LimitOption = 100, cursor: CursorOption = None
) -> None:
    """List an agent's sessions."""
    with agent_of(agent) as memory:
        listed = memory.sessions(limit=limit, cursor=cursor)
    rows = (
        {
            "session": each.session_id,
            "messages": each.messages,
            "seqs": f"{each.first_seq}-{each.last_seq}",
            "last message": each.last_at,
            "ended": each.ended_at,
            "short-term": each.short_memories,
        }
        for each in listed.sessions
    )
    print_list(listed, rows)


def end(
    *,
    session: Annotated[str, typer.Argument(metavar="ID", help="The session.")],
    agent: AgentOption,
) -> None:
    """End a session: its short-term memories are judged, and its summary is completed."""
    with agent_of(agent) as memory:
        ended = memory.end_session(session)
    print_answer(ended, f"session {session} has ended, at seq {ended.seq}")


def summaries(
    *,
    agent: AgentOption,
    session: Annotated[str | None, id_option(help="Only the summary of this session.")] = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
) -> None:
    """Show the summaries of an agent's sessions."""
    with agent_of(agent) as memory:
        listed = memory.summaries(session_id=session, limit=limit, cursor=cursor)
    if printed_json(listed):
        return
    for each in listed.summaries:
        name = "(no session)" if each.session_id is None else each.session_id
        whose = "" if each.user_id is None else f", as {each.user_id} sees it"
        state = "complete" if each.final else "not complete yet"
        say(
            f"── {name}{whose}: messages {each.from_seq}-{each.through_seq}, {state}; "
            f"{each.tokens} tokens by {each.model}",
            style="bold",
        )
        say(f"{each.text}\n")
    if not listed.summaries:
        say("(none)")
    print_next(listed.next_cursor)


def handover(
    *,
    agent: AgentOption,
    session: SessionOption = None,
    user: Annotated[str | None, id_option(help="Only what this user may see.")] = None,
    budget: Annotated[int | None, typer.Option(min=1, help="Maximum number of tokens.")] = None,
    form: Annotated[
        Literal["markdown", "text"], typer.Option("--format", help="Output format.")
    ] = "markdown",
) -> None:
    """Write what another agent needs to continue a session."""
    with agent_of(agent) as memory:
        answer = memory.handover(
            session_id=session, user_id=user, budget_tokens=budget, format=form
        )
    print_answer(answer, answer.text.rstrip("\n"))
