"""Which columns of a table hold the case, the activity and the time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from orgflow_ir.mining.event_log import UnreadableLog

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "case": (
        "case:concept:name", "case id", "caseid", "case", "case key", "case number", "case no",
        "case identifier", "trace id", "traceid", "trace", "process instance id",
        "process instance", "instance id", "execution id", "ticket id", "ticket", "order id",
        "incident id", "fall", "fall id", "fallnummer", "vorgang", "vorgangsnummer", "vorgangs id",
        "dossier", "caso",
    ),
    "activity": (
        "concept:name", "activity", "activity name", "activity id", "activityname", "event name",
        "event", "event type", "task name", "task", "step", "step name", "action", "operation",
        "aktivität", "aktivitaet", "tätigkeit", "ereignis", "schritt", "activité", "actividad",
    ),
    "time": (
        "time:timestamp", "timestamp", "complete timestamp", "completetimestamp", "end timestamp",
        "completion time", "complete time", "end time", "endtime", "end", "event time", "eventtime",
        "time", "datetime", "date time", "date", "created at", "zeitstempel", "zeitpunkt", "ende",
        "datum", "horodatage", "fecha",
    ),
    "start": (
        "start timestamp", "starttimestamp", "start time", "starttime", "start", "begin", "beginn",
        "started at",
    ),
    "lifecycle": (
        "lifecycle:transition", "lifecycle", "transition", "life cycle", "event lifecycle",
        "status transition",
    ),
    "resource": (
        "org:resource", "resource", "user", "performer", "employee", "agent", "org:role",
        "bearbeiter", "ressource", "mitarbeiter",
    ),
}  # fmt: skip
"""The fields of an event, and the columns that hold them unless a mapping says otherwise."""

REQUIRED: Final = ("case", "activity")

CASE_PREFIX: Final = "case:"
"""The prefix of the name of a column that holds a value of the case."""

_LISTED: Final = 40


def choose_columns(header: Sequence[str], mapping: Mapping[str, str]) -> dict[str, int]:
    """The place of the column of each field that a table has.

    Args:
        header: the names of the columns.
        mapping: names of columns by field, which go first.

    Raises:
        UnreadableLog: there is no such field or column, or none for a case or an activity.
    """
    places: dict[str, int] = {}
    for field, column in mapping.items():
        if field not in FIELDS:
            raise UnreadableLog(f"no field `{field}`; the fields are {', '.join(FIELDS)}")
        if column not in header:
            raise UnreadableLog(f"no column `{column}`; the columns are {_list_columns(header)}", 1)
        places[field] = header.index(column)
    folded = {_fold_name(name): place for place, name in reversed(list(enumerate(header)))}
    for field, names in FIELDS.items():
        for name in names:
            place = folded.get(_fold_name(name))
            if field not in places and place is not None and place not in places.values():
                places[field] = place
    missing = [field for field in REQUIRED if field not in places]
    if missing:
        options = " ".join(f"--map {field}=COLUMN" for field in missing)
        raise UnreadableLog(
            f"no column is recognised as the {' or the '.join(missing)}; the columns are "
            f"{_list_columns(header)}", 1, f"name the columns: {options}",
        )  # fmt: skip
    return places


def _fold_name(name: str) -> str:
    return re.sub(r"[\s_\-.]+", " ", name.strip().lower())


def _list_columns(header: Sequence[str]) -> str:
    shown = ", ".join(f"`{name[:60]}`" for name in header[:_LISTED])
    return shown + (f" and {len(header) - _LISTED} more" if len(header) > _LISTED else "")
