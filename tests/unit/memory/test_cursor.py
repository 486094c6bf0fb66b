from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memci.domain.memory.compression_scan import PassCursor

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_pass_waits_until_the_retry_of_its_model() -> None:
    assert not PassCursor(1, 1, 1).waits(NOW)
    assert PassCursor(1, 1, 1, retry_at=NOW + timedelta(seconds=1)).waits(NOW)
    assert not PassCursor(1, 1, 1, retry_at=NOW).waits(NOW)
