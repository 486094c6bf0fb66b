from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memci.telemetry.traces import NO_TRACES, OpenTelemetryTraces, open_traces, valid_traceparent

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_without_an_endpoint_the_callers_trace_is_passed_on() -> None:
    assert open_traces(None, "memci") is NO_TRACES
    with NO_TRACES.span("job", parent=PARENT) as traceparent:
        assert traceparent == PARENT


def test_a_job_is_a_child_of_its_request() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = OpenTelemetryTraces(provider)
    with traces.span("request", parent=PARENT) as of_request:
        assert valid_traceparent(of_request) == of_request
    with (
        pytest.raises(ValueError, match="hush"),
        traces.span("job", parent=of_request, agent_id="alice"),
    ):
        raise ValueError("hush")
    request, job = exporter.get_finished_spans()
    assert request.context
    assert job.parent
    assert f"{request.context.trace_id:032x}" == PARENT.split("-")[1]
    assert job.parent.span_id == request.context.span_id
    assert dict(job.attributes or {}) == {"agent_id": "alice"}
    assert not job.status.is_ok
    assert "hush" not in job.to_json()
    traces.close()


@pytest.mark.parametrize(
    "header",
    [None, "", "x", PARENT + "\n", PARENT.upper(), "ff" + PARENT[2:],
     "00-" + "0" * 32 + PARENT[35:], PARENT[:36] + "0" * 16 + "-01", PARENT + "-x"],
)  # fmt: skip
def test_a_wrong_traceparent_is_ignored(header: str | None) -> None:
    assert valid_traceparent(header) is None


def test_opentelemetry_is_imported_only_with_an_endpoint() -> None:
    code = (
        "import sys\n"
        "sys.modules['opentelemetry'] = None\n"
        "from memci.errors import ConfigurationError\n"
        "from memci.telemetry.traces import open_traces\n"
        "open_traces(None, 'x')\n"
        "try:\n"
        "    open_traces('http://127.0.0.1:1', 'x')\n"
        "except ConfigurationError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install opentelemetry-sdk" in done.stdout
