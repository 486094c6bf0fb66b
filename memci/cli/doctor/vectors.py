"""Were all vectors made by the embedder that is set?"""

from __future__ import annotations

from collections.abc import Iterator

from memci.cli.doctor.finding import Finding, note, ok, wrong
from memci.cli.output import counted
from memci.commands.reembed import progress
from memci.errors import WrongEmbedderError
from memci.smallmodel.ports import Embedder
from memci.storage.session import Database
from memci.storage.vector_model import VectorModel, check_model


def check_vectors(database: Database, embedder: Embedder) -> Iterator[Finding]:
    """Compare the embedder of the settings with the one in use."""
    try:
        with database.lane_transaction() as connection:
            check_model(connection, VectorModel(embedder.model, embedder.dimension))
    except WrongEmbedderError as error:
        said, _, advice = str(error).partition(": ")
        yield wrong("vectors", said, advice)
        return
    found = progress(database)
    if found.held is None:
        yield ok("vectors", "none yet: the first worker's embedder is taken")
    elif found.left.queued:
        agents = counted(found.left.queued, "agent")
        yield note(
            "vectors", f"{agents} still to be embedded anew", "`memci reembed --status` tells more"
        )
    else:
        yield ok("vectors", f"made by {found.held.model}")
