"""A trace leads from the caller's span over the request to the job."""

from __future__ import annotations

import httpx
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memci.telemetry.traces import OpenTelemetryTraces
from tests.integration.http.conftest import Serve

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_the_job_is_a_child_of_the_request_and_the_request_of_its_caller(serve: Serve) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    server = serve(traces=OpenTelemetryTraces(provider))
    body = {"messages": [{"role": "user", "content": "x"}]}
    httpx.post(f"{server.url}/v1/agents/a/messages", json=body, headers={"traceparent": CALLER})
    (request,) = exporter.get_finished_spans()
    assert request.parent
    assert request.context
    assert f"{request.parent.span_id:016x}" == CALLER.split("-")[2]
    of_request = f"00-{request.context.trace_id:032x}-{request.context.span_id:016x}-01"
    assert server.count(f"job WHERE traceparent = '{of_request}'") == 1
