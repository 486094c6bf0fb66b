"""Traces from request to job: spans whose W3C ``traceparent`` travels in the job.

OpenTelemetry is imported only when an endpoint is set; it comes with ``memci[otel]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from memci.errors import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

# Version, trace id, span id, flags; ids of zeros alone are invalid.
_TRACEPARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)


class Traces:
    """Without tracing: passes the caller's traceparent on."""

    def span(
        self, name: str, *, parent: str | None = None, **attributes: str | int
    ) -> AbstractContextManager[str | None]:
        """Open a span below ``parent``; yields the traceparent for its children."""
        del name, attributes
        return nullcontext(parent)

    def close(self) -> None:
        """Send the remaining spans."""


NO_TRACES = Traces()


class OpenTelemetryTraces(Traces):
    """Sends spans to a collector, in batches, in a thread."""

    def __init__(self, provider: TracerProvider) -> None:
        """Take the provider, which ``close`` shuts down."""
        from opentelemetry.trace import StatusCode  # noqa: PLC0415 - an extra
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - an extra
            TraceContextTextMapPropagator,
        )

        self._failed = StatusCode.ERROR
        self._provider = provider
        self._tracer = provider.get_tracer("memci")
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def span(
        self, name: str, *, parent: str | None = None, **attributes: str | int
    ) -> Iterator[str | None]:
        """Open a span below ``parent``; an exception is recorded on it by its type."""
        context = self._propagator.extract({"traceparent": parent}) if parent else None
        with self._tracer.start_as_current_span(
            name,
            context=context,
            attributes=attributes,
            # Both would send the error's message.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            carrier: dict[str, str] = {}
            self._propagator.inject(carrier)
            try:
                yield carrier.get("traceparent")
            except Exception as error:
                span.set_status(self._failed, type(error).__name__)
                raise

    def close(self) -> None:
        """Send the remaining spans."""
        self._provider.shutdown()


def open_traces(endpoint: str | None, service: str) -> Traces:
    """Return the traces of this process, sent by OTLP over HTTP; none without an endpoint."""
    if endpoint is None:
        return NO_TRACES
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - extra
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra
    except ImportError:
        raise ConfigurationError(
            "MEMCI_OTEL_ENDPOINT is set, but OpenTelemetry is not installed: "
            "run `pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http` "
            "(memci's extra otel), or unset it"
        ) from None
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return OpenTelemetryTraces(provider)


def valid_traceparent(header: str | None) -> str | None:
    """Return the header if it is a W3C traceparent, else None."""
    return header if header and _TRACEPARENT.fullmatch(header) else None
