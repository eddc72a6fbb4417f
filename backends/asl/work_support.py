"""Support of state machines for each kind of work that a model states, as data.

`computed` is done by a JSONata state where JSONata has exactly its value, otherwise as `called`;
`called` is a call of a function, `asked` a callback, `refused` a diagnostic: the model is refused,
or the text stays in the comment of a state and OF404 reports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from orgflow_ir.model.bindings import (
    BINDINGS,
    AnyBinding,
    Decision,
    Form,
    Http,
    Mail,
    Script,
    SubProcessCall,
    Worker,
)
from orgflow_ir.model.records import NamedTuple

Support = Literal["computed", "called", "asked", "refused"]


class WorkSupport(NamedTuple):
    """How a kind of work is supported, and the reason or the form."""

    support: Support
    words: str


WORK: Final[Mapping[type[AnyBinding], WorkSupport]] = {
    Script: WorkSupport("computed", "a JSONata state"),
    Decision: WorkSupport("computed", "a JSONata state with the rules of the table"),
    Worker: WorkSupport(
        "called", "a function with the name of the worker; an expression is a JSONata state"
    ),
    Http: WorkSupport("called", "a function: an HTTP task needs the ARN of a connection"),
    Mail: WorkSupport("called", "a function: a mail needs an account"),
    Form: WorkSupport("asked", "an event with a task token and the form"),
    SubProcessCall: WorkSupport("refused", "a call needs the ARN of another state machine"),
}
"""Support by the class of the binding."""

PARTS: Final[Mapping[str, WorkSupport]] = {
    "inputs": WorkSupport("computed", "in front of the work, in the same state"),
    "outputs": WorkSupport("computed", "behind the work, in the same state"),
    "result": WorkSupport("computed", "a variable of the result"),
    "listeners": WorkSupport("computed", "scripts and expressions, in the same state"),
    "retries": WorkSupport("refused", "the contract of a function has it"),
    "parameters": WorkSupport("refused", "the contract of a function has it"),
}
"""Support of the parts that every binding has."""

if missing := {*BINDINGS.values()} - WORK.keys():
    raise NotImplementedError(f"asl has no support for {missing}")
