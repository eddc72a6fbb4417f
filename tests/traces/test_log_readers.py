"""Readers of logs, with files written by hand from the standards, and files that are no logs."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path

import pytest
from orgflow.frontends.traces.log_paths import detect_format, iterate_log, read_log
from orgflow.frontends.traces.log_times import UnreadableTime, detect_month_first, read_time

from orgflow_ir.mining.event_log import CaseAttributes, LogEvent, LogFault, UnreadableLog

XES = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849-2016" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <global scope="event"><string key="concept:name" value="__INVALID__"/></global>
  <classifier name="Activity" keys="concept:name"/>
  <trace>
    <string key="concept:name" value="c1"/>
    <int key="amount" value="500"/>
    <event>
      <string key="concept:name" value="Register"/>
      <string key="lifecycle:transition" value="complete"/>
      <string key="org:resource" value="Ann"/>
      <date key="time:timestamp" value="2025-01-01T10:00:00.000+01:00"/>
      <boolean key="urgent" value="true"><string key="concept:name" value="nested"/></boolean>
    </event>
    <event>
      <string key="concept:name" value="Pay"/>
      <date key="time:timestamp" value="2025-01-02T10:00:00Z"/>
    </event>
  </trace>
  <trace><event><string key="other" value="x"/></event></trace>
</log>
"""


def write_file(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def events_of(path: str, **options: object) -> list[LogEvent]:
    return [e for e in iterate_log(path, **options) if isinstance(e, LogEvent)]  # type: ignore[arg-type]


@pytest.mark.parametrize("packed", [False, True])
def test_xes(tmp_path: Path, packed: bool) -> None:
    data = gzip.compress(XES.encode()) if packed else XES.encode()
    items = list(iterate_log(write_file(tmp_path, "log.xes", data)))
    assert items == [
        CaseAttributes("c1", {"amount": 500.0}, 7),
        LogEvent(
            "c1", "Register", 1735722000.0, items[1][3], "complete", "Ann", {"urgent": True}, 10
        ),
        LogEvent("c1", "Pay", 1735812000.0, items[2][3], "complete", "", {}, 17),
        LogFault(21, "the event has no `concept:name`; it is left out"),
    ]


CSV = "Case ID,Activity,Timestamp,Resource,amount\n1,A,2025-01-01 10:00:00,Ann,5\n1,B,,Bob,\n"


def test_csv_by_usual_names(tmp_path: Path) -> None:
    first, second = events_of(write_file(tmp_path, "log.csv", CSV))
    assert first[:3] == ("1", "A", 1735725600.0)
    assert (first.resource, first.attributes, first.line) == ("Ann", {"amount": 5.0}, 2)
    assert second.time != second.time
    assert second.line == 3


@pytest.mark.parametrize(
    "text",
    ["Vorgang;Aktivität;Zeitstempel\n7;Prüfen;31.12.2025 23:59\n",
     "sep=;\ncase;activity;time\n7;Prüfen;2025-12-31T23:59:00Z\n",
     "case\tevent\ttime\n7\tPrüfen\t1767225540000\n"],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_in_other_notations(tmp_path: Path, text: str, encoding: str) -> None:
    (event,) = events_of(write_file(tmp_path, "log.csv", text.encode(encoding)))
    assert event[:3] == ("7", "Prüfen", 1767225540.0)


def test_a_missing_column_lists_the_columns(tmp_path: Path) -> None:
    path = write_file(tmp_path, "log.csv", "who,what,when\n1,A,2025-01-01\n")
    with pytest.raises(UnreadableLog, match=r"the case or the activity.*`who`, `what`, `when`"):
        read_log(path)
    (event,) = events_of(path, mapping={"case": "who", "activity": "what", "time": "when"})
    assert event[:3] == ("1", "A", 1735689600.0)
    with pytest.raises(UnreadableLog, match="no column `x`; the columns are `who`"):
        read_log(path, {"case": "x"})
    with pytest.raises(UnreadableLog, match="no field `kase`; the fields are case"):
        read_log(path, {"kase": "who"})


def test_rows_that_cannot_be_read(tmp_path: Path) -> None:
    text = "case,activity,time\n1,A,yesterday\n1\n,B,2025-01-01\n1,,2025-01-01\n"
    faults = [
        f for f in iterate_log(write_file(tmp_path, "l.csv", text)) if isinstance(f, LogFault)
    ]
    assert [(fault.line, fault.is_clock) for fault in faults] == [
        (2, True), (3, False), (4, False), (5, False),
    ]  # fmt: skip


def test_the_order_of_day_and_month(tmp_path: Path) -> None:
    assert detect_month_first(["3/5/2025", "3/25/2025"]) is True
    assert detect_month_first(["3/5/2025", "25/3/2025"]) is False
    assert detect_month_first(["3/5/2025"]) is None
    path = write_file(tmp_path, "l.csv", "case,activity,time\n1,A,3/5/2025\n1,B,3/25/2025\n")
    assert [event.time for event in events_of(path)] == [1741132800.0, 1742860800.0]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2025-01-01T00:00:00Z", 1735689600.0), ("2025-01-01 01:00:00 +0100", 1735689600.0),
     ("2025-01-01 00:00:00.123456789 UTC", 1735689600.123456), ("1735689600", 1735689600.0),
     ("1735689600000000000", 1735689600.0), ("01/01/2025 12:00:00 AM", 1735689600.0),
     ("2025/01/01 00:00:00.000", 1735689600.0)],
)  # fmt: skip
def test_notations_of_times(text: str, seconds: float) -> None:
    assert read_time(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["soon", "32.1.2025", "12", "2025-13-01", "1.2.3.4"])
def test_texts_that_are_no_times(text: str) -> None:
    with pytest.raises(UnreadableTime):
        read_time(text)


# -- OCEL 2.0 ----------------------------------------------------------------------------------

OCEL_JSON = {
    "objectTypes": [{"name": "order", "attributes": [{"name": "price", "type": "float"}]},
                    {"name": "item", "attributes": []}],
    "eventTypes": [{"name": "Place", "attributes": []}, {"name": "Pick", "attributes": []}],
    "objects": [
        {"id": "o1", "type": "order",
         "attributes": [{"name": "price", "time": "1970-01-01T00:00:00Z", "value": "12.5"}]},
        {"id": "i1", "type": "item"}, {"id": "i2", "type": "item"},
    ],
    "events": [
        {"id": "e1", "type": "Place", "time": "2025-01-01T00:00:00Z",
         "attributes": [{"name": "resource", "value": "Ann"}],
         "relationships": [{"objectId": "o1", "qualifier": "order"},
                           {"objectId": "i1", "qualifier": "item"},
                           {"objectId": "i2", "qualifier": "item"}]},
        {"id": "e2", "type": "Pick", "time": "2025-01-02T00:00:00Z", "attributes": [],
         "relationships": [{"objectId": "i2", "qualifier": ""}]},
    ],
}  # fmt: skip

OCEL_XML = """<?xml version='1.0' encoding='UTF-8'?>
<log>
<object-types><object-type name="order"><attributes><attribute name="price" type="float"/>
</attributes></object-type><object-type name="item"><attributes/></object-type></object-types>
<event-types><event-type name="Place"><attributes/></event-type></event-types>
<objects>
<object id="o1" type="order"><attributes>
<attribute name="price" time="1970-01-01T00:00:00Z">12.5</attribute></attributes>
<objects><relationship object-id="i1" qualifier="has"/></objects></object>
<object id="i1" type="item"/>
<object id="i2" type="item"/>
</objects>
<events>
<event id="e1" type="Place" time="2025-01-01T00:00:00Z">
<attributes><attribute name="resource">Ann</attribute></attributes>
<objects><relationship object-id="o1" qualifier="order"/>
<relationship object-id="i1" qualifier="item"/><relationship object-id="i2" qualifier="item"/>
</objects></event>
<event id="e2" type="Pick" time="2025-01-02T00:00:00Z"><objects>
<relationship object-id="i2" qualifier=""/></objects></event>
</events></log>
"""

OCEL_SQL = """
CREATE TABLE event (ocel_id TEXT PRIMARY KEY, ocel_type TEXT);
CREATE TABLE object (ocel_id TEXT PRIMARY KEY, ocel_type TEXT);
CREATE TABLE event_map_type (ocel_type TEXT PRIMARY KEY, ocel_type_map TEXT);
CREATE TABLE object_map_type (ocel_type TEXT PRIMARY KEY, ocel_type_map TEXT);
CREATE TABLE event_object (ocel_event_id TEXT, ocel_object_id TEXT, ocel_qualifier TEXT);
CREATE TABLE object_object (ocel_source_id TEXT, ocel_target_id TEXT, ocel_qualifier TEXT);
CREATE TABLE event_place (ocel_id TEXT PRIMARY KEY, ocel_time TIMESTAMP, resource TEXT);
CREATE TABLE event_pick (ocel_id TEXT PRIMARY KEY, ocel_time TIMESTAMP);
CREATE TABLE object_order (ocel_id TEXT, ocel_time TIMESTAMP, ocel_changed_field TEXT, price REAL);
CREATE TABLE object_item (ocel_id TEXT, ocel_time TIMESTAMP, ocel_changed_field TEXT);
INSERT INTO event VALUES ('e1', 'Place'), ('e2', 'Pick');
INSERT INTO object VALUES ('o1', 'order'), ('i1', 'item'), ('i2', 'item');
INSERT INTO event_map_type VALUES ('Place', 'place'), ('Pick', 'pick');
INSERT INTO object_map_type VALUES ('order', 'order'), ('item', 'item');
INSERT INTO event_object VALUES ('e1', 'o1', ''), ('e1', 'i1', ''), ('e1', 'i2', ''),
  ('e2', 'i2', '');
INSERT INTO event_place VALUES ('e1', '2025-01-01 00:00:00', 'Ann');
INSERT INTO event_pick VALUES ('e2', '2025-01-02 00:00:00');
INSERT INTO object_order VALUES ('o1', '1970-01-01 00:00:00', NULL, 12.5);
"""


@pytest.fixture(params=["json", "xml", "sqlite"])
def ocel(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "json":
        return write_file(tmp_path, "log.jsonocel", json.dumps(OCEL_JSON, indent=1))
    if request.param == "xml":
        return write_file(tmp_path, "log.xmlocel", OCEL_XML)
    path = tmp_path / "log.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(OCEL_SQL)
    database.close()
    return str(path)


def test_ocel(ocel: str) -> None:
    events = events_of(ocel, object_type="item")
    assert [(e.case, e.activity, e.time, e.resource) for e in events] == [
        ("i1", "Place", 1735689600.0, "Ann"),
        ("i2", "Place", 1735689600.0, "Ann"),
        ("i2", "Pick", 1735776000.0, ""),
    ]
    items = list(iterate_log(ocel, object_type="order"))
    assert items[0] == CaseAttributes("o1", {"price": 12.5})
    with pytest.raises(UnreadableLog, match=r"several types: `item` \(2 objects\), `order`"):
        events_of(ocel)
    with pytest.raises(UnreadableLog, match="no objects of type `x`; the types are `item`"):
        events_of(ocel, object_type="x")


def test_ocel_version_1(tmp_path: Path) -> None:
    data = {
        "ocel:global-log": {"ocel:version": "1.0"},
        "ocel:events": {"e": {"ocel:activity": "Place", "ocel:timestamp": "2025-01-01T00:00:00",
                              "ocel:omap": ["o1"], "ocel:vmap": {"n": 3}}},
        "ocel:objects": {"o1": {"ocel:type": "order", "ocel:ovmap": {}}},
    }  # fmt: skip
    (event,) = events_of(write_file(tmp_path, "l.jsonocel", json.dumps(data)))
    assert (event.case, event.activity, event.attributes) == ("o1", "Place", {"n": 3.0})


# -- tool calls --------------------------------------------------------------------------------

ARGUMENTS = '{"number": 7, "all": [1, 2]}'
CALL = {"id": "t1", "type": "function", "function": {"name": "find_order", "arguments": ARGUMENTS}}
EXPECTED = {"input.number": 7.0, "input.all.length": 2.0, "output.state": "open"}


def check_calls(folder: Path, *lines: object) -> list[LogEvent]:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return events_of(write_file(folder, "calls.jsonl", text))


def test_a_conversation_a_line(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Where is order 7?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "t1", "content": '{"state": "open"}'},
    ]
    first, second = check_calls(tmp_path, {"messages": messages}, {"id": "x", "messages": messages})
    assert (first.case, first.activity, first.attributes) == ("line 1", "find_order", EXPECTED)
    assert (second.case, second.line) == ("x", 2)
    (single,) = check_calls(tmp_path, {"messages": messages})
    assert single.attributes == EXPECTED


def test_a_message_a_line(tmp_path: Path) -> None:
    (event,) = check_calls(
        tmp_path,
        {"session_id": "s", "role": "assistant", "timestamp": "2025-01-01T00:00:00Z",
         "content": [{"type": "tool_use", "id": "t1", "name": "find_order",
                      "input": {"number": 7, "all": [1, 2]}}]},
        {"session_id": "s", "role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": True,
             "content": [{"type": "text", "text": '{"state": "open"}'}]}]},
    )  # fmt: skip
    assert event[:3] == ("s", "find_order", 1735689600.0)
    assert event.attributes == {**EXPECTED, "failed": True}


def test_a_session_of_mcp(tmp_path: Path) -> None:
    (event,) = check_calls(
        tmp_path,
        {"session_id": "s", "timestamp": "2025-01-01T00:00:00Z",
         "message": {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                     "params": {"name": "find_order",
                                "arguments": {"number": 7, "all": [1, 2]}}}},
        {"session_id": "s", "message": {"jsonrpc": "2.0", "id": 1,
                                        "result": {"structuredContent": {"state": "open"}}}},
    )  # fmt: skip
    assert event[:3] == ("s", "find_order", 1735689600.0)
    assert event.attributes == EXPECTED


def make_span(name: str, operation: str, start: int) -> dict[str, object]:
    values = {"gen_ai.operation.name": operation, "gen_ai.tool.name": name,
              "gen_ai.tool.call.arguments": '{"number": 7, "all": [1, 2]}',
              "gen_ai.tool.call.result": '{"state": "open"}'}  # fmt: skip
    if operation == "chat":
        del values["gen_ai.tool.name"]
    return {
        "traceId": "5b8e", "spanId": f"{start}", "name": f"{operation} {name}",
        "startTimeUnixNano": str(1735689600_000000000 + start * 10**9),
        "endTimeUnixNano": str(1735689601_000000000 + start * 10**9),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in values.items()],
        "status": {},
    }  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
def test_spans(tmp_path: Path, indent: int | None) -> None:
    spans = [make_span("ship", "execute_tool", 5), make_span("gpt", "chat", 2),
             make_span("find_order", "execute_tool", 1)]  # fmt: skip
    data = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}
    path = write_file(tmp_path, "spans.json", json.dumps(data, indent=indent))
    first, second = events_of(path)
    assert (first.activity, second.activity) == ("find_order", "ship")
    assert (first.case, first.start, first.time) == ("5b8e", 1735689601.0, 1735689602.0)
    assert first.attributes == EXPECTED


# -- Parquet -----------------------------------------------------------------------------------


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "log.parquet"
    times = pyarrow.array([1735689600000, None], pyarrow.timestamp("ms", "UTC"))
    table = {"case:concept:name": ["1", "1"], "concept:name": ["A", "B"], "n": [3, None],
             "time:timestamp": times}  # fmt: skip
    parquet.write_table(pyarrow.table(table), path)
    first, second = events_of(str(path))
    assert (first.case, first.activity, first.time) == ("1", "A", 1735689600.0)
    assert (first.attributes, second.attributes, second.line) == ({"n": 3.0}, {}, 2)
    monkeypatch.setattr("orgflow.frontends.traces.table_rows.find_spec", lambda name: None)
    with pytest.raises(UnreadableLog, match="needs pyarrow"):
        events_of(str(path))


# -- files that are no logs --------------------------------------------------------------------

BPMN = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"/>'
BOMB = '<!DOCTYPE log [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><log><trace/>&b;</log>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"PK\x03\x04", "Excel workbook"),
        (b"%PDF-1.7", "PDF"),
        (b"From ann@example.org", "mailbox"),
        (BPMN.encode(), "a BPMN or DMN model"),
        (b"<pnml/>", "Petri net"),
        (b"<other/>", "root `other`"),
        (BOMB.encode(), "declares the entity `a`"),
        (b"<log><trace><event>", "no element found"),
        (b"<log>" + b"<list>" * 300, "nested more than 256"),
        (b'{"nodes": [], "connections": {}}', "neither OCEL nor tool calls; it has `nodes`"),
        (b"[" * 400, "nested more than 256"),
        (b'{"events": [', "JSON cannot be read"),
        (b"just words\n", "first line is `just words`"),
        (b"\x00\x01\x02\x03", "unknown binary format"),
        (b"SQLite format 3\x00garbage", "database cannot be read"),
        (gzip.compress(XES.encode(), mtime=0)[:-200], "gzip file is damaged"),
        (gzip.compress(b"x" * 70_000, mtime=0)[:60], "gzip file is damaged"),
        (b"case,activity\n1,\"A\n" + b"x" * 10, "no fault"),
    ],
)  # fmt: skip
def test_files_that_are_no_logs(tmp_path: Path, data: bytes, reason: str) -> None:
    path = write_file(tmp_path, "file", data)
    if reason == "no fault":
        assert len(events_of(path)) == 1
        return
    with pytest.raises(UnreadableLog, match=reason):
        read_log(path)


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLog, match="is a folder"):
        read_log(str(tmp_path))


def test_a_database_of_something_else(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE users (name TEXT)")
    database.close()
    with pytest.raises(UnreadableLog, match="no table `event_map_type`; it has `users`"):
        read_log(str(tmp_path / "x.db"))


def test_a_gzip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orgflow.frontends.traces.opened_file.MOST_UNPACKED", 1 << 20)
    monkeypatch.setattr("orgflow.frontends.traces.opened_file.MOST_RATIO", 1)
    text = "case,activity\n" + "1,A\n" * 500_000
    path = write_file(tmp_path, "log.csv.gz", gzip.compress(text.encode()))
    with pytest.raises(UnreadableLog, match="unpacks to more than its size explains"):
        read_log(path)


def test_a_long_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orgflow.frontends.traces.table_rows.LONGEST_LINE", 1000)
    path = write_file(tmp_path, "log.csv", "case,activity\n1," + "A" * 2000)
    with pytest.raises(UnreadableLog, match="line has more than 1,000 characters"):
        read_log(path)


def test_formats(tmp_path: Path) -> None:
    assert detect_format(write_file(tmp_path, "a", XES)) == "xes"
    assert read_log(write_file(tmp_path, "a", XES)).is_ordered
    assert not read_log(write_file(tmp_path, "a", CSV)).is_ordered
