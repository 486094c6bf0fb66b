"""The tables, as SQLAlchemy Core sees them; the migrations make them, a test compares both."""

from memci.storage.rows.agent import agent_setting, receipt
from memci.storage.rows.belief import claim, node_version, session_end
from memci.storage.rows.documents import (
    chunk,
    chunk_term,
    chunk_vector,
    document,
    document_body,
)
from memci.storage.rows.edition import EDITION_SCHEMA, TWINNED, TWINS, edition, replay_log
from memci.storage.rows.erasure import erased_message
from memci.storage.rows.frameworks import checkpoint, checkpoint_value, checkpoint_write, item
from memci.storage.rows.lane import job, lane, letter
from memci.storage.rows.message import message, message_around, message_term, message_vector
from memci.storage.rows.metadata import metadata
from memci.storage.rows.network import (
    focus,
    link,
    node,
    node_term,
    node_vector,
    pass_log,
    pass_snapshot,
    trail,
)
from memci.storage.rows.pages import page, page_body, page_step, page_tree, pin
from memci.storage.rows.plans import plan, plan_step, tracking
from memci.storage.rows.summary import summary
from memci.storage.rows.usage import model_total, model_usage
from memci.storage.rows.vector_model import vector_model

__all__ = [
    "EDITION_SCHEMA",
    "TWINNED",
    "TWINS",
    "agent_setting",
    "checkpoint",
    "checkpoint_value",
    "checkpoint_write",
    "chunk",
    "chunk_term",
    "chunk_vector",
    "claim",
    "document",
    "document_body",
    "edition",
    "erased_message",
    "focus",
    "item",
    "job",
    "lane",
    "letter",
    "link",
    "message",
    "message_around",
    "message_term",
    "message_vector",
    "metadata",
    "model_total",
    "model_usage",
    "node",
    "node_term",
    "node_vector",
    "node_version",
    "page",
    "page_body",
    "page_step",
    "page_tree",
    "pass_log",
    "pass_snapshot",
    "pin",
    "plan",
    "plan_step",
    "receipt",
    "replay_log",
    "session_end",
    "summary",
    "tracking",
    "trail",
    "vector_model",
]
