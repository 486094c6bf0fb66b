"""The pass of compression over one network, in steps (M12 to M18)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

from memci.domain.memory.cursor import PassCursor
from memci.domain.memory.parameters import MemoryParameters
from memci.domain.memory.sparse import SNAPSHOT_BYTES
from memci.jobs.scanning import MODEL_DOWN, BatchScan
from memci.jobs.vectors import VectorGuard
from memci.queue.accounts import Accounts
from memci.queue.lease import Lease
from memci.smallmodel.registry import SmallModels
from memci.storage.focus import focus_nodes
from memci.storage.parameters import parameters_of
from memci.storage.passes import (
    CompressionState,
    begin_pass,
    compression_state,
    end_pass,
    left_of_pass,
    move_cursor,
)
from memci.storage.scans import Batch, next_batch
from memci.storage.session import Connection, Database
from memci.storage.snapshots import take_snapshot

# Nodes in one transaction. Each batch reads the network once, so small ones cost more; a large
# one holds the lane's lock longer.
BATCH = 1000


def utc_now() -> datetime:
    """Return the time, aware UTC."""
    return datetime.now(UTC)


class NetworkCompression:
    """Scans networks, batch by batch, each batch committed whole and with the cursor."""

    def __init__(
        self,
        database: Database,
        models: SmallModels,
        defaults: MemoryParameters,
        *,
        snapshot_bytes: int = SNAPSHOT_BYTES,
        clock: Callable[[], datetime] = utc_now,
        random: Random | None = None,
    ) -> None:
        """Take the parameters of agents that set none, and what snapshots of one may weigh."""
        self._database = database
        self._models = models
        self._defaults = defaults
        self._snapshot_bytes = snapshot_bytes
        self._clock = clock
        self._random = random or Random()
        self._accounts = Accounts(database, defaults, clock=clock)
        self._guard = VectorGuard(database, models.embedder)

    def slice_ms(self, agent_id: str) -> int:
        """Return the agent's ``time_slice`` (M17)."""
        with self._database.agent_snapshot(agent_id) as connection:
            return parameters_of(connection, agent_id, self._defaults).time_slice

    def step(self, lease: Lease, *, budget_ms: int) -> bool:
        """Scan nodes for about ``budget_ms``, at least one; True: there is more to do now."""
        deadline = time.monotonic() + budget_ms / 1000
        cursor = self._cursor(lease)
        while cursor is not None and not cursor.waits(self._clock()):
            cursor = self._scan_batch(lease, cursor, deadline)
            if time.monotonic() >= deadline:
                break
        return cursor is not None and not cursor.waits(self._clock())

    def _cursor(self, lease: Lease) -> PassCursor | None:
        """Return the cursor of the pass under way, or of a new one if one is wanted."""
        with self._database.agent_snapshot(lease.agent_id) as connection:
            self._guard.check(connection)
            state = compression_state(connection, lease.agent_id)
        if _goes_on(state, lease):
            return state.cursor
        with lease.effect() as connection:
            state = compression_state(connection, lease.agent_id)
            cursor = _next_cursor(connection, state, lease)
            if cursor is not None:
                self._see_off(connection, lease.agent_id, state.cursor, cursor)
                move_cursor(connection, lease.agent_id, cursor)
            return cursor

    def _see_off(
        self, connection: Connection, agent_id: str, old: PassCursor | None, new: PassCursor
    ) -> None:
        """Keep what a pass leaves that never ends, because the next one begins."""
        if old is not None and old.number < new.number:
            take_snapshot(connection, agent_id, old.number, self._snapshot_bytes)

    def _scan_batch(self, lease: Lease, cursor: PassCursor, deadline: float) -> PassCursor | None:
        """Scan the next nodes of the pass and commit; return the cursor, None: no more pass."""
        with self._database.agent_snapshot(lease.agent_id) as connection:
            parameters = parameters_of(connection, lease.agent_id, self._defaults)
            now = self._clock()
            batch = next_batch(connection, lease.agent_id, cursor.number, now, BATCH)
        scan = BatchScan(lease, cursor, self._models, parameters, self._clock, self._random)
        with self._accounts.of_pass(lease.agent_id, cursor.number):
            scan.run(batch, time_is_up=lambda: time.monotonic() >= deadline)
        with lease.effect() as connection:
            if compression_state(connection, lease.agent_id).cursor != cursor:
                return None  # cancelled while we thought
            if focus_nodes(connection, lease.agent_id) != batch.focus:
                return cursor  # decided on what no longer holds: decide again
            return self._write(connection, scan, batch)

    def _write(self, connection: Connection, scan: BatchScan, batch: Batch) -> PassCursor | None:
        agent_id, cursor = scan.lease.agent_id, scan.cursor
        scan.write(connection, batch.focus)
        retry_at = scan.retry_at
        if scan.complete and len(batch.nodes) < BATCH:
            left = left_of_pass(connection, agent_id, cursor.number, self._clock())
            if not left.nodes:
                end_pass(connection, agent_id, cursor)
                take_snapshot(connection, agent_id, cursor.number, self._snapshot_bytes)
                return None
            if left.waiting == left.nodes:
                retry_at = retry_at or left.retry_at
        moved = replace(cursor, unavailable=scan.unavailable, mute=scan.mute, retry_at=retry_at)
        if moved != cursor:
            move_cursor(connection, agent_id, moved)
        return moved


def _goes_on(state: CompressionState, lease: Lease) -> bool:
    """Tell whether the pass under way goes on, in the time slice that it was in."""
    return state.cursor is not None and state.cursor.fence == lease.fence


def _next_cursor(
    connection: Connection, state: CompressionState, lease: Lease
) -> PassCursor | None:
    """Decide at the beginning of a time slice: go on, begin a pass, or do nothing (M18).

    A request that came during a pass begins the next one here; what the old pass did not reach is
    first in the new one's order, so nothing starves but what was scanned most often.
    """
    if state.cursor is not None and state.requested <= state.cursor.request:
        return replace(state.cursor, fence=lease.fence)
    if state.requested <= state.done:
        return None
    number = begin_pass(connection, lease.agent_id)
    begun = PassCursor(number, request=state.requested, fence=lease.fence)
    if state.cursor is not None and state.cursor.unavailable >= MODEL_DOWN:
        # A new pass does not bring the model back.
        old = state.cursor
        return replace(begun, unavailable=old.unavailable, mute=old.mute, retry_at=old.retry_at)
    return begun
