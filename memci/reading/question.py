"""What is asked of search, and the ranking that answers it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from memci.domain.context import bm25
from memci.domain.context.candidate import Candidate, Channel, Source, reads
from memci.domain.context.fusion import Ranked, fuse_rrf
from memci.domain.language import language_of
from memci.reading.models import ReadingModels
from memci.shapes.read import Scope
from memci.storage.search import Found, Question, Restriction
from memci.storage.vectors import vector_text
