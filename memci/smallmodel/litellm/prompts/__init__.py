"""Instructions for models: one file for each prompt and language, ``<prompt>.<language>.md``."""

from functools import cache
from importlib.resources import files

from memci.language.detection import Language


@cache
def instructions(prompt: str, language: Language) -> str:
    """Return the instructions of a prompt."""
    return files(__name__).joinpath(f"{prompt}.{language}.md").read_text(encoding="utf-8").strip()
