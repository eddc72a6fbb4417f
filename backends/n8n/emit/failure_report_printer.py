"""The code that finds what failed in a run, and describes it in the words of the model."""

from __future__ import annotations

import json

from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.node_types import code
from orgflow.backends.n8n.plan.actions import DescribeFailure


def print_failure(action: DescribeFailure) -> Printed:
    """The node that describes a failure."""
    rows = [(title, [list(place) for place in places]) for title, places in action.workflows]
    text = _CODE.replace("STEPS", json.dumps(rows, ensure_ascii=False))
    return Printed(code.NODE.name, code.code_parameters(text))


_CODE = """\
const failed = $input.first().json;
const workflows = new Map(STEPS);
const process = String(failed.workflow?.name ?? "");
const error = failed.execution?.error ?? failed.trigger?.error ?? {};
const node = String(failed.execution?.lastNodeExecuted ?? error.node?.name ?? "");
const own = workflows.get(process) ?? (workflows.size === 1 ? [...workflows.values()][0] : []);
const [, step, performer, ends] = own.find(([name]) => name === node) ?? ["", node, "", false];
const problem = [error.message, error.description]
  .filter((one) => typeof one === "string" && one.trim()).join(": ") || "no reason is known";
const run = String(failed.execution?.id ?? "");
const address = String(failed.execution?.url ?? "");
const who = performer && performer !== step ? ` (${performer})` : "";
const where = step ? `“${step}”${who} of “${process}”` : `“${process}”`;
const text = ends
  ? `“${process}” ended with the error “${step}”: ${problem}`
  : `${where} failed: ${problem}`;
return [{ json: { process, step, performer, problem, run, address, text } }];
"""
