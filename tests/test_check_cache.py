"""`check` over many files: in several processes and with kept results it prints the same bytes."""

from __future__ import annotations

import io
import os
import pickle
import shutil
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from cli_cases import DEADLOCK, LINEAR, Ran, orgflowc
from orgflow import cli
from orgflow.commands import check_cache
from orgflow.commands.check_workers import check_in_processes
from orgflow.commands.checking import Checked, Checker, CheckOptions, own_checker
from orgflow.commands.project.file_fixes import Fixer, Read

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model.source import SourceFile

FORMATS = ("text", "json", "sarif", "github")
CALLS = LINEAR.replace('<task id="ship"', '<callActivity calledElement="called" id="ship"')
CALLED = LINEAR.replace('id="p"', 'id="called"')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Thirty models, two with a fault, and a copy of an example with a decision beside it."""
    for number in range(30):
        text = DEADLOCK if number % 15 == 7 else LINEAR
        (tmp_path / f"m{number:02}.bpmn").write_text(text.replace("Order", f"Order {number}"))
    example = Path(__file__).resolve().parent.parent / "examples" / "expense-claim"
    shutil.copytree(example, tmp_path / "claim")
    return tmp_path


def check(folder: Path, *args: str, cache: str = "cache") -> Ran:
    env = {"ORGFLOW_CACHE": str(folder.parent / f"{folder.name}-{cache}")}
    return orgflowc("check", ".", *args, cwd=folder, env=env)


def entries(folder: Path, cache: str = "cache") -> list[Path]:
    return sorted((folder.parent / f"{folder.name}-{cache}").glob("*"))


@pytest.mark.parametrize(
    "format_",
    [FORMATS[0], *(pytest.param(format_, marks=pytest.mark.slow) for format_ in FORMATS[1:])],
)
@pytest.mark.parametrize("more", [(), ("--target", "n8n"), ("-v", "--strict"), ("--messages",)])
def test_the_same_bytes_and_the_same_code(
    folder: Path, format_: str, more: tuple[str, ...]
) -> None:
    asked = ("--format", format_, *more)
    plain = check(folder, "--no-cache", "--jobs", "1", *asked)
    assert plain.code == 1
    assert not entries(folder)
    runs = [
        check(folder, "--no-cache", "--jobs", "3", *asked),
        check(folder, "--jobs", "2", *asked),
        check(folder, "--jobs", "1", *asked),
    ]
    assert runs == [plain] * 3
    assert len(entries(folder)) == 32 + (2 if format_ == "sarif" else 0)


def test_a_changed_file_is_checked_again(folder: Path) -> None:
    first = check(folder)
    (folder / "m07.bpmn").write_text(LINEAR)
    after = check(folder)
    assert "m07.bpmn" in first.out
    assert "m07.bpmn:" not in after.out.replace("m07.bpmn:6", "")
    assert after == check(folder, "--no-cache")


def test_proved_fixes_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Each takes two checks of its file, so that SARIF would take as long as without results."""
    tried: list[str] = []
    prove = Fixer.fixed_one

    def noted(self: Fixer, read: Read, wanted: Diagnostic) -> SourceFile | None:
        tried.append(read.source.path)
        return prove(self, read, wanted)

    def sarif() -> bytes:
        tried.clear()
        assert cli.run(["check", ".", "--jobs", "1", "--format", "sarif"]) == 1
        return capsysbinary.readouterr().out

    monkeypatch.setattr(Fixer, "fixed_one", noted)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ORGFLOW_CACHE", str(folder.parent / "kept"))
    first = sarif()
    assert first.count(b'"deletedRegion"') >= 2
    assert len(tried) == 2
    assert sarif() == first
    assert tried == []
    (folder / "m07.bpmn").write_text(DEADLOCK.replace("Order", "Other"))
    changed = sarif()
    assert changed != first
    assert tried == ["./m07.bpmn"]
    for entry in (folder.parent / "kept").glob("*-fixes"):
        entry.write_bytes(entry.read_bytes()[:-1] + b"x")
    assert sarif() == changed
    assert sorted(tried) == ["./m07.bpmn", "./m22.bpmn"]


def test_files_beside_a_model_matter(folder: Path) -> None:
    (folder / "caller.bpmn").write_text(CALLS)
    missing = check(folder)
    assert "calls `called`" in missing.out
    (folder / "sub.bpmn").write_text(CALLED)
    found = check(folder)
    assert "calls `called`" not in found.out
    (folder / "sub.bpmn").write_text(CALLED.replace("<startEvent", "<task", 1))
    assert check(folder) == check(folder, "--no-cache")
    (folder / "sub.bpmn").unlink()
    assert check(folder) == missing
    decision = folder / "claim" / "approver.dmn"
    assert decision.is_file()
    before = check(folder, "--target", "n8n")
    decision.write_text(decision.read_text("utf-8").replace("<decision ", "<broken ", 1))
    after = check(folder, "--target", "n8n")
    assert after != before
    assert after == check(folder, "--target", "n8n", "--no-cache")


def test_the_configuration_matters(folder: Path) -> None:
    before = check(folder)
    config = folder / "orgflow.toml"
    config.write_text('[rules]\nOF201 = "off"\n')
    assert check(folder).code == 0
    config.write_text(
        '[[suppress]]\nrule = "OF201"\nreason = "known"\nfiles = ["m07.bpmn"]\n\n'
        '[[suppress]]\nrule = "OF203"\nreason = "no longer"\n'
    )
    accepted = check(folder)
    assert "1 suppressed" in accepted.out
    assert "OF005" in accepted.out
    assert check(folder) == accepted == check(folder, "--no-cache")
    config.unlink()
    assert check(folder) == before


def test_a_project_can_do_without(folder: Path) -> None:
    (folder / "orgflow.toml").write_text("cache = false\n")
    assert check(folder).code == 1
    assert not entries(folder)
    (folder / "orgflow.toml").write_text('cache = "no"\n')
    wrong = check(folder)
    assert "orgflow.toml:1:1: error OF004" in wrong.out
    assert "write true or false" in wrong.out


def test_damaged_entries_are_ignored(folder: Path) -> None:
    first = check(folder)
    for number, entry in enumerate(entries(folder)):
        data = entry.read_bytes()
        entry.write_bytes(data[: len(data) // 2] if number % 2 else data[:-1] + b"x")
    assert check(folder) == first
    shutil.rmtree(entries(folder)[0].parent)
    entries(folder)[0:0] = []
    (folder.parent / f"{folder.name}-file").write_text("")  # no folder can be made there
    assert check(folder, cache="file") == first


def test_an_entry_cannot_have_code_run(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "ran"),)

    for value in (Evil(), (b"", Evil())):
        data = pickle.dumps(value)
        signed = check_cache._sign_entry("name", data, b"key") + data
        assert check_cache._load_entry("name", signed, b"key") is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("builtins", "getattr"),
        ("orgflow_ir.model.value", "dataclass"),
        ("orgflow_ir.diagnostics.diagnostic", "Diagnostic.replace"),
        ("orgflow_ir.diagnostics.rule", "Severity.ERROR"),
        ("orgflow_ir.diagnostics.rule", "Severity.__class__"),
        ("orgflow_ir.model.source", "os.stat_result"),
    ],
)
def test_an_entry_names_nothing_but_classes_of_values(module: str, name: str) -> None:
    with pytest.raises((pickle.UnpicklingError, AttributeError)):
        check_cache._Unpickler(io.BytesIO(b"")).find_class(module, name)


class _Naming(pickle.Unpickler):
    """Notes what an entry names, whatever it is."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.named: dict[tuple[str, str], Any] = {}

    def find_class(self, module: str, name: str, /) -> Any:
        named = self.named[module, name] = super().find_class(module, name)
        return named


def _reduced_by_name(member: Enum, protocol: int) -> tuple[Any, ...]:
    """What Python 3.11.0 to 3.11.3 write for a member of an enumeration."""
    del protocol
    return getattr, (type(member), member.name)


def test_entries_name_the_same_on_every_python(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry calls nothing but classes of values: it is read, whatever `Enum` says of itself."""
    options = CheckOptions(None, None, (), False, None, ())
    checker = own_checker(options)
    models = sorted(str(p) for p in (root / "tests" / "diagnostics").glob("OF2*/bad.bpmn"))
    for model in models:
        cache = check_cache.CheckCache(options, checker.accepted, tmp_path / "cache")
        assert cache.find(model) is None
        cache.keep(model, checker.check(model))
    written = {path.name: path.read_bytes() for path in (tmp_path / "cache").iterdir()}
    assert len(written) == len(models) > 5
    kinds: set[type] = set()
    for data in written.values():
        naming = _Naming(data[32:])
        naming.load()
        assert all(isinstance(kind, type) for kind in naming.named.values()), naming.named
        assert all(module.startswith(("orgflow.", "orgflow_ir.")) for module, _ in naming.named)
        kinds.update(naming.named.values())
    assert sum(issubclass(kind, Enum) for kind in kinds) >= 2

    shutil.rmtree(tmp_path / "cache")
    for kind in (Enum, *(kind for kind in kinds if issubclass(kind, Enum))):
        monkeypatch.setattr(kind, "__reduce_ex__", _reduced_by_name)
    for model in models:
        cache = check_cache.CheckCache(options, checker.accepted, tmp_path / "cache")
        assert cache.find(model) is None
        cache.keep(model, checker.check(model))
        assert cache.find(model) is not None
    assert {path.name: path.read_bytes() for path in (tmp_path / "cache").iterdir()} == written


def test_the_folder_stays_small(tmp_path: Path) -> None:
    options = CheckOptions(None, None, (), False, None, ())
    checker = own_checker(options)
    cache = check_cache.CheckCache(options, checker.accepted, tmp_path / "cache")
    for number in range(20):
        path = tmp_path / f"m{number:02}.bpmn"
        path.write_text(LINEAR.replace("Order", f"Order {number}"))
        assert cache.find(str(path)) is None
        cache.keep(str(path), checker.check(str(path)))
        newest = max((tmp_path / "cache").iterdir(), key=lambda p: p.stat().st_mtime_ns)
        os.utime(newest, (number, number))
    size = sum(p.stat().st_size for p in (tmp_path / "cache").iterdir())
    cache.trim(size)
    assert len(list((tmp_path / "cache").iterdir())) == 20
    cache.trim(size - 1)
    left = list((tmp_path / "cache").iterdir())
    assert 10 <= len(left) <= 15
    assert min(p.stat().st_mtime for p in left) == 20 - len(left)
    again = check_cache.CheckCache(options, checker.accepted, tmp_path / "cache")
    assert again.find(str(tmp_path / "m19.bpmn")) is not None
    assert again.find(str(tmp_path / "m00.bpmn")) is None


def test_other_code_finds_nothing_of_this(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = CheckOptions(None, None, (), False, None, ())
    checker = own_checker(options)
    path = tmp_path / "m.bpmn"
    path.write_text(LINEAR)
    make = lambda o: check_cache.CheckCache(o, checker.accepted, tmp_path / "cache")  # noqa: E731
    cache = make(options)
    assert cache.find(str(path)) is None
    cache.keep(str(path), checker.check(str(path)))
    assert make(options).find(str(path)) is not None
    for other in ({"preset": "strict"}, {"messages": True}, {"target": "n8n"}, {"from_": "bpmn"}):
        changed = CheckOptions(**{**options._asdict(), **other})
        assert make(changed).find(str(path)) is None
    monkeypatch.setattr(
        check_cache, "_digest_modules", lambda places: [b"other", *map(os.fsencode, places)]
    )
    assert make(options).find(str(path)) is None


class _Opened:
    """The files opened while it counts: no hook can be taken away again."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.counts = False
        sys.addaudithook(self._note)

    def _note(self, event: str, args: tuple[object, ...]) -> None:
        if self.counts and event == "open" and isinstance(args[0], str | os.PathLike):
            self.paths.add(os.path.abspath(args[0]))


@pytest.fixture(scope="module")
def opened() -> Iterator[_Opened]:
    found = _Opened()
    yield found
    found.counts = False


@pytest.mark.parametrize("target", [None, "n8n", "asl"])
def test_every_file_that_is_read_is_noted(root: Path, opened: _Opened, target: str | None) -> None:
    """Or a kept result would stay when such a file changes."""
    models = sorted(str(p) for p in (root / "examples").glob("*/*.bpmn"))
    models += sorted(str(p) for p in (root / "tests" / "diagnostics").glob("*/*.bpmn"))
    read = 0
    for model in models:
        checker = own_checker(CheckOptions(None, target, (), False, None, (model,)))
        opened.paths.clear()
        opened.counts = True
        checked = checker.check(model)
        opened.counts = False
        for path in opened.paths - {os.path.abspath(model)}:
            if not path.startswith(str(root / "examples")) and "diagnostics" not in path:
                continue
            if path.endswith((".py", ".pyc", "orgflow.toml")):
                continue
            read += 1
            there = [(os.path.abspath(f), s) for f, s in checked.folders]
            assert any(os.path.dirname(path) == f and path.lower().endswith(s) for f, s in there)
    assert read >= (2 if target == "n8n" else 0)


def test_a_process_that_dies_costs_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    paths = [f"m{n:02}.bpmn" for n in range(30)]
    options = CheckOptions(None, None, (), False, None, tuple(paths))
    here = os.getpid()

    class Dies(Checker):
        def check(self, path: str) -> Checked:
            if path == "m09.bpmn":
                raise RuntimeError("fails")
            if path == "m21.bpmn" and os.getpid() != here:
                os._exit(9)
            return super().check(path)

    own = own_checker(options)
    made = Dies(own.session, own.accepted, options)
    found = dict(check_in_processes(lambda: made, paths, 2))
    assert sorted(found) == paths
    missing = {path for path, checked in found.items() if checked is None}
    assert {"m09.bpmn", "m21.bpmn"} <= missing
    assert len(missing) <= 5


def test_processes_that_are_started_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows and macOS, where nothing is forked."""
    from functools import partial

    monkeypatch.chdir(folder)
    paths = [f"m{n:02}.bpmn" for n in range(6)]
    options = CheckOptions(None, None, (), False, None, tuple(paths))
    found = dict(check_in_processes(partial(own_checker, options), paths, 1, start="spawn"))
    own = own_checker(options)
    assert found == {path: own.check(path) for path in paths}


def test_standard_input_among_files(folder: Path) -> None:
    plain = orgflowc(
        "check", "-", "m00.bpmn", "--from", "bpmn", "--no-cache", stdin=DEADLOCK, cwd=folder
    )
    assert "<stdin>:" in plain.out
    for _ in range(2):
        again = orgflowc("check", "-", "m00.bpmn", "--from", "bpmn", stdin=DEADLOCK, cwd=folder)
        assert again == plain


def test_one_file_loads_neither_cache_nor_processes(tmp_path: Path) -> None:
    (tmp_path / "one.bpmn").write_text(LINEAR)
    code = (
        "import sys\nfrom orgflow import cli\ncli.run(['check', 'one.bpmn'])\n"
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for name in ("orgflow.commands.check_cache", "multiprocessing", "pickle"):
        assert f"'{name}'" not in done.stderr


def test_options_of_a_target_may_name_files_so_nothing_is_kept(folder: Path) -> None:
    first = check(folder, "--target", "n8n{people=mail}")
    assert first == check(folder, "--target", "n8n{people=mail}", "--no-cache")
    (folder / "orgflow.toml").write_text('[targets.n8n]\npeople = "mail"\n')
    assert check(folder, "--target", "n8n") == first
    assert not entries(folder)
    assert check(folder).code == 1
    assert len(entries(folder)) == 32
