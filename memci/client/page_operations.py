"""The tools on pages as methods of agents: one for each of the table of tools.

The stub beside this module is made of the same table; type checkers and editors read it.
"""

from memci.client.method import Methods, TransportT
from memci.client.pages import method_of
from memci.schemas.tools.table import TOOLS, About


class PageOperations(Methods[TransportT]):
    """Operations on the pages of an agent.

    Errors are those of ``memci.errors``: ``NotFoundError`` for an unknown agent or page,
    ``RefusedError``, which says why, for a forbidden operation.
    """


for _tool in TOOLS:
    if _tool.about is About.PAGES:
        setattr(PageOperations, _tool.name, method_of(_tool))
