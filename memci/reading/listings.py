"""Everything that can be listed, in one hand for the API; needs no small model.

An agent that nobody has written to has nothing to list, and that is no error; only ``agent``
itself says that there is none yet (M1).
"""

from __future__ import annotations

from memci.reading.agents import AgentListings
from memci.reading.jobs import JobListings
from memci.reading.messages import MessageListings
from memci.reading.network import NetworkListings
from memci.reading.nodes import NodeListings
from memci.reading.receipts import ReceiptListings


class Listings(
    AgentListings,
    MessageListings,
    NodeListings,
    NetworkListings,
    JobListings,
    ReceiptListings,
):
    """Lists agents and what each holds."""
