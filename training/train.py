"""Trains the map of questions and the ranking: ``python -m training.train [--licensed FOLDER]``.

Needs LightGBM (``pip install lightgbm``), which memci itself does not. Writes the map, the model
and its card into the package. What is computed of a file is kept in a folder, so that a second run
is short.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from memci.domain.search import features
from memci.domain.search.boosted_trees import MOST_LEAVES, BoostedTrees
from memci.domain.search.features import NAMES
from memci.smallmodel.offline.e5_embedder import QUERY_MAP
from memci.smallmodel.vector_space import Vectors
from training.collect import Group, collect, plain_embedder
from training.corpus import Archive, Entry, Question, read_corpora
from training.query_map import Pairs, fit, pairs_of

TREES, LEARNING_RATE = 100, 0.16
_ALL = (1 << MOST_LEAVES) - 1
_MEMCI = Path(__file__).parents[1] / "memci"
_PACKAGE = _MEMCI / "domain/search/data"
_QUERY_MAP = _MEMCI / "smallmodel/offline/data" / QUERY_MAP
_CATEGORIES = {1: "multi", 2: "temporal", 3: "open", 4: "single"}


def main() -> None:
    """Collect, train, judge with each kind of corpus left out, and write the model."""
    parser = argparse.ArgumentParser(prog="training.train", description=__doc__)
    parser.add_argument("--licensed", type=Path, help="folder of licensed sets, as JSON")
    parser.add_argument("--groups", type=Path, default=Path(".training"))
    parser.add_argument("--left-out", action="store_true", help="judge with each kind left out")
    given = parser.parse_args()
    corpora = read_corpora()
    if given.licensed:
        corpora |= {path.stem: read_plain(path) for path in sorted(given.licensed.glob("*.json"))}
    pairs = {name: _pairs(given.groups, name, found) for name, found in corpora.items()}
    np.save(_QUERY_MAP, fit(list(pairs.values())).astype(np.float16))
    groups = {
        name: _collected(given.groups, name, found, _without(pairs, name))
        for name, found in corpora.items()
    }
    model = train([each for both in groups.values() for each in both])
    (_PACKAGE / "ranking.json").write_text(json.dumps(model, separators=(",", ":")), "utf-8")
    scores = _left_out(groups) if given.left_out else {}
    (_PACKAGE / "ranking.md").write_text(_card(corpora, scores), "utf-8")


def read_plain(path: Path) -> list[Archive]:
    """Read archives of a licensed set: ``id``, ``turns`` and ``questions``, or exchanges."""
    archives = []
    for stored in json.loads(path.read_text("utf-8")):
        raw = _of_exchanges(stored) if "exchanges" in stored else stored
        places = {turn["id"]: at for at, turn in enumerate(raw["turns"])}
        archive = Archive(raw["id"])
        for turn in raw["turns"]:
            day = date.fromisoformat(turn.get("date") or "2024-01-01")
            archive.entries.append(Entry(turn["speaker"], turn["text"], turn["session"], day))
        for asked in raw["questions"]:
            evidence = tuple(places[each] for each in asked["evidence"] if each in places)
            if evidence:
                kind = _CATEGORIES.get(asked.get("category", 4), "single")
                archive.questions.append(Question(kind, evidence, asked["text"]))
        archives.append(archive)
    return archives


def _of_exchanges(raw: Mapping[str, Any]) -> dict[str, Any]:
    turns = [
        {"id": each["id"], "speaker": raw["user"], "date": each["date"],
         "text": f"{each['user']} / AI: {each['assistant']}",
         "session": int(each["id"][1:].split(":")[0])}
        for each in raw["exchanges"]
    ]  # fmt: skip
    questions = [
        {"text": each["question"], "evidence": each["evidence"]} for each in raw["questions"]
    ]
    return {"id": raw["user"], "turns": turns, "questions": questions}


def _pairs(folder: Path, name: str, archives: Sequence[Archive]) -> Pairs:
    path = folder / f"{name}.npz"
    if not path.exists():
        folder.mkdir(exist_ok=True)
        questions, directions = pairs_of(plain_embedder(), archives)
        np.savez(path, questions=questions, directions=directions)
    stored = np.load(path)
    return stored["questions"], stored["directions"]


def _kind(name: str) -> str:
    return name.split("_", maxsplit=1)[0]


def _without(pairs: Mapping[str, Pairs], name: str) -> Vectors:
    """Return the map that knows no questions of this kind of corpus."""
    others = [found for other, found in pairs.items() if _kind(other) != _kind(name)]
    return fit(others).astype(np.float32)


def _digest_of_features() -> str:
    return hashlib.sha256(Path(features.__file__).read_bytes()).hexdigest()[:8]


def _collected(
    folder: Path, name: str, archives: Sequence[Archive], query_map: Vectors
) -> tuple[list[Group], list[Group]]:
    """Return the groups as the entries stand, and shuffled."""
    path = folder / f"{name}-{_digest_of_features()}.pickle"
    if not path.exists():
        folder.mkdir(exist_ok=True)
        made = collect(archives, query_map)
        path.write_bytes(pickle.dumps(made))
        print(f"{name}: {len(made[0])} questions", flush=True)
    groups: tuple[list[Group], list[Group]] = pickle.loads(path.read_bytes())  # noqa: S301 - own
    return groups


def train(sets: Sequence[Sequence[Group]]) -> dict[str, Any]:
    """Train on sets of groups, each weighed by the root of its size; return the model file."""
    import lightgbm

    found = [
        (each, 1 / np.sqrt(len(groups)))
        for groups in sets
        for each in groups
        if each.is_evidence.any()
    ]
    weights = np.concatenate([np.full(len(each.plain), weight) for each, weight in found])
    data = lightgbm.Dataset(
        np.concatenate([each.features for each, _ in found]),
        np.concatenate([each.is_evidence for each, _ in found]).astype(int),
        group=[len(each.plain) for each, _ in found],
        weight=weights / weights.mean(),
    )
    options = {
        "objective": "lambdarank", "lambdarank_truncation_level": 60, "num_leaves": MOST_LEAVES,
        "learning_rate": LEARNING_RATE, "min_data_in_leaf": 200, "lambda_l2": 30.0,
        "feature_fraction": 0.4, "bagging_fraction": 0.8, "bagging_freq": 1, "seed": 1,
        "deterministic": True, "force_row_wise": True, "verbose": -1,
    }  # fmt: skip
    booster = lightgbm.train(options, data, TREES)
    trees = [_flat(each["tree_structure"]) for each in booster.dump_model()["tree_info"]]
    columns, thresholds, masks, leaves = (list(each) for each in zip(*trees, strict=True))
    return {"features": list(NAMES), "columns": columns, "thresholds": thresholds,
            "masks": masks, "leaves": leaves}  # fmt: skip


def _flat(tree: Mapping[str, Any]) -> tuple[list[int], list[float], list[int], list[float]]:
    """Return the nodes of a tree as columns, thresholds and masks, and its leaves."""
    nodes: list[tuple[int, float, int]] = []
    leaves: list[float] = []

    def visit(node: Mapping[str, Any]) -> int:
        """Return the leaves below a node, as bits."""
        if "leaf_value" in node:
            leaves.append(round(float(node["leaf_value"]), 5))
            return 1 << (len(leaves) - 1)
        place = len(nodes)
        nodes.append((0, 0.0, 0))
        left = visit(node["left_child"])
        threshold = float(np.float32(node["threshold"]))
        nodes[place] = (int(node["split_feature"]), threshold, _ALL & ~left)
        return left | visit(node["right_child"])

    visit(tree)
    # A node that rules nothing out.
    nodes += [(0, 0.0, _ALL)] * (MOST_LEAVES - 1 - len(nodes))
    leaves += [0.0] * (MOST_LEAVES - len(leaves))
    columns, thresholds, masks = (list(each) for each in zip(*nodes, strict=True))
    return columns, thresholds, masks, leaves


def among_ten(groups: Sequence[Group], model: BoostedTrees | None) -> float:
    """Return the mean share of the found evidence among the best ten, by a model or plainly."""
    shares = []
    for each in groups:
        if each.is_evidence.any():
            scores = each.plain if model is None else model.predict(each.features)
            best = np.argsort(-scores, kind="stable")[:10]
            shares.append(float(each.is_evidence[best].sum() / each.is_evidence.sum()))
    return fmean(shares)


def _left_out(
    groups: Mapping[str, tuple[list[Group], list[Group]]],
) -> dict[str, tuple[float, float]]:
    kinds = sorted({_kind(name) for name in groups})
    scores = {}
    for kind in kinds:
        others = [each for name, both in groups.items() if _kind(name) != kind
                  for each in both]  # fmt: skip
        model = BoostedTrees.read(json.dumps(train(others)))
        own = [each for name, both in groups.items() if _kind(name) == kind
               for each in both[0]]  # fmt: skip
        scores[kind] = (among_ten(own, None), among_ten(own, model))
        print(f"{kind}: plain {scores[kind][0]:.3f}, left out {scores[kind][1]:.3f}", flush=True)
    return scores


def _card(
    corpora: Mapping[str, Sequence[Archive]], scores: Mapping[str, tuple[float, float]]
) -> str:
    questions = sum(len(archive.questions) for found in corpora.values() for archive in found)
    entries = sum(len(archive.entries) for found in corpora.values() for archive in found)
    own = sorted({_kind(name) for name in read_corpora()})
    others = sorted(set(corpora) - set(read_corpora()))
    lines = [
        "# The ranking model",
        "",
        f"{TREES} trees of at most {MOST_LEAVES} leaves, trained by LightGBM (lambdarank) with"
        f" `python -m training.train`, on {entries:,} entries and {questions:,} questions, each",
        "corpus as it stands and, if it is no dialogue, with its entries in another order.",
        "",
        f"- **Data**: `training/corpora` ({', '.join(own)}; Apache-2.0, written for memci)"
        + (f"; {', '.join(others)} (MADial-Bench and MemoryBank: MIT, LifeBench: Apache-2.0)"
           if others else "") + ".",
        "- **Licence**: Apache-2.0.",
        "- **Questions** were moved by a map that was fitted without their kind of corpus; the map"
        " of the embedder (`smallmodel/offline/data/e5_query_map.npy`) was fitted on all.",
        f"- **Features**: {', '.join(NAMES)}; `memci/domain/search/features.py` computes them.",
    ]  # fmt: skip
    if scores:
        lines += [
            "",
            "Share of the evidence among ten hits, of that among the candidates: the plain sum of"
            " words and vectors,",
            "and the model trained without that kind of corpus.",
            "",
            "| kind | plain sum | left out of training |",
            "|---|---|---|",
            *(f"| {kind} | {100 * plain:.1f} | {100 * left:.1f} |"
              for kind, (plain, left) in scores.items()),
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
