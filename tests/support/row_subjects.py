"""Processes of segments with their workflows, as subjects of proofs, mutants and runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from canvas_game import GameRun
from canvas_player import CanvasPlay, ExpressionServer, StepRecord
from orgflow.backends.n8n.plan.graph import start_key
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.verify.reference import (
    NotLegal,
    Reference,
    compile_references,
    compiled_forms,
)
from orgflow.backends.n8n.verify.verify import verify_process

from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.verification import Verification

Json = dict[str, Any]

_START_VALUES = [1, 2, 3, True, False, "x", 60_000]


class RowSubject(NamedTuple):
    """A process of segments.

    Attributes:
        key: name of the model and id of the process.
        model: the source.
        ref: its compiled form, with which workflows are compared.
        workflow: the compiled workflow.
        ctx: has the options of the target.
    """

    key: str
    model: Model
    ref: Reference
    workflow: Json
    ctx: PassContext

    @property
    def starts(self) -> list[tuple[str, str | None]]:
        """The elements at which runs begin, and their names in the token game."""
        process = self.ref.process
        options = Game(self.model).starts(process.id)
        return [(start or start_key(process), start) for start in options]

    def settings(self) -> dict[str, list[tuple[str, list[Any]]]]:
        """The variables that placeholders set, and those of a start."""
        settings: dict[str, list[tuple[str, list[Any]]]] = {}
        for key, gateways in self.ref.roles.setters.items():
            for gateway in gateways:
                decision = self.ref.plan.decisions[gateway]
                values: list[Any] = list(decision.values)
                if decision.several:
                    values = [[value] for value in values] + [values]
                settings.setdefault(self.ref.nodes[key].name, []).append(
                    (decision.variable, values)
                )
        names = self.ref.plan.carried.names if self.ref.plan.carried is not None else ()
        settings[""] = [(name, _START_VALUES) for name in names]
        for gateway in self.ref.roles.given:
            decision = self.ref.plan.decisions[gateway]
            settings[""].append((decision.variable, list(decision.values)))
        return settings

    def verify(self, workflow: Json, most: int = 20_000) -> Verification:
        """What `verify` finds."""
        copy = json.loads(json.dumps(workflow))
        return verify_process(
            self.model, self.ref.process, copy, self.ctx, against=self.ref, most=most
        )

    def play(self, server: ExpressionServer, seed: int) -> tuple[str, list[StepRecord]]:
        """A run of the compiled workflow."""
        start, _ = self.starts[seed % len(self.starts)]
        play = CanvasPlay(self.workflow, server, str(seed), self.settings())
        return start, play.play(start)

    def replay(
        self, server: ExpressionServer, workflow: Json, seed: int, run: list[StepRecord]
    ) -> str:
        """The first difference of a workflow in a run; empty if there is none."""
        start, _ = self.starts[seed % len(self.starts)]
        return CanvasPlay(workflow, server, str(seed), self.settings()).replay(start, run)

    def follow(self, seed: int, run: list[StepRecord]) -> str:
        """Why the token game has no such run; empty if it has."""
        _, start = self.starts[seed % len(self.starts)]
        game = GameRun(self.model, self.ref.process, start)
        for record in run:
            reason = game.follow(record)
            if reason:
                return reason
        return ""


def list_subjects(models: Iterable[tuple[str, Model]], registry: Registry) -> Iterator[RowSubject]:
    """The processes of models that are compiled to segments."""
    for name, model in models:
        contexts = [
            PassContext(registry=registry, target=N8N_TARGET,
                        options=dict(N8N_TARGET.default_options))
            for _ in range(2)
        ]  # fmt: skip
        try:
            refs = compile_references(model, contexts[0])
        except NotLegal:
            continue
        if all(ref.plan.segments is None for ref in refs.values()):
            continue
        forms = compiled_forms(model, contexts[1])
        for process, ref in refs.items():
            if ref.plan.segments is not None:
                workflow = json.loads(json.dumps(forms[process].root.workflow))
                yield RowSubject(f"{name} {process}", model, ref, workflow, contexts[0])
