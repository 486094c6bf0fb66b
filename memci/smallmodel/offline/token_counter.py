"""Exact token counts with OpenAI's tables, from litellm's wheel and never from a network."""

import hashlib
import importlib.util
import os
import re
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from memci.errors import ConfigurationError
from memci.language.loading import LoadOnce

# tiktoken names a cached table by the SHA-1 of the address that it would fetch it from.
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_TOKENIZERS = {
    "o200k_base": "o200k_base",
    "cl100k_base": "cl100k_base",
    "p50k_base": "p50k_base",
    "o200k_harmony": "o200k_base",
}
_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_LONGEST_RUN = 100_000
_LONG_RUN = re.compile(rf"\s{{{_LONGEST_RUN}}}")
# In all of these tables only white space, or a slash behind marks, goes on behind a line's end, and
# only white space before a line's end depends on what comes behind it.
_LINE_END = re.compile(r"\n(?=[^\s/])")
_cache_variable_lock = threading.Lock()


class OfflineTokenCounter:
    """Counts tokens as ``tokenizer`` does, in time linear in the text.

    Raises ``ConfigurationError`` for a name without an installed table.
    """

    def __init__(self, tokenizer: str = "o200k_base") -> None:
        if tokenizer not in _TOKENIZERS:
            known = ", ".join(sorted(_TOKENIZERS))
            raise ConfigurationError(f"no tokenizer {tokenizer!r}: set MEMCI_TOKENIZER to {known}")
        self._name = tokenizer
        self._encoding = LoadOnce(lambda: _load(tokenizer))

    @property
    def tokenizer(self) -> str:
        """The tokenizer's name, such as ``o200k_base``."""
        return self._name

    def count(self, text: str) -> int:
        """Return the tokens of ``text``; special tokens count as ordinary text.

        Runs of more than a hundred thousand white-space characters are counted in parts.
        """
        encoding = self._encoding.get()
        return sum(len(encoding.encode_ordinary(part)) for part in _parts(text))

    def pieces(self, text: str) -> list[str]:
        """Cut ``text`` between its lines, where a token always ends."""
        cuts = [
            end.end() for end in _LINE_END.finditer(text, 1) if not text[end.start() - 1].isspace()
        ]
        return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]


def _parts(text: str) -> Iterator[str]:
    """Cut a text within long runs of white space: tiktoken panics at a million characters."""
    begun = 0
    for run in _LONG_RUN.finditer(text) if len(text) > _LONGEST_RUN else ():
        yield text[begun : run.end()]
        begun = run.end()
    yield text[begun:]


def _load(tokenizer: str) -> Any:
    import tiktoken  # noqa: PLC0415 - only where tokens are counted

    folder = _folder_with(_TOKENIZERS[tokenizer])
    # tiktoken takes the folder from the environment only; its own cache would be in a shared
    # temporary folder, and its next resort is the network.
    with _cache_variable_lock:
        before = os.environ.get(_CACHE_VARIABLE)
        os.environ[_CACHE_VARIABLE] = str(folder)
        try:
            return tiktoken.get_encoding(tokenizer)
        finally:
            if before is None:
                del os.environ[_CACHE_VARIABLE]
            else:
                os.environ[_CACHE_VARIABLE] = before


def _folder_with(table: str) -> Path:
    """Find the folder that holds a table: inside litellm's package, without importing it."""
    name = hashlib.sha1(_ADDRESS.format(table).encode(), usedforsecurity=False).hexdigest()
    spec = importlib.util.find_spec("litellm")
    for root in spec.submodule_search_locations or () if spec else ():
        folder = Path(root) / "litellm_core_utils" / "tokenizers"
        if (folder / name).is_file():
            return folder
    raise ConfigurationError(
        f"the table of tokenizer {table!r} is not installed: reinstall memci's dependency litellm"
    )
