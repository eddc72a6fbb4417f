"""Models whose workflows are edited: the examples, PMo, Camunda's executable models, the cases of
vendors' manuals in the tests, and drawn ones, so that every kind of node occurs."""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from edit_truth import Json, Subject, kind_of, starts_of
from orgflow.api import compile, read

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
VENDORS = ROOT / "tests" / "backends" / "n8n" / "vendor_work"
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:flowable="http://flowable.org/bpmn" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d">'
)
PROCESS = '<process id="p" name="Case" isExecutable="true">'
MOST_NODES = 60
"""Larger workflows take long and show nothing more."""

Drawn = tuple[str, Mapping[str, str], Mapping[str, str]]
"""Content of a process by `model_text`, options of the target, and files beside the model."""


def model_text(
    steps: str, wires: str, before: str = "", flow: Mapping[str, str] | None = None
) -> str:
    """A BPMN file: steps of a process between a start `s` and an end `e`, and the flows between
    them, as `source>target:condition`."""
    if "<startEvent" not in steps:
        steps = f'<startEvent id="s"/>{steps}'
    if 'id="e"' not in steps:
        steps += '<endEvent id="e" name="Done"/>'
    flows = []
    for at, wire in enumerate(wires.split()):
        ends, _, condition = wire.partition(":")
        source, target = ends.split(">")
        inside = (flow or {}).get(f"f{at}", "")
        if condition:
            text = condition.replace("<", "&lt;").replace(">", "&gt;").replace("_", " ")
            inside += f"<conditionExpression>{text}</conditionExpression>"
        flows.append(
            f'<sequenceFlow id="f{at}" sourceRef="{source}" targetRef="{target}">{inside}'
            "</sequenceFlow>"
        )
    return f"{HEAD}{before}{PROCESS}{steps}{''.join(flows)}</process></definitions>"


# -- drawn models ----------------------------------------------------------------------------------


def user_task(id: str, name: str, fields: str, more: str = "") -> str:
    """A task with a form."""
    entries = ""
    for entry in fields.split():
        field, type = entry.split(":")
        label = field.title()
        rules = '<camunda:validation><camunda:constraint name="required"/>'
        if type == "long":
            rules += '<camunda:constraint name="min" config="1"/>'
        values = '<camunda:value id="a" name="Alpha"/><camunda:value id="b" name="Beta"/>'
        entries += (
            f'<camunda:formField id="{field}" label="{label}" type="{type}">'
            f"{rules}</camunda:validation>{values if type == 'enum' else ''}</camunda:formField>"
        )
    return (
        f'<userTask id="{id}" name="{name}" {more}><extensionElements><camunda:formData>{entries}'
        "</camunda:formData></extensionElements></userTask>"
    )


def stored_script(code: str) -> str:
    """A script in Groovy that stores what it assigns: an engine's files keep assignments local."""
    names = dict.fromkeys(re.findall(r"(\w+) = ", code))
    return "; ".join((code, *(f"execution.setVariable('{name}', {name})" for name in names)))


def script_task(id: str, name: str, code: str) -> str:
    """A script in Groovy."""
    code = stored_script(code)
    return (
        f'<scriptTask id="{id}" name="{name}" scriptFormat="groovy"><script>{code}</script>'
        "</scriptTask>"
    )


def draw_asked(rng: random.Random, number: int) -> Drawn:
    """Somebody is asked by mail, in Slack or in Teams, and the answer decides."""
    limit = rng.choice((10, 50, 300))
    people = ("mail", "slack", "teams")[number % 3]
    inbox = {"mail": "boss@acme.example", "slack": "#orders", "teams": "19:abc@thread.v2"}[people]
    steps = user_task("t", "Check order", "amount:long kind:enum note:string")
    steps += '<exclusiveGateway id="g" name="Large?" default="f3"/><endEvent id="big" name="Big"/>'
    wires = f"s>t t>g g>big:${{amount_>_{limit}_&amp;&amp;_kind_==_'a'}} g>e"
    options = {"people": people, "inbox": inbox}
    if people == "mail":
        options["sender"] = "shop@acme.example"
    return model_text(steps, wires), options, {}


def draw_sent(rng: random.Random, number: int) -> Drawn:
    """Messages to somebody outside, and requests."""
    steps = (
        '<sendTask id="t" name="Send invoice" messageRef="m"/>'
        '<intermediateThrowEvent id="i" name="Order placed"><messageEventDefinition/>'
        '</intermediateThrowEvent><exclusiveGateway id="g" default="f4"/>'
        '<endEvent id="n" name="Reminder"><messageEventDefinition messageRef="m"/></endEvent>'
    )
    wires = f"s>t t>i i>g g>n:${{total_>_{rng.choice((5, 20, 99))}}} g>e"
    address = rng.choice(("https://bus.example/messages", "request"))
    before = '<message id="m" name="Invoice"/>'
    return model_text(steps, wires, before), {"messages": address}, {}


def draw_timed(rng: random.Random, number: int) -> Drawn:
    """A schedule, waits for a duration, a date, and a computed time."""
    cycle = rng.choice(("R/PT2H", "0 0 9 ? * MON-FRI", "R/P1D"))
    kind = "timeCycle"
    duration = rng.choice(("PT10M", "P2D", "PT36H", "PT45S"))

    def timer(tag: str, text: str) -> str:
        return f"<timerEventDefinition><{tag}>{text}</{tag}></timerEventDefinition>"

    steps = (
        f'<startEvent id="s" name="Every so often">{timer(kind, cycle)}</startEvent>'
        f'<intermediateCatchEvent id="w" name="Pause">{timer("timeDuration", duration)}'
        "</intermediateCatchEvent>"
        + script_task("u", "Plan", f"days = {rng.choice((2, 3))} + 1; until = 'PT' + days + 'H'")
        + f'<intermediateCatchEvent id="x" name="Planned time">{timer("timeDuration", "${until}")}'
        "</intermediateCatchEvent>"
        f'<intermediateCatchEvent id="y" name="Fixed day">'
        f"{timer('timeDate', f'203{rng.randrange(9)}-05-01T09:00:00Z')}</intermediateCatchEvent>"
    )
    return model_text(steps, "s>w w>u u>x x>y y>e"), {}, {}


def draw_started(rng: random.Random, number: int) -> Drawn:
    """A call starts the process, its data is checked, and failures are reported."""
    limit = rng.choice((3, 40))
    steps = (
        '<startEvent id="s" name="Order"><messageEventDefinition messageRef="m"/></startEvent>'
        + script_task("u", "Price", f"price = amount * {limit} + 1; large = price > {limit * 9}")
        + '<exclusiveGateway id="g" default="f3"/><serviceTask id="t" name="Book"/>'
    )
    wires = "s>u u>g g>t:${large} g>e t>e"
    options = {"payload": "checked", "errors": ("workflow", "none")[number % 2],
               "auth": rng.choice(("none", "header"))}  # fmt: skip
    return model_text(steps, wires, '<message id="m" name="Order"/>'), options, {}


def draw_table(rng: random.Random, number: int) -> Drawn:
    """A decision table of some hit policy, and a gateway that reads its result."""
    policy = ("FIRST", "COLLECT", "RULE ORDER", "UNIQUE", "PRIORITY")[number % 5]
    limit = rng.choice((5, 18, 100))
    collect = policy in ("COLLECT", "RULE ORDER")
    rules = [
        (f"&gt; {limit}", '"gold"', "90"), (f"[1..{limit}]", '"gold","silver"', "50"),
        ("&lt; 1", "-", "10"),
    ]  # fmt: skip
    text = "".join(
        f'<rule id="r{i}"><inputEntry id="i{i}"><text>{a}</text></inputEntry>'
        f'<inputEntry id="j{i}"><text>{b}</text></inputEntry>'
        f'<outputEntry id="o{i}"><text>{c}</text></outputEntry></rule>'
        for i, (a, b, c) in enumerate(rules)
    )
    values = "<outputValues><text>90,50,10</text></outputValues>" if policy == "PRIORITY" else ""
    total = ' aggregation="SUM"' if policy == "COLLECT" else ""
    table = (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" '
        'namespace="n"><decision id="rate" name="Rate"><decisionTable id="t" '
        f'hitPolicy="{policy}"{total}><input id="a"><inputExpression id="ae" typeRef="number">'
        '<text>amount</text></inputExpression></input><input id="b"><inputExpression id="be" '
        'typeRef="string"><text>level</text></inputExpression></input>'
        f'<output id="o" name="rate" typeRef="number">{values}</output>{text}</decisionTable>'
        "</decision></definitions>"
    )
    mapped = "collectEntries" if policy == "RULE ORDER" else "singleEntry"
    task = (
        '<businessRuleTask id="t" name="Rate" camunda:decisionRef="rate" '
        f'camunda:resultVariable="rated" camunda:mapDecisionResult="{mapped}"/>'
    )
    if collect and policy == "RULE ORDER":
        steps = task + '<serviceTask id="k" name="Keep"/>'
        return model_text(steps, "s>t t>k k>e"), {}, {"rate.dmn": table}
    steps = task + '<exclusiveGateway id="g" default="f3"/><serviceTask id="k" name="Keep"/>'
    return model_text(steps, "s>t t>g g>k:${rated_>_20} g>e k>e"), {}, {"rate.dmn": table}


def draw_repeated(rng: random.Random, number: int) -> Drawn:
    """Work for each entry of a list, and a loop that counts."""
    kind = rng.choice(("true", "false"))
    steps = (
        script_task("a", "Prepare", f"rows = [1, 2, {rng.choice((3, 7))}]; n = 0")
        + f'<scriptTask id="t" name="Each" scriptFormat="groovy"><multiInstanceLoopCharacteristics '
        f'isSequential="{kind}" camunda:collection="rows" camunda:elementVariable="row"/>'
        f"<script>{stored_script('last = row * 2')}</script></scriptTask>"
        + script_task("b", "Count", "n = n + 1")
        + '<exclusiveGateway id="g" default="f5"/><serviceTask id="k" name="Report"/>'
    )
    wires = f"s>a a>t t>b b>g g>b:${{n_<_{rng.choice((2, 3))}}} g>k k>e"
    return model_text(steps, wires), {}, {}


def draw_parallel(rng: random.Random, number: int) -> Drawn:
    """Parallel and inclusive branches that set variables, read after the join."""
    limit = rng.choice((4, 60))
    split = ("parallel", "inclusive")[number % 2]
    conditions = (
        ("", "") if split == "parallel" else (f":${{x_>_{limit}}}", f":${{x_<_{limit * 2}}}")
    )
    steps = (
        f'<{split}Gateway id="g"/><{split}Gateway id="h"/>'
        + script_task("a", "Left", f"left = x + {limit}")
        + script_task("b", "Right", "right = x * 2")
        + script_task("c", "Sum", "sum = x + 1")
        + '<serviceTask id="k" name="Use"/>'
    )
    wires = f"s>g g>a{conditions[0]} g>b{conditions[1]} a>h b>h h>c c>k k>e"
    return model_text(steps, wires), {"trigger": rng.choice(("form", "manual", "webhook"))}, {}


def draw_called(rng: random.Random, number: int) -> Drawn:
    """Calls of two processes with inputs and outputs, and an error that the caller catches. An
    input has the name of a parameter that changes no run."""
    limit = rng.choice((7, 70))
    error = '<error id="er" name="Too much" errorCode="E1"/>'
    called = (
        '<process id="sub" name="Sub case" isExecutable="true"><startEvent id="ss"/>'
        + script_task("st", "Double", f"y = x * {rng.choice((2, 3))}")
        + '<exclusiveGateway id="sg" default="sf3"/><endEvent id="se"/>'
        '<endEvent id="sx"><errorEventDefinition errorRef="er"/></endEvent>'
        '<sequenceFlow id="sf0" sourceRef="ss" targetRef="st"/>'
        '<sequenceFlow id="sf1" sourceRef="st" targetRef="sg"/>'
        '<sequenceFlow id="sf2" sourceRef="sg" targetRef="sx"><conditionExpression>'
        f"${{y &gt; {limit}}}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="sf3" sourceRef="sg" targetRef="se"/></process>'
        '<process id="more" name="More" isExecutable="true"><startEvent id="ms"/>'
        + script_task("mt", "Add", "y = path + 1")
        + '<endEvent id="me"/><sequenceFlow id="mf0" sourceRef="ms" targetRef="mt"/>'
        '<sequenceFlow id="mf1" sourceRef="mt" targetRef="me"/></process>'
    )
    steps = (
        '<callActivity id="t" name="Call it" calledElement="sub"><extensionElements>'
        '<camunda:in source="amount" target="x"/><camunda:out source="y" target="result"/>'
        '</extensionElements></callActivity><boundaryEvent id="b" name="Refused" attachedToRef="t">'
        '<errorEventDefinition errorRef="er"/></boundaryEvent><endEvent id="n" name="Not done"/>'
        '<callActivity id="u" name="Call more" calledElement="more"><extensionElements>'
        '<camunda:in source="amount" target="path"/><camunda:out source="y" target="more"/>'
        '</extensionElements></callActivity><serviceTask id="k" name="Use"/>'
    )
    return model_text(steps, "s>t t>u u>k k>e b>n", error + called), {}, {}


def draw_requested(rng: random.Random, number: int) -> Drawn:
    """A request of a connector, a mail, and what is done when the request fails."""
    method = rng.choice(("GET", "POST", "PUT"))
    body = '<zeebe:input source="={sum: total + 1}" target="body"/>' if method != "GET" else ""
    steps = (
        '<serviceTask id="t" name="Ask the shop"><extensionElements>'
        '<zeebe:taskDefinition type="io.camunda:http-json:1" retries="3"/><zeebe:ioMapping>'
        f'<zeebe:input source="{method}" target="method"/>'
        '<zeebe:input source="=&quot;https://shop.example/orders/&quot; + string(order)" '
        'target="url"/>'
        f'<zeebe:input source="={{x: &quot;{rng.choice("abc")}&quot;}}" target="headers"/>{body}'
        '</zeebe:ioMapping><zeebe:taskHeaders><zeebe:header key="resultVariable" value="answer"/>'
        "</zeebe:taskHeaders></extensionElements></serviceTask>"
        '<serviceTask id="k" name="Use"/>'
    )
    return model_text(steps, "s>t t>k k>e"), {"retries": rng.choice(("stop", "boundary"))}, {}


def draw_mailed(rng: random.Random, number: int) -> Drawn:
    """A mail with computed parts, and work that only has a name."""
    to = rng.choice(("a@acme.example", "${customer}"))
    steps = (
        '<serviceTask id="t" name="Tell the customer" flowable:type="mail"><extensionElements>'
        f'<flowable:field name="to"><flowable:expression>{to}</flowable:expression>'
        "</flowable:field>"
        '<flowable:field name="subject"><flowable:expression>Order ${order}</flowable:expression>'
        '</flowable:field><flowable:field name="text"><flowable:expression>Total: ${total}'
        "</flowable:expression></flowable:field></extensionElements></serviceTask>"
        '<serviceTask id="k" name="Book" camunda:type="external" camunda:topic="book"/>'
    )
    options = {"sender": "shop@acme.example", "stubs": rng.choice(("workflow", "placeholder")),
               "timeout": rng.choice(("PT10M", "PT2H"))}  # fmt: skip
    return model_text(steps, "s>t t>k k>e"), options, {}


def draw_escalated(rng: random.Random, number: int) -> Drawn:
    """A form that starts, a script that may throw, an escalation of a called process."""
    limit = rng.choice((6, 66))
    before = (
        '<escalation id="es" name="Slow" escalationCode="S1"/>'
        '<process id="sub" name="Sub case" isExecutable="true"><startEvent id="ss"/>'
        '<exclusiveGateway id="sg" default="sf2"/><endEvent id="se"/><endEvent id="sx">'
        '<escalationEventDefinition escalationRef="es"/></endEvent>'
        '<sequenceFlow id="sf0" sourceRef="ss" targetRef="sg"/>'
        '<sequenceFlow id="sf1" sourceRef="sg" targetRef="sx"><conditionExpression>'
        f"${{amount &gt; {limit}}}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="sf2" sourceRef="sg" targetRef="se"/></process>'
    )
    form = (
        '<extensionElements><camunda:formData><camunda:formField id="amount" label="Amount" '
        'type="long"/><camunda:formField id="who" label="Who" type="string"/></camunda:formData>'
        "</extensionElements>"
    )
    steps = (
        f'<startEvent id="s" name="Ask">{form}</startEvent>'
        '<callActivity id="t" name="Call it" calledElement="sub"><extensionElements>'
        '<camunda:in variables="all"/></extensionElements></callActivity>'
        '<boundaryEvent id="b" name="Slow" attachedToRef="t"><escalationEventDefinition '
        'escalationRef="es"/></boundaryEvent><endEvent id="n" name="Later"/>'
        + script_task("u", "Note", f"line = who + ': ' + (amount + {limit})")
        + '<serviceTask id="k" name="Use"/>'
    )
    return model_text(steps, "s>t t>u u>k k>e b>n", before), {}, {}


DRAWERS = (
    draw_asked, draw_sent, draw_timed, draw_started, draw_table, draw_repeated, draw_parallel,
    draw_called, draw_requested, draw_mailed, draw_escalated,
)  # fmt: skip
EACH_DRAWN = 4


def write_drawn(folder: Path, seed: int) -> Iterator[tuple[str, Path, Mapping[str, str]]]:
    """The files of drawn models: name, path and options."""
    for drawer in DRAWERS:
        for number in range(EACH_DRAWN):
            name = f"{drawer.__name__.removeprefix('draw_')}-{number}"
            text, options, files = drawer(random.Random(f"{seed} {name}"), number)
            yield name, write_model(folder / name, text, files), options


def write_vendors(folder: Path) -> Iterator[tuple[str, Path, Mapping[str, str]]]:
    """The models of the cases of vendors' manuals."""
    for source in sorted(VENDORS.glob("*.toml")):
        for number, case in enumerate(tomllib.loads(source.read_text("utf-8"))["case"]):
            name = f"{source.stem}-{number}"
            files = {
                path: f"{HEAD}{text}</definitions>" if path.endswith(".bpmn") else text
                for path, text in case.get("files", {}).items()
            }
            wires = case.get("wires", "s>t t>e").replace("_", "~")
            text = model_text(case["steps"], wires, case.get("before", ""), case.get("flow", {}))
            text = text.replace("~", "_")
            text = text.replace(PROCESS, PROCESS + case.get("process", ""))
            text = text.replace("HTTP/", "http://shop.example/")
            yield name, write_model(folder / name, text, files), {}


def write_model(folder: Path, text: str, files: Mapping[str, str]) -> Path:
    """A model in a folder of its own, with the files beside it."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")
    path = folder / "model.bpmn"
    path.write_text(text, "utf-8")
    return path


def list_files(folders: Mapping[str, Path]) -> Iterator[tuple[str, Path, Mapping[str, str]]]:
    """The models in folders, each with the usual options or with some of its own."""
    variants: tuple[Mapping[str, str], ...] = (
        {}, {}, {"people": "placeholder"}, {"stubs": "placeholder"}, {"errors": "workflow"},
        {"trigger": "manual", "version": "1.123"}, {"callers": "model", "timeout": "PT1H"},
    )  # fmt: skip
    for label, folder in folders.items():
        for number, path in enumerate(sorted(folder.rglob("*.bpmn*"))):
            yield f"{label}/{path.name}", path, variants[number % len(variants)]


def compile_subject(name: str, path: Path, options: Mapping[str, str]) -> Subject | None:
    """The workflows of a model; `None` if it has none, or too large ones."""
    model = read(path)
    files = compile(model, target="n8n", options=options).files
    workflows: dict[str, Json] = {
        w["id"]: w for w in (json.loads(t) for p, t in files.items() if p.endswith(".json"))
    }
    if not workflows or sum(len(w["nodes"]) for w in workflows.values()) > MOST_NODES:
        return None
    mains = tuple(
        id for id, w in workflows.items()
        if any(kind_of(n) != "executeWorkflowTrigger" for n in starts_of(w))
    )  # fmt: skip
    return Subject(name, path, options, model, workflows, mains) if mains else None


def list_models(folder: Path, seed: int) -> list[tuple[str, Path, Mapping[str, str]]]:
    """All models, in an order in which every beginning has some of every source."""
    sources = [
        list(write_drawn(folder / "drawn", seed)),
        list(write_vendors(folder / "vendors")),
        list(
            list_files(
                {
                    "examples": ROOT / "examples",
                    "faults": ROOT / "tests" / "faults" / "inputs" / "verify",
                }
            )
        ),
        list(list_files({"camunda7": DATA / "camunda7-executable"})),
        list(list_files({"pmo": DATA / "pmo" / "bpmn"})),
    ]
    shares = (3, 4, 1, 3, 1)
    rng = random.Random(seed)
    for source in sources[1:]:
        rng.shuffle(source)
    ordered = []
    while any(sources):
        for source, share in zip(sources, shares, strict=True):
            ordered += source[:share]
            del source[:share]
    return ordered
