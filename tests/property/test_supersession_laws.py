"""Laws of supersession (R6): it follows the order of messages and needs a contradiction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from memci.language.claims.claim import Claim, StoredClaim, contradicts, find_supersessions
from memci.language.claims.reader import claims_in
from tests.support.examples import examples
from tests.support.facts import supersedes

MANY = settings(max_examples=examples(500))
BEGIN = datetime(2026, 5, 1, tzinfo=UTC)
VALUES = st.sampled_from(
    ["Paris", "Rome", "Paris, France", "5 May", "6 May", "Friday", "北京", "上海"]
)


@st.composite
def histories(draw: st.DrawFn) -> list[StoredClaim]:
    """Claims of memories about one attribute, each at another time."""
    days = draw(st.lists(st.integers(0, 50), unique=True, max_size=7))
    return [
        StoredClaim(
            Claim("ann", "lives in", draw(VALUES | st.none()), draw(VALUES | st.none()), ""),
            node_id=draw(st.integers(1, 5)),
            seq=day,
            said_at=BEGIN + timedelta(days=day),
        )
        for day in days
    ]


@MANY
@given(histories(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(history, random):
    arrived = list(history)
    random.shuffle(arrived)
    assert find_supersessions(arrived) == find_supersessions(history)


@MANY
@given(histories())
def test_only_a_later_contradiction_of_another_memory_supersedes(history):
    for found in find_supersessions(history):
        assert found.older.said_at < found.newer.said_at
        assert found.older.node_id != found.newer.node_id
        assert contradicts(found.newer.claim, found.older.claim)


@MANY
@given(histories())
def test_a_claim_is_superseded_once_and_the_last_one_never(history):
    found = find_supersessions(history)
    older = [each.older for each in found]
    assert len(older) == len(set(older))
    if history:
        assert max(history, key=lambda each: each.age) not in older


@MANY
@given(VALUES)
def test_no_value_contradicts_itself(value):
    claim = Claim("ann", "lives in", value, None, "")
    assert not contradicts(claim, claim)


TOWNS = ["Paris", "Rome", "Oslo", "New York", "Lima"]
CHINESE_TOWNS = ["北京", "上海", "广州", "杭州", "巴黎"]
ASSERTED = ["I live in {}", "I just moved to {}.", "Now I'm living in {}!", "I relocated to {}"]
UNSURE = [
    "Do I live in {}?", "I might move to {}", "I want to live in {}",
    "If I lived in {} I'd be glad", "I used to live in {}", "I don't live in {}",
    "Tom lives in {}", "I visited {}",
    "We lived in {} ten years ago", "She moved to {}", "I hope I live in {} one day",
]  # fmt: skip
ASSERTED_CHINESE = ["我住在{}", "我搬到{}了", "我现在住在{}。"]
UNSURE_CHINESE = [
    "我想搬到{}",
    "我住在{}吗？",
    "如果我住在{}",
    "我以前住在{}",
    "我不住在{}",
    "小王住在{}",
    "我去过{}",
]


@MANY
@given(
    st.data(),
    st.sampled_from([(ASSERTED, UNSURE, TOWNS), (ASSERTED_CHINESE, UNSURE_CHINESE, CHINESE_TOWNS)]),
)
def test_assertions_supersede_and_other_sentences_do_not(data, language):
    asserted, unsure, towns = language
    one, other = data.draw(st.lists(st.sampled_from(towns), min_size=2, max_size=2, unique=True))
    before = data.draw(st.sampled_from(asserted)).format(one)
    after = data.draw(st.sampled_from(asserted))
    assert supersedes(before, after.format(other))
    assert not supersedes(before, after.format(one))
    assert not supersedes(before, data.draw(st.sampled_from(unsure)).format(other))


@MANY
@given(st.text(max_size=120))
def test_claims_can_be_read_from_any_text(text):
    for claim in claims_in(text, "user:"):
        assert claim.value or claim.ended
