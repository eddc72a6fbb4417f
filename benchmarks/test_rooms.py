"""The processor time of the quick tests of each room of the source, as `make test-room` runs them.

    python benchmarks/test_rooms.py [ROOM…]

Prints a line a room: seconds of processor time with all processes that the tests start, the number
of tests, the room. Ends with 1 where the tests of a room fail or take longer than 30 seconds.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from source_rooms import find_room, read_rooms  # noqa: E402

MOST = 30.0
"""Seconds of processor time that the quick tests of a room may take."""


class RoomTime(NamedTuple):
    """What the tests of a room take.

    Attributes:
        seconds: of processor time, with all processes.
        summary: the last line of pytest.
        failure: the end of what pytest printed where tests fail; empty otherwise.
    """

    seconds: float
    summary: str
    failure: str


def measure_tests(tests: tuple[str, ...]) -> RoomTime:
    """Run the quick tests at some paths in one process."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", *tests]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        running = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        lines = output.read().splitlines()
    summary = next((line for line in reversed(lines) if re.search(r"\d (passed|failed)", line)), "")
    failure = "\n".join(lines[-40:]) if running.returncode else ""
    return RoomTime(usage.ru_utime + usage.ru_stime, summary, failure)


def main(args: list[str]) -> int:
    """Print the table. Raises `KeyError` for a place that is not in the source."""
    rooms = read_rooms()
    chosen = list(dict.fromkeys(find_room(place, rooms) for place in args)) or list(rooms)
    measured: dict[tuple[str, ...], RoomTime] = {}
    wrong = []
    for room in chosen:
        tests = tuple(rooms[room])
        found = measured[tests] = measured.get(tests) or measure_tests(tests)
        count = re.search(r"(\d+) passed", found.summary)
        late = "  over" if found.seconds > MOST else ""
        print(
            f"{found.seconds:6.1f} s {count[1] if count else 0:>6} tests  {room}{late}", flush=True
        )
        if found.failure:
            print(found.failure)
        if late or found.failure:
            wrong.append(room)
    print(f"{len(chosen)} rooms, {len(wrong)} over {MOST:.0f} s or with failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
