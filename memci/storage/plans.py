"""Plans in the database (R7), and the last message that the plan tracker has read."""

from collections.abc import Collection
from dataclasses import astuple, dataclass

from sqlalchemy import Connection

from memci.domain.pages.tree import Viewer
from memci.domain.session.plan import Plan, Step, StepState
from memci.language.sentences import normalized_words
from memci.message import Message, Role
from memci.storage.messages import in_session, read_messages, select_messages
from memci.storage.sessions import WHOSE

_OF_SESSION = """
SELECT made_seq, session_id, user_id FROM plan
WHERE agent_id = %(agent)s AND session_id {session}
  AND (%(all)s OR user_id IS NULL OR user_id = %(user)s) ORDER BY made_seq DESC LIMIT 1
"""
_STEPS = """
SELECT text, said_seq, state, first_seq, last_seq FROM plan_step
WHERE agent_id = %s AND made_seq = %s ORDER BY position
"""
_MAKE = """
INSERT INTO plan (agent_id, made_seq, session_id, user_id) VALUES (%s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""
_EMPTY = "DELETE FROM plan_step WHERE agent_id = %s AND made_seq = %s"
_ADD = """
INSERT INTO plan_step (agent_id, made_seq, position, text, said_seq, state, first_seq, last_seq)
SELECT %s, %s, * FROM unnest(%s::integer[], %s::text[], %s::bigint[], %s::text[], %s::bigint[],
                             %s::bigint[])
"""
_SAID = """
SELECT DISTINCT said_seq, text FROM plan_step WHERE agent_id = %s AND said_seq = ANY(%s)
"""
_DROP = """
DELETE FROM plan_step USING unnest(%s::bigint[], %s::text[]) AS gone(seq, step)
 WHERE agent_id = %s AND said_seq = gone.seq AND text = gone.step
"""
_DROP_EMPTY = """
DELETE FROM plan WHERE agent_id = %s AND NOT EXISTS (
    SELECT FROM plan_step s WHERE s.agent_id = plan.agent_id AND s.made_seq = plan.made_seq)
"""
_TRACKED = "SELECT seq FROM tracking WHERE agent_id = %s"
_TRACK = """
INSERT INTO tracking (agent_id, seq) VALUES (%s, %s)
ON CONFLICT (agent_id) DO UPDATE SET seq = excluded.seq
"""
_UNTRACKED = "agent_id = %s AND seq > %s AND role = ANY(%s) ORDER BY seq LIMIT %s"
_WHOSE = f"""
SELECT m.seq, {WHOSE.format(session="= m.session_id")}
  FROM message m WHERE m.agent_id = %s AND m.seq = ANY(%s)
"""  # noqa: S608 - a constant of another module
_LAST = "SELECT message_seq FROM lane WHERE agent_id = %s"


@dataclass(frozen=True, slots=True)
class Untracked:
    """Messages of users and assistants after ``seq``, up to ``until``; ``more`` come later."""

    seq: int
    until: int
    messages: list[Message]
    more: bool


def read_plan(connection: Connection, agent_id: str, viewer: Viewer) -> Plan | None:
    """Return the current plan of the viewer's session (None: of messages without a session).

    Plans of another user are left out: a session may have had several users.
    """
    values = {
        "agent": agent_id,
        "session": viewer.session_id,
        "all": viewer.sees_all,
        "user": viewer.user_id,
    }
    plan = connection.exec_driver_sql(in_session(_OF_SESSION, viewer.session_id), values).first()
    if plan is None:
        return None
    rows = connection.exec_driver_sql(_STEPS, (agent_id, plan.made_seq))
    steps = (
        Step(each.text, each.said_seq, StepState(each.state), each.first_seq, each.last_seq)
        for each in rows
    )
    return Plan(plan.made_seq, plan.session_id, plan.user_id, tuple(steps))


def save_plan(connection: Connection, agent_id: str, plan: Plan) -> None:
    """Write a plan, new or changed. The lane must be locked."""
    connection.exec_driver_sql(_MAKE, (agent_id, plan.made_seq, plan.session_id, plan.user_id))
    connection.exec_driver_sql(_EMPTY, (agent_id, plan.made_seq))
    rows = [(place, *astuple(step)) for place, step in enumerate(plan.steps, start=1)]
    if rows:
        columns = map(list, zip(*rows, strict=True))
        connection.exec_driver_sql(_ADD, (agent_id, plan.made_seq, *columns))


def drop_unshown_steps(connection: Connection, agent_id: str, seqs: Collection[int]) -> None:
    """Remove the steps whose words these messages no longer show. The lane must be locked."""
    messages = read_messages(connection, agent_id, seqs)
    shown = {each.seq: normalized_words(each.text) for each in messages}
    said = connection.exec_driver_sql(_SAID, (agent_id, list(seqs))).all()
    gone = [step for step in said if normalized_words(step.text) not in shown[step.said_seq]]
    if gone:
        columns = map(list, zip(*gone, strict=True))
        connection.exec_driver_sql(_DROP, (*columns, agent_id))
        connection.exec_driver_sql(_DROP_EMPTY, (agent_id,))


def untracked_messages(connection: Connection, agent_id: str, most: int) -> Untracked:
    """Return at most ``most`` messages that the tracker has not read."""
    seq = tracked_seq(connection, agent_id)
    last = last_seq(connection, agent_id)
    roles = [Role.USER.value, Role.ASSISTANT.value]
    messages = select_messages(connection, _UNTRACKED, (agent_id, seq, roles, most))
    more = len(messages) == most
    return Untracked(seq, messages[-1].seq if more else max(last, seq), messages, more)


def users_then(
    connection: Connection, agent_id: str, seqs: Collection[int]
) -> dict[int, str | None]:
    """Return the user of each message's session at that time; None: no user."""
    rows = connection.exec_driver_sql(_WHOSE, (agent_id, list(seqs)))
    return {seq: user_id for seq, user_id in rows}  # noqa: C416 - dict() refuses rows


def tracked_seq(connection: Connection, agent_id: str) -> int:
    """Return the last message that the tracker has read; 0 if none."""
    return connection.exec_driver_sql(_TRACKED, (agent_id,)).scalar() or 0


def last_seq(connection: Connection, agent_id: str) -> int:
    """Return the seq of the agent's last message; 0 if there is none."""
    return connection.exec_driver_sql(_LAST, (agent_id,)).scalar() or 0


def note_tracked(connection: Connection, agent_id: str, seq: int) -> None:
    """Store that messages up to this one were read. The lane must be locked."""
    connection.exec_driver_sql(_TRACK, (agent_id, seq))
