"""A minute of the soak, so that it goes on working."""

from __future__ import annotations

import pytest

from tests.soak.__main__ import main


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_minute_of_faults_breaks_no_law(tmp_path):
    report = tmp_path / "report.md"
    options = ["--minutes", "1", "--drain-minutes", "8", "--bulk-rate", "40", "--chat-rate", "4"]
    assert main([*options, "--folder", str(tmp_path), "--report", str(report)]) == 0
    cells = [line.strip("| ").split(" | ") for line in report.read_text().splitlines()]
    rows = dict(pair for pair in cells if len(pair) == 2)
    assert int(rows["faults"]) >= 10
    assert int(rows["… made into memories"].replace(",", "")) > 0
    assert rows["lost"] == rows["doubled"] == rows["reordered"] == rows["stuck lanes"] == "0"
