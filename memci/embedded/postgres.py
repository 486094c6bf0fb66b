"""The embedded PostgreSQL 18 with pgvector: its cluster, roles and database."""

import os
import shutil
import signal
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, LiteralString
from urllib.parse import quote

import psycopg
from psycopg import sql

from memci.embedded import files, server
from memci.embedded.server import Server
from memci.errors import ConfigurationError

LOGIN = "memci"
DATABASE = "memci"
OWNER = "memci_owner"
OF_LOGIN = ("memci_app", "memci_upkeep")  # M21


def ensure_roles(connection: psycopg.Connection, password: str) -> None:
    """Create the three roles of M21, and the login of the parts, which cannot become the owner.

    The login inherits nothing: a statement outside one of its roles sees no table.
    """
    for role in (OWNER, *OF_LOGIN, LOGIN):
        if not _exists(connection, "SELECT FROM pg_roles WHERE rolname = %s", role):
            _execute(connection, "CREATE ROLE {} NOLOGIN NOINHERIT", role)
    for role in OF_LOGIN:
        _execute(connection, "GRANT {} TO {} WITH INHERIT FALSE, SET TRUE", role, LOGIN)
    # The verifier, not the password: statements can end up in logs.
    verifier = connection.pgconn.encrypt_password(
        password.encode(), LOGIN.encode(), b"scram-sha-256"
    )
    statement = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
    connection.execute(statement.format(sql.Identifier(LOGIN), sql.Literal(verifier.decode())))


def ensure_database(connection: psycopg.Connection) -> None:
    """Create the database, owned by the role that runs migrations."""
    if not _exists(connection, "SELECT FROM pg_database WHERE datname = %s", DATABASE):
        _execute(connection, "CREATE DATABASE {} OWNER {}", DATABASE, OWNER)


def ensure_vector(connection: psycopg.Connection) -> None:
    """Create the extension in the database of this connection."""
    if not _exists(connection, "SELECT FROM pg_extension WHERE extname = %s", "vector"):
        connection.execute("CREATE EXTENSION vector")


def _exists(connection: psycopg.Connection, query: LiteralString, name: str) -> bool:
    return connection.execute(query, (name,)).fetchone() is not None


def _execute(connection: psycopg.Connection, statement: LiteralString, *names: str) -> None:
    connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


SUPERUSER = "postgres"

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "synchronous_commit": "on",
    "jit": "off",  # compiling costs more than our short statements gain
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    # The detail of an error quotes rows, which contain messages.
    "log_error_verbosity": "terse",
}
_NOT_DURABLE = {"fsync": "off", "full_page_writes": "off"}
_INITDB = (
    "--auth=scram-sha-256",
    f"--username={SUPERUSER}",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",  # the same sort order on every machine
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
)
_HBA = "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n"
_ASK_ID = "SELECT system_identifier FROM pg_control_system()"


class Postgres(Server):
    """The PostgreSQL server of a folder.

    Its URL logs in as ``memci``, who owns nothing, to the database ``memci``; only migrations use
    the superuser's. A URL has no password but names a file of mode 0600 with it.
    """

    name: ClassVar[str] = "postgres"
    stop_signals: ClassVar[Sequence[tuple[signal.Signals, float]]] = (
        (signal.SIGINT, 30.0),  # fast: connections are closed, everything is written
        (signal.SIGQUIT, 10.0),  # immediate: the next start recovers
        (signal.SIGKILL, 10.0),
    )
    passing_troubles: ClassVar[Sequence[str]] = (
        "Address already in use",
        # Children of a killed server that have not ended yet.
        "pre-existing shared memory block",
        # A killed owner was starting a server: it will listen soon, and is adopted.
        'lock file "postmaster.pid" already exists',
        "was terminated by signal 9",  # its child, which recovers from a crash
    )

    @property
    def cluster(self) -> Path:
        """PostgreSQL's data directory."""
        return self.home / "cluster"

    @property
    def url(self) -> str:
        """The URL of the database ``memci`` for programs."""
        return self.database_url(DATABASE)

    @property
    def migration_url(self) -> str:
        """The URL of the database ``memci`` for its migrations."""
        return self.database_url(DATABASE, SUPERUSER)

    def database_url(self, database: str, login: str = LOGIN) -> str:
        """Return the URL of one database, for a login.

        Another program on our port gets no password from the client, which insists on SCRAM.
        """
        passfile = quote(os.fspath(self._passfile(login)), safe="/")
        return (
            f"postgresql+psycopg://{login}@127.0.0.1:{self.port}/{database}"
            f"?passfile={passfile}&require_auth=scram-sha-256"
        )

    def connect_as_superuser(self, database: str = "postgres") -> psycopg.Connection:
        """Connect over the socket, with autocommit."""
        sockets = self._sockets()
        if sockets is None:
            raise ConfigurationError(f"PostgreSQL does not run in {self.home}")
        return self._connect(os.fspath(sockets), SUPERUSER, database)

    def superuser_variables(self) -> dict[str, str]:
        """Return libpq's environment variables for a program that connects as superuser."""
        return {
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.port),
            "PGUSER": SUPERUSER,
            "PGPASSFILE": os.fspath(self._passfile(SUPERUSER)),
            "PGREQUIREAUTH": "scram-sha-256",
            "PGSSLMODE": "disable",
            "PGGSSENCMODE": "disable",
        }

    def answers(self) -> bool:
        """Return True if ``url`` leads to the cluster of this home, and the login works."""
        if self.pid is None:
            return False
        return self._answers_with_id("127.0.0.1", LOGIN, DATABASE)

    def start(self) -> None:
        """Adopt or launch the server, and create what is missing: roles, database, pgvector."""
        super().start()
        password = self._passfile(LOGIN).read_text(encoding="ascii").strip()
        with self.connect_as_superuser() as connection:
            ensure_roles(connection, password.rpartition(":")[2])
            ensure_database(connection)
        with self.connect_as_superuser(DATABASE) as connection:
            ensure_vector(connection)

    def _prepare(self) -> None:
        version = self.cluster / "PG_VERSION"
        if not version.exists():
            self._make_cluster()
        elif version.read_text(encoding="ascii").strip() != server.POSTGRES_MAJOR:
            raise ConfigurationError(
                f"{self.cluster} was written by PostgreSQL {version.read_text().strip()}, and "
                f"this release runs {server.POSTGRES_MAJOR}: export it with the release that "
                "wrote it, or set MEMCI_DATA_DIR to a new folder"
            )
        if not self._passfile(LOGIN).exists():
            self._write_passfile(LOGIN, files.new_password())

    def _configure(self, port: int, sockets: Path) -> Sequence[str]:
        self._drop_stale_locks(sockets)
        access = self.home / "hba.conf"
        files.write_private(access, _HBA, self.account)
        settings = {
            "hba_file": os.fspath(access),
            "unix_socket_directories": f'"{sockets}"',
            "port": str(port),
            **_SETTINGS,
            **({} if self.durable else _NOT_DURABLE),
        }
        lines = "".join(f"{key} = {_quoted(value)}\n" for key, value in settings.items())
        configuration = self.home / "server.conf"
        files.write_private(configuration, lines, self.account)
        return (
            os.fspath(server.postgres()),
            f"-D{self.cluster}",
            f"--config-file={configuration}",
        )

    def _is_up(self, sockets: Path) -> bool:
        return self._answers_with_id(os.fspath(sockets), SUPERUSER, "postgres")

    def _socket(self, sockets: Path) -> Path:
        return sockets / f".s.PGSQL.{self.port}"

    def _make_cluster(self) -> None:
        """Run initdb in another folder, then rename it: the cluster is complete or missing."""
        fresh = self.home / "cluster.new"
        shutil.rmtree(fresh, ignore_errors=True)
        password = files.new_password()
        self._write_passfile(SUPERUSER, password)
        secret = self.home / "initdb.password"
        files.write_private(secret, password, self.account)
        command = [os.fspath(server.initdb()), *_INITDB]
        command += [f"--pgdata={fresh}", f"--pwfile={secret}"]
        command += [] if self.durable else ["--no-sync"]
        try:
            server.run(command, self.account, home=self.home)
        finally:
            secret.unlink()
        fresh.rename(self.cluster)

    def _drop_stale_locks(self, sockets: Path) -> None:
        """Remove lock files of a server that was killed.

        PostgreSQL does not start if any process has the id in a lock file, even a dead one that its
        parent has not collected. Called when nothing listens on our socket; the working directory
        of a real server is its cluster before it writes locks.
        """
        for lock in (self.cluster / "postmaster.pid", *sockets.glob(".s.PGSQL.*.lock")):
            if lock.exists() and not self._is_in_use(lock):
                lock.unlink()

    def _is_in_use(self, lock: Path) -> bool:
        pid = lock.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
        try:
            return Path(f"/proc/{int(pid)}/cwd").readlink() == self.cluster.resolve()
        except (OSError, ValueError):
            return False

    def _answers_with_id(self, host: str, user: str, database: str) -> bool:
        try:
            with self._connect(host, user, database) as connection:
                row = connection.execute(_ASK_ID).fetchone()
        except psycopg.OperationalError:
            return False
        return row == (self._cluster_id(),)

    def _cluster_id(self) -> int:
        """Read the system identifier: the first 8 bytes of pg_control."""
        with (self.cluster / "global" / "pg_control").open("rb") as control:
            number: int = struct.unpack("=Q", control.read(8))[0]
        return number

    def _connect(self, host: str, user: str, database: str) -> psycopg.Connection:
        return psycopg.connect(
            host=host,
            port=self.port,
            user=user,
            dbname=database,
            passfile=os.fspath(self._passfile(user)),
            require_auth="scram-sha-256",
            sslmode="disable",
            gssencmode="disable",
            connect_timeout=3,
            autocommit=True,
        )

    def _passfile(self, user: str) -> Path:
        return self.home / f"{user}.pass"

    def _write_passfile(self, user: str, password: str) -> None:
        files.write_private(self._passfile(user), f"*:*:*:{user}:{password}\n", self.account)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
