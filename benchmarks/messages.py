"""Speed and memory of messages: `messages.py ingest [GB]`, `messages.py store [N…] [--curve FILE]`
and `messages.py whole [FILE…]`.

`ingest` makes an mbox file (2 GB unless said otherwise), reads it into a store, and prints messages
a second and the peak of memory; exit code 1 above 1 GB or below 2,000 a second of processor time.
`store` fills stores of 1,000, 10,000 and 100,000 messages with random vectors and prints time,
disk, memory, the latency of searches, and the share of the ten nearest that are found; where DuckDB
or LanceDB are installed, the same searches there. `--curve` draws them as SVG. Exit code 1 where a
search by vector takes more than 20 ms of processor time at 100,000.
`whole` reads files of messages (a corpus that `synth` makes of the examples, where none is named)
into a new store and discovers processes without a language model, nothing embedded before; exit
code 1 where 793 messages would take more than 60 s of processor time on each of two cores.
"""

from __future__ import annotations

import importlib.util
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from orgflow.store.messages import MessageStore
from orgflow.store.vectors import Vectors

from orgflow_ir.model.message import Message, Person

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

import client_mails
import peak_memory

SIZE = 384
WORDS = [f"word{n}" for n in range(20_000)]
LIMIT_MB, LIMIT_RATE, LIMIT_MS = 1024, 2000, 20.0
WHOLE_MESSAGES, WHOLE_SECONDS, CORES = 793, 60.0, 2


def main(what: str, *rest: str) -> int:
    """One of the three tables."""
    if what == "ingest":
        return ingest(float(rest[0]) if rest else 2.0)
    if what == "whole":
        return whole(rest)
    curve = Path(rest[rest.index("--curve") + 1]) if "--curve" in rest else None
    return store([int(n) for n in rest if n.isdigit()] or [1_000, 10_000, 100_000], curve)


def ingest(size: float) -> int:
    """The mbox of a size in GB."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        box = folder / "large.mbox"
        count = write_mbox(box, int(size * 2**30))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        command = [
            sys.executable, "-m", "orgflow", "ingest", str(box), "--store", str(folder / "s"),
        ]  # fmt: skip
        ran = measured(command, folder)
        wall = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if ran.code:
        raise SystemExit(ran.err)
    print(ran.out, end="")
    rate = count / cpu
    print(f"{count} messages, {size} GB: {wall:.0f} s, {cpu:.0f} s of processor time")
    print(f"{rate:.0f} messages/s of processor time, at least {LIMIT_RATE}")
    print(f"{ran.peak >> 20} MB at most {LIMIT_MB}")
    return int(rate < LIMIT_RATE or ran.peak >> 20 > LIMIT_MB)


def whole(files: tuple[str, ...]) -> int:
    """From files of messages to processes."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not files:
            examples = sorted(
                map(str, (Path(__file__).parents[1] / "examples").glob("*/model.bpmn"))
            )
            orgflowc("synth", *examples, "-o", str(folder / "made"), "--scenarios", "12")
            files = (str(folder / "made" / "messages.jsonl"),)
        store = str(folder / "s")
        total = 0.0
        for name, command in (
            ("ingest", ("ingest", *files, "--store", store)),
            ("discover", ("discover", store, "--no-model", "--json")),
        ):
            wall, cpu = orgflowc(*command)
            total += cpu
            print(f"{name}: {wall:.1f} s, {cpu:.1f} s of processor time")
        with MessageStore.open(store) as opened:
            count = opened.counts().messages
    most = WHOLE_SECONDS * CORES * max(1.0, count / WHOLE_MESSAGES)
    print(f"{count} messages: {total:.1f} s of processor time, at most {most:.0f}")
    return int(total > most)


def orgflowc(*command: str) -> tuple[float, float]:
    """Seconds of a command, and of the processor's time in it."""
    import subprocess

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ORGFLOW_MODEL")}
    subprocess.run(
        [sys.executable, "-m", "orgflow", *command], check=True, capture_output=True,
        env=environment,
    )  # fmt: skip
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(command: list[str], folder: Path) -> peak_memory.Ran:
    """Run a command without the time limit of the tests."""
    import subprocess

    report = folder / "report"
    done = subprocess.run(
        [sys.executable, "-S", peak_memory.__file__, str(report), *command],
        capture_output=True, check=True,
    )  # fmt: skip
    code, peak = (int(line) for line in report.read_text().splitlines())
    return peak_memory.Ran(code, done.stdout.decode(), done.stderr.decode(), peak)


def write_mbox(path: Path, size: int) -> int:
    """Write mails of several clients with bodies of up to 4 KB, every third of them as text and as
    HTML; returns how many."""
    rng = random.Random(1)
    heads = [_head(mail) for mail in client_mails.ALL]
    count = 0
    with path.open("wb") as file:
        while file.tell() < size:
            body = " ".join(rng.choices(WORDS, k=rng.randrange(10, 450))).encode()
            kind = b""
            if count % 3 == 0:
                kind = b"\nContent-Type: multipart/alternative; boundary=b"
                body = (
                    b"--b\nContent-Type: text/plain; charset=utf-8\n\n%s\n--b\n"
                    b"Content-Type: text/html; charset=utf-8\n\n<div>%s</div>\n--b--" % (body, body)
                )
            head = heads[count % len(heads)]
            mail = b"%s\nMessage-ID: <%d@bench>%s\n\n%s\n" % (head, count, kind, body)
            file.write(client_mails.mbox(mail))
            count += 1
    return count


def _head(mail: bytes) -> bytes:
    """The headers of a mail without those of its content and its id."""
    head, _, _ = mail.replace(b"\r\n", b"\n").partition(b"\n\n")
    left_out = (b"content-", b"message-id", b"\tcharset", b"\tformat")
    return b"\n".join(line for line in head.split(b"\n") if not line.lower().startswith(left_out))


def messages(count: int) -> Iterator[Message]:
    """Messages of random words."""
    rng = random.Random(2)
    people = [Person(f"P{n}", f"p{n}@x.example") for n in range(500)]
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for n in range(count):
        sender, receiver = rng.sample(people, 2)
        body = " ".join(rng.choices(WORDS, k=80))
        yield Message(f"{n}@b", start + timedelta(minutes=n), "email", sender, (receiver,),
                      f"Subject {n % 997}", body)  # fmt: skip


class Noise:
    """An embedder of random vectors around 2,000 topics: only the store is measured."""

    name, size = "noise", SIZE

    def __init__(self) -> None:
        self._rng = np.random.default_rng(3)
        self._topics = self._rng.normal(size=(2_000, SIZE)).astype(np.float32)

    def embed(self, texts: Any) -> Any:
        vectors = self._rng.normal(size=(len(texts), SIZE)).astype(np.float32)
        vectors += self._topics[self._rng.integers(0, len(self._topics), len(texts))]
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def store(counts: list[int], curve: Path | None = None) -> int:
    """The table of stores; the last row up to 100,000 decides."""
    lines: dict[str, list[float]] = {}
    print(f"{'messages':>9} {'store':>8} {'add s':>7} {'link s':>7} {'embed s':>8} {'disk MB':>8} "
          f"{'vector ms':>10} {'of cpu':>7} {'found':>6} {'text ms':>8} {'field ms':>9} "
          f"{'peak MB':>8}")  # fmt: skip
    slow = False
    for count in counts:
        with tempfile.TemporaryDirectory() as folder, MessageStore.create(folder) as opened:
            times = [timed(lambda c=count, s=opened: s.add(messages(c)))]
            times.append(timed(opened.link))
            embedder = Noise()
            times.append(timed(lambda s=opened, e=embedder: s.embed(e)))
            queries = embedder.embed([""] * 20)

            def search(query: Any, s: MessageStore = opened) -> object:
                return s.nearest("noise", query, 10)

            late = latency(search, queries)
            cpu = latency(search, queries, time.thread_time)
            found = found_of_ten(Path(folder), queries)
            text = latency(lambda q, s=opened: s.full_text(q, 10), WORDS[:20])
            field = latency(
                lambda q, s=opened: s.message(q), [f"{n}@b" for n in range(0, count, count // 20)]
            )
            disk = sum(p.stat().st_size for p in Path(folder).iterdir()) >> 20
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(f"{count:>9} {'sqlite':>8} {times[0]:>7.1f} {times[1]:>7.1f} {times[2]:>8.1f} "
                  f"{disk:>8} {late:>10.2f} {cpu:>7.2f} {found:>6.3f} {text:>8.2f} {field:>9.2f} "
                  f"{peak:>8}")  # fmt: skip
            slow = cpu > LIMIT_MS if count <= 100_000 else slow
            row = {
                "adding, s": sum(times), "disk, MB": disk, "search by vector, ms": cpu,
                "search by words, ms": text, "by id, ms": field,
            }  # fmt: skip
            for name, value in row.items():
                lines.setdefault(name, []).append(value)
        others(count)
    if curve is not None:
        curve.write_text(drawn(counts, lines), "utf-8")
    return int(slow)


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 340, 56, 160, 16, 40
STROKES = ("#1558b0", "#1c6b3a", "#9a2f22", "#8a5a00", "#6b3fa0")


def drawn(counts: list[int], lines: dict[str, list[float]]) -> str:
    """Curves over the number of messages, both axes logarithmic, as SVG."""
    import math

    every = [value for values in lines.values() for value in values if value > 0]
    low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))
    first, last = math.log10(counts[0]), math.log10(max(counts[-1], counts[0] * 10))

    def x(count: float) -> float:
        share = (math.log10(count) - first) / (last - first)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        share = (math.log10(max(value, 10.0**low)) - low) / (high - low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="Time and disk of a store by its number of messages" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<path d="M{LEFT} {at}H{WIDTH - RIGHT}" stroke="#d5dae1"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4}" text-anchor="end">{10.0**power:g}</text>')
    for count in counts:
        parts.append(f'<path d="M{x(count)} {TOP}V{HEIGHT - BOTTOM}" stroke="#d5dae1"/>')
        parts.append(
            f'<text x="{x(count)}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{count:,}</text>'
        )
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">messages</text>')
    label = 0.0
    for stroke, (name, values) in zip(
        STROKES, sorted(lines.items(), key=lambda item: -item[1][-1]), strict=True
    ):
        points = " ".join(f"{x(c)},{y(v)}" for c, v in zip(counts, values, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{stroke}" '
                     'stroke-width="2"/>')  # fmt: skip
        parts += [f'<circle cx="{x(c)}" cy="{y(v)}" r="3" fill="{stroke}"/>'
                  for c, v in zip(counts, values, strict=True)]  # fmt: skip
        label = max(label + 15, y(values[-1]) + 4)  # names of near curves stand below each other
        parts.append(f'<text x="{WIDTH - RIGHT + 8}" y="{label}" fill="{stroke}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def found_of_ten(folder: Path, queries: Any) -> float:
    """The share of the ten nearest that a search finds, compared with the product of all."""
    vectors = Vectors(str(folder), "noise")
    shares = []
    for query in queries:
        every = {row for row, _ in vectors.nearest(query, 10, exhaustive=True)}
        shares.append(len(every.intersection(row for row, _ in vectors.nearest(query, 10))) / 10)
    return statistics.mean(shares)


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that something takes."""
    begin = clock()
    work()
    return clock() - begin


def latency(
    work: Callable[[Any], object], queries: Any, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The median of milliseconds, the first query left out."""
    work(queries[0])
    return statistics.median(1000 * timed(lambda q=q: work(q), clock) for q in queries)


def others(count: int) -> None:
    """The search by vector in DuckDB and LanceDB, where they are installed."""
    vectors = Noise().embed([""] * count)
    queries = Noise().embed([""] * 20)
    with tempfile.TemporaryDirectory() as folder:
        if importlib.util.find_spec("duckdb") and importlib.util.find_spec("pyarrow"):
            import duckdb
            import pyarrow as pa

            base = duckdb.connect(os.path.join(folder, "d"))
            listed = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), SIZE)
            rows = pa.table({"n": np.arange(count), "v": listed})
            base.register("given", rows)
            add = timed(lambda: base.execute("CREATE TABLE t AS SELECT * FROM given"))
            sql = (f"SELECT n FROM t ORDER BY array_inner_product(v, ?::FLOAT[{SIZE}]) DESC "
                   "LIMIT 10")  # fmt: skip
            late = latency(lambda q: base.execute(sql, [q.tolist()]).fetchall(), queries)
            print(f"{count:>9} {'duckdb':>8} {add:>7.1f} {'':>7} {'':>8} {'':>8} {late:>10.2f}")
        if importlib.util.find_spec("lancedb"):
            import lancedb
            import pyarrow as pa

            listed = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), SIZE)
            rows = pa.table({"n": np.arange(count), "vector": listed})
            lance = lancedb.connect(os.path.join(folder, "l"))
            begin = time.perf_counter()
            opened = lance.create_table("t", rows)
            add = time.perf_counter() - begin
            late = latency(lambda q: opened.search(q).limit(10).to_list(), queries)
            print(f"{count:>9} {'lancedb':>8} {add:>7.1f} {'':>7} {'':>8} {'':>8} {late:>10.2f}")


if __name__ == "__main__":
    raise SystemExit(main(*(sys.argv[1:] or ["ingest"])))
