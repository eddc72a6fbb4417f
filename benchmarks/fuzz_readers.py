"""Coverage-guided fuzzing of the four readers and of what follows them: check, compile, verify,
diff, trace, and the three forms of diagnostics.

`python benchmarks/fuzz_readers.py --work FOLDER [--minutes 60] [--seed 1] [--record FILE] SEEDS…`
runs atheris (`pip install atheris`) in a process of its own, keeps going after what it finds, and
writes what was run and found. `--again FILE…` plays saved inputs without atheris.

Found is: an exception other than the documented ones, an OF9xx diagnostic (they are our faults),
more than 10 s of CPU time, more than 1 GB of memory, no model and no error, an IR that does not
survive JSON, output that is not UTF-8 or not JSON, control characters on a terminal.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import os
import pkgutil
import random
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz_mutators import mutate_json, mutate_xml
from fuzz_record import summary
from fuzz_seeds import LARGEST, models, seeds

KINDS = ("bpmn", "pme", "ir", "n8n", "verify", "diff")
"""What the first byte of an input chooses; the second holds flags, the rest is the file."""

SUFFIXES = {"bpmn": ".bpmn", "pme": ".pme.json", "ir": ".ir.json"}
OTHERS = ("bpmn", "asl", "svg", "mermaid")
"""Targets that two more bits of the flags choose from."""

SECONDS = 10
MEMORY = 1 << 30
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
SMALL = 60
"""Nodes up to which the expensive commands are run."""


OURS = f"{Path(__file__).resolve().parents[1]}{os.sep}"
"""Where the code under test is."""


class Fault(Exception):
    """Something an input must not lead to; `what` names it, for telling faults apart."""

    def __init__(self, what: str, message: str) -> None:
        super().__init__(message)
        self.what = what


class TookTooLong(BaseException):
    """More CPU time than `SECONDS`; not an Exception, so that nobody takes it for their own."""


class Target:
    """The code under test, as the commands call it, and the files some of it compares with."""

    def __init__(self, models: Sequence[bytes]) -> None:

        from orgflow import compiler
        from orgflow.compilation.reading import load_model

        from orgflow_ir.plugins import Registry

        self.compiler, self.load_model = compiler, load_model
        self.registry = Registry(outside=False)
        self.pairs = [pair for data in models if (pair := self._pair(data)) is not None]

    def _pair(self, data: bytes) -> tuple[Any, bytes] | None:
        from orgflow_ir.model.source import SourceFile
        from orgflow_ir.pipeline import PassContext

        ctx = PassContext(registry=self.registry)
        source = SourceFile("m.bpmn", data)
        model = self.load_model(source, self.registry, ctx, from_="bpmn", diagram=True)
        if model is None:
            return None
        backend = self.registry.backends["n8n"]
        made = self.compiler.compile_model(model, backend, ctx)
        if made is None or len(made.artifacts) != 1:
            return None
        return model, made.artifacts[0].text.encode()

    def run(self, data: bytes) -> str:
        """Put one input through; what became of it in a word. Raises `Fault` or what escapes."""
        from orgflow_ir.model.source import SourceFile
        from orgflow_ir.pipeline import PassContext

        if len(data) < 2:
            return "short"
        kind, flags, rest = KINDS[data[0] % len(KINDS)], data[1], data[2:]
        ctx = PassContext(registry=self.registry)
        n8n = self.registry.backends["n8n"]
        if kind in ("verify", "diff"):
            model, workflow = self.pairs[flags % len(self.pairs)]
            source = SourceFile("w.json", rest)
            if kind == "verify":
                n8n.verify(model, source, ctx, strict=flags > 127)
            else:
                self._diff(SourceFile("old.json", workflow), source, n8n, ctx)
            self._said(ctx, source)
            return f"{kind} {'refused' if ctx.has_errors else 'done'}"
        source = SourceFile(f"m{SUFFIXES.get(kind, '.json')}", rest)
        model = self.load_model(source, self.registry, ctx, from_=kind, diagram=bool(flags & 1))
        if model is None:
            if not ctx.has_errors:
                raise Fault("silent", "no model and no error")
            self._said(ctx, source)
            return f"{kind} refused"
        self._round_trip(model)
        own = self.registry.backend(kind)
        request = self.compiler.CompileRequest(model, source=source, own=own)
        self.compiler.run_stages(self.compiler.CHECK, request, ctx)
        self._said(ctx, source)
        if flags & 2:
            self._compile(model, n8n, source, flags)
        if flags & 8 and len(list(model.scopes())) < SMALL:
            self._trace(model)
        if flags & 32:
            self._other(model, OTHERS[flags >> 6], source)
        return f"{kind} {'has errors' if ctx.has_errors else 'read'}"

    def _round_trip(self, model: Any) -> None:
        text = model.to_json()
        if type(model).from_json(text) != model:
            raise Fault("round-trip", "the model does not survive JSON")

    def _diff(self, old: Any, new: Any, n8n: Any, ctx: Any) -> None:
        from orgflow_ir.targets.comparison import to_dict
        from orgflow_ir.targets.comparison_text import comparison_text

        found = n8n.diff(old, new, ctx)
        if found is not None:
            comparison_text(found, 80).encode()
            json.dumps(to_dict(found), ensure_ascii=False).encode()

    def _compile(self, model: Any, n8n: Any, source: Any, flags: int) -> None:
        from orgflow_ir.model.source import SourceFile
        from orgflow_ir.pipeline import PassContext

        ctx = PassContext(registry=self.registry)
        made = self.compiler.compile_model(model, n8n, ctx, allow_lossy=True, force=bool(flags & 4))
        self._said(ctx, source)
        if made is None:
            return
        for artifact in made.artifacts:
            json.loads(artifact.text.encode())
        nodes = sum(len(s.nodes) for s in model.scopes())
        if flags & 16 and len(made.artifacts) == 1 and nodes < SMALL:
            ctx = PassContext(registry=self.registry)
            n8n.verify(model, SourceFile("w.json", made[0].text.encode()), ctx)
            self._said(ctx, source)

    def _other(self, model: Any, name: str, source: Any) -> None:
        from xml.etree import ElementTree

        from orgflow_ir.model.source import SourceFile
        from orgflow_ir.pipeline import PassContext

        ctx = PassContext(registry=self.registry)
        backend = self.registry.backends[name]
        made = self.compiler.compile_model(model, backend, ctx, allow_lossy=True, force=True)
        self._said(ctx, source)
        for artifact in made.artifacts if made is not None else ():
            data = artifact.text.encode()
            if name == "asl":
                json.loads(data)
            elif name == "svg":
                ElementTree.fromstring(data)
            elif name == "bpmn":
                ctx = PassContext(registry=self.registry)
                again = SourceFile("again.bpmn", data)
                if self.load_model(again, self.registry, ctx, from_="bpmn", diagram=True) is None:
                    raise Fault("bpmn", "the bpmn frontend refuses what the backend wrote")
                self._said(ctx, again)

    def _trace(self, model: Any) -> None:
        from orgflow_ir.flow.token_game.run_json import run_labels, run_to_dict
        from orgflow_ir.flow.token_game.runs import enumerate_runs
        from orgflow_ir.targets import executable_processes

        labels = run_labels(model)
        for process in executable_processes(model):
            found = enumerate_runs(model, process.id, max_runs=8)
            for run in (*found.runs, *found.stuck):
                json.dumps(run_to_dict(run, labels, 1), ensure_ascii=False).encode()

    def _said(self, ctx: Any, source: Any) -> None:
        import dataclasses

        for d in ctx.diagnostics:
            if d.category is not None and d.category.value == "internal":
                place = re.search(r"\((\w+, line \d+)\)", d.message)
                raise Fault(f"{d.code} {place.group(1) if place else ''}".strip(), d.message)
        for reporter in self.registry.reporters.values():
            if hasattr(reporter, "sources"):
                reporter = dataclasses.replace(
                    reporter, sources={source.path: source.data}, inputs=(source.path,)
                )
            out = io.StringIO()
            reporter.report(ctx.diagnostics, out)
            out.getvalue().encode()
            if reporter.name == "text" and _CONTROL.search(out.getvalue()):
                raise Fault(f"control character {reporter.name}", repr(out.getvalue()))


class Finder:
    """Runs inputs one by one, keeps the smallest input of each fault, goes on."""

    def __init__(self, target: Target, work: Path) -> None:
        self.target, self.crashes = target, work / "crashes"
        self.work = work
        self.crashes.mkdir(parents=True, exist_ok=True)
        self.seen: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.slowest = 0.0
        self.number = 0
        signal.signal(signal.SIGVTALRM, self._alarm)

    def _alarm(self, _signal: int, _frame: FrameType | None) -> None:
        raise TookTooLong

    def one(self, data: bytes) -> str | None:
        """Run an input; the name of its fault, if it has one."""
        self.number += 1
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        begun = time.process_time()
        key, told = None, ""
        try:
            self.ended[self.target.run(data)] += 1
        except (Exception, TookTooLong) as error:  # noqa: BLE001  # that is what it looks for
            key, told = _name(error), traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self.slowest = max(self.slowest, time.process_time() - begun)
        if key is not None:
            self._keep(key, data, told)
        if self.number % 200 == 0:
            self.tell()
        return key

    def _keep(self, key: str, data: bytes, told: str) -> None:
        self.seen[key] += 1
        path = self.crashes / re.sub(r"[^\w.-]+", "_", key)[:120]
        if not path.exists() or path.stat().st_size > len(data):
            path.write_bytes(data)
            path.with_name(path.name + ".why").write_text(
                told[-6000:], encoding="utf-8", errors="replace"
            )
        self.tell()

    def tell(self) -> None:
        """What was found so far, for the process that writes the record."""
        said = {
            "executions": self.number,
            "ended": dict(sorted(self.ended.items())),
            "faults": dict(sorted(self.seen.items())),
            "slowest_s": round(self.slowest, 2),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
        (self.work / "found.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


def _name(error: BaseException) -> str:
    if isinstance(error, Fault):
        return error.what
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "fuzz_" not in f.filename]
    ours = [f for f in frames if f.filename.startswith(OURS)] or frames
    if isinstance(error, TookTooLong):  # who called is no chance, where it was stopped is
        return f"TookTooLong {ours[min(2, len(ours) - 1)].name if ours else ''}"
    where = f"{Path(ours[-1].filename).name}-{ours[-1].name}" if ours else "nowhere"
    return f"{type(error).__name__} {where}"


# -- atheris -------------------------------------------------------------------------------------


def load_all(instrument: Callable[[], Any]) -> None:
    """Import every module of the project, instrumented, so that none is loaded later."""
    with instrument():
        for name in ("orgflow_ir", "orgflow.frontends", "orgflow.passes", "orgflow.backends",
                     "orgflow.commands"):  # fmt: skip
            package = importlib.import_module(name)
            for found in pkgutil.walk_packages(package.__path__, f"{name}."):
                if "server" not in found.name and "pytest" not in found.name:
                    importlib.import_module(found.name)


def fuzz(options: argparse.Namespace) -> None:
    """The process that fuzzes; never comes back."""
    import atheris

    from_these = ["orgflow", "orgflow_ir"]
    load_all(lambda: atheris.instrument_imports(include=from_these))
    from orgflow.frontends.bpmn.schema_disposition import KNOWN_TAGS

    pool = sorted(set(seeds(options.seeds)))
    target = Target(models(options.seeds)[:80])
    pool += [bytes((4, n)) + w for n, (_, w) in enumerate(target.pairs) if len(w) < LARGEST]
    pool += [bytes((5, n)) + w for n, (_, w) in enumerate(target.pairs) if len(w) < LARGEST]
    corpus = options.work / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(pool):
        (corpus / f"seed-{number:04d}").write_bytes(seed)
    by_kind = {n: [s for s in pool if s[0] == n] for n in range(len(KINDS))}
    tags = tuple(sorted(KNOWN_TAGS))
    finder = Finder(target, options.work)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        dice = random.Random(seed)
        if len(data) < 3 or dice.random() < 0.2:
            return bytes(atheris.Mutate(data, most))
        kind = data[0] % len(KINDS)
        flags = dice.randrange(256) if dice.random() < 0.1 else data[1]
        other = dice.choice(by_kind[kind] or pool)[2:]
        if kind == 0:
            made: bytes | None = mutate_xml(data[2:], other, dice, tags)
        else:
            made = mutate_json(data[2:], other, dice)
        if made is None:
            return bytes(atheris.Mutate(data, most))
        return (bytes((kind, flags)) + made)[:most]

    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    room = used * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    flags = [
        f"-max_total_time={int(options.minutes * 60)}", f"-seed={options.seed}",
        f"-max_len={LARGEST}", "-len_control=0", "-timeout=3600", "-rss_limit_mb=0",
        "-print_final_stats=1", "-reload=0",
    ]  # fmt: skip
    argv = [sys.argv[0], *flags, str(corpus)]
    atheris.Setup(argv, lambda data: finder.one(data) and None, custom_mutator=mutate)
    atheris.Fuzz()


def record(options: argparse.Namespace) -> int:
    """Run the fuzzing process to its end and write down what it did."""
    options.work.mkdir(parents=True, exist_ok=True)
    log = options.work / "log.txt"
    begun = time.monotonic()
    with log.open("wb") as out:
        code = subprocess.run(
            [sys.executable, *sys.argv, "--inside"], stdout=out, stderr=out, check=False
        ).returncode
    minutes = (time.monotonic() - begun) / 60
    said = log.read_text(encoding="utf-8", errors="replace")
    text = summary(options.work, said, minutes, code, options.seed)
    if options.record is not None:
        options.record.write_text(text, encoding="utf-8")
    print(text, end="")
    found = json.loads((options.work / "found.json").read_text(encoding="utf-8"))
    return int(bool(found["faults"]) or code != 0)


def again(options: argparse.Namespace) -> int:
    """Play saved inputs; the faults they still have."""
    load_all(nullcontext)
    finder = Finder(Target(models(options.seeds)[:80]), options.work)
    wrong = 0
    with ExitStack():
        for path in options.again:
            begun = time.process_time()
            key = finder.one(path.read_bytes())
            print(f"{path.name}: {key or 'good'} ({time.process_time() - begun:.2f} s)")
            wrong += key is not None
    return int(wrong > 0)


def main() -> int:
    """Fuzz, or play saved inputs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="*", type=Path, help="files and folders to start from")
    parser.add_argument("--work", type=Path, required=True, help="folder for inputs and faults")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=Path, help="write what was run and found there")
    parser.add_argument("--again", type=Path, nargs="+", help="only play these saved inputs")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.again:
        return again(options)
    if not options.inside:
        return record(options)
    fuzz(options)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    raise SystemExit(main())
