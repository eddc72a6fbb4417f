"""The tests of each room of the source: every room and every test file has its place."""

from __future__ import annotations

from pathlib import Path

import pytest
import source_rooms

ROOMS = source_rooms.read_rooms()
WHOLE = source_rooms.read_whole_product_tests()
TESTS = source_rooms.ROOT / "tests"


def files_of(paths: list[str]) -> set[Path]:
    """The test files that pytest finds at paths."""
    found: set[Path] = set()
    for name in paths:
        path = source_rooms.ROOT / name
        found.update(path.rglob("test_*.py") if path.is_dir() else [path])
    return found


@pytest.mark.parametrize("folder", source_rooms.source_folders())
def test_every_room_has_tests(folder: str) -> None:
    assert ROOMS[source_rooms.find_room(folder, ROOMS)]


def test_rooms_are_folders_and_modules_of_the_source() -> None:
    folders = source_rooms.source_folders()
    modules = [room for room in ROOMS if (source_rooms.ROOT / room).is_file()]
    assert set(ROOMS) <= {*folders, *modules}
    assert all(str(Path(module).parent) in folders for module in modules)


def test_what_is_named_is_there() -> None:
    for paths in (*ROOMS.values(), WHOLE):
        assert [path for path in paths if not (source_rooms.ROOT / path).exists()] == []
        assert [path for path in paths if paths.count(path) > 1] == []


def test_every_test_file_has_its_place() -> None:
    of_rooms = files_of([path for paths in ROOMS.values() for path in paths])
    of_whole = files_of(WHOLE)
    files = {path for path in TESTS.rglob("test_*.py") if "support" not in path.parts}
    assert sorted(files - of_rooms - of_whole) == [], "name it in tests/support/rooms.toml"
    assert sorted(of_rooms & of_whole) == []


@pytest.mark.parametrize(
    ("place", "room"),
    [
        ("b", "b"),
        ("./b/c/", "b/c"),
        ("b/c/d/module.py", "b/c"),
        ("b/module.py", "b"),
        ("api.py", "."),
        (".", "."),
    ],
)
def test_the_longest_path_counts(
    place: str, room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b" / "c" / "d").mkdir(parents=True)
    for name in ("api.py", "b/module.py", "b/c/d/module.py"):
        (tmp_path / name).touch()
    monkeypatch.setattr(source_rooms, "ROOT", tmp_path)
    monkeypatch.setattr(source_rooms, "SOURCE", ("b",))
    assert source_rooms.find_room(place, {".": [], "b": [], "b/c": []}) == room
    assert source_rooms.find_room(str(tmp_path / place), {".": [], "b": [], "b/c": []}) == room


def test_what_is_no_room_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for place in ("tests", "tests/test_meta.py", "backends/there-is-none"):
        assert "is not in the source" in str(source_rooms.main([place]))
    assert "one room is needed" in str(source_rooms.main([]))
    assert capsys.readouterr().out == ""
    assert source_rooms.main(["store/messages.py"]) == 0
    assert capsys.readouterr().out.split() == ROOMS["store"]
