"""Which tests belong to a room of the source: a look-up in `rooms.toml`, for `make test-room`.

    python tests/support/source_rooms.py backends/n8n/verify

prints the tests of the room, as arguments of pytest.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (
    "orgflow_ir", "frontends", "backends", "passes", "agents", "store", "compilation", "evaluation",
    "commands",
)  # fmt: skip
"""The folders of the source; the modules at the root of the checkout are the room `.`."""


def read_rooms() -> dict[str, list[str]]:
    """The tests of each room that has an entry, as paths from the root of the checkout."""
    return dict(_read_table()["rooms"])


def read_whole_product_tests() -> list[str]:
    """The tests that belong to no room: of the product as a whole, and of the repository."""
    return list(_read_table()["whole"]["tests"])


def source_folders() -> list[str]:
    """Every room of the source: the root and each package, as paths from the root."""
    packages = [init.parent for name in SOURCE for init in (ROOT / name).rglob("__init__.py")]
    return [".", *sorted(package.relative_to(ROOT).as_posix() for package in packages)]


def find_room(place: str, rooms: dict[str, list[str]]) -> str:
    """The room with the longest path that a file or folder of the source lies in.

    Raises `KeyError` with a message for a place that is not in the source.
    """
    path = Path(place.removeprefix("./").rstrip("/") or ".")
    if path.is_absolute():
        path = path.relative_to(ROOT)
    parts = path.parts
    inside = not parts or parts[0] in SOURCE or (len(parts) == 1 and path.suffix == ".py")
    if not (ROOT / path).exists() or not inside:
        raise KeyError(f"{place} is not in the source: {', '.join(SOURCE)} and what lies in them")
    return next(name for room in (path, *path.parents) if (name := room.as_posix()) in rooms)


def _read_table() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((Path(__file__).parent / "rooms.toml").read_text("utf-8"))


def main(args: list[str]) -> str | int:
    """Print the tests of a room; an error message without exactly one room of the source."""
    rooms = read_rooms()
    if len(args) != 1:
        return f"one room is needed, such as ROOM=backends/n8n/verify; rooms: {', '.join(rooms)}"
    try:
        print(*rooms[find_room(args[0], rooms)])
    except KeyError as error:
        return str(error.args[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
