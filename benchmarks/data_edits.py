"""Edits of compiled workflows: what n8n's engine does with them, and what `verify`, `diff` and
`check` say.

`python benchmarks/data_edits.py [--edits N] [--models N] [--each N] [--seed N] [--only WORD]
[--show] [--cross] [--save FOLDER] [--jobs N] [--work FOLDER]` edits one node, parameter, setting or
wire of a compiled workflow at a time. It prints, by kind of node and by kind of edit, how many
edits change an outcome on the engine, and the verdicts.

Truth: both workflows play the same inputs, answers and results of tasks, on n8n's own engine
(`edit_truth.py`). An edit differs if any outcome differs. It is equal if it is of a kind that
cannot change one (`edit_kinds.NEUTRAL`) and no outcome differs. Any other edit is unseen: no input
showed a difference, which proves nothing.

A false proof is the verdict `proved` on an edit that differs; `diff` is false there if it calls the
behaviour the same. A false difference is a verdict `different` or `changed` on an equal edit.
`check` is false if it reports a new error in the workflow of an equal edit.

Results are kept in `--work`, model by model: a second call continues where the first ended, and
after a change of the product it asks the commands again, but the engine only about new edits.

Exit code 1 after a false proof, a crash, a behaviour that `diff` calls the same wrongly, a new
error of `check` on an equal edit, or more than 2 % of false differences.
"""

from __future__ import annotations

import argparse
import atexit
import copy
import itertools
import json
import random
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from edit_kinds import CHANGING, NEUTRAL, Edit
from edit_records import EditRecord
from edit_subjects import compile_subject, list_models
from edit_truth import (
    EditTools,
    Json,
    Subject,
    differs_from,
    in_any_order,
    in_order,
    kind_of,
    prepare_subject,
    without_unread,
)
from orgflow.api import check, read, verify
from orgflow.backends.n8n.diff.file_comparison import diff_files
from orgflow.backends.n8n.engine.local import LocalEngine

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext

ROOT = Path(__file__).resolve().parent.parent
MOST_FALSE_DIFFERENCES = 0.02
USABLE_SHARE = 0.65
"""Share of models that have workflows of a size that is run, with inputs of steady outcomes."""

MOST_SECONDS = 90
"""Time for one model; the edits that are left then are not judged."""
CRASHED, CONDITIONAL = "crashed", "proved if"
NOT_PROVED = ("different", "changed", "changed expression", "refused", CRASHED)
NEUTRAL_SHARE = 0.4
TRIES, PLACES = 20, 12
"""Draws of an editor, and of a node for it, before a model counts as used up."""


def in_open_order(outcome: str) -> list[str]:
    """The lines of an outcome, sorted; of a run that failed only that it did. Which of two branches
    that are open together takes its turn first, and so whether the other one is there when a step
    fails, is open in a model."""
    standing, _, lines = outcome.partition("\n")
    failed = json.loads(lines)[0][0] == "error"
    return [standing, "error"] if failed else in_any_order(outcome)


READINGS = {
    "place": in_open_order,
    "note": in_open_order,
    "move": in_open_order,
    "insertion": without_unread,
}
"""How outcomes are compared after an edit of a kind: branches that are open together may take turns
differently after nodes were moved, and what an added node writes may be read by nobody."""


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
    def faults(self) -> list[str]:
        """What the commands got wrong."""
        wrong = {
            "false proof": self.is_false_proof, "false difference": self.is_false_difference,
            "crash": self.is_crash, "diff": self.is_contradicted, "check": self.is_false_alarm,
        }  # fmt: skip
        return [name for name, is_wrong in wrong.items() if is_wrong]

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
    for _ in range(TRIES):
        neutral = rng.random() < NEUTRAL_SHARE
        table = NEUTRAL if neutral else CHANGING
        (kind,) = rng.choices(list(table), [weight for weight, _ in table.values()])
        for _ in range(PLACES):
            workflows = copy.deepcopy(subject.workflows)
            id = rng.choice(sorted(workflows))
            nodes = [n for n in workflows[id]["nodes"] if kind_of(n) != "stickyNote"]
            type = rng.choice(sorted({kind_of(n) for n in nodes}))  # each kind of node as often
            node = rng.choice([n for n in nodes if kind_of(n) == type])
            words = table[kind][1](node, workflows[id], rng, tools)
            if words is not None and (workflows != subject.workflows or words == "reordered keys"):
                return Edit(kind, type, words, neutral), workflows, id
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
    record: EditRecord,
    bench: Bench,
) -> Judgement:
    """The truth and the opinions."""
    errors = errors_of(workflows[id], bench.folder) - errors_of(subject.workflows[id], bench.folder)
    verdict, named = verdict_of(subject, workflows, list_changed_nodes(subject, workflows))
    read = without_unread if edit.node == "merge" else READINGS.get(edit.kind, in_order)
    differs = record.read_truth(workflows, read.__name__)
    if differs is None:
        differs = differs_from(subject, workflows, bench.engine, bench.tools, read=read)
        record.write_truth(workflows, read.__name__, differs)
    same = is_same_behaviour(subject.workflows, workflows)
    return Judgement(
        subject.name, edit.kind, edit.node, edit.words, edit.equal, differs, verdict, named, same,
        tuple(sorted(errors)),
    )  # fmt: skip


class Found(NamedTuple):
    """A judgement with the model and, after a fault, the edited workflows."""

    judgement: Judgement
    path: Path
    workflows: dict[str, Json]


class Share(NamedTuple):
    """One model of a run.

    Attributes:
        name: of the model.
        path: its file.
        options: of the target.
        seed: of the run.
        each: number of edits.
        work: folder of the records; see `edit_records.py`.
    """

    name: str
    path: Path
    options: Mapping[str, str]
    seed: int
    each: int
    work: Path


class Result(NamedTuple):
    """What was found for a model; `reason` says why it was not judged, or not to the end."""

    found: tuple[Found, ...]
    reason: str


class Bench(NamedTuple):
    """What a process keeps alive: the engine, n8n's reading of parameters, and a folder."""

    engine: LocalEngine
    tools: EditTools
    folder: Path


_BENCHES: list[Bench] = []
"""The bench of this process."""


def open_bench() -> None:
    """Start the engine of this process; it ends with the process."""
    engine, tools = LocalEngine(), EditTools()
    folder = tempfile.TemporaryDirectory()
    engine.start()
    tools.__enter__()
    atexit.register(folder.cleanup)
    atexit.register(engine.close)
    atexit.register(tools.__exit__)
    _BENCHES.append(Bench(engine, tools, Path(folder.name)))


def judge_share(share: Share) -> Result:
    """The judgements of the edits of one model, from its record if nothing changed since."""
    if not _BENCHES:
        open_bench()
    (bench,) = _BENCHES
    subject = compile_subject(share.name, share.path, share.options)
    if subject is None:
        return Result((), "no workflows, or too large ones")
    record = EditRecord(share.work, [share.name, share.seed, subject.workflows])
    result = record.read_result(share.each)
    if result is None:
        result = judge_subject(subject, share, record, bench)
        record.write_result(share.each, result)
    rows, reason = result
    found = (Found(Judgement(*row[:-2], tuple(row[-2])), share.path, row[-1]) for row in rows)
    return Result(tuple(found), reason)


def judge_subject(
    subject: Subject, share: Share, record: EditRecord, bench: Bench
) -> tuple[list[Any], str]:
    """The judgements of edits of one model, as rows; first that of its workflows as compiled."""
    begun = time.monotonic()
    rng = random.Random(f"{share.seed} {share.name}")
    known = record.read_subject()
    if known is not None:
        subject.inputs, subject.outcomes = known
    elif not prepare_subject(subject, bench.engine, bench.tools, rng):
        subject.inputs = []
    record.write_subject(subject.inputs, subject.outcomes)
    if not subject.inputs:
        return [], "no input with a steady outcome"
    first = next(iter(subject.workflows))
    edits = [(Edit("none", "", "as compiled", equal=True), copy.deepcopy(subject.workflows), first)]
    for number in range(share.each):
        drawn = draw_edit(
            subject, random.Random(f"{share.seed} {share.name} {number}"), bench.tools
        )
        if drawn is not None:
            edits.append(drawn)
    rows = []
    for edit, workflows, id in edits:
        if time.monotonic() - begun > MOST_SECONDS:
            return rows, f"{len(edits) - len(rows)} edits left after {MOST_SECONDS} s"
        judgement = judge_edit(subject, edit, workflows, id, record, bench)
        rows.append([*judgement, workflows if judgement.faults else {}])
    return rows, ""


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
    if j.faults:
        print(
            f"{', '.join(j.faults)}: {j.model}: {j.kind} of {j.node}: {j.words}: "
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


def judge_models(shares: Sequence[Share], args: argparse.Namespace) -> list[Result]:
    """The results of models in their order, until there are enough edits; a few ahead."""
    results: list[Result] = []
    edits = 0
    waiting: deque[Future[Result]] = deque()
    left = iter(shares)
    with ProcessPoolExecutor(args.jobs, initializer=open_bench) as pool:
        waiting.extend(pool.submit(judge_share, s) for s in itertools.islice(left, 2 * args.jobs))
        while waiting and edits < args.edits:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(judge_share, share) for share in itertools.islice(left, 1))
            results.append(result)
            edits += max(len(result.found) - 1, 0)
            for entry in result.found if args.show else ():
                print_fault(entry.judgement)
        for future in waiting:
            future.cancel()
    return results


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--edits", type=int, default=1050, help="number of edits")
    parser.add_argument("--models", type=int, default=120, help="most models")
    parser.add_argument("--each", type=int, help="edits of each model (default: as needed)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", default="", help="a part of the names of models")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    parser.add_argument("--cross", action="store_true", help="print kinds of node × kinds of edit")
    parser.add_argument("--save", type=Path, help="folder for the smallest example of each fault")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "edits", help="folder of the records"
    )
    args = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        models = [m for m in list_models(Path(folder), args.seed) if args.only in m[0]]
        usable = max(1, int(USABLE_SHARE * min(args.models, len(models))))
        each = args.each or -(-args.edits // usable)
        shares = [Share(*model, args.seed, each, args.work) for model in models[: args.models]]
        results = judge_models(shares, args)
        found = [entry for result in results for entry in result.found]
        if args.save:
            save_faults(found, args.save)
    for reason, count in Counter(r.reason for r in results if r.reason).most_common():
        print(f"{count} models: {reason}")
    judgements = [entry.judgement for entry in found]
    print(f"seed {args.seed}")
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
    differences = sum(judgement.is_false_difference for judgement in edits)
    same = sum(judgement.is_false_same for judgement in edits)
    changes = sum(judgement.is_false_change for judgement in edits)
    apart = sum(judgement.is_contradicted for judgement in edits)
    alarms = sum(judgement.is_false_alarm for judgement in edits)
    wrong = [j for j in compiled if j.verdict not in ("proved", CONDITIONAL)]
    equal = sum(judgement.is_equal for judgement in edits)
    unseen = sum(not (j.differs or j.equal) for j in edits)
    refused = sum(not (j.differs or j.equal) and j.verdict in NOT_PROVED for j in edits)
    limit = MOST_FALSE_DIFFERENCES * max(equal, 1)
    print(
        f"unseen: {unseen} edits, for which no input showed a difference; {refused} of them are "
        f"not called proved\nas compiled: {len(wrong)} of {len(compiled)} models are not proved\n"
        f"diff: {same} called the same wrongly, {changes} called changed wrongly; it disagrees "
        f"with verify about {apart} edits\ncheck: {alarms} new errors in equal edits\n"
        f"{len(edits)} edits of {len(compiled)} models in {seconds:.0f} s: "
        f"{proofs} false proofs; {crashes} crashes; {differences} false differences of {equal} "
        f"equal ones ({100 * differences / max(equal, 1):.1f} %, at most "
        f"{100 * MOST_FALSE_DIFFERENCES:.0f} %)"
    )
    return int(bool(proofs or crashes or same or alarms or wrong) or differences > limit)


if __name__ == "__main__":
    sys.exit(main())
