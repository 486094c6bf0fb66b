"""After any history, the database holds the network that the rules give."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memci.domain.memory.parameters import MemoryParameters
from memci.jobs import compression_pass
from memci.storage.network.links import decay_links
from memci.storage.session import Database
from tests.support.examples import examples
from tests.support.models import keep_beginning
from tests.support.network import AgentUnderTest
from tests.support.pure_network import PureNetwork, decayed, segment

MANY = settings(
    max_examples=examples(250), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


strengths = st.floats(0, 1) | st.just(0.0) | st.floats(0.009, 0.011)


@MANY
@given(
    links=st.dictionaries(st.tuples(st.integers(1, 6), st.integers(1, 9)), strengths, max_size=30),
    focus=st.sets(st.integers(1, 9), max_size=3),
    rate=st.floats(0, 1, exclude_min=True, exclude_max=True) | st.floats(0.01, 0.999),
    threshold=st.floats(0, 1) | st.just(0.01) | st.just(0.0),
)
def test_links_decay_in_sql_as_in_the_rule(
    database: Database,
    links: dict[tuple[int, int], float],
    focus: set[int],
    rate: float,
    threshold: float,
) -> None:
    values = MemoryParameters(decay_rate=rate, link_break_threshold=threshold)
    sources = {1, 2, 3, 4} - focus
    with database.agent_transaction("ada") as connection:
        connection.exec_driver_sql("DELETE FROM link")
        for (source, target), strength in links.items():
            connection.exec_driver_sql(
                "INSERT INTO link VALUES ('ada', %s, %s, 'about', %s, '')",
                (source, target, strength),
            )
        broken = decay_links(connection, "ada", sources, focus, values)
        rows = connection.exec_driver_sql("SELECT source, target, strength FROM link").all()
    expected = {
        pair: decayed(strength, values) if pair[0] in sources and pair[1] not in focus else strength
        for pair, strength in links.items()
    }
    left = {pair: strength for pair, strength in expected.items() if strength is not None}
    assert {(source, target): strength for source, target, strength in rows} == left
    assert broken == len(links) - len(left)


histories = st.lists(
    st.just("pass")
    | st.tuples(
        st.lists(
            st.tuples(
                st.text("abc def 你好", min_size=1, max_size=40).filter(str.strip),
                st.lists(st.sampled_from(["Grace", "Luigi", "Oslo", "小明"]), max_size=3),
            ),
            min_size=1,
            max_size=2,
        ),
        st.sampled_from(["s1", "s2"]),
    ),
    min_size=2,
    max_size=8,
)


@pytest.mark.timeout(600)  # a failure is shrunk for five minutes
@MANY
@given(
    history=histories,
    focus_limit=st.integers(0, 3),
    rate=st.sampled_from([0.97, 0.7, 0.3]),
    batch=st.sampled_from([1, 3, 500]),
)
def test_a_stored_network_equals_the_network_of_the_rules(
    database: Database, history: list[object], focus_limit: int, rate: float, batch: int
) -> None:
    values = MemoryParameters(
        simplemem_enabled=False,  # all messages become memories
        focus_limit=focus_limit,
        decay_rate=rate,
        related_links=0,
        min_shrink=0,
    )
    ada = AgentUnderTest(database, uuid4().hex, values)
    pure = PureNetwork(values, keep_beginning)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compression_pass, "BATCH", batch)
        for event in history:
            if event == "pass":
                ada.compress()
                pure.run_pass()
            else:
                contents, session = event
                marked = [f"{text} {' '.join(f'[{n}]' for n in names)}" for text, names in contents]
                texts = [text.strip() for text in marked]  # no blanks around a memory
                ada.remember(*texts, session=session)
                annotated = [ada.models.annotator.annotate([text])[0] for text in texts]
                pure.remember(
                    [
                        segment(text, note.entities, note.keywords, session)
                        for text, note in zip(texts, annotated, strict=True)
                    ]
                )
            assert {n.id: (n.content, n.scan_count) for n in ada.nodes()} == {
                i: (n.content, n.scan_count) for i, n in pure.nodes.items()
            }
            assert {pair: link.strength for pair, link in ada.links().items()} == pure.links
            assert ada.focus() == [each.name for each in pure.focus]
