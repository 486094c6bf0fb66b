"""What doctor reports when a wrong setting prevents a request to the API."""

from __future__ import annotations

from pydantic import SecretStr

from memci.cli.doctor.checks import check_api
from memci.config.settings import Settings


def test_for_a_wrong_setting_the_advice_is_not_to_start_a_server() -> None:
    for settings, name in (
        (Settings(api_url="127.0.0.1:9"), "MEMCI_API_URL"),
        (Settings(api_key=SecretStr("sec\nret")), "MEMCI_API_KEY"),
    ):
        (found,) = check_api(settings)
        assert name in found.text
        assert "memci up" not in found.advice
