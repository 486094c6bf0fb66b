"""All checks, in the order in which one explains the next."""

from collections.abc import Iterable, Iterator
from contextlib import closing

from memci.cli.doctor import checks
from memci.cli.doctor.findings import Finding, Level, note, ok, wrong
from memci.config.settings import Settings, load_settings
from memci.config.unknown_names import misspelt_settings
from memci.embedded.server_addresses import database_url
from memci.errors import ConfigurationError
from memci.runtime import Runtime


def examine() -> list[Finding]:
    """Run all checks that can run."""
    try:
        settings = load_settings()
    except ConfigurationError as error:
        return [wrong("settings", str(error), "put them right: nothing starts with these")]
    return [*_settings(), *_examine(settings)]


def _settings() -> Iterator[Finding]:
    yield ok("settings", "they can be read")
    for each in misspelt_settings():
        advice = f"write it {each.nearest}" if each.nearest else "see docs/reference/settings.md"
        yield note("settings", f"{each.name} is no setting and does nothing", advice)


def any_wrong(findings: Iterable[Finding]) -> bool:
    """Return True if any finding is wrong."""
    return any(each.level is Level.WRONG for each in findings)


def _examine(settings: Settings) -> Iterator[Finding]:
    yield from checks.check_machine(settings)
    try:
        runtime = Runtime(settings, service="memci-doctor")
    except ConfigurationError as error:
        yield wrong("servers", str(error), "`memci up` starts them")
        return
    with closing(runtime):
        found = list(checks.check_database(database_url(settings)))
        yield from found
        if not any_wrong(found):
            yield from checks.check_queue(runtime.database)
            yield from checks.check_vectors(runtime.database, runtime.models.embedder)
            if settings.page_store != "memory":  # its texts are in another process
                yield from checks.check_page_texts(runtime.database, runtime.page_store)
        yield from checks.check_broker_and_workers(runtime.celery, runtime.redis)
    yield from checks.check_api(settings)
