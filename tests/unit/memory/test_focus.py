from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memci.domain.memory.creation import mention
from memci.language.names import Entity

A, B, C, D = (Entity.named(name) for name in "abcd")
entities = st.lists(st.sampled_from([A, B, C, D]))


def test_the_best_of_those_mentioned_together_becomes_the_newest() -> None:
    assert mention((), [A, B], 5) == (B, A)


def test_a_known_one_moves_to_the_newest_place() -> None:
    assert mention((A, B, C), [A], 3) == (B, C, A)


def test_a_new_one_evicts_the_least_recently_mentioned() -> None:
    assert mention((A, B, C), [D], 3) == (B, C, D)


def test_of_more_than_fit_the_best_are_taken() -> None:
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
