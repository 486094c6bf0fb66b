"""``memci webhooks``, and what the doctor says of them."""

from __future__ import annotations

import json

import pytest
from pydantic import SecretStr

from memci.cli.doctor.checks import check_queue
from memci.config.settings import Settings
from tests.integration.http.serving import served
from tests.support.command_line import run
from tests.support.receiver import receiver


@pytest.mark.timeout(120)
def test_a_webhook_from_its_beginning_to_its_end(database_url, broker_url):
    settings = Settings(
        database_url=SecretStr(database_url),
        broker_url=SecretStr(broker_url),
        webhooks_allow_private=True,
    )
    with receiver() as hooked, served(settings) as server:

        def memci(*words: str, code: int = 0) -> str:
            done = run("webhooks", *words, settings={"MEMCI_API_URL": server.url})
            assert done.returncode == code, done.stderr
            return done.stdout + done.stderr

        made = json.loads(
            memci("add", hooked.url, "--agents", "a*", "--type", "job.dead", "--json")
        )
        webhook = made["id"]
        assert made["types"] == ["job.dead"]
        assert "delivered: 204" in memci("test", webhook)
        assert [each["type"] for each in hooked.events(made["secret"])] == ["webhook.test"]
        hooked.answer = lambda _number: 500
        assert "not delivered: answered 500" in memci("test", webhook, code=1)
        assert "secret: whsec_" in memci("rotate", webhook)
        replayed = json.loads(memci("replay", webhook, "--after", "7.1", "--json"))
        assert replayed["position"] == "7.1"
        with server.runtime.database.upkeep_transaction() as connection:
            connection.exec_driver_sql(
                "UPDATE webhook SET enabled = false, disabled_reason = 'it is gone'"
            )
        assert "it is gone" in memci("list")
        (found,) = [
            each for each in check_queue(server.runtime.database) if each.subject == "webhook"
        ]
        assert found.text == f"{webhook} was disabled: it is gone"
        assert "enabled" in memci("enable", webhook)
        memci("remove", webhook)
        assert json.loads(memci("list", "--json"))["webhooks"] == []
