"""The command line: ``memci …``. Exit codes: 0 ok, 1 failed, 2 wrong use."""


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    from memci.cli.app import run

    raise SystemExit(run())
