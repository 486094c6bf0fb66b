"""The keywords of a recall, in the forms in which they are looked for (M20)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memci.domain.context.candidate import reads
from memci.domain.language import Language, language_of
from memci.domain.memory.recall import mentions
from memci.reading.models import ReadingModels
from memci.smallmodel.ports import Vectors

# What is longer names nothing: the rest of it is not read.
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class Keywords:
    """What is looked for. ``terms`` of each keyword; all of them have to be there together.

    ``characters`` are keywords of a single Chinese character, which no index term holds.
    ``vectors`` (shape (n, d)) are of those whose language the embedding model reads.
    ``everything``: no keyword was given, so all memories match.
    """

    terms: tuple[frozenset[str], ...]
    characters: tuple[str, ...]
    vectors: Vectors
    model: str
    language: Language
    everything: bool

    @classmethod
    def of(
        cls, keywords: Sequence[str], models: ReadingModels, vectors: Vectors | None = None
    ) -> Keywords:
        """Read keywords. Calls the embedder, unless it is given their vectors."""
        model = models.embedder.model
        short = [each[:_LONGEST].strip() for each in keywords]
        if vectors is None:
            read = [each for each in short if each and reads(model, language_of(each))]
            vectors = models.embedder.embed(read)
        characters = [each for each in short if _is_one_character(each)]
        words = [each for each in short if not _is_one_character(each)]
        return cls(
            terms=tuple(frozenset(models.lexicon.terms(each)) for each in words),
            characters=tuple(characters),
            vectors=vectors,
            model=model,
            language=language_of(" ".join(short)),
            everything=not keywords,
        )

    def are_in(self, text: str, models: ReadingModels) -> bool:
        """Tell whether a text holds any of them, as a token."""
        if self.everything or any(character in text for character in self.characters):
            return True
        return mentions(frozenset(models.lexicon.terms(text)), self.terms)


def _is_one_character(keyword: str) -> bool:
    return len(keyword) == 1 and language_of(keyword) is Language.CHINESE
