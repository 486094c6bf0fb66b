"""``memci pins``."""

from __future__ import annotations

from memci.cli.options import AgentOption, JsonOption


def pins(*, agent: AgentOption, as_json: JsonOption = False) -> None:
    """List what is pinned, texts and pages."""
    from memci.cli.connection import agent_of
    from memci.cli.output import print_json, print_table, say, shortened

    with agent_of(agent) as memory:
        listed = memory.pins()
    if as_json:
        print_json(listed)
        return
    print_table(
        ("pin", "kind", "by", "text"),
        ((each.pin, each.kind, each.by, shortened(each.text, 80)) for each in listed.pins),
    )
    if listed.pages:
        say(f"pages that stay open: {', '.join(listed.pages)}")
    say(f"the texts take {listed.tokens} tokens of every window")
