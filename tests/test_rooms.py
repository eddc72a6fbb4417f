"""Rooms import each other in one order, and names state what they are: both only improve."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path

import code_names
import code_values
import import_graph
import pytest
import ratchets
import room_order
from import_graph import find_circles, import_edges, list_imports, room_edges, room_name
from ratchets import Difference, compare_circles, compare_counts

ROOT = Path(__file__).resolve().parent.parent


# -- the code ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ratchets.RATCHETS)
def test_no_exception_is_new(name: str) -> None:
    assert ratchets.find_difference(name).new == ()


@pytest.mark.parametrize("name", ratchets.RATCHETS)
def test_every_listed_exception_still_exists(name: str) -> None:
    gone = ratchets.find_difference(name).gone
    assert gone == (), f"run `make ratchets`, which lowers tests/ratchets/{name}"


def test_no_module_imports_itself_while_it_is_imported() -> None:
    modules = import_graph.read_modules(ROOT)
    assert find_circles(import_edges(modules, runs_at_import=True)) == []


def test_rooms_form_no_circle_without_the_listed_imports() -> None:
    edges = import_graph.read_edges(ROOT)
    listed = ratchets.read_listed("rooms.json")["imports against the order"]
    pairs = room_edges(edges, import_graph.read_packages(ROOT))
    others = [pair for pair in pairs if " > ".join(pair) not in listed]
    assert len(others) > 200
    assert find_circles(import_graph.join_pairs(others)) == []


def test_every_room_has_a_place() -> None:
    packages = import_graph.read_packages(ROOT)
    rooms = {room_name(module, packages) for module in import_graph.read_edges(ROOT)}
    assert rooms - room_order.PLACES.keys() == set()
    assert rooms >= {"orgflow_ir.model", "orgflow.backends.n8n.emit", "orgflow.compiler"}


def test_a_room_stands_in_the_order_once() -> None:
    rooms = [room for line in room_order.ORDER for room in line]
    assert len(set(rooms)) == len(rooms)


def test_a_lazy_module_has_the_types_of_what_it_stands_for() -> None:
    wrong = [
        f"{module}: {name}"
        for module, text in import_graph.read_modules(ROOT).items()
        for name, imported in import_graph.list_lazy_modules(text)
        if (name, imported) not in set(import_graph.list_type_imports(text))
    ]
    assert wrong == []


# -- the checks can fail -----------------------------------------------------------------------


MODULES = {
    "a": "from b.c import x",
    "b": "",
    "b.c": "import d",
    "d": "def late():\n    import e\n",
    "e": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import y\n",
}


def test_a_circle_over_imports_in_functions_and_for_types_is_found() -> None:
    assert find_circles(import_edges(MODULES)) == [("a", "b.c", "d", "e")]
    assert find_circles(import_edges(MODULES, runs_at_import=True)) == []
    without_types = MODULES | {"e": ""}
    assert find_circles(import_edges(without_types)) == []
    at_import = {"a": "import b", "b": "try:\n    import a\nexcept ImportError:\n    pass"}
    assert find_circles(import_edges(at_import, runs_at_import=True)) == [("a", "b")]
    without_late_import = MODULES | {"d": ""}
    assert find_circles(import_edges(without_late_import)) == []


def test_two_circles_that_meet_are_one() -> None:
    assert find_circles({"a": {"b"}, "b": {"a", "c"}, "c": {"b"}, "d": {"a"}}) == [("a", "b", "c")]
    apart = {"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c"}}
    assert find_circles(apart) == [("a", "b"), ("c", "d")]
    assert find_circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_a_long_chain_is_no_matter_of_recursion() -> None:
    chain = {str(n): {str(n + 1)} for n in range(5000)}
    assert find_circles(chain) == []
    (circle,) = find_circles({**chain, "5000": {"0"}})
    assert len(circle) == 5001


def test_a_name_of_a_package_is_an_import_of_the_package() -> None:
    modules = {"b": "", "b.c": "", "a": "from b import c, name\nimport b.c.inner, other"}
    assert import_edges(modules)["a"] == {"b", "b.c"}


LAZY = """
if TYPE_CHECKING:
    import json
    from a import b, c as d
else:
    json = LazyModule("json")
    b = LazyModule("a.b")
"""


def test_a_lazy_module_is_an_import_that_does_not_run_at_import() -> None:
    assert sorted(import_graph.list_lazy_modules(LAZY)) == [("b", "a.b"), ("json", "json")]
    assert set(import_graph.list_type_imports(LAZY)) == {
        ("json", "json"),
        ("b", "a.b"),
        ("d", "a.c"),
    }
    assert "a.c" in set(list_imports(LAZY))
    assert "x.y" in set(list_imports('late = LazyModule("x.y")'))
    assert list(list_imports('late = LazyModule("x.y")', runs_at_import=True)) == []
    for code in ("late = LazyModule(name)", 'use(LazyModule("x"))'):
        with pytest.raises(ValueError, match="no assignment of a literal name"):
            list(import_graph.list_lazy_modules(code))


def test_a_relative_import_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 2: a relative import"):
        list(list_imports("\nfrom . import x"))


def test_rooms() -> None:
    packages = {
        "orgflow",
        "orgflow.passes",
        "orgflow_ir",
        "orgflow_ir.flow",
        "orgflow_ir.flow.nets",
    }
    modules = {
        "orgflow.passes.x": "orgflow.passes",
        "orgflow.passes": "orgflow.passes",
        "orgflow.api": "orgflow.api",
        "orgflow_ir.authoring": "orgflow_ir.authoring",
        "orgflow_ir.flow.nets.net": "orgflow_ir.flow.nets",
        "orgflow_ir.flow": "orgflow_ir.flow",
    }
    assert {module: room_name(module, packages) for module in modules} == modules
    edges = {"orgflow.api": {"orgflow.passes.x"}, "orgflow_ir.flow.a": {"orgflow_ir.flow.b"}}
    assert room_edges(edges, packages) == {
        ("orgflow.api", "orgflow.passes"): {"orgflow.api > orgflow.passes.x"}
    }


@pytest.mark.parametrize(
    ("importing", "imported", "back"),
    [
        ("orgflow_ir.model", "orgflow_ir.diagnostics", True),
        ("orgflow_ir.diagnostics", "orgflow_ir.model", False),
        ("orgflow_ir.targets", "orgflow_ir.work", True),
        ("orgflow_ir.work", "orgflow_ir.targets", False),
        ("orgflow_ir.plugins", "orgflow_ir.gaps", False),
        ("orgflow_ir.gaps", "orgflow_ir.plugins", True),
        ("orgflow_ir.lowering", "orgflow_ir.testing", True),
        ("orgflow.backends.n8n.emit", "orgflow.backends.n8n.verify", True),
        ("orgflow.backends.n8n.verify", "orgflow.backends.n8n.emit", False),
        ("orgflow.commands", "orgflow.api", True),
    ],
)
def test_the_order_can_be_broken(importing: str, imported: str, back: bool) -> None:
    assert room_order.goes_back(importing, imported) is back


def test_a_room_without_a_place_is_an_error() -> None:
    with pytest.raises(KeyError):
        room_order.goes_back("orgflow_ir.model", "orgflow_ir.new_room")


def test_counts_only_fall() -> None:
    same = {"a": 2, "b": 1}
    assert compare_counts(same, same) == Difference((), ())
    assert compare_counts(same, {"a": 3, "b": 1}) == Difference(("a: 3, listed: 2",), ())
    assert compare_counts(same, {**same, "c": 1}) == Difference(("c: 1, listed: 0",), ())
    assert compare_counts(same, {"a": 1}) == Difference((), ("a: 1, listed: 2", "b: 0, listed: 1"))


def test_circles_only_fall_apart() -> None:
    listed = [("a", "b", "c", "d")]
    assert compare_circles(listed, listed) == Difference((), ())
    assert compare_circles(listed, []) == Difference((), ("a b c d",))
    assert compare_circles(listed, [("a", "b", "c")]) == Difference((), ("a b c d",))
    assert compare_circles(listed, [("a", "b", "c", "d", "e")]) == Difference(
        ("a b c d e",), ("a b c d",)
    )
    assert compare_circles(listed, [*listed, ("x", "y")]) == Difference(("x y",), ())


def test_ratchets_are_lowered_but_never_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "names.json"
    measured = {"a.py": {"unclear names": 2}}
    functions = (lambda root: measured, ratchets.compare_names, 1)
    monkeypatch.setattr(ratchets, "RATCHETS", {"names.json": functions})
    monkeypatch.setattr(ratchets, "read_listed", lambda name: json.loads(path.read_text("utf-8")))
    monkeypatch.setattr(ratchets, "FOLDER", tmp_path)
    path.write_text('{"a.py": {"unclear names": 3}}', "utf-8")
    assert ratchets.lower_ratchets() == 0
    assert path.read_text("utf-8") == '{\n "a.py": {"unclear names": 2}\n}\n'
    path.write_text(text := '{"a.py": {"unclear names": 1}, "b.py": {"unclear names": 1}}', "utf-8")
    assert ratchets.lower_ratchets() == 1
    assert path.read_text("utf-8") == text
    assert "a.py: unclear names: 2, listed: 1" in capsys.readouterr().out


def test_the_files_are_as_the_command_writes_them() -> None:
    for name, (*_, depth) in ratchets.RATCHETS.items():
        text = (ratchets.FOLDER / name).read_text("utf-8")
        assert text == ratchets.format_json(ratchets.read_listed(name), depth) + "\n"


# -- names -------------------------------------------------------------------------------------


CODE = """
def read(one): ...
def _read(): ...
def read_file(found): ...
def command(): ...
def __getattr__(name): ...
if True:
    def late(): ...
class Reader:
    found: int
    def read(self):
        def inner(): ...
        for one, other in []:
            said = one
        with self as made, open() as file:
            [ways for ways in file if (told := ways)]
        try:
            pass
        except ValueError as found:
            match found:
                case {"a": one, **ways}: ...
                case [made, *told]: ...
        return self.found
"""


def test_functions_of_one_word() -> None:
    tree = ast.parse(CODE)
    functions = [function.name for function in code_names.list_module_functions(tree)]
    assert functions == ["read", "_read", "read_file", "command", "__getattr__", "late"]
    assert code_names.count_one_word_functions(tree) == 3


def test_unclear_names_are_counted_where_they_are_bound() -> None:
    tree = ast.parse(CODE)
    names = [name for name in code_names.list_bound_names(tree) if name in code_names.UNCLEAR]
    assert Counter(names) == {"one": 3, "found": 3, "said": 1, "made": 2, "told": 2, "ways": 2}
    assert code_names.count_unclear_names(tree) == len(names)
    assert code_names.count_unclear_names(ast.parse("print(found, x.one, said=1)")) == 0


# -- values ------------------------------------------------------------------------------------


VALUES = """
from typing import NamedTuple, Any
import dataclasses
@dataclass(frozen=True)
class Plain: a: int
@dataclass(frozen=True)
class Kind: a: int
@dataclass(frozen=True)
class Other(Kind): b: int
@dataclass(frozen=True)
class Left:
    a: int
@dataclass(frozen=True)
class Finished:
    def __post_init__(self): ...
@dataclass(frozen=True, slots=True)
class Small(Kind): a: int
@dataclasses.dataclass
class State: a: int
@dataclass(eq=False)
class Identity: a: int
class Record(NamedTuple): a: int
Side = Left | Record
maybe: Plain | None
"""


def test_kinds_of_values_are_counted() -> None:
    assert code_values.count_values({"a.py": ast.parse(VALUES)}) == {
        "a.py": {
            "kinds of the standard library": 2,
            "frozen dataclasses that a named tuple can be": 1,
            "dataclasses with rare arguments": 1,
            "objects with state that are compared by content": 1,
        }
    }
    path = "orgflow_ir/model/records.py"
    assert code_values.count_values({path: ast.parse("from dataclasses import dataclass")}) == {}
