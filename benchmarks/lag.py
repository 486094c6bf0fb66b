"""Time from a write until reads find it, at a steady 20 messages a second."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.compare import Size, percentile
from benchmarks.report import Finding
from benchmarks.stage import LANE_POOL, Stage
from memci.broker.names import COMPRESS_QUEUE, CREATE_TASK, LANE_QUEUE
from memci.testing import wait_until

_RATE = 20
_AGENTS = 5
_LEFT = "SELECT count(*) FROM job WHERE state <> 'done'"
# From the beginning of the accept's transaction to the end of the effect's transaction.
_LAGS = """
SELECT extract(epoch FROM finished_at - created_at) * 1000 FROM job WHERE kind = %s
 ORDER BY ordinal OFFSET %s
"""


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure the lag with the API, a lane worker and a compress worker."""
    seconds = size.pick(2, 15, 40)
    api, port = stage.start_api()
    workers = [
        stage.start_worker("workers", LANE_QUEUE, *LANE_POOL, name="lane"),
        stage.start_worker("workers", COMPRESS_QUEUE, "-P", "threads", "-c", "4", name="compress"),
    ]
    _send(stage, port, seconds=3, prefix="warm-up")
    before = 3 * _RATE
    _send(stage, port, seconds=seconds, prefix="agent")
    with stage.owner() as connection:
        lags = [float(row[0]) for row in connection.execute(_LAGS, (CREATE_TASK, before))]
    stage.stop([*workers, api])
    assert len(lags) == seconds * _RATE
    for share in (0.5, 0.95):
        yield Finding(
            f"write to recallable at {_RATE} messages/s, p{share * 100:.0f}",
            percentile(lags, share),
            "ms",
            note=f"{_AGENTS} agents, one message a request, compression under way",
        )


def _send(stage: Stage, port: int, *, seconds: int, prefix: str) -> None:
    stage.call(
        "benchmarks.load_client",
        port=port,
        connections=4,
        requests=seconds * _RATE,
        messages=1,
        prefix=prefix,
        rate=float(_RATE),
        agents=_AGENTS,
        seed=seconds,
    )

    def is_remembered() -> bool:
        with stage.owner() as connection:
            return connection.execute(_LEFT).fetchone() == (0,)

    wait_until(is_remembered, "memory has caught up", timeout_s=120.0)
