"""``memci.read.assemble``: answers a request for a context (R13 to R16)."""

from memci.domain.context.assemble import assemble
from memci.domain.search.candidate import KEPT, Source
from memci.domain.search.late_interaction import QuestionTokens
from memci.domain.session.interaction import interactions
from memci.domain.token_counts import tokenizer_of
from memci.reading.choose import choose
from memci.reading.find import find_for_context
from memci.reading.rank import Ranker
from memci.reading.reader import Reader, Stopwatch, computing, wait_until_fresh
from memci.reading.receipt import Account, keep_receipt
from memci.reading.understand import understand
from memci.schemas.reads import ContextAnswer, ContextRequest
from memci.smallmodel.vector_space import Vectors


class ContextReader(Reader):
    """Assembles contexts; for an unknown agent of system text and query alone."""

    def run(
        self,
        agent_id: str,
        request: ContextRequest,
        *,
        vector: Vectors | None = None,
        tokens: QuestionTokens | None = None,
    ) -> ContextAnswer:
        """Return the best message list of at most ``budget_tokens`` tokens, and keep its receipt.

        ``vector`` and ``tokens`` are the query's own, if the caller has them. Raises
        ``BudgetTooSmallError`` when system text, pins, plan and query alone do not fit.
        """
        watch = Stopwatch()
        wait_until_fresh(self.database, agent_id, request)
        watch.lap("wait")
        question = None
        if request.query is not None:
            scope = _searched_scope(request)
            question = understand(
                self, agent_id, request.query, scope, vector=vector, tokens=tokens
            )
        watch.lap("embed")
        snapshot = self.database.agent_snapshot(agent_id, planned=question is not None)
        with computing, snapshot as connection:
            found = find_for_context(self, connection, agent_id, question, request)
            ranker = Ranker(self, connection, agent_id, found, request)
            ranking = ranker.for_context(request.k)
        watch.lap("find")
        tokenizer = tokenizer_of(request.model, self.defaults.tokenizer)
        count = self.models.tokenizers.count(tokenizer)
        with computing:
            assembly = assemble(choose(request, found, ranking, count))
        watch.lap("assemble")
        account = Account(request, found, assembly, tokenizer, watch.laps_ms)
        answer = keep_receipt(self, agent_id, account)
        # A summary excluded by ``sources`` is not missing.
        is_read = Source.SUMMARY in request.sources and request.as_of is None
        parameters = found.parameters
        is_long = len(interactions(found.messages)) > parameters.preserve_recent
        wanted = assembly.lacks_summary and is_read and is_long
        if wanted and parameters.summarization_enabled:
            self.activity.want_summary(agent_id, request.session_id)
        return answer


def _searched_scope(request: ContextRequest) -> ContextRequest:
    """Return the request, limited to the sources without a section of their own (R13).

    Notes are included: their section lists most of them by name only.
    """
    sources = tuple(each for each in request.sources if each not in KEPT or each is Source.PAGE)
    return request.model_copy(update={"sources": sources})
