"""Lanes, their jobs and passes, and the workers."""

from collections.abc import Mapping
from uuid import UUID

from starlette.responses import Response

from memci.api_keys import Scope
from memci.broker.app import consumers
from memci.broker.names import COMPRESS_QUEUE, LANE_QUEUE, READ_QUEUE, UPKEEP_QUEUE
from memci.commands import jobs
from memci.console.visit import Visit
from memci.domain.job import JobState
from memci.telemetry.metrics import LANE_GAUGES, HttpMetrics

_ROWS = 50
_LATELY_S = 300
_QUEUES = (LANE_QUEUE, COMPRESS_QUEUE, READ_QUEUE, UPKEEP_QUEUE)


def _lanes(visit: Visit) -> Response:
    """Show the queue in numbers, and the lanes that have work or stand still."""
    settings = visit.runtime.settings
    listed = visit.runtime.listings.agents(
        pattern=visit.request.state.agents, cursor=visit.given("cursor"), limit=_ROWS, busy=True
    )
    return visit.live(
        "lanes",
        gauges=_gauges(visit),
        listed=listed,
        flower=f"http://{visit.request.url.hostname}:{settings.flower_port}",
    )


def _gauges(visit: Visit) -> Mapping[str, float]:
    """Return the gauges that Prometheus reads, too."""
    metrics: HttpMetrics = visit.request.app.state.metrics
    found = {each.name: each for each in metrics.registry.collect()}
    names = {
        name: f"memci_{name.removesuffix('_s')}" + "_seconds" * name.endswith("_s")
        for name in LANE_GAUGES
    }
    return {name: found[full].samples[0].value for name, full in names.items() if full in found}


def _workers(visit: Visit) -> Response:
    """Show which workers answer; it takes as long as the slowest of them may take."""
    answering = consumers(visit.runtime.celery)
    workers = {each: sorted(answering.get(each, ())) for each in _QUEUES}
    return visit.page("workers.html", workers=workers)


def _work(visit: Visit) -> Response:
    listings, agent = visit.runtime.listings, visit.agent

    def in_state(state: JobState) -> list[object]:
        return [*listings.jobs(agent, state=state, cursor=None, limit=_ROWS).jobs]

    return visit.live(
        "work",
        about=listings.agent(agent),
        queued=in_state(JobState.QUEUED),
        dead=in_state(JobState.DEAD),
        done_lately=listings.done_lately(agent, seconds=_LATELY_S),
        passes=listings.passes(agent, cursor=None, limit=10).passes,
    )


def _job(visit: Visit) -> Response:
    job = visit.runtime.listings.job(visit.agent, visit.request.path_params["job_id"])
    return visit.page("job.html", job=job)


def _replay(visit: Visit) -> Response:
    runtime = visit.runtime
    jobs.replay(
        runtime.database,
        runtime.wakeups,
        visit.agent,
        _job_of(visit),
        at_tail=False,
        limits=runtime.settings.append_limits,
    )
    return _back(visit, "replay")


def _discard(visit: Visit) -> Response:
    jobs.discard(visit.runtime.database, visit.runtime.wakeups, visit.agent, _job_of(visit))
    return _back(visit, "discard")


def _cancel(visit: Visit) -> Response:
    jobs.cancel(visit.runtime.database, visit.runtime.wakeups, visit.agent, _job_of(visit))
    return _back(visit, "cancel")


def _pause(visit: Visit) -> Response:
    jobs.pause(visit.runtime.database, visit.agent)
    return _back(visit, "pause")


def _resume(visit: Visit) -> Response:
    jobs.resume(visit.runtime.database, visit.runtime.wakeups, visit.agent)
    return _back(visit, "resume")


def _compress(visit: Visit) -> Response:
    visit.runtime.intake.request_compress(visit.agent)
    return _back(visit, "compress")


def _job_of(visit: Visit) -> UUID:
    job: UUID = visit.request.path_params["job_id"]
    return job


def _back(visit: Visit, done: str) -> Response:
    return visit.back_to("agents", visit.agent, "work", done=done)


PAGES = (
    ("/work", _lanes, Scope.READ),
    ("/workers", _workers, Scope.READ),
    ("/agents/{agent}/work", _work, Scope.READ),
    ("/agents/{agent}/jobs/{job_id:uuid}", _job, Scope.READ),
)
ACTIONS = (
    ("/agents/{agent}/jobs/{job_id:uuid}/replay", _replay, Scope.ADMIN),
    ("/agents/{agent}/jobs/{job_id:uuid}/discard", _discard, Scope.ADMIN),
    ("/agents/{agent}/jobs/{job_id:uuid}/cancel", _cancel, Scope.ADMIN),
    ("/agents/{agent}/pause", _pause, Scope.ADMIN),
    ("/agents/{agent}/resume", _resume, Scope.ADMIN),
    ("/agents/{agent}/compress", _compress, Scope.WRITE),
)
