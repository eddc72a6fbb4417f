"""Recorded answers of a language model as one file of JSON lines: `recorded_answers.py pack FOLDER
FILE` keeps the answers of a folder of records, `unpack FILE FOLDER` makes a folder of it that
`--record FOLDER --replay` reads.

A line has the hash of the request, the name of the model, and the reply. The messages of requests
are not kept: they repeat the texts, and a changed prompt has another hash, so that its request is
not answered. Prints the number of answers and their tokens. Exit code 1 if there is none.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def pack_records(folder: Path, file: Path) -> list[dict[str, object]]:
    """Write the answers of a folder of records into a file, by hash."""
    rows = []
    for path in sorted(folder.glob("??/*.json")):
        record = json.loads(path.read_text("utf-8"))
        rows.append({
            "hash": path.stem, "model": record["request"]["model"],
            "redacted": record["redacted"], "reply": record["reply"],
        })  # fmt: skip
    lines = (json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
    file.write_text("".join(lines), "utf-8")
    return rows


def unpack_records(file: Path, folder: Path) -> list[dict[str, object]]:
    """Write a folder of records from a file."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for row in rows:
        path = folder / row["hash"][:2] / f"{row['hash']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "version": 1, "redacted": row["redacted"], "request": {"model": row["model"]},
            "reply": row["reply"],
        }  # fmt: skip
        path.write_text(json.dumps(record, ensure_ascii=False) + "\n", "utf-8")
    return rows


def main() -> int:
    """Pack or unpack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("pack", "unpack"))
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args()
    change = pack_records if given.what == "pack" else unpack_records
    rows = change(given.source, given.target)
    replies = [row["reply"] for row in rows]
    tokens = [sum(int(reply[key]) for reply in replies) for key in ("tokens_in", "tokens_out")]  # type: ignore[index]
    print(f"{len(rows)} answers, {tokens[0]:,} tokens in, {tokens[1]:,} out")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
