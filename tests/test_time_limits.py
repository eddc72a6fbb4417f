"""No test fails because the machine is busy: limits by the clock are two minutes or longer.

What is to be quick is measured in processor time (`time.process_time`) or counted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
LEAST = 120
CLOCKS = ("monotonic", "perf_counter")

WITHOUT_FAILURE = {
    "backends/n8n/server/test_server_client.py": "the error after a short wait is expected",
    "llm/conftest.py": "the server is asked until it answers",
    "support/deploy_faults.py": "a row that never comes is right as well",
    "support/n8n_stand_in.py": "a webhook answers only after that time",
    "support/node_tools.py": "threads of a process that has ended; nothing depends on it",
    "test_page_server.py": "what it waits for must not come",
}
"""Files in which a shorter time is no limit: it ends without a failure."""


def short_limits(text: str) -> Iterator[tuple[int, str]]:
    """Line and code of each limit by the clock that is shorter than `LEAST` seconds.

    Limits are an argument `timeout`, the argument of `wait` or `join`, the second of `wait_for`,
    and what a clock is added to or compared with; a name counts with the number that the module
    gives it.
    """
    tree = ast.parse(text)
    named = {
        target.id: part.value.value
        for part in tree.body
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant)
        for target in part.targets
        if isinstance(target, ast.Name)
    }

    def is_short(part: ast.expr) -> bool:
        value = named.get(part.id) if isinstance(part, ast.Name) else getattr(part, "value", None)
        return isinstance(value, int | float) and not isinstance(value, bool) and value < LEAST

    for part in ast.walk(tree):
        limits: list[ast.expr] = []
        match part:
            case ast.Call(func=ast.Attribute(attr="wait" | "join"), args=[only]):
                limits = [only]
            case ast.Call(func=ast.Attribute(attr="wait_for"), args=[_, limit, *_]):
                limits = [limit]
            case ast.Call(keywords=keywords):
                limits = [keyword.value for keyword in keywords if keyword.arg == "timeout"]
            case ast.BinOp(left=left, op=ast.Add(), right=right) if _reads_clock(left):
                limits = [right]
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
                limits = [right] if _reads_clock(left) else []
        if any(map(is_short, limits)):
            yield part.lineno, ast.unparse(part)


def _reads_clock(part: ast.expr) -> bool:
    return any(
        isinstance(inner, ast.Attribute) and inner.attr in CLOCKS for inner in ast.walk(part)
    )


def test_limits_by_the_clock_leave_a_busy_machine_time() -> None:
    found: dict[str, list[tuple[int, str]]] = {}
    for path in sorted(TESTS.rglob("*.py")):
        if limits := list(short_limits(path.read_text("utf-8"))):
            found[path.relative_to(TESTS).as_posix()] = limits
    assert {name: limits for name, limits in found.items() if name not in WITHOUT_FAILURE} == {}
    assert found.keys() == WITHOUT_FAILURE.keys(), "an exception is no longer needed"


@pytest.mark.parametrize(
    ("code", "short"),
    [
        ("run(x, timeout=60)", True),
        ("run(x, timeout=120)", False),
        ("run(x, timeout=None)", False),
        ("S = 5.0\nrun(x, timeout=S)", True),
        ("child.wait(30)", True),
        ("child.wait(180)", False),
        ("', '.join(parts)", False),
        ("client.wait_for(run, 30)", True),
        ("await asyncio.wait_for(answer, 120)", False),
        ("until = time.monotonic() + 60", True),
        ("until = time.monotonic() + 150", False),
        ("assert time.perf_counter() - begun < 5", True),
        ("assert (time.perf_counter() - begun) / 2 < 5", True),
        ("assert time.perf_counter() - begun >= 1", False),
        ("assert time.process_time() - begun < 5", False),
        ("assert time.monotonic() - begun < 120", False),
    ],
)
def test_short_limits_are_seen(code: str, short: bool) -> None:
    assert bool(list(short_limits(code))) is short
