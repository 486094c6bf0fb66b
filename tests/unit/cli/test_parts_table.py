"""`memci up` starts the commands of the Procfile and stops all of them."""

from __future__ import annotations

from memci.cli.up.addresses import PARTS, STOP_ORDER, local_parts
from tests.support import deployment


def test_the_parts_are_those_of_the_procfile():
    assert {name: list(command) for name, command in PARTS.items()} == {
        name: list(command) for name, command in deployment.procfile().items()
    }


def test_every_part_is_stopped_once():
    assert sorted(name for group in STOP_ORDER for name in group) == sorted(local_parts(2))


def test_with_several_processors_two_parts_read():
    assert local_parts(1) == PARTS
    second = local_parts(2)["context-2"]
    assert [*second] == [*(each.replace("context@", "context-2@") for each in PARTS["context"])]
