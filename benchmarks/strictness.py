"""Messages that the filter of R2 keeps: it must keep all evidence of public conversations."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.compare import Size, say
from benchmarks.report import Bar, Finding
from memci.config.settings import Settings
from memci.domain.memory.message_filter import FilterReason, Utterance, filter_reasons
from memci.domain.memory.parameters import MemoryParameters
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_SURVIVING = Bar(0.98, of="ours")


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance; ``is_evidence``: it answers a question."""

    speaker: tuple[str, str]
    text: str
    is_evidence: bool


@dataclass(frozen=True, slots=True)
class Filtered:
    """The turns of one session, each with the reason if it makes no memory."""

    turns: Sequence[Turn]
    reasons: Sequence[FilterReason | None]


def measure(data: Path, *, size: Size) -> Iterator[Finding]:
    """Filter the conversations in a folder: ``locomo*.json`` and ``memorybank_cn*.json``."""
    embedder = OfflineEmbedder(Settings().embedder_folder)
    sources = (("English", "locomo*.json", _locomo), ("Chinese", "memorybank_cn*.json", _exchanges))
    for language, pattern, read in sources:
        for path in sorted(data.glob(pattern)):
            conversations = json.loads(path.read_text("utf-8"))
            some = conversations[: size.pick(1, 1, None)]
            sessions = [session for each in some for session in read(each)]
            found = [_filtered(embedder, turns) for turns in sessions]
            yield from _findings(f"{language}, {path.stem}", found)


def _filtered(embedder: OfflineEmbedder, turns: Sequence[Turn]) -> Filtered:
    vectors = embedder.embed([turn.text for turn in turns])
    talk = [Utterance(turn.text, turn.speaker) for turn in turns]
    cosine = vectors @ vectors.T
    reasons = filter_reasons(talk, lambda one, other: float(cosine[one, other]), MemoryParameters())
    return Filtered(turns, reasons)


def _findings(name: str, found: Sequence[Filtered]) -> Iterator[Finding]:
    fates = [fate for each in found for fate in zip(each.turns, each.reasons, strict=True)]
    for turn, reason in fates:
        if reason:
            say(f"{reason.value}: {turn.text}")
    reasons = Counter(reason.value for _, reason in fates if reason)
    evidence = [reason is None for turn, reason in fates if turn.is_evidence]
    note = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    surviving = sum(evidence) / max(1, len(evidence))
    yield Finding(f"evidence turns kept, {name}", surviving, f"of {len(evidence)}", bar=_SURVIVING)
    share = reasons.total() / max(1, len(fates))
    yield Finding(f"messages filtered, {name}", share, f"of {len(fates)}", note=note)


def _locomo(conversation: dict[str, Any]) -> Iterator[list[Turn]]:
    """Read one of LoCoMo's conversations; the caption of a shared photo counts as spoken text."""
    places = " ".join(place for asked in conversation["qa"] for place in asked["evidence"])
    evidence = {f"D{int(s)}:{int(n)}" for s, n in _EVIDENCE.findall(places)}
    for key, session in conversation["conversation"].items():
        if _SESSION.fullmatch(key):
            yield [
                Turn(("user", each["speaker"]), _said(each), each["dia_id"] in evidence)
                for each in session
            ]


def _said(turn: dict[str, Any]) -> str:
    text, caption = turn["text"].strip(), turn.get("blip_caption")
    return f"{text} [photo: {caption.strip()}]" if caption else text


def _exchanges(conversation: dict[str, Any]) -> Iterator[list[Turn]]:
    """Read one of MemoryBank's conversations, day by day."""
    evidence = {place for asked in conversation["questions"] for place in asked["evidence"]}
    for _, day in groupby(conversation["exchanges"], key=lambda each: each["date"]):
        yield [
            Turn((role, ""), exchange[role], exchange["id"] in evidence)
            for exchange in day
            for role in ("user", "assistant")
        ]
