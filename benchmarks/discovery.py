"""How good discovery is: `discovery.py [plain] [hard] [--fresh] [--wordings] [--keep DIR]`.

One corpus is the hand-written `communications` of the shared data; three are made by `synth` from
models of the PMo dataset. Every figure is held out: the weights by which messages become cases
(`benchmarks/fit_cases.py`) know nothing of the three, and `communications` is measured with weights
that were fitted without it. `plain` has roles and threads and a quarter of noise; `hard` has staff
that work in several processes, no roles and no threads. `--fresh` measures two corpora of the
examples and of MIWG's reference models instead, one of them in German, on which nothing was chosen.
`--wordings` measures four corpora of terse mail that is not written like `synth`
(`tests/support/terse_mails.py`), two of them in German, by the weights of the program; the last
two are referees, which are only measured.
`--second` measures a corpus of another field and style with its true models
(`tests/support/theatre_corpus.py`): chats and calls, loops, deadlines, parties outside.
`--short` measures mailboxes of short threads instead (`tests/support/short_threads.py`).
Prints the figures of each corpus, their median and range. `--sample` prints steps, each with a
sentence behind it, for a person to judge; `--named` prints which share of the true tasks the
messages of their process name at all; `--tokens` prints how many input tokens the agent sends
to a scripted model. `--keep` leaves stores and truths in a folder, for `orgflowc eval discovery`,
and uses those that are there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from orgflow.agents.discovery.agent import discover_with_model
from orgflow.agents.discovery.case_weights import WEIGHTS
from orgflow.agents.discovery.discover import (
    discover_processes,
    find_message_phrases,
    group_messages,
)
from orgflow.agents.discovery.evidence import MEASURES
from orgflow.agents.discovery.traits import traits_of
from orgflow.compilation.reading import load_model
from orgflow.evaluation.discovery import (
    COSINE,
    DICE,
    HIGHER,
    Scores,
    collect_stems,
    compare_words,
    read_truth,
    score_discovery,
)
from orgflow.store.embedder import local_embedder
from orgflow.store.messages import MessageStore

from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import Reply, Tool, ToolCall
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from short_threads import in_right_process, short_threads  # noqa: E402
from terse_mails import terse_mails  # noqa: E402
from theatre_corpus import list_outlines, make_theatre_corpus  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
SYNTH = {
    "synth A": "02 04 06 07 08 10 11 12 14 16 18 20",
    "synth B": "21 22 24 25 26 28 29 30 32 34 36 37",
    "synth C": "38 39 40 42 44 46 48 50 52 53 54 55",
}
FRESH = {"fresh D": "en", "fresh E": "de"}
"""Corpora by language that were made when nothing was to be changed any more."""

TERSE = {"terse F": ("en", 31), "terse G": ("de", 32)}
"""Corpora of other wordings: their language and seed."""

REFEREES = {"terse H": ("en referee", 33), "terse I": ("de referee", 34)}
"""More of them, only measured: no word and no weight was chosen by them."""

SECOND = ("theatre",)
"""A corpus that was written from descriptions of processes, in the style of chats."""

HELD_OUT = Path(__file__).resolve().with_name("held_out_weights.json")
HARD = "shared-staff,lost-threads,lost-roles"


def orgflowc(*arguments: str) -> None:
    """Run a command; its output goes nowhere unless it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "orgflow", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr or done.stdout)


def without_roles(record: dict[str, object]) -> dict[str, object]:
    """A message of the hand-written corpus without roles and thread."""

    def bare(name: str) -> str:
        return name.partition(" (")[0]

    receivers = record["receivers"]
    assert isinstance(receivers, list)
    return record | {
        "sender": bare(str(record["sender"])),
        "receivers": [bare(str(r)) for r in receivers],
        "thread": None,
    }


LATER = ("expense-claim",)
"""Examples that came after the published figures."""


def make(folder: Path, name: str, kind: str) -> tuple[Path, Path]:
    """The store and the truth of a corpus, made where they are not there yet."""
    place = folder / f"{name.replace(' ', '-')}-{kind}"
    store, truth = place / "store", place / "truth.json"
    if store.exists():
        return store, truth
    place.mkdir(parents=True, exist_ok=True)
    stream = place / "messages.jsonl"
    if name in FRESH:
        paths = (ROOT / "examples").glob("*/model.bpmn")
        models = sorted(str(path) for path in paths if path.parent.name not in LATER)
        models += [str(DATA / "miwg-reference" / f"C.{n}.0.bpmn") for n in (2, 8, 9)]
        stress = HARD if kind == "hard" else ""
        orgflowc("synth", *models, "-o", str(place), "--stress", stress,
                 "--language", FRESH[name], "--seed", str(ord(name[-1])))  # fmt: skip
    elif name in SYNTH:
        models = [str(DATA / "pmo" / "bpmn" / f"{n}.bpmn") for n in SYNTH[name].split()]
        stress = HARD if kind == "hard" else ""
        orgflowc("synth", *models, "-o", str(place), "--stress", stress, "--seed",
                 str(ord(name[-1])))  # fmt: skip
    elif name in TERSE or name in REFEREES:
        language, seed = (TERSE | REFEREES)[name]
        records, known = terse_mails(language, seed, kind == "hard")
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
        stream.write_text("".join(lines), "utf-8")
        truth.write_text(json.dumps(known, ensure_ascii=False), "utf-8")
    elif name in SECOND:
        records, known = make_theatre_corpus(hard=kind == "hard")
        stream.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        truth.write_text(json.dumps(known), "utf-8")
        for process, outline in list_outlines().items():
            source = place / f"{process}.outline"
            source.write_text(outline, "utf-8")
            orgflowc("compile", str(source), "--target", "bpmn", "-o",
                     str(place / f"{process}.bpmn"))  # fmt: skip
    else:
        given = DATA / "communications"
        file = "messages_shared_staff.jsonl" if kind == "hard" else "messages.jsonl"
        records = [
            json.loads(line)
            for part in (file, "noise.jsonl")
            for line in (given / part).read_text("utf-8").splitlines()
        ]
        if kind == "hard":
            records = [without_roles(record) for record in records]
        stream.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        truth.write_text((given / "ground_truth.json").read_text("utf-8"), "utf-8")
    orgflowc("ingest", str(stream), "--store", str(store))
    return store, truth


def true_models(names: Iterable[str], folder: Path = DATA / "pmo" / "bpmn") -> dict[str, Model]:
    """The models that corpora are made of, by process, those of the PMo dataset if no other folder
    is given; a process beside others in one model has none of its own."""
    registry = Registry(outside=False)
    found = {}
    for name in sorted(names):
        path = folder / f"{name}.bpmn"
        if not path.is_file():
            continue
        model = load_model(str(path), registry, PassContext(registry=registry))
        assert model is not None, path
        found[name] = model
    return found


def weights_for(name: str) -> Sequence[float]:
    """Weights that know nothing of a corpus."""
    held_out = json.loads(HELD_OUT.read_text("utf-8"))
    if name not in held_out:
        return WEIGHTS
    return [held_out[name][measure] for measure in MEASURES]


def measured(folder: Path, kind: str, names: Sequence[str]) -> dict[str, Scores]:
    """The scores of each corpus."""
    scores: dict[str, Scores] = {}
    for name in names:
        place, truth = make(folder, name, kind)
        with MessageStore.open(str(place)) as store:
            messages = list(store.messages())
            embedder = store.cached(local_embedder())
            begin = time.process_time()
            found = discover_processes(messages, embedder, weights=weights_for(name))
            took = time.process_time() - begin
            known = read_truth(truth.read_text("utf-8"))
            ids = [m.id for m in messages]
            models = true_models(known.texts, *([truth.parent] if name in SECOND else []))
            scores[name] = score_discovery(found, known, ids, embedder, models)
        print(
            f"{name}, {kind}: {len(messages)} messages, {took:.0f} s of processor time",
            file=sys.stderr,
        )
    return scores


class Reader:
    """A language model by script: it searches before it saves every fourth case, saves half of them
    wrongly first, and finds nothing in what is left. What it names is of no interest: it shows how
    many tokens the agent sends."""

    name = "reader"

    def __init__(self) -> None:
        self._begun = 0

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """A tool call, or `NONE`."""
        del schema
        prompt = str(messages[1]["content"])
        if not tools:
            return Reply('{"same": []}')
        if "The messages of one case" not in prompt:
            return Reply("NONE")
        first = len(messages) == 2
        self._begun += first
        if first and self._begun % 4 == 0:
            return _call("search_messages", {"query": prompt[-200:]})
        shown = re.findall(r"^\[(m\d+)\][^\n]*\n([^\n]*)", prompt, re.MULTILINE)
        known = re.search(r"It is process (\d+)", str(messages[-1]["content"])) or re.search(
            r"looks like one of process (\d+)", prompt
        )
        saved: dict[str, Any] = {
            "name": shown[0][1][:60], "trigger": shown[0][1], "goal": shown[-1][1],
            "steps": [{"name": text[:50] or id, "actor": "clerk", "evidence": [id]}
                      for id, text in shown],
        }  # fmt: skip
        if known is not None:
            saved["same_as"] = int(known[1])
        if first and self._begun % 2:
            saved["steps"][0]["evidence"] = ["m999"]
        return _call("save_discovered_process", saved)


def _call(name: str, arguments: Mapping[str, Any]) -> Reply:
    return Reply("", calls=(ToolCall("call", name, json.dumps(arguments)),))


def tokens(folder: Path, kind: str, corpora: Sequence[str]) -> list[str]:
    """What the agent sends of each corpus, in a line."""
    lines = []
    for name in corpora:
        store_path, _ = make(folder, name, kind)
        with MessageStore.open(str(store_path)) as store:
            messages, embedder = list(store.messages()), store.cached(local_embedder())
            stages = group_messages(messages, embedder)
            _, report = discover_with_model(stages, embedder, Reader())
        lines.append(
            f"{name}, {kind}: {report.tokens_in / len(messages):.0f} input tokens a message, "
            f"{report.asked} replies, {report.read} of {report.cases} cases read, "
            f"{len(report.refused)} saves refused"
        )
    return lines


def sampled(folder: Path, kind: str, number: int, seed: int, names: Sequence[str]) -> list[str]:
    """Steps drawn from all corpora alike, each with its process and a sentence behind it, for a
    person to read: is it something that is done in this process?"""
    lines: list[str] = []
    for place, name in enumerate(names):
        store_path, _ = make(folder, name, kind)
        with MessageStore.open(str(store_path)) as store:
            found = discover_processes(
                list(store.messages()), store.cached(local_embedder()), weights=weights_for(name)
            )
        steps = [
            (one.name, node.name, " ".join(node.evidence[0].quote.split()))
            for one in found.processes for node in one.process.nodes if isinstance(node, Task)
        ]  # fmt: skip
        share = number // len(names) + (place < number % len(names))
        drawn = random.Random(seed).sample(sorted(set(steps)), min(share, len(set(steps))))
        lines += [f"{name} | {process} | {step} | {quote[:150]}" for process, step, quote in drawn]
    return lines


def named(folder: Path, kind: str, names: Sequence[str]) -> list[str]:
    """Which share of the true tasks the messages name at all, a line for each corpus.

    A task counts as named by a phrase if some phrase of a message of its process matches it as a
    step does in `step recall`: no choice of phrases finds more. It counts as named by words if one
    message of its process has all of its words.
    """
    lines = []
    for name in names:
        store_path, truth_path = make(folder, name, kind)
        truth = read_truth(truth_path.read_text("utf-8"))
        with MessageStore.open(str(store_path)) as store:
            embedder = store.cached(local_embedder())
            traits = traits_of(list(store.messages()), embedder)
            said = find_message_phrases(traits, [list(range(len(traits.messages)))])
            by_phrase = by_words = total = 0
            for process, tasks in sorted(truth.tasks.items()):
                own = [
                    i for i, m in enumerate(traits.messages) if truth.process.get(m.id) == process
                ]
                phrases = sorted({phrase.name for i in own for phrase in said[i]})
                vectors = np.array(embedder.embed([*tasks, *phrases]))
                alike = vectors[: len(tasks)] @ vectors[len(tasks) :].T
                texts = [collect_stems(traits.messages[i].text) for i in own]
                for row, task in zip(alike, tasks, strict=True):
                    by_phrase += bool(len(row) and row.max() >= COSINE) or any(
                        compare_words(phrase, task) >= DICE for phrase in phrases
                    )
                    by_words += any(collect_stems(task) <= text for text in texts)
                total += len(tasks)
        lines.append(
            f"{name}, {kind}: of {total} tasks {by_phrase / total:.3f} are named by a phrase, "
            f"{by_words / total:.3f} by their words in one message"
        )
    return lines


def short(seeds: Iterable[int]) -> list[str]:
    """What is found in mailboxes of short threads of four processes, a line for each."""
    embedder = local_embedder()
    lines = []
    for language in ("en", "de"):
        for seed in seeds:
            corpus = short_threads(seed, language)
            found = discover_processes(corpus.messages, embedder)
            got = score_discovery(found, corpus.truth, [m.id for m in corpus.messages], embedder)
            lines.append(
                f"{language} {seed}: {len(corpus.messages)} messages, {got.number} of "
                f"{got.true_number} processes, {in_right_process(found, corpus.process):.3f} of "
                f"mails in the right one, cases {got.case_f1:.3f}, noise {got.noise_f1:.3f}"
            )
    return lines


def table(scores: dict[str, Scores]) -> str:
    """A column for each corpus, then the median and the range."""
    lines = [f"{'':14}" + "".join(f"{name:>16}" for name in scores) + f"{'median (range)':>24}"]
    numbers = "".join(f"{f'{s.number} of {s.true_number}':>16}" for s in scores.values())
    lines.append(f"{'number':14}{numbers}")
    for name in HIGHER:
        if any(getattr(s, name) is None for s in scores.values()):
            continue  # there are no true models
        values = [float(getattr(s, name)) for s in scores.values()]
        cells = "".join(f"{v:>16.3f}" for v in values)
        middle = f"{statistics.median(values):.3f} ({min(values):.3f}-{max(values):.3f})"
        lines.append(f"{name.replace('_', ' '):14}{cells}{middle:>24}")
    return "\n".join(lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["plain", "hard"])
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--sample", type=int, metavar="N", help="print N steps to read instead")
    parser.add_argument("--named", action="store_true", help="tasks that messages name instead")
    parser.add_argument("--tokens", action="store_true", help="print what the agent sends instead")
    parser.add_argument("--only", metavar="NAME", help="one corpus")
    parser.add_argument("--fresh", action="store_true", help="the fresh corpora")
    parser.add_argument("--wordings", action="store_true", help="terse mail of other wordings")
    parser.add_argument("--second", action="store_true", help="the corpus of a theatre")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--short", action="store_true", help="mailboxes of short threads")
    arguments = parser.parse_args()
    if arguments.short:
        print("\n".join(short(range(arguments.seed, arguments.seed + 6))))
        return
    names = list(FRESH) if arguments.fresh else ["communications", *SYNTH]
    names = [*TERSE, *REFEREES] if arguments.wordings else names
    names = list(SECOND) if arguments.second else names
    names = [arguments.only] if arguments.only else names
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.keep or temporary)
        for kind in arguments.kinds:
            if arguments.named:
                print("\n".join(named(folder, kind, names)))
                continue
            if arguments.tokens:
                print("\n".join(tokens(folder, kind, names)))
                continue
            if arguments.sample:
                print("\n".join(sampled(folder, kind, arguments.sample, arguments.seed, names)))
                continue
            print(f"{kind}\n{table(measured(folder, kind, names))}\n")


if __name__ == "__main__":
    main()
