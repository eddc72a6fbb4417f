"""Mutants of workflows of segments: of the rows that they open, of their calls of the support set,
and of the nodes and connections between them."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]
Make = Callable[[Json, random.Random], str]
"""Changes a workflow in place and describes the change; raises `LookupError` where it cannot."""


class RowMutator(NamedTuple):
    """A kind of change; `harmless` ones change nothing that a process does."""

    name: str
    make: Make
    harmless: bool = False


class RowMutant(NamedTuple):
    """A changed workflow."""

    mutator: RowMutator
    what: str
    workflow: Json


def list_mutants(workflow: Json, key: str, each: int, seed: int) -> Iterator[RowMutant]:
    """Mutants of one workflow, the same for the same seed."""
    original = json.dumps(workflow)
    seen = {original}
    for mutator in MUTATORS:
        for number in range(each):
            rnd = random.Random(f"{key}/{mutator.name}/{seed}/{number}")
            mutant = copy.deepcopy(workflow)
            try:
                what = mutator.make(mutant, rnd)
            except (LookupError, ValueError):
                continue
            text = json.dumps(mutant)
            if text not in seen:
                seen.add(text)
                yield RowMutant(mutator, f"{mutator.name}: {what}", mutant)


# -- parts of a workflow ---------------------------------------------------------------------------


def list_calls(workflow: Json, *inputs: str) -> list[Json]:
    """The calls that have some inputs."""
    return [
        node
        for node in workflow["nodes"]
        if node["type"].endswith(".executeWorkflow") and set(inputs) <= inputs_of(node).keys()
    ]


def inputs_of(node: Json) -> Json:
    """The inputs of a call."""
    values: Json = node["parameters"]["workflowInputs"]["value"]
    return values


def split_rows(text: str) -> list[tuple[int, int]]:
    """Where the objects of rows begin and end in an expression."""
    spans, depth, start, quote = [], 0, 0, ""
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote and text[place - 1] != "\\" else quote
        elif sign in "'\"":
            quote = sign
        elif sign == "{":
            if text.startswith("{kind:", place):
                start, depth = place, 0
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0 and text.startswith("{kind:", start):
                spans.append((start, place + 1))
                start = len(text)
    return spans


def pick_row(workflow: Json, rnd: random.Random, needs: str = "") -> tuple[Json, str, int, int]:
    """A call, the text of its rows, and the place of one row that contains a text."""
    found = [
        (node, text, start, end)
        for node in list_calls(workflow, "rows")
        for text in [inputs_of(node)["rows"]]
        for start, end in split_rows(text)
        if needs in text[start:end]
    ]
    return rnd.choice(found)


def change_row(workflow: Json, rnd: random.Random, pattern: str, new: Callable[[str], str]) -> str:
    """Change the part of a row that fits a pattern."""
    found = []
    for node in list_calls(workflow, "rows"):
        text = inputs_of(node)["rows"]
        found += [
            (node, text, start + match.start(), start + match.end())
            for start, end in split_rows(text)
            for match in re.finditer(pattern, text[start:end])
        ]
    node, text, start, end = rnd.choice(found)
    after = new(text[start:end])
    inputs_of(node)["rows"] = text[:start] + after + text[end:]
    return f"{node['name']}: {text[start:end]} -> {after}"


def list_elements(workflow: Json) -> list[str]:
    """The elements of rows."""
    texts = "".join(inputs_of(n)["rows"] for n in list_calls(workflow, "rows"))
    return sorted(set(re.findall(r'element:"([^"]*)"', texts)))


def list_wires(workflow: Json) -> list[tuple[str, int, int]]:
    """Every connection: source, output, place."""
    return [
        (source, output, place)
        for source, kinds in workflow["connections"].items()
        for output, ends in enumerate(kinds.get("main", []))
        for place in range(len(ends or []))
    ]


def switch_of(workflow: Json) -> Json:
    """The switch at which segments begin."""
    return next(n for n in workflow["nodes"] if "(segment)" in n.get("notes", ""))


# -- rows ------------------------------------------------------------------------------------------


def drop_row(workflow: Json, rnd: random.Random) -> str:
    node, text, start, end = pick_row(workflow, rnd)
    rest = text[:start] + text[end:]
    inputs_of(node)["rows"] = re.sub(r"\[,", "[", rest.replace(",,", ",")).replace(",]", "]")
    return f"{node['name']} {text[start:end]}"


def repeat_row(workflow: Json, rnd: random.Random) -> str:
    node, text, start, end = pick_row(workflow, rnd)
    inputs_of(node)["rows"] = f"{text[:end]},{text[start:end]}{text[end:]}"
    return f"{node['name']} {text[start:end]}"


def move_row(workflow: Json, rnd: random.Random) -> str:
    node, text, start, end = pick_row(workflow, rnd)
    other, others, _, place = pick_row(workflow, rnd)
    if other is node:
        raise LookupError
    row = text[start:end]
    inputs_of(other)["rows"] = f"{others[:place]},{row}{others[place:]}"
    drop = text[:start] + text[end:]
    inputs_of(node)["rows"] = re.sub(r"\[,", "[", drop.replace(",,", ",")).replace(",]", "]")
    return f"{row} from {node['name']} to {other['name']}"


def change_element(workflow: Json, rnd: random.Random) -> str:
    return change_row(
        workflow,
        rnd,
        r'element:"[^"]*"',
        lambda _: f'element:"{rnd.choice(list_elements(workflow))}"',
    )


def unknown_element(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r'element:"[^"]*"', lambda _: 'element:"nowhere"')


def change_needed(workflow: Json, rnd: random.Random) -> str:
    def new(text: str) -> str:
        return f"needed:{int(text[7:]) + rnd.choice((-1, 1))}"

    return change_row(workflow, rnd, r"needed:\d+", new)


def change_branch(workflow: Json, rnd: random.Random) -> str:
    texts = "".join(inputs_of(n)["rows"] for n in list_calls(workflow, "rows"))
    known = sorted(set(re.findall(r'branch:"([^"]*)"', texts)))
    return change_row(workflow, rnd, r'branch:"[^"]*"', lambda _: f'branch:"{rnd.choice(known)}"')


def drop_host(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r'host:"[^"]*",?', lambda _: "")


def attach_host(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r"\bhost:", lambda _: "attached_to:")


def host_attached(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r'attached_to:(?=")', lambda _: "host:")


def change_host(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r'host:"[^"]*"',
                      lambda _: f'host:"{rnd.choice(list_elements(workflow))}"')  # fmt: skip


def drop_inside(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r'inside:"[^"]*",?', lambda _: "")


def add_inside(workflow: Json, rnd: random.Random) -> str:
    texts = "".join(inputs_of(n)["rows"] for n in list_calls(workflow, "rows"))
    scope = rnd.choice(sorted(set(re.findall(r'ref:"([^"]*)"', texts))))
    return change_row(workflow, rnd, r'element:"[^"]*"', lambda t: f'{t},inside:"{scope}"')


def drop_ref(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r'ref:"[^"]*",?', lambda _: "")


def drop_hosting(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r",?hosts_events:'yes'", lambda _: "")


def change_kind(workflow: Json, rnd: random.Random) -> str:
    kinds = ("task", "timer", "receiver", "gateway", "branch", "scope")
    return change_row(workflow, rnd, r'kind:"[^"]*"', lambda _: f'kind:"{rnd.choice(kinds)}"')


def delay_branch(workflow: Json, rnd: random.Random) -> str:
    return change_row(
        workflow, rnd, r"new Date\(\)\.toISOString\(\)",
        lambda _: "$now.plus({ hours: 1 }).toUTC().toISO()",
    )  # fmt: skip


def hurry_timer(workflow: Json, rnd: random.Random) -> str:
    return change_row(
        workflow, rnd, r"due:(?:\$now|DateTime)[^,}]*(?:\{[^}]*\}[^,}]*)?",
        lambda _: "due:new Date().toISOString()",
    )  # fmt: skip


def change_due(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r"(seconds|minutes|hours|days|weeks|months): \d+",
                      lambda t: f"{t}1")  # fmt: skip


def change_message(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r"message_key:[\"'][^\"']*", lambda t: f"{t} other")


def change_correlation(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r"variables\.businessKey", lambda _: "variables.otherKey")


def change_link(workflow: Json, rnd: random.Random) -> str:
    texts = "".join(inputs_of(n)["rows"] for n in list_calls(workflow, "rows"))
    links = sorted(set(re.findall(r'link:"([^"]*)"', texts)))
    return change_row(workflow, rnd, r'link:"[^"]*"',
                      lambda _: f'link:"{rnd.choice([*links, "/form/no"])}"')  # fmt: skip


def change_title(workflow: Json, rnd: random.Random) -> str:
    return change_row(workflow, rnd, r'title:"', lambda t: f"{t}Not ")


def swap_choice(workflow: Json, rnd: random.Random) -> str:
    node = rnd.choice([n for n in list_calls(workflow, "rows") if "?[" in inputs_of(n)["rows"]])
    text = inputs_of(node)["rows"]
    place = rnd.choice([m.start() for m in re.finditer(r"\.\.\.\(", text)]) + 4
    inputs_of(node)["rows"] = f"{text[:place]}!({text[place:].replace('?[', ')?[', 1)}"
    return node["name"]


# -- calls -----------------------------------------------------------------------------------------


def set_input(workflow: Json, rnd: random.Random, name: str, new: Callable[[str], str]) -> str:
    node = rnd.choice(list_calls(workflow, name))
    before = inputs_of(node)[name]
    inputs_of(node)[name] = new(before)
    return f"{node['name']} {name}: {before[:60]} -> {inputs_of(node)[name][:60]}"


def change_end(workflow: Json, rnd: random.Random) -> str:
    return set_input(workflow, rnd, "end",
                     lambda t: "={{ false }}" if "true" in t else "={{ true }}")  # fmt: skip


def drop_leave(workflow: Json, rnd: random.Random) -> str:
    nodes = [n for n in list_calls(workflow, "leave") if inputs_of(n)["leave"] != '={{ "" }}']
    node = rnd.choice(nodes)
    inputs_of(node)["leave"] = '={{ "" }}'
    if rnd.random() < 0.5:
        inputs_of(node)["end"] = "={{ true }}"
    return f"{node['name']} {inputs_of(node)['end']}"


def add_leave(workflow: Json, rnd: random.Random) -> str:
    event = rnd.choice(list_elements(workflow))
    return set_input(workflow, rnd, "leave", lambda _: f'={{{{ "{event}" }}}}')


def change_levels(workflow: Json, rnd: random.Random) -> str:
    return set_input(workflow, rnd, "levels", lambda _: "={{ 2 }}")


def change_token(workflow: Json, rnd: random.Random) -> str:
    tokens = ("={{ $json.token }}", "={{ $('Continue').first().json.token }}")
    return set_input(workflow, rnd, "token", lambda _: rnd.choice(tokens))


def lose_variables(workflow: Json, rnd: random.Random) -> str:
    return set_input(workflow, rnd, "variables", lambda _: "={{ ({}) }}")


def change_claim_key(workflow: Json, rnd: random.Random) -> str:
    return set_input(workflow, rnd, "key", lambda _: "={{ $json.instance }}")


def change_claim_event(workflow: Json, rnd: random.Random) -> str:
    events = ["={{ '' }}", *(f'={{{{ "{e}" }}}}' for e in list_elements(workflow))]
    return set_input(workflow, rnd, "event", lambda _: rnd.choice(events))


def drop_takeover(workflow: Json, rnd: random.Random) -> str:
    return set_input(workflow, rnd, "takeover", lambda _: "={{ 'x' }}")


def change_start(workflow: Json, rnd: random.Random) -> str:
    calls = [n for n in list_calls(workflow, "element") if "workflow" in inputs_of(n)]
    node = rnd.choice(calls)
    inputs_of(node)["element"] = f'={{{{ "{rnd.choice(list_elements(workflow))}" }}}}'
    return node["name"]


def change_called(workflow: Json, rnd: random.Random) -> str:
    calls = list_calls(workflow)
    node, other = rnd.choice(calls), rnd.choice(calls)
    node["parameters"]["workflowId"]["value"] = rnd.choice(
        ("0123456789abcdef", other["parameters"]["workflowId"]["value"])
    )
    return f"{node['name']} as {other['name']}"


def not_waiting(workflow: Json, rnd: random.Random) -> str:
    node = rnd.choice(list_calls(workflow, "token"))
    node["parameters"]["options"] = {"waitForSubWorkflow": False}
    return str(node["name"])


def change_outside_key(workflow: Json, rnd: random.Random) -> str:
    nodes = [n for n in workflow["nodes"] if "token.key" in json.dumps(n["parameters"])]
    node = rnd.choice(nodes)
    text = json.dumps(node["parameters"]).replace("token.key", "token.instance")
    node["parameters"] = json.loads(text)
    return str(node["name"])


# -- the switch and the hub ------------------------------------------------------------------------


def drop_case(workflow: Json, rnd: random.Random) -> str:
    switch = switch_of(workflow)
    rules = switch["parameters"]["rules"]["values"]
    number = rnd.randrange(len(rules))
    label = rules.pop(number)["outputKey"]
    workflow["connections"][switch["name"]]["main"].pop(number)
    return str(label)


def swap_cases(workflow: Json, rnd: random.Random) -> str:
    wired = workflow["connections"][switch_of(workflow)["name"]]["main"]
    first, second = rnd.sample(range(len(wired)), 2)
    wired[first], wired[second] = wired[second], wired[first]
    return f"{first} and {second}"


def change_case(workflow: Json, rnd: random.Random) -> str:
    rule = rnd.choice(switch_of(workflow)["parameters"]["rules"]["values"])
    test = rule["conditions"]["conditions"][0]
    event = rnd.choice(list_elements(workflow))
    before = test["leftValue"]
    test["leftValue"] = re.sub(r'"[^"]*"|(?<=event===)\'[^\']*\'', f'"{event}"', before, count=1)
    return f"{before} -> {test['leftValue']}"


def weaken_case(workflow: Json, rnd: random.Random) -> str:
    rule = rnd.choice(switch_of(workflow)["parameters"]["rules"]["values"])
    test = rule["conditions"]["conditions"][0]
    test["leftValue"] = test["leftValue"].replace("===", "!==", 1)
    return str(test["leftValue"])


def pass_lost_claims(workflow: Json, rnd: random.Random) -> str:
    del rnd
    node = next(n for n in workflow["nodes"] if "(taken)" in n.get("notes", ""))
    node["parameters"]["conditions"]["conditions"][0]["leftValue"] = "={{ $json.won!==true }}"
    return str(node["name"])


def read_data(workflow: Json, rnd: random.Random) -> str:
    del rnd
    node = next(n for n in workflow["nodes"] if "(variables)" in n.get("notes", ""))
    node["parameters"]["jsonOutput"] = "={{ $json.data }}"
    return str(node["name"])


# -- nodes and connections -------------------------------------------------------------------------


def drop_wire(workflow: Json, rnd: random.Random) -> str:
    source, output, place = rnd.choice(list_wires(workflow))
    end = workflow["connections"][source]["main"][output].pop(place)
    return f"{source} -> {end['node']}"


def redirect_wire(workflow: Json, rnd: random.Random) -> str:
    source, output, place = rnd.choice(list_wires(workflow))
    end = workflow["connections"][source]["main"][output][place]
    names = [n["name"] for n in workflow["nodes"] if "stickyNote" not in n["type"]]
    before, end["node"] = end["node"], rnd.choice(names)
    return f"{source} -> {before}, now {end['node']}"


def add_wire(workflow: Json, rnd: random.Random) -> str:
    source, output, _ = rnd.choice(list_wires(workflow))
    names = [n["name"] for n in workflow["nodes"] if "stickyNote" not in n["type"]]
    target = rnd.choice(names)
    workflow["connections"][source]["main"][output].append(
        {"node": target, "type": "main", "index": 0}
    )
    return f"{source} -> {target}"


def swap_outputs(workflow: Json, rnd: random.Random) -> str:
    several = [s for s, k in workflow["connections"].items() if len(k.get("main", [])) > 1]
    source = rnd.choice(several)
    wired = workflow["connections"][source]["main"]
    first, second = rnd.sample(range(len(wired)), 2)
    wired[first], wired[second] = wired[second], wired[first]
    return source


def bypass_node(workflow: Json, rnd: random.Random) -> str:
    """Lead the connections to a node to the one behind it."""
    single = [
        source
        for source, kinds in workflow["connections"].items()
        if [len(ends or []) for ends in kinds.get("main", [])] == [1]
    ]
    name = rnd.choice(single)
    target = workflow["connections"][name]["main"][0][0]["node"]
    for source, output, place in list_wires(workflow):
        end = workflow["connections"][source]["main"][output][place]
        if end["node"] == name:
            end["node"] = target
    return name


def disable_node(workflow: Json, rnd: random.Random) -> str:
    node = rnd.choice([n for n in workflow["nodes"] if "stickyNote" not in n["type"]])
    node["disabled"] = True
    return str(node["name"])


def insert_wait(workflow: Json, rnd: random.Random) -> str:
    source, output, place = rnd.choice(list_wires(workflow))
    end = workflow["connections"][source]["main"][output][place]
    node = {"id": "w", "name": "Wait a day", "type": "n8n-nodes-base.wait", "typeVersion": 1.1,
            "position": [0, 0], "parameters": {"amount": 1, "unit": "days"}}  # fmt: skip
    workflow["nodes"].append(node)
    workflow["connections"][source]["main"][output][place] = {**end, "node": "Wait a day"}
    workflow["connections"]["Wait a day"] = {"main": [[end]]}
    return source


def repeat_end(workflow: Json, rnd: random.Random) -> str:
    """The end of a segment once more behind itself."""
    node = rnd.choice(list_calls(workflow, "token"))
    again = {**copy.deepcopy(node), "name": f"{node['name']} again", "id": "again"}
    again.pop("notes", None)
    workflow["nodes"].append(again)
    wired = workflow["connections"].get(node["name"])
    workflow["connections"][node["name"]] = {
        "main": [[{"node": again["name"], "type": "main", "index": 0}]]
    }
    if wired is not None:
        workflow["connections"][again["name"]] = wired
    node["alwaysOutputData"] = True
    return str(node["name"])


def change_condition(workflow: Json, rnd: random.Random) -> str:
    nodes = [n for n in workflow["nodes"] if n["type"].endswith((".if", ".switch"))]
    node = rnd.choice([n for n in nodes if "(segment)" not in n.get("notes", "")])
    rules = node["parameters"].get("rules", {}).get("values") or [node["parameters"]]
    test = rnd.choice(rules)["conditions"]["conditions"][0]
    operator = test["operator"]
    if operator["operation"] == "equals":
        test["rightValue"] = "something else"
    else:
        operator["operation"] = {"true": "false"}.get(operator["operation"], "notExists")
    return str(node["name"])


def change_page(workflow: Json, rnd: random.Random) -> str:
    nodes = [n for n in workflow["nodes"] if n["type"].endswith(".formTrigger")]
    node = rnd.choice([n for n in nodes if "path" in n["parameters"]])
    node["parameters"]["path"] += "-x"
    return str(node["name"])


def remove_node(workflow: Json, rnd: random.Random) -> str:
    node = rnd.choice([n for n in workflow["nodes"] if "stickyNote" not in n["type"]])
    name = node["name"]
    workflow["nodes"].remove(node)
    workflow["connections"].pop(name, None)
    for kinds in workflow["connections"].values():
        kinds["main"] = [[e for e in ends or [] if e["node"] != name] for ends in kinds["main"]]
    return str(name)


# -- changes without an effect ---------------------------------------------------------------------


def rename_node(workflow: Json, rnd: random.Random) -> str:
    nodes = [n for n in workflow["nodes"] if "stickyNote" not in n["type"]]
    node = rnd.choice([n for n in nodes if "'" not in n["name"] and "\\" not in n["name"]])
    before, after = node["name"], f"{node['name']} 2nd"
    text = json.dumps(workflow["nodes"]).replace(
        json.dumps(f"$('{before}')")[1:-1], json.dumps(f"$('{after}')")[1:-1]
    )
    workflow["nodes"][:] = json.loads(text)
    for other in workflow["nodes"]:
        if other["name"] == before:
            other["name"] = after
    wired = json.dumps(workflow["connections"]).replace(
        f'"node": {json.dumps(before)}', f'"node": {json.dumps(after)}'
    )
    workflow["connections"] = {
        after if name == before else name: ends for name, ends in json.loads(wired).items()
    }
    return str(before)


def move_nodes(workflow: Json, rnd: random.Random) -> str:
    rnd.shuffle(workflow["nodes"])
    for node in workflow["nodes"]:
        node["position"] = [node["position"][0] + 40, node["position"][1]]
    return "all"


def space_rows(workflow: Json, rnd: random.Random) -> str:
    node = rnd.choice(list_calls(workflow, "rows"))
    inputs_of(node)["rows"] = inputs_of(node)["rows"].replace(",", ", ").replace("={{ ", "={{  ")
    return str(node["name"])


_HARMFUL: tuple[Make, ...] = (
    drop_row, repeat_row, move_row, change_element, unknown_element, change_needed, change_branch,
    drop_host, attach_host, host_attached, change_host, drop_inside, add_inside, drop_ref,
    drop_hosting, change_kind, delay_branch, hurry_timer, change_due, change_message,
    change_correlation, change_link, change_title, swap_choice, change_end, drop_leave, add_leave,
    change_levels, change_token, lose_variables, change_claim_key, change_claim_event,
    drop_takeover, change_start, change_called, not_waiting, change_outside_key, drop_case,
    swap_cases, change_case, weaken_case, pass_lost_claims, read_data, drop_wire, redirect_wire,
    add_wire, swap_outputs, bypass_node, disable_node, insert_wait, repeat_end, change_condition,
    change_page, remove_node,
)  # fmt: skip

MUTATORS: tuple[RowMutator, ...] = (
    *(RowMutator(make.__name__, make) for make in _HARMFUL),
    *(RowMutator(make.__name__, make, harmless=True)
      for make in (rename_node, move_nodes, space_rows)),
)  # fmt: skip
"""All kinds of changes."""
