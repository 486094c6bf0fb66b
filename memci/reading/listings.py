"""Everything that can be listed, in one hand for the API; needs no small model.

Whatever is asked of an agent that is not there is a ``NotFoundError``, except for receipts: that
of its erasure is kept.
"""

from __future__ import annotations

from memci.reading.agents import AgentListings
from memci.reading.beliefs import BeliefListings
from memci.reading.documents import DocumentListings
from memci.reading.jobs import JobListings
from memci.reading.messages import MessageListings
from memci.reading.network import NetworkListings
from memci.reading.nodes import NodeListings
from memci.reading.receipts import ReceiptListings
from memci.reading.summaries import SummaryListings


class Listings(
    AgentListings,
    MessageListings,
    NodeListings,
    NetworkListings,
    BeliefListings,
    SummaryListings,
    DocumentListings,
    JobListings,
    ReceiptListings,
):
    """Lists agents and what each holds."""
