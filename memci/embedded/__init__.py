"""PostgreSQL and Redis from Python wheels, for a machine that has neither.

::

    with own(data_dir) as servers:      # one process: starts or adopts, stops at the end
        ...servers.addresses...
    addresses = connect(data_dir)       # any other process: None when they do not answer

The data folder, where everything is private to its owner::

    lock                      locked by the owner; the system unlocks it when the owner ends
    postgres/cluster/         the data
             memci.pass       password of the login of memci, in libpq's format
             postgres.pass    password of the superuser, who runs the migrations
             port  server.conf  hba.conf  postgres.log  run/ (socket)
    redis/data/               the append-only file
          password  port  server.conf  redis.log  run/ (socket)
"""

from memci.embedded.owner import Addresses, Servers, connect, own, servers_of
from memci.embedded.postgres import Postgres
from memci.embedded.redis import Redis

__all__ = ["Addresses", "Postgres", "Redis", "Servers", "connect", "own", "servers_of"]
