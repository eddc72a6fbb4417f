"""Labels that look like code, and a model that has one everywhere."""

from __future__ import annotations

from orgflow_ir.model import Event, Flow, Gateway, Lane, Model, Process, Task

HOSTILE = [
    "={{ $json.x }}", "={{ 1 + 1 }}", "= $json", "=", "==", "{{ $json.x }}", "}}", "{{",
    "a }} b {{ c", "{{{{", "}}}}", "$('Start').last().json", "`${1+1}`", "${process.exit()}",
    "\\", "\\\\", "a\\", "it's", 'say "yes"', "'", '"', "''", '""', "`", "$", "$$", "%s %d",
    "a\nb", "a\tb", "a\r\nb", "\u2028\u2029", "\u202eevil", "\u200b", "\x07bell", "ünïcödé",
    "日本語", "🙂🙃", "é", "<b>bold</b>", "</script><script>alert(1)</script>", "<!-- x -->",
    "&amp; &lt;", "__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "null",
    "undefined", "true", "0", "NaN", "-1", "; drop table", "../../etc/passwd", "a" * 300,
    " lead and trail ", "#heading", "orgflow-map 1 {}", "|", "a|b", "[x](y)", "$json", "$('x')",
    "={{$('", "')}}", "\\u007d\\u007d", "{{ '}}' }}", "=={{2}}", "? ", "yes", "Yes", "YES",
    "x.constructor", "Constructor approved?",
]  # fmt: skip


def hostile_model(text: str, other: str) -> Model:
    nodes = (
        Event(id="s", name=text, position="start", doc=text),
        Task(id="t", name=text, doc=text),
        Gateway(id="g", name=text, gateway_kind="exclusive", doc=text),
        Task(id="a", name=other),
        Task(id="b", name=text + text),
        Gateway(id="h", name=text, gateway_kind="inclusive"),
        Task(id="c", name="C " + text),
        Task(id="d", name=text + " D"),
        Gateway(id="j", name=text, gateway_kind="inclusive"),
        Event(id="e", name=text, position="end"),
    )
    pairs = [
        ("s", "t", ""), ("t", "g", ""), ("g", "a", text), ("g", "b", other), ("a", "m", ""),
        ("b", "m", ""), ("m", "h", ""), ("h", "c", text), ("h", "d", other), ("c", "j", ""),
        ("d", "j", ""), ("j", "e", ""),
    ]  # fmt: skip
    flows = tuple(Flow(id=f"f{i}", source=x, target=y, name=n) for i, (x, y, n) in enumerate(pairs))
    merge = Gateway(id="m", gateway_kind="exclusive")
    lane = Lane(id="lane", name=text, members=tuple(n.id for n in nodes))
    process = Process(id="P", name=text, nodes=(*nodes, merge), flows=flows, lanes=(lane,))
    return Model(id="M", name=text, processes=(process,), source=text)
