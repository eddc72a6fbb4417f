"""Options of commands: each command takes one value that declares exactly its options."""

from __future__ import annotations

import typing

import click
import pytest
from orgflow.cli import orgflowc
from orgflow.commands.options import DiagnosticsOptions, Options, model_settings

WITH_VALUES = (
    "cancel", "check", "compile", "deploy", "discover", "eval", "fill", "fmt", "heal", "ingest",
    "instances", "model", "opt", "run", "serve", "synth", "tasks", "trace", "undeploy", "verify",
    "watch",
)  # fmt: skip
"""Commands that take one value in place of a parameter for each option."""


def find_command(name: str) -> click.Command:
    found = orgflowc.get_command(click.Context(orgflowc), name)
    assert found is not None
    return found


def options_of(name: str) -> type[Options]:
    callback: typing.Any = find_command(name).callback
    form = typing.get_type_hints(callback.__wrapped__)["options"]
    assert issubclass(form, Options)
    return form


@pytest.mark.parametrize("name", WITH_VALUES)
def test_a_command_declares_the_options_that_click_passes(name: str) -> None:
    passed = {p.name for p in find_command(name).params if p.expose_value}
    parts = [vars(cls).get("__annotations__", {}) for cls in options_of(name).__mro__]
    declared = {attribute for part in parts for attribute in part}
    assert declared == passed


@pytest.mark.parametrize("name", orgflowc.list_commands(click.Context(orgflowc)))
def test_no_command_takes_many_parameters(name: str) -> None:
    assert name in WITH_VALUES or len(find_command(name).params) <= 5


def test_options_are_set_once() -> None:
    options = DiagnosticsOptions(format_="text", verbose=False)
    with pytest.raises(AttributeError, match="verbose"):
        options.verbose = True
    assert repr(options) == "DiagnosticsOptions({'format_': 'text', 'verbose': False})"


def test_every_setting_of_a_language_model_has_an_option() -> None:
    form = options_of("fill")
    values = {p.name: p.name for p in find_command("fill").params if p.name is not None}
    settings = model_settings(typing.cast(typing.Any, form)(**values))
    assert set(settings.values()) == {
        "model_url", "model_name", "temperature", "tokens", "cost", "timeout", "record", "replay",
        "redact",
    }  # fmt: skip
