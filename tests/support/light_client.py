"""An environment like that of ``pip install memci``: the wheel, and nothing that is an extra."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement

from tests.support.fleet import ROOT

_SOURCES = ("pyproject.toml", "README.md", "LICENSE", "beat_schedule.py", "memci", "workers")


def build_wheel(folder: Path) -> Path:
    """Build the wheel in a folder from a copy of the sources, without a network."""
    copy = folder / "sources"
    copy.mkdir()
    for name in _SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    code = f"from setuptools.build_meta import build_wheel; print(build_wheel({str(folder)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=copy, capture_output=True, text=True, check=True
    )
    return folder / done.stdout.split()[-1]


def requirements(wheel: Path, extra: str = "") -> set[str]:
    """Return the names of the packages that the wheel requires, alone or with an extra."""
    (found,) = distributions(name="memci", path=[str(wheel)])
    return _needed(found.requires, extra)


def install_light(wheel: Path, folder: Path) -> Path:
    """Make a virtual environment of the wheel and what it requires; return its Python.

    The required packages are links to those of this process.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    left, seen = requirements(wheel), set[str]()
    while left:
        seen.add(name := left.pop())
        found = distribution(name)
        for top in {each.parts[0] for each in found.files or () if each.parts[0] != ".."}:
            if top != "__pycache__" and not (site / top).exists():
                (site / top).symlink_to(Path(str(found.locate_file(top))))
        left |= _needed(found.requires) - seen
    return folder / "bin/python"


def _needed(lines: list[str] | None, extra: str = "") -> set[str]:
    return {
        each.name.lower()
        for each in map(Requirement, lines or ())
        if each.marker is None or each.marker.evaluate({"extra": extra})
    }
