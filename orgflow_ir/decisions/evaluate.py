"""Evaluation of decisions: the reference for compiled decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orgflow_ir.decisions.link import DecisionModel, Input, Logic, Service, Unit
from orgflow_ir.languages.feel.parser import normal_name
from orgflow_ir.program.feel.boundary import from_json, to_json
from orgflow_ir.program.feel.types import ANY
from orgflow_ir.program.feel.values import Function, Unsupported, Value
from orgflow_ir.program.structure_evaluation import coerce_value, evaluate, order_arguments


def decide(model: DecisionModel, name: str, given: Mapping[str, Value]) -> Value:
    """The value of a decision, or of a service or business knowledge called with `given`.

    Args:
        model: linked definitions.
        name: name of a decision, service or business knowledge in the file.
        given: FEEL values of inputs by name; a value for a decision replaces its evaluation.

    Raises:
        Unsupported: the decision, or a requirement of it, cannot be evaluated; the message gives
            the reason.
        KeyError: there is no element with this name.
    """
    unit = model.named(name)
    if unit is None:
        raise KeyError(name)
    values = {normal_name(key): value for key, value in given.items()}
    result = _Evaluation(model, values).value(unit.key)
    if isinstance(unit, Service) or (isinstance(unit, Logic) and unit.knowledge):
        if not isinstance(result, Function):
            raise Unsupported(f"`{unit.name}` is not a function")
        named = [name for name, _ in result.parameters or ()]
        return result.call([values.get(name) for name in named], None)
    return result


def decide_json(model: DecisionModel, name: str, given: Mapping[str, object]) -> object:
    """The value of a decision as JSON, from inputs as JSON: the result of `decide`, with texts for
    dates, times and durations if the model declares them.

    Raises: Unsupported, KeyError: as for `decide`; also for a value that JSON cannot represent.
    """
    types = {unit.name: unit.type for unit in model.units.values() if isinstance(unit, Input)}
    values = {
        key: from_json(value, types.get(normal_name(key), ANY)) for key, value in given.items()
    }
    return to_json(decide(model, name, values))


class _Evaluation:
    """Values of units for one set of inputs, each computed once."""

    def __init__(
        self,
        model: DecisionModel,
        given: Mapping[str, Value],
        known: Mapping[str, Value] | None = None,
    ) -> None:
        self.model, self.given = model, given
        self.known: dict[str, Value] = dict(known or {})
        self.open: set[str] = set()

    def value(self, key: str) -> Value:
        if key not in self.known:
            unit = self.model.units[key]
            if key in self.open:
                raise Unsupported(f"`{unit.name}` requires itself")
            self.open.add(key)
            self.known[key] = self.computed(unit)
            self.open.remove(key)
        return self.known[key]

    def computed(self, unit: Unit) -> Value:
        match unit:
            case Input(_, name, of):
                return coerce_value(self.given.get(name), of)
            case Service():
                return self.service(unit)
            case Logic(_, name, tree, requires):
                if tree is None:
                    raise Unsupported(f"`{name}` is not valid")
                scope = {requirement.name: self.value(requirement.key) for requirement in requires}
                if not unit.knowledge:
                    return evaluate(tree, scope)
                scope[name] = evaluate(tree, scope)  # it may call itself
                return scope[name]

    def service(self, service: Service) -> Value:
        names = [parameter.name for parameter in service.parameters]

        def call(given: Sequence[Value], passed: Sequence[str] | None) -> Value:
            values = order_arguments(names, given, passed)
            if values is None:
                return None
            known: dict[str, Value] = {}
            for parameter, value in zip(service.parameters, values, strict=True):
                known[parameter.key] = coerce_value(value, self.model.units[parameter.key].type)
                if known[parameter.key] is None and value is not None:
                    return None
            inner = _Evaluation(self.model, {}, known)
            results = {output.name: inner.value(output.key) for output in service.outputs}
            value = next(iter(results.values())) if len(results) == 1 else results
            return coerce_value(value, service.type)

        units = [self.model.units[parameter.key] for parameter in service.parameters]
        parameters = tuple((name, unit.type) for name, unit in zip(names, units, strict=True))
        return Function(parameters, call, service.type)
