"""Edits of compiled workflows: what n8n's engine does with them, and what `verify`, `diff` and
`check` say.

`python benchmarks/data_edits.py [--edits N] [--models N] [--seed N] [--only WORD] [--show]
[--cross] [--save FOLDER] [--jobs N]` edits one node, parameter, setting or wire of a compiled
workflow at a time. It prints, by kind of node and by kind of edit, how many edits change an outcome
on the engine, and the verdicts.

Truth: both workflows play the same inputs, answers and results of tasks, on n8n's own engine
(`edit_truth.py`). An edit differs if any outcome differs. It is equal if it is of a kind that
cannot change one (`edit_kinds.NEUTRAL`) and no outcome differs. Any other edit is unseen: no input
showed a difference, which proves nothing.

A false proof is the verdict `proved` on an edit that differs; `diff` is false there if it calls the
behaviour the same. A false difference is a verdict `different` or `changed` on an equal edit.
`check` is false if it reports a new error in the workflow of an equal edit.

Exit code 1 after a false proof, a crash, or more than 2 % of false differences.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from edit_kinds import CHANGING, NEUTRAL, Edit
from edit_subjects import compile_subject, list_models
from edit_truth import EditTools, Json, Subject, differs_from, kind_of, prepare_subject
from orgflow.api import check, read, verify
from orgflow.backends.n8n.diff.file_comparison import diff_files
from orgflow.backends.n8n.engine.local import LocalEngine

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

MOST_FALSE_DIFFERENCES = 0.02
CRASHED, CONDITIONAL = "crashed", "proved if"
NOT_PROVED = ("different", "changed", "changed expression", "refused", CRASHED)
NEUTRAL_SHARE = 0.4
TRIES = 30
"""Draws of an editor and a node before a model counts as used up."""


class Judgement(NamedTuple):
    """An edit of a workflow, the truth, and the opinions of the commands.

    Attributes:
        model: the name of the model.
        kind: of the edit; `none` for the workflow as compiled.
        node: the kind of the node.
        words: what was edited.
        equal: whether the edit is of a kind that cannot change an outcome.
        differs: whether the engine showed another outcome.
        verdict: of `verify`; the worst of several workflows.
        named: whether a condition of the verdict names the edited node.
        same: whether `diff` calls the behaviour the same.
        errors: codes of errors that `check` reports of the edited workflow and of no other one.
    """

    model: str
    kind: str
    node: str
    words: str
    equal: bool
    differs: bool
    verdict: str
    named: bool
    same: bool
    errors: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """Whether the edit changes nothing for sure."""
        return self.equal and not self.differs

    @property
    def is_false_proof(self) -> bool:
        conditional = self.verdict == CONDITIONAL and not self.named
        return self.differs and (self.verdict == "proved" or conditional)

    @property
    def is_false_difference(self) -> bool:
        return self.is_equal and self.verdict in NOT_PROVED

    @property
    def is_false_same(self) -> bool:
        return self.differs and self.same

    @property
    def is_false_change(self) -> bool:
        return self.is_equal and not self.same

    @property
    def is_contradicted(self) -> bool:
        """Whether `diff` and `verify` disagree about an edit that the engine judged."""
        judged = self.differs or self.is_equal
        return judged and self.verdict != CONDITIONAL and self.same != (self.verdict == "proved")

    @property
    def is_crash(self) -> bool:
        return self.verdict == CRASHED

    @property
    def is_false_alarm(self) -> bool:
        return self.is_equal and bool(self.errors)


# -- opinions --------------------------------------------------------------------------------------


def as_source(workflows: Mapping[str, Json], name: str) -> SourceFile:
    """Workflows as one file."""
    return SourceFile(name, json.dumps(list(workflows.values()), ensure_ascii=False).encode())


def verdict_of(
    subject: Subject, workflows: Mapping[str, Json], words: Collection[str]
) -> tuple[str, bool]:
    """The verdict of `verify` on the workflows of a model, without options, the worst of several;
    and whether a condition of it has one of the words."""
    try:
        result = verify(subject.model, as_source(workflows, "edited.json"), "n8n")
    except Exception as error:  # noqa: BLE001  # a crash is a result
        print(f"verify crashed: {subject.name}: {error!r}", flush=True)
        return CRASHED, False
    order = ("different", "changed", "changed expression", "bounded", CONDITIONAL, "proved")
    verdicts = [v.verdict.value for v in result.verifications]
    conditions = " ".join(
        c.text for v in result.verifications for c in getattr(v, "conditions", ())
    )
    named = any(f"`{word}`" in conditions for word in words)
    return (min(verdicts, key=order.index) if verdicts else "refused"), named


def is_same_behaviour(old: Mapping[str, Json], new: Mapping[str, Json]) -> bool:
    """Whether `diff` calls the behaviour of two versions the same."""
    try:
        files = as_source(old, "old.json"), as_source(new, "new.json")
        comparison = diff_files(*files, PassContext())
    except Exception as error:  # noqa: BLE001  # a crash is a result
        print(f"diff crashed: {error!r}", flush=True)
        return False
    if comparison is None:
        return False
    return comparison.verdict == "same"


def errors_of(workflow: Json, folder: Path) -> set[str]:
    """The codes of errors that `check` reports of a workflow."""
    path = folder / "checked.json"
    path.write_text(json.dumps(workflow), "utf-8")
    return {d.code for d in check(read(path, format="n8n")).diagnostics if d.severity == "error"}


# -- edits -----------------------------------------------------------------------------------------


def draw_edit(
    subject: Subject, rng: random.Random, tools: EditTools
) -> tuple[Edit, dict[str, Json], str] | None:
    """An edit of one node of a copy of the workflows, and the id of its workflow."""
    neutral = rng.random() < NEUTRAL_SHARE
    table = NEUTRAL if neutral else CHANGING
    weights = [weight for weight, _ in table.values()]
    (kind,) = rng.choices(list(table), weights)
    for _ in range(TRIES):
        workflows = copy.deepcopy(subject.workflows)
        id = rng.choice(sorted(workflows))
        nodes = [n for n in workflows[id]["nodes"] if kind_of(n) != "stickyNote"]
        types = sorted({kind_of(n) for n in nodes})
        type = rng.choice(types)  # each kind of node as often as any other
        node = rng.choice([n for n in nodes if kind_of(n) == type])
        words = table[kind][1](node, workflows[id], rng, tools)
        if (words is not None and workflows != subject.workflows) or words == "reordered keys":
            return Edit(kind, type, words or "", neutral), workflows, id
    return None


def list_changed_nodes(subject: Subject, workflows: Mapping[str, Json]) -> list[str]:
    """The names of nodes that an edit changed or added."""
    before = [node for workflow in subject.workflows.values() for node in workflow["nodes"]]
    now = [node for workflow in workflows.values() for node in workflow["nodes"]]
    return [str(node["name"]) for node in now if node not in before]


def judge_edit(
    subject: Subject,
    edit: Edit,
    workflows: dict[str, Json],
    id: str,
    engine: LocalEngine,
    tools: EditTools,
    folder: Path,
) -> Judgement:
    """The truth and the opinions."""
    errors = errors_of(workflows[id], folder) - errors_of(subject.workflows[id], folder)
    verdict, named = verdict_of(subject, workflows, list_changed_nodes(subject, workflows))
    return Judgement(
        subject.name, edit.kind, edit.node, edit.words, edit.equal,
        differs_from(subject, workflows, engine, tools, any_order=edit.kind in ("place", "note")),
        verdict,
        named,
        is_same_behaviour(subject.workflows, workflows), tuple(sorted(errors)),
    )  # fmt: skip


Found = tuple[Judgement, Path, dict[str, Json]]
"""A judgement with the model and the edited workflows."""


class Share(NamedTuple):
    """The part of a run that one process does."""

    models: Sequence[tuple[str, Path, Mapping[str, str]]]
    seed: int
    edits: int
    each: int
    show: bool


def judge_share(share: Share) -> list[Found]:
    """The judgements of edits of some models, until there are enough."""
    results: list[Found] = []
    with LocalEngine() as engine, EditTools() as tools, tempfile.TemporaryDirectory() as folder:
        for name, path, options in share.models:
            if len(results) >= share.edits:
                break
            subject = compile_subject(name, path, options)
            rng = random.Random(f"{share.seed} {name}")
            if subject is None or not prepare_subject(subject, engine, tools, rng):
                continue
            for judgement, workflows in judge_subject(
                subject, share, rng, engine, tools, Path(folder)
            ):
                results.append((judgement, path, workflows))
                if share.show:
                    print_fault(judgement)
    return results


def judge_subject(
    subject: Subject, share: Share, rng: random.Random, engine: LocalEngine, tools: EditTools,
    folder: Path,
) -> Iterator[tuple[Judgement, dict[str, Json]]]:  # fmt: skip
    """The judgements of edits of one model; first that of its workflows as compiled."""
    edit = Edit("none", "", "as compiled", equal=True)
    first = next(iter(subject.workflows))
    compiled = copy.deepcopy(subject.workflows)
    yield judge_edit(subject, edit, compiled, first, engine, tools, folder), compiled
    for _ in range(share.each):
        drawn = draw_edit(subject, rng, tools)
        if drawn is not None:
            edit, workflows, id = drawn
            yield judge_edit(subject, edit, workflows, id, engine, tools, folder), workflows


# -- the tables ------------------------------------------------------------------------------------

COLUMNS: tuple[tuple[str, str], ...] = (
    ("edits", ""), ("differ", "differs"), ("proved wrongly", "is_false_proof"),
    ("equal", "is_equal"), ("changed wrongly", "is_false_difference"),
    ("diff: same wrongly", "is_false_same"), ("changed wrongly", "is_false_change"),
    ("diff ≠ verify", "is_contradicted"), ("check wrongly", "is_false_alarm"),
    ("crashed", "is_crash"),
)  # fmt: skip


def table_lines(title: str, rows: Mapping[str, Sequence[Judgement]]) -> Iterator[str]:
    """A table: a row for each kind, and the sums."""
    heads = [head for head, _ in COLUMNS]
    yield f"{title:34}" + "".join(f"{head:>20}" for head in heads)
    everything = [judgement for row in rows.values() for judgement in row]
    for name, row in (*sorted(rows.items()), ("all", everything)):
        counts = [len(row) if not key else sum(getattr(j, key) for j in row) for _, key in COLUMNS]
        yield f"{name:34}" + "".join(f"{count:20}" for count in counts)


def group_by(judgements: Iterable[Judgement], key: str) -> dict[str, list[Judgement]]:
    """Judgements by a key of `str.format`."""
    rows: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        rows.setdefault(key.format(j=judgement), []).append(judgement)
    return rows


def print_fault(judgement: Judgement) -> None:
    """A line about a judgement that a command got wrong."""
    j = judgement
    faults = [
        name
        for name, wrong in (
            ("false proof", j.is_false_proof), ("false difference", j.is_false_difference),
            ("crash", j.is_crash), ("diff", j.is_contradicted), ("check", j.is_false_alarm),
        ) if wrong
    ]  # fmt: skip
    if faults:
        print(
            f"{', '.join(faults)}: {j.model}: {j.kind} of {j.node}: {j.words}: "
            f"differs {j.differs}, {j.verdict}, diff same {j.same} {' '.join(j.errors)}",
            flush=True,
        )


def save_faults(found: Iterable[Found], folder: Path) -> None:
    """The smallest example of each kind of fault, as files, and an index with a line each."""
    folder.mkdir(parents=True, exist_ok=True)
    smallest: dict[tuple[str, str, str], tuple[int, Found]] = {}
    for entry in found:
        judgement, _, workflows = entry
        fault = "proved" if judgement.is_false_proof else "changed"
        if judgement.is_false_proof or judgement.is_false_difference:
            key = (fault, judgement.kind, judgement.node)
            size = len(json.dumps(workflows))
            if key not in smallest or size < smallest[key][0]:
                smallest[key] = (size, entry)
    lines = []
    for (fault, kind, node), (_, (judgement, path, workflows)) in sorted(smallest.items()):
        name = f"{fault}-{kind}-{node}".replace(" ", "-").replace(":", "")
        model = folder / f"{name}{''.join(path.suffixes[-2:]) if '20' in path.name else '.bpmn'}"
        model.write_bytes(path.read_bytes())
        for beside in path.parent.glob("*.dmn"):
            (folder / beside.name).write_bytes(beside.read_bytes())
        edited = json.dumps(list(workflows.values()), indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(edited, "utf-8")
        truth = "differs" if judgement.differs else "equal"
        lines.append(
            f"{name}: {judgement.model}: {judgement.kind} of {judgement.node}: {judgement.words}: "
            f"{truth} on n8n, {judgement.verdict}\n"
        )
    (folder / "index.txt").write_text("".join(lines), "utf-8")


def split_shares(
    models: Sequence[tuple[str, Path, Mapping[str, str]]], args: argparse.Namespace
) -> list[Share]:
    """The models dealt out to processes."""
    chosen = [m for m in models if args.only in m[0]][: args.models]
    each = -(-args.edits // max(1, min(args.models, len(chosen))))
    return [
        Share(chosen[job :: args.jobs], args.seed, args.edits, each, args.show)
        for job in range(args.jobs)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--edits", type=int, default=1500, help="number of edits")
    parser.add_argument("--models", type=int, default=150, help="most models")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", default="", help="a part of the names of models")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    parser.add_argument("--cross", action="store_true", help="print kinds of node × kinds of edit")
    parser.add_argument("--save", type=Path, help="folder for the smallest example of each fault")
    args = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        shares = split_shares(list_models(Path(folder), args.seed), args)
        with ProcessPoolExecutor(args.jobs) as pool:
            found = [entry for part in pool.map(judge_share, shares) for entry in part]
        if args.save:
            save_faults(found, args.save)
    judgements = [judgement for judgement, _, _ in found]
    return print_report(judgements, cross=args.cross, seconds=time.monotonic() - begun)


def print_report(judgements: Sequence[Judgement], *, cross: bool, seconds: float) -> int:
    """Print the tables and the totals; the exit code."""
    edits = [judgement for judgement in judgements if judgement.kind != "none"]
    compiled = [judgement for judgement in judgements if judgement.kind == "none"]
    print("\n".join(table_lines("kind of node", group_by(edits, "{j.node}"))))
    print("\n".join(table_lines("kind of edit", group_by(edits, "{j.kind}"))))
    if cross:
        print("\n".join(table_lines("node: edit", group_by(edits, "{j.node}: {j.kind}"))))
    print("\n".join(table_lines("as compiled", group_by(compiled, "{j.verdict}"))))
    proofs = sum(judgement.is_false_proof for judgement in judgements)
    crashes = sum(judgement.is_crash for judgement in judgements)
    differences = sum(judgement.is_false_difference for judgement in judgements)
    equal = sum(judgement.is_equal for judgement in judgements)
    unseen = sum(not (j.differs or j.equal) for j in edits)
    refused = sum(not (j.differs or j.equal) and j.verdict in NOT_PROVED for j in edits)
    limit = MOST_FALSE_DIFFERENCES * max(equal, 1)
    print(
        f"unseen: {unseen} edits, for which no input showed a difference; {refused} of them are "
        f"not called proved\n{len(edits)} edits of {len(compiled)} models in {seconds:.0f} s: "
        f"{proofs} false proofs; {crashes} crashes; {differences} false differences of {equal} "
        f"equal ones ({100 * differences / max(equal, 1):.1f} %, at most "
        f"{100 * MOST_FALSE_DIFFERENCES:.0f} %)"
    )
    return int(proofs > 0 or crashes > 0 or differences > limit)


if __name__ == "__main__":
    sys.exit(main())
