"""Scripts of table operations: as n8n workflows, and all their interleavings by a naive referee.

The referee shares nothing with the model of the engine but n8n's rules: a table is a list of
dictionaries, every script is a list of operations on the items that the operation before it
returned, and all orders are tried, one after the other, without remembering any.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

Fields = dict[str, Any]
COLUMNS = ("key", "state", "run")


@dataclass(frozen=True)
class Field:
    """The field of the item that an operation works on."""

    name: str


@dataclass(frozen=True)
class Me:
    """The number of the execution."""


@dataclass
class Operation:
    """One Data Table node.

    Attributes:
        name: insert, get, update, upsert or delete.
        tests: column, condition and value each.
        every: whether all have to hold.
        values: the written columns.
        limit: most rows of a get.
        always: whether it hands on an empty item if it has no rows.
    """

    name: str
    tests: list[tuple[str, str, Any]] = field(default_factory=list)
    values: Fields = field(default_factory=dict)
    every: bool = True
    limit: int | None = None
    always: bool = False


Script = list[Operation]


# -- as n8n workflows ------------------------------------------------------------------------------


def table_workflow(script: Script) -> dict[str, Any]:
    """A webhook, and the operations in a row; the last node is called `End`."""
    nodes: list[dict[str, Any]] = [plain_node("T", "webhook", {"path": "p"}, 0)]
    for number, operation in enumerate(script, 1):
        parameters = table_parameters(operation)
        node = plain_node(f"N{number}", "dataTable", parameters, number)
        node["alwaysOutputData"] = operation.always
        nodes.append(node)
    nodes.append(plain_node("End", "noOp", {}, len(nodes)))
    return chained(nodes)


def plain_node(name: str, short: str, parameters: Fields, place: int = 0) -> dict[str, Any]:
    """A node in n8n's form."""
    return {
        "name": name,
        "type": f"n8n-nodes-base.{short}",
        "typeVersion": 1.1 if short == "dataTable" else 1,
        "position": [200 * place, 0],
        "parameters": parameters,
    }


def chained(nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A workflow of nodes in a row."""
    names = [node["name"] for node in nodes]
    connections = {
        before: {"main": [[{"node": after, "type": "main", "index": 0}]]}
        for before, after in pairwise(names)
    }
    settings = {"executionOrder": "v1"}
    return {"nodes": list(nodes), "connections": connections, "settings": settings}


def table_parameters(operation: Operation, table: str = "t") -> Fields:
    """The parameters of a Data Table node."""
    found: Fields = {
        "resource": "row",
        "operation": "deleteRows" if operation.name == "delete" else operation.name,
        "dataTableId": {"__rl": True, "mode": "id", "value": table},
        "options": {},
    }
    if operation.name != "insert":
        conditions = [
            {"keyName": column, "condition": condition, "keyValue": expression(value)}
            for column, condition, value in operation.tests
        ]
        found["matchType"] = "allConditions" if operation.every else "anyCondition"
        found["filters"] = {"conditions": conditions}
    if operation.name in ("insert", "update", "upsert"):
        values = {column: expression(value) for column, value in operation.values.items()}
        found["columns"] = {"mappingMode": "defineBelow", "value": values}
    if operation.name == "get" and operation.limit is not None:
        found["limit"] = operation.limit
    elif operation.name == "get":
        found["returnAll"] = True
    return found


def expression(value: Any) -> Any:
    """A value of a parameter."""
    if isinstance(value, Field):
        return f"={{{{ $json.{value.name} }}}}"
    return "={{ $execution.id }}" if isinstance(value, Me) else value


# -- the referee -----------------------------------------------------------------------------------


@dataclass
class Shared:
    """The table of the referee: its rows, the number of the next one, and whether numbers of
    deleted rows at the end are used again."""

    rows: list[Fields]
    next_id: int
    reuses_ids: bool = False

    def frozen(self) -> tuple[Any, ...]:
        """The table as a value."""
        return (tuple(tuple(sorted(row.items())) for row in self.rows), self.next_id)


@dataclass
class Runner:
    """One execution of the referee: where it is, and what it works on."""

    number: int
    script: Script
    items: list[Fields]
    place: int = 0
    item: int = 0
    output: list[Fields] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Nothing is left to do: the last node was reached, or no item."""
        return self.place == len(self.script) or not self.items

    @property
    def won(self) -> bool:
        """It reached the last node."""
        return self.place == len(self.script) and bool(self.items)


class TooManyOrders(Exception):
    """More orders than were granted."""


def all_outcomes(
    scripts: Sequence[Script],
    items: Sequence[list[Fields]],
    rows: list[Fields],
    reuses_ids: bool = False,
    most: int = 2_000,
) -> set[tuple[Any, ...]]:
    """For every order in which the operations may happen: the final table, and who reached the
    end. Raises `TooManyOrders` for more than `most`."""
    table = Shared([], 1, reuses_ids)
    for row in rows:
        add_row(table, row)
    runners = [
        Runner(number, script, copy.deepcopy(given))
        for number, (script, given) in enumerate(zip(scripts, items, strict=True), 1)
    ]
    found = list(islice(outcomes_from(table, runners), most + 1))
    if len(found) > most:
        raise TooManyOrders
    return set(found)


def outcomes_from(table: Shared, runners: list[Runner]) -> Iterator[tuple[Any, ...]]:
    """The outcomes from here, by trying each execution next."""
    if all(runner.over for runner in runners):
        yield (*table.frozen(), tuple(runner.won for runner in runners))
        return
    for place, runner in enumerate(runners):
        if not runner.over:
            its_table, all_of_them = copy.deepcopy((table, runners))
            operate(its_table, all_of_them[place])
            yield from outcomes_from(its_table, all_of_them)


def operate(table: Shared, runner: Runner) -> None:
    """The next operation of an execution: an insertion of all items, or another one of one."""
    operation = runner.script[runner.place]
    if operation.name == "insert":
        for item in runner.items:
            values = {c: meant(v, item, runner) for c, v in operation.values.items()}
            runner.output.append(dict(add_row(table, values)))
        runner.item = len(runner.items)
    else:
        runner.output += operate_on(table, operation, runner.items[runner.item], runner)
        runner.item += 1
    if runner.item == len(runner.items):
        if operation.always and not runner.output:
            runner.output = [{}]
        runner.items, runner.output = runner.output, []
        runner.item, runner.place = 0, runner.place + 1


def operate_on(table: Shared, operation: Operation, item: Fields, me: Runner) -> list[Fields]:
    """One operation for one item; the rows that it returns."""
    tests = [(column, name, meant(value, item, me)) for column, name, value in operation.tests]
    values = {column: meant(value, item, me) for column, value in operation.values.items()}
    matching = []
    for row in table.rows:
        results = [meets(row[column], name, value) for column, name, value in tests]
        if (all(results) if operation.every else any(results)) or not results:
            matching.append(row)
    if operation.name == "get":
        return [dict(row) for row in matching[: operation.limit]]
    if operation.name == "delete":
        gone = [dict(row) for row in matching]
        table.rows = [row for row in table.rows if all(row is not one for one in matching)]
        if table.reuses_ids:
            table.next_id = table.rows[-1]["id"] + 1 if table.rows else 1
        return gone
    if operation.name == "upsert" and not matching:
        return [dict(add_row(table, values))]
    for row in matching:
        row.update(values)
    return [dict(row) for row in matching]


def add_row(table: Shared, values: Fields) -> Fields:
    """A new row at the end."""
    row = {"id": table.next_id, **{column: values.get(column) for column in COLUMNS}}
    table.rows.append(row)
    table.next_id += 1
    return row


def meant(value: Any, item: Fields, me: Runner) -> Any:
    """The value of an operand."""
    if isinstance(value, Field):
        return item[value.name]
    return str(me.number) if isinstance(value, Me) else value


def meets(cell: Any, name: str, value: Any) -> bool:
    """Whether a cell meets a condition, as SQL with n8n's additions says."""
    if name == "isEmpty":
        return cell in (None, "")
    if name == "isNotEmpty":
        return cell not in (None, "")
    if name == "neq":
        return bool(cell != value)
    if cell is None:
        return value is None and name == "eq"
    if name == "like" and "%" not in value:
        return str(value) in str(cell)
    if name == "like":
        before, after = str(value).split("%")
        long_enough = len(cell) >= len(before) + len(after)
        return long_enough and cell.startswith(before) and cell.endswith(after)
    ordered = {"eq": cell == value}
    if name in ("gt", "gte", "lt", "lte"):
        ordered = {"gt": cell > value, "gte": cell >= value}
        ordered |= {"lt": cell < value, "lte": cell <= value}
    return bool(ordered[name])


# -- random scripts --------------------------------------------------------------------------------

VALUES: dict[str, tuple[Any, ...]] = {
    "key": ("a", "b"),
    "state": ("open", "done", None),
    "run": ("", "1", "2"),
}


def random_script(rnd: random.Random, most: int) -> Script:
    """Up to `most` operations. Fields are read only of rows, or of the item of the start."""
    script: Script = []
    read = True
    for _ in range(rnd.randint(1, most)):
        operation = random_operation(rnd, read)
        operation.always = rnd.random() < 0.3
        read = not operation.always  # an added item has no fields
        script.append(operation)
    return script


def random_operation(rnd: random.Random, read: bool) -> Operation:
    """An operation whose values are constants, the execution's number, or fields if `read`."""
    name = rnd.choice(("insert", "get", "update", "update", "update", "upsert", "delete"))
    tests = [] if name == "insert" else random_tests(rnd, read)
    values: Fields = {}
    if name in ("insert", "update", "upsert"):
        for column in rnd.sample(COLUMNS, rnd.randint(1, 2)):
            values[column] = random_value(rnd, column, read)
    limit = rnd.choice((None, 1, 2)) if name == "get" else None
    return Operation(name, tests, values, rnd.random() < 0.7, limit)


def random_tests(rnd: random.Random, read: bool) -> list[tuple[str, str, Any]]:
    """One or two conditions."""
    found = []
    for column in rnd.sample(COLUMNS, rnd.randint(1, 2)):
        name = rnd.choice(("eq", "eq", "eq", "neq", "isEmpty", "isNotEmpty", "like"))
        value = random_value(rnd, column, read)
        if name == "like":
            value = rnd.choice(("o", "a", "1", "%n", "d%e"))
        elif value is None:  # n8n reads it as an expression alone
            value = "open"
        found.append((column, name, None if name.startswith("is") else value))
    if rnd.random() < 0.2:
        found.append(("id", rnd.choice(("gt", "lte", "eq")), rnd.randint(1, 3)))
    return found


def random_value(rnd: random.Random, column: str, read: bool) -> Any:
    """A constant of a column, or something that is known at run time alone."""
    if column == "run" and rnd.random() < 0.5:
        return Me()
    if read and rnd.random() < 0.4:
        return Field(column)
    return rnd.choice(VALUES[column])


def random_row(rnd: random.Random) -> Fields:
    """A row, or the fields of an item."""
    return {column: rnd.choice(VALUES[column]) for column in COLUMNS}
