"""What models are read from: bytes, streams of any size in little memory, and folders."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import peak_memory
import pytest
from cli_cases import LINEAR, orgflowc
from large_inputs import MOST_PEAK, WRITER, compiling, event, plugin_path, sparse
from line_events import EventFolder, LineEvents
from orgflow import compiler
from orgflow.api import read
from orgflow.compilation.input_sources import open_source
from orgflow.compilation.reading import load_model
from orgflow.compilation.usage_errors import InputError
from orgflow.frontends.ir.frontend import IrFrontend

from orgflow_ir.model import (
    Model,
    SourceFile,
    SourceFolder,
    SourceKind,
    SourceLocation,
    SourceStream,
)
from orgflow_ir.model.source import HEAD_BYTES, file_stem
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Frontend, Registry
from orgflow_ir.reporting.streamed_lines import MOST_LINE, StreamedLines
from orgflow_ir.testing import ContractError, check_frontend


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin `line_events`, found by the commands that a test starts."""
    monkeypatch.setenv("PYTHONPATH", plugin_path(tmp_path))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two gigabytes of a file."""
    return sparse(tmp_path)


def steps(workflow: str) -> list[str]:
    return [node["name"] for node in json.loads(workflow)["nodes"]]


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_a_file_of_two_gigabytes_in_little_memory(log: Path, tmp_path: Path) -> None:
    command = compiling(str(log))
    ran = peak_memory.run(command, tmp_path / "peak")
    assert ran.code == 0, ran.err
    assert {"First", "Second", "Last"} <= set(steps(ran.out))
    assert ran.peak < MOST_PEAK


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_two_gigabytes_on_a_pipe_in_little_memory(tmp_path: Path) -> None:
    command = compiling("-")
    with subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE) as writer:
        ran = peak_memory.run(command, tmp_path / "peak", writer.stdout)
    assert (ran.code, writer.returncode) == (0, 0), ran.err
    assert {*(f"Step {n}" for n in range(8)), "Last"} <= set(steps(ran.out))
    assert ran.peak < MOST_PEAK


@pytest.mark.usefixtures("plugin")
def test_the_peak_that_is_measured_is_that_of_the_command(tmp_path: Path) -> None:
    big = "import sys; b'x' * (400 << 20)"
    ran = peak_memory.run([sys.executable, "-c", big], tmp_path / "peak")
    assert ran.code == 0
    assert ran.peak > 400 << 20


@pytest.mark.parametrize("format_", ["bpmn", "ir"])
def test_a_reader_of_bytes_keeps_its_limit(log: Path, tmp_path: Path, format_: str) -> None:
    command = compiling(str(log), format_)
    ran = peak_memory.run(command, tmp_path / "peak")
    assert ran.code == 2
    assert "OF002" in ran.err
    assert "has more than 256 MB" in " ".join(ran.err.split())
    assert ran.peak < MOST_PEAK


@pytest.mark.slow
@pytest.mark.usefixtures("plugin")
def test_a_file_that_is_too_large_to_be_fixed(log: Path) -> None:
    """The check reads it as a stream; that no fix is made is not silent."""
    command = [sys.executable, "-m", "orgflow.cli", "check", "--fix", str(log)]
    ran = subprocess.run(
        [*command, "--from", "lines"], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.startswith(
        f"not fixed: {log} has more than 256 MB; only smaller files are changed\n"
    )


# -- streams ---------------------------------------------------------------------------------------


class Slow(io.RawIOBase):
    """A pipe that gives few bytes at once."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.file = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        return self.file.readinto(memoryview(buffer)[:7])


@pytest.mark.parametrize("size", [0, 3, HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + 1, 300_000])
def test_the_head_is_read_again(size: int) -> None:
    data = bytes(n % 251 for n in range(size))
    with SourceStream("a.b", Slow(data), once=True) as stream:
        assert stream.head == data[:HEAD_BYTES]
        assert stream.read(10) == data[:10]
        assert stream.read() == data[10:]


def test_a_stream_that_comes_only_once() -> None:
    with SourceFile("a", b"abc").stream(once=True) as stream:
        assert not stream.seekable()
        assert stream.read() == b"abc"
        with pytest.raises(io.UnsupportedOperation):
            stream.seek(0)


def test_a_file_can_be_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_bytes(b"x" * 200_000)
    with open_source(str(tmp_path / "a.lines")) as stream:
        assert isinstance(stream, SourceStream)
        assert (len(stream.read()), stream.seek(0), len(stream.read())) == (200_000, 0, 200_000)
    assert stream.closed


class Recorder(LineEvents):
    """Keeps the streams that it was given; fails where it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.streams: list[SourceStream] = []

    def sniff(self, source: SourceStream) -> bool:
        """Reads all that it is given."""
        assert len(source.read()) <= HEAD_BYTES
        return True

    def parse(self, source: SourceStream, ctx: PassContext) -> Model | None:
        self.streams.append(source)
        if self.error is not None:
            raise self.error
        return super().parse(source, ctx)


def leaves(*frontends: Frontend) -> Any:
    found = {f.name: f for f in frontends}
    return SimpleNamespace(
        frontends=found, frontends_for=lambda suffix: found, plugin_of=lambda leaf: None, passes={}
    )


class Other(LineEvents):
    """Has the same suffix, and recognises nothing."""

    name = "other"

    def sniff(self, source: SourceStream) -> bool:
        """Never, and reads everything all the same."""
        source.read()
        return False


@pytest.fixture
def pipe() -> Iterator[tuple[str, int]]:
    """The path of a pipe, and the end to write into."""
    reading, writing = os.pipe()
    yield f"/dev/fd/{reading}", writing
    os.close(reading)


def names(model: Model | None) -> list[str]:
    assert model is not None
    return [node.name for node in model.processes[0].nodes]


ALL = ["First event", "A", *(f"B{n}" for n in range(3_000)), "Last event"]
LOG = b"".join(event(name) for name in ALL[1:-1])


@pytest.mark.parametrize("once", [False, True])
def test_recognising_loses_nothing(once: bool) -> None:
    assert len(LOG) > HEAD_BYTES / 2
    recorder = Recorder()
    source = SourceStream("a.lines", io.BytesIO(LOG * 3), once=once)
    ctx = PassContext()
    assert names(load_model(source, leaves(Other(), recorder), ctx)) == ALL
    # A reader of bytes with the same suffix is asked, too, where that can be done.
    source = SourceStream("a.json", io.BytesIO(LOG * 3), once=once)
    assert names(load_model(source, leaves(IrFrontend(), recorder), ctx)) == ALL
    assert not ctx.has_errors


def test_a_reader_of_bytes_gets_what_came_once_and_no_reader_of_streams_wants() -> None:
    data = Model(id="m").to_json().encode()
    source = SourceStream("a.json", Slow(data), once=True)
    model = load_model(source, leaves(IrFrontend(), Other()), PassContext())
    assert model == Model(id="m")


def test_a_pipe_by_its_path(pipe: tuple[str, int]) -> None:
    path, writing = pipe
    os.write(writing, event("A"))
    os.close(writing)
    model = load_model(path, leaves(Other(), LineEvents()), PassContext(), from_="lines")
    assert names(model) == ["First event", "A", "Last event"]


@pytest.mark.parametrize("error", [None, ValueError("odd"), OSError("disk")])
def test_a_stream_is_closed_whatever_happens(tmp_path: Path, error: Exception | None) -> None:
    path = tmp_path / "a.lines"
    path.write_bytes(b"no event\n")
    recorder, ctx = Recorder(error), PassContext()
    assert load_model(str(path), leaves(recorder), ctx) is None
    assert ctx.has_errors
    assert [stream.closed for stream in recorder.streams] == [True]


class Failing(io.RawIOBase):
    """A disk that fails after the first bytes."""

    def __init__(self) -> None:
        self.data = io.BytesIO(event("A") * 100_000)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if self.data.tell() > 200_000:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self.data.readinto(buffer)


@pytest.mark.parametrize("ours", [True, False])
def test_a_disk_that_fails_in_the_middle(ours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """OF002 with the name of the file, whoever wrote the reader."""
    reader, ctx = LineEvents(), PassContext()
    if ours:
        monkeypatch.setattr(LineEvents, "__module__", "orgflow.frontends.lines")
    source = SourceStream("log.lines", Failing())
    assert load_model(source, leaves(reader), ctx) is None
    assert [(d.code, d.message) for d in ctx.diagnostics] == [
        ("OF002", "log.lines cannot be read: input/output error")
    ]


def test_standard_input_itself_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(event("A")))
    monkeypatch.setattr(sys, "stdin", stdin)
    recorder = Recorder()
    model = load_model("-", leaves(recorder), PassContext(), from_="lines")
    assert names(model) == ["First event", "A", "Last event"]
    assert recorder.streams[0].closed
    assert not recorder.streams[0].head.startswith(b"x")
    assert not stdin.buffer.closed


# -- folders ---------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "log.txt").touch()
    (place / "2.event").write_bytes(event("Two"))
    (place / "1.event").write_bytes(event("One"))
    return place


@pytest.mark.usefixtures("plugin")
def test_a_folder_goes_to_the_frontend_that_recognises_it(folder: Path, tmp_path: Path) -> None:
    for args in ((), ("--from", "event-folder")):
        ran = orgflowc("compile", folder, *args, "--target", "n8n")
        assert ran.code == 0, ran.err
        assert {"One", "Two"} <= set(steps(ran.out))
    (folder / "log.txt").unlink()
    for args in ((), ("--from", "lines"), ("--from", "bpmn")):
        ran = orgflowc("compile", folder, *args, "--target", "n8n")
        said = " ".join(ran.err.split())
        assert (ran.code, "OF002" in said, "is a folder" in said) == (2, True, True)
    (folder / "order.bpmn").write_text(LINEAR)
    (folder / "log.txt").touch()
    ran = orgflowc("check", folder)
    assert ran.code == 0
    assert "order.bpmn" in ran.out


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("command", ["compile --target n8n", "check", "check --fix"])
def test_a_reader_of_folders_reads_no_file(tmp_path: Path, command: str) -> None:
    (tmp_path / "a.lines").write_bytes(event("A"))
    ran = orgflowc(*command.split(), tmp_path / "a.lines", "--from", "event-folder")
    assert ran.code == 2
    assert "OF002" in ran.out + ran.err
    assert "`event-folder` reads only folders" in ran.out + ran.err


@pytest.mark.usefixtures("plugin")
def test_all_commands_read_streams(tmp_path: Path) -> None:
    path, other = tmp_path / "a.lines", tmp_path / "b.lines"
    path.write_bytes(event("A") + event("B"))
    other.write_bytes(event("A") + event("C"))
    assert orgflowc("check", tmp_path).code == 0
    assert "2 files" in orgflowc("check", tmp_path).out
    assert orgflowc("check", path, "--target", "n8n").code == 0
    assert orgflowc("trace", path).code == 0
    ran = orgflowc("diff", path, other)
    assert ran.code == 1
    assert "C" in ran.out


def test_as_a_library(folder: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read(folder)


# -- excerpts --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plugin")
def test_the_excerpt_of_a_stream_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.lines"
    path.write_bytes(event("A") * 200_000 + b"this is no event\n" + event("B"))
    ran = orgflowc("check", path)
    assert ran.code == 1
    assert f"{path}:200001: error LINES101" in ran.out
    assert "200001 | this is no event\n" in ran.out


@pytest.mark.usefixtures("plugin")
def test_standard_input_has_no_excerpt() -> None:
    ran = orgflowc("check", "-", "--from", "lines", stdin=b"this is no event\n")
    assert ran.code == 1
    assert "<stdin>:1: error LINES101" in ran.out
    assert " | " not in ran.out


@pytest.mark.parametrize("span", [False, True])
def test_lines_of_a_file_by_number_and_by_bytes(tmp_path: Path, span: bool) -> None:
    path = tmp_path / "a"
    rows = ["", "one", "zwölf ", "x" * MOST_LINE, "y" * (MOST_LINE - 1), "", *["z" * 999] * 3_000]
    path.write_bytes("\r\n".join(rows).encode())
    at = 0
    for number, row in enumerate(rows, 1):
        size = len(row.encode())
        if number < 10 or number % 500 == 0 or number == len(rows):
            spans = (at + size // 2, at + size) if span else None
            loc = SourceLocation(file="a", line=number, span=spans)
            told = StreamedLines(str(path)).line(loc)
            assert told == (row if size + 2 <= MOST_LINE else None)
        at += size + 2


def test_lines_that_cannot_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert StreamedLines(str(path)).line(SourceLocation(file="a", line=1)) is None
    path.write_bytes("text".encode("utf-16"))
    assert StreamedLines(str(path)).line(SourceLocation(file="a", line=1)) is None
    assert StreamedLines(str(path)).line(SourceLocation(file="a", line=9)) is None


# -- contracts -------------------------------------------------------------------------------------


ODD = ["{'stream'}", "frozenset({'stream'})", "'stream'", "None", "frozenset()"]


@pytest.mark.parametrize("accepts", ODD)
def test_nonsense_in_accepts_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accepts: str
) -> None:
    info = tmp_path / "site" / "odd-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[orgflow.plugins]\nodd = odd_plugin\n")
    code = f"""
        from orgflow_ir.plugins import Frontend, hookimpl

        class Odd(Frontend):
            name = "odd"
            suffixes = (".odd",)
            accepts = {accepts}

            def parse(self, source, ctx):
                return None

        @hookimpl
        def orgflow_frontends():
            return (Odd(),)
    """
    (info.parent / "odd_plugin.py").write_text(textwrap.dedent(code))
    paths = [str(info.parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    (tmp_path / "order.bpmn").write_text(LINEAR)
    ran = orgflowc("check", tmp_path / "order.bpmn")
    assert ran.code == 0
    assert "OF001" in ran.out
    assert "`accepts` is" in " ".join(ran.out.split())


def test_the_conformance_kit_tries_streams_and_folders(folder: Path) -> None:
    check_frontend(LineEvents(), [SourceFile("a.lines", event("A") + event("B"))])
    check_frontend(EventFolder(), [SourceFolder(str(folder))])


class Greedy(LineEvents):
    """Takes each line whole, however long it is."""

    def parse(self, source: SourceStream, ctx: PassContext) -> Model | None:
        data = source.readline()
        return super().parse(SourceFile(source.path, data).stream(), ctx)


class Twice(LineEvents):
    """Reads its input twice, where that can be done."""

    def parse(self, source: SourceStream, ctx: PassContext) -> Model | None:
        while source.read(1 << 20):
            pass
        if source.seekable():
            source.seek(0)
        return super().parse(source, ctx)


class Wrong(LineEvents):
    accepts = {"stream"}  # type: ignore[assignment]  # noqa: RUF012


@pytest.mark.parametrize(
    ("frontend", "message"),
    [
        (Greedy(), "a line of 64 MB takes"),
        (Twice(), "returns a different model if the input can be read only once"),
        (Wrong(), "not a frozenset of `SourceKind`"),
    ],
)
def test_the_conformance_kit_finds(frontend: Frontend, message: str) -> None:
    with pytest.raises(ContractError, match=message):
        check_frontend(frontend, [SourceFile("a.lines", event("A"))])


def test_bytes_are_what_a_frontend_accepts_if_it_says_nothing() -> None:
    assert Frontend.accepts == {SourceKind.BYTES}


@pytest.mark.parametrize(
    ("source", "stem"),
    [("", "model"), ("<stdin>", "stdin"), ("<>", "model"), ("in/order.bpmn", "order"),
     ("order.v2.bpmn", "order.v2"), (".bpmn", ".bpmn"), ("order", "order")],
)  # fmt: skip
def test_files_of_a_model_are_named_after_its_source(source: str, stem: str) -> None:
    """With every target; of a process that is compiled separately after the process."""
    assert file_stem(source) == stem
    registry = Registry(outside=False)
    path = Path(__file__).parents[1] / "examples/leave-request/model.bpmn"
    original = read(path).model
    assert original is not None
    model = original.replace(source=source)
    for name in ("bpmn", "ir", "mermaid", "svg", "powl", "triples"):
        ctx = PassContext(registry=registry)
        ((_, made),) = compiler.compile_separately(
            compiler.CompileRequest(model, registry.backends[name]), ctx
        )
        emitted = registry.backends[name].emit(model, ctx)
        assert all(a.path.startswith(f"{stem}.") for a in emitted.artifacts), name
        assert all(a.path.startswith("leave-request.") for a in made.artifacts), name
