"""Decisions as JavaScript: a function from a name and JSON to JSON."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow.backends.javascript.exact_code import make_runtime_printer
from orgflow.backends.javascript.feel_runtime_code import Printer
from orgflow.backends.javascript.literals import js_string

from orgflow_ir.decisions.link import DecisionModel, Input, Logic, Requirement, Service, Unit
from orgflow_ir.program.feel.values import Unsupported
from orgflow_ir.program.structures import FunctionDefinition


def decision_code(model: DecisionModel, name: str) -> str:
    """JavaScript that defines `decision(given)`: the value of a decision or service as JSON.

    `given` is an object of inputs by name. Typed inputs that are dates, times or durations are
    their ISO texts.

    Raises:
        Unsupported: the decision or its requirement is not translated; the text gives the reason.
        KeyError: the name does not exist.
    """
    printer = make_runtime_printer()
    code, types = _print_function(printer, model, name)
    body = (
        f"{code}\nconst types = new Map([{types}]);\n"
        "const decision = (given) => output(decideFor(new Map(Object.entries(given).map((entry) => "
        "[entry[0], typed(input(entry[1]), types.has(entry[0]) ? types.get(entry[0]) : "
        '"Any")]))));'
    )
    return printer.program(body)


def decision_values(model: DecisionModel, name: str, given: str) -> str:
    """JavaScript that returns the value of a decision in FEEL's notation, for comparison with the
    evaluator.

    `given` is code for entries of inputs, `["name", value]`, whose values are the runtime's.
    Errors are those of `decision_code`.
    """
    printer = make_runtime_printer()
    printer.temporal = True
    code, _ = _print_function(printer, model, name)
    return printer.program(f"{code}\nreturn show(decideFor(new Map([{given}])));")


def _print_function(printer: Printer, model: DecisionModel, name: str) -> tuple[str, str]:
    """`decideFor` with what it requires, and the types of inputs by name."""
    unit = model.named(name)
    if unit is None:
        raise KeyError(name)
    needed = _list_needed(model, unit)
    numbers = {needed_unit.key: at for at, needed_unit in enumerate(needed)}
    written = [_print_unit(printer, model, needed_unit, numbers) for needed_unit in needed]
    inputs = [needed_unit for needed_unit in needed if isinstance(needed_unit, Input)]
    types = ", ".join(
        f"[{js_string(needed_unit.name)}, {printer.type(needed_unit.type)}]"
        for needed_unit in inputs
    )
    value = f"u{numbers[unit.key]}(e)"
    parameters = _list_parameters(unit)
    if parameters is not None:
        taken = [f"given.has({n}) ? given.get({n}) : null" for n in map(js_string, parameters)]
        value = f"call({value}, [{', '.join(taken)}], null)"
    return (
        "const once = (e, key, compute) => {\n"
        "if (!e.known.has(key)) e.known.set(key, compute());\n"
        "return e.known.get(key);\n};\n" + "\n".join(written) + "\nconst decideFor = (given) => {\n"
        "const e = { given: given, known: new Map() };\n"
        f"return {value};\n}};"
    ), types


def _list_parameters(unit: Unit) -> list[str] | None:
    """Names of the parameters of what is a function."""
    if isinstance(unit, Service):
        return [parameter.name for parameter in unit.parameters]
    if isinstance(unit, Logic) and unit.knowledge and isinstance(unit.tree, FunctionDefinition):
        return [parameter.name for parameter in unit.tree.parameters]
    return None


def _list_requirements(unit: Unit) -> Iterable[Requirement]:
    match unit:
        case Logic():
            return unit.requires
        case Service():
            return (*unit.parameters, *unit.outputs)
    return ()


def _list_needed(model: DecisionModel, unit: Unit) -> list[Unit]:
    """A unit and all it requires, each behind what it requires.

    Raises `Unsupported` where one is not valid or requires itself.
    """
    visited: dict[str, Unit] = {}
    opened: list[str] = []

    def visit(unit: Unit) -> None:
        if unit.key in visited:
            return
        if unit.key in opened:
            raise Unsupported(f"`{unit.name}` requires itself")
        if isinstance(unit, Logic) and unit.tree is None:
            raise Unsupported(f"`{unit.name}` is not valid")
        opened.append(unit.key)
        for requirement in _list_requirements(unit):
            visit(model.units[requirement.key])
        opened.pop()
        visited[unit.key] = unit

    visit(unit)
    return list(visited.values())


def _print_unit(printer: Printer, model: DecisionModel, unit: Unit, numbers: dict[str, int]) -> str:
    number = numbers[unit.key]
    match unit:
        case Input(_, name, of):
            read = f"e.given.has({js_string(name)}) ? e.given.get({js_string(name)}) : null"
            value = f"coerce({read}, {printer.type(of)})"
        case Service():
            value = _print_service(printer, model, unit, numbers)
        case Logic(_, name, tree, requires):
            assert tree is not None
            entries = ", ".join(f"[{js_string(r.name)}, u{numbers[r.key]}(e)]" for r in requires)
            value = f"((s) => {printer.tree(tree)})(scope([{entries}], null))"
            if unit.knowledge:  # it may call itself
                value = (
                    f"((s) => {{\nconst f = {printer.tree(tree)};\n"
                    f"s.v.set({js_string(name)}, f);\nreturn f;\n}})(scope([{entries}], null))"
                )
    return f"const u{number} = (e) => once(e, {number}, () => {value});"


def _print_service(
    printer: Printer, model: DecisionModel, unit: Service, numbers: dict[str, int]
) -> str:
    parameters = ", ".join(
        f"[{js_string(p.name)}, {printer.type(model.units[p.key].type)}]" for p in unit.parameters
    )
    known = ", ".join(f"[{numbers[p.key]}, get(s, {js_string(p.name)})]" for p in unit.parameters)
    results = [f"[{js_string(o.name)}, u{numbers[o.key]}(e)]" for o in unit.outputs]
    value = (
        f"u{numbers[unit.outputs[0].key]}(e)"
        if len(results) == 1
        else (f"new Map([{', '.join(results)}])")
    )
    body = (
        f"((e) => coerce({value}, {printer.type(unit.type)}))"
        f"({{ given: new Map(), known: new Map([{known}]) }})"
    )
    return (
        f"Object.assign(fn([{parameters}], null, (s) => {body}), "
        f"{{ r: {printer.type(unit.type)} }})"
    )
