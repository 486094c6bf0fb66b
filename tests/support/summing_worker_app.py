"""Real workers with scripted models, but with memci's default summarizer and token counter.

``celery -A tests.support.summing_worker_app worker …``
"""

from __future__ import annotations

from dataclasses import dataclass, field

from memci.smallmodel.offline.summarizer import OfflineSummarizer
from memci.smallmodel.offline.token_counter import OfflineTokenCounter
from tests.support.models import ScriptedModels
from workers.app import app
from workers.lifecycle import runtime

__all__ = ["app"]


@dataclass
class SummingModels(ScriptedModels):
    summarizer: OfflineSummarizer = field(default_factory=OfflineSummarizer)
    tokens: OfflineTokenCounter = field(default_factory=OfflineTokenCounter)


here = runtime()
here.models = SummingModels()
