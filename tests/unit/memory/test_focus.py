from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memci.domain.memory.creation import mention
from memci.language.names import Entity

A, B, C, D = (Entity.named(name) for name in "abcd")
entities = st.lists(st.sampled_from([A, B, C, D]))


def test_the_best_of_several_new_entities_is_the_newest() -> None:
    assert mention((), [A, B], 5) == (B, A)


def test_a_mentioned_entity_moves_to_the_newest_place() -> None:
    assert mention((A, B, C), [A], 3) == (B, C, A)


def test_a_new_entity_replaces_the_least_recently_mentioned() -> None:
    assert mention((A, B, C), [D], 3) == (B, C, D)


def test_if_too_many_are_mentioned_the_best_are_kept() -> None:
    assert mention((D,), [A, B, C], 2) == (B, A)


def test_a_limit_of_zero_means_no_focus() -> None:
    assert mention((A,), [B], 0) == ()


def test_a_lower_limit_shortens_the_list() -> None:
    assert mention((A, B, C), [], 2) == (B, C)


@given(entities, entities, st.integers(0, 5))
def test_the_list_is_bounded_and_names_each_entity_once(
    before: list[Entity], mentioned: list[Entity], limit: int
) -> None:
    focus = mention(mention((), before, limit), mentioned, limit)
    assert len(focus) <= limit
    assert len(set(focus)) == len(focus)
    assert set(focus) <= {*before, *mentioned}
    if mentioned and limit:
        assert focus[-1] == mentioned[0]
