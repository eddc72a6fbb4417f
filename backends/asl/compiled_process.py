"""A state machine and the data about it besides its states."""

from __future__ import annotations

from dataclasses import field

from orgflow.backends.asl.format import Definition
from orgflow.backends.asl.graph import ProcessGraph

from orgflow_ir.model.records import dataclass


@dataclass(eq=False, repr=False)
class CompiledProcess:
    """The compiled form of one process.

    `deciders` are names of the states that set decision variables, by setter; `attempts` those of
    tasks whose errors are caught; `starts` values of the input's field `start` by start event;
    `races` values of the answer's field `event` by event-based gateway and event; `catches` errors
    by boundary event.
    """

    graph: ProcessGraph
    definition: Definition = field(default_factory=dict)
    deciders: dict[str, str] = field(default_factory=dict)
    attempts: dict[str, str] = field(default_factory=dict)
    starts: dict[str, str] = field(default_factory=dict)
    races: dict[str, dict[str, str]] = field(default_factory=dict)
    catches: dict[str, str] = field(default_factory=dict)
