"""Time from a write until reads find it: at a steady rate, and in a burst that must wait."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.compare import Size, percentile
from benchmarks.report import Finding
from benchmarks.stage import LANE_POOL, Stage
from memci.broker.names import COMPRESS_QUEUE, CREATE_TASK, LANE_QUEUE
from memci.testing import wait_until

_RATE, _BURST_RATE = 20, 200  # messages a second
_AGENTS = 5
_LEFT = "SELECT count(*) FROM job WHERE state <> 'done'"
# From the beginning of the accept's transaction to the end of the effect's transaction.
_LAGS = """
SELECT extract(epoch FROM finished_at - created_at) * 1000 FROM job WHERE kind = %s
 ORDER BY ordinal OFFSET %s
"""


def measure(stage: Stage, *, size: Size) -> Iterator[Finding]:
    """Measure the lag with the API, a lane worker and a compress worker."""
    rates = ((_RATE, size.pick(2, 15, 40)), (_BURST_RATE, size.pick(1, 3, 5)))
    api, port = stage.start_api()
    workers = [
        stage.start_worker("workers", LANE_QUEUE, *LANE_POOL, name="lane"),
        stage.start_worker("workers", COMPRESS_QUEUE, "-P", "threads", "-c", "4", name="compress"),
    ]
    _send(stage, port, _RATE, seconds=3, prefix="warm-up")
    before = 3 * _RATE
    for rate, seconds in rates:
        _send(stage, port, rate, seconds=seconds, prefix=f"agent-{rate}")
        with stage.owner() as connection:
            lags = [float(row[0]) for row in connection.execute(_LAGS, (CREATE_TASK, before))]
        assert len(lags) == seconds * rate
        before += len(lags)
        for share in (0.5, 0.95):
            yield Finding(
                f"write to recallable at {rate} messages/s for {seconds} s, p{share * 100:.0f}",
                percentile(lags, share),
                "ms",
                note=f"{_AGENTS} agents, one message a request, compression under way",
            )
    stage.stop([*workers, api])


def _send(stage: Stage, port: int, rate: int, *, seconds: int, prefix: str) -> None:
    stage.call(
        "benchmarks.load_client",
        port=port,
        connections=4,
        requests=seconds * rate,
        messages=1,
        prefix=prefix,
        rate=float(rate),
        agents=_AGENTS,
        seed=seconds,
    )

    def is_remembered() -> bool:
        with stage.owner() as connection:
            return connection.execute(_LEFT).fetchone() == (0,)

    wait_until(is_remembered, "memory has caught up", timeout_s=120.0)
