"""Tests whether a later message supersedes an earlier one (R6)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memci.language.claims.claim import StoredClaim, find_supersessions, resolve_correction
from memci.language.claims.reader import claims_in

BEGIN = datetime(2026, 5, 1, tzinfo=UTC)


def supersedes(older: str, newer: str, speakers: tuple[str, str] = ("user:", "user:")) -> bool:
    """Tell whether a message supersedes one of the day before."""
    held: list[StoredClaim] = []
    for place, (text, speaker) in enumerate(zip((older, newer), speakers, strict=True)):
        made = [
            StoredClaim(claim, place + 1, place + 1, BEGIN + timedelta(days=place))
            for claim in claims_in(text, speaker)
        ]
        known = [*held, *made]
        held += [each for one in made if (each := resolve_correction(one, known)) is not None]
    keys = {(each.claim.subject, each.claim.attribute) for each in held}
    return any(
        found.older.node_id == 1 and found.newer.node_id == 2
        for key in keys
        for found in find_supersessions(
            each for each in held if (each.claim.subject, each.claim.attribute) == key
        )
    )
