"""Forms in other files: where they are found, and what happens if several match."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_cases import orgflowc
from orgflow.commands.session import Session
from orgflow.compilation.reading import load_model

from orgflow_ir.model.bindings import Form
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

MODEL = """\
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d-{id}"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
  xmlns:flowable="http://flowable.org/bpmn">
<process id="{id}" isExecutable="true"><startEvent id="s-{id}"/>
<sequenceFlow id="f-{id}" sourceRef="s-{id}" targetRef="t-{id}"/>
{task}
<sequenceFlow id="g-{id}" sourceRef="t-{id}" targetRef="e-{id}"/><endEvent id="e-{id}"/>
</process></definitions>"""


def task(key: str, id: str = "p") -> str:
    """A user task that names a form in the way of an engine."""
    return f'<userTask id="t-{id}" name="Approve" {key}/>'


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def form(field: str, id: str = "approve") -> str:
    """A form of form-js with one field."""
    return json.dumps({"id": id, "components": [{"key": field, "type": "textfield"}]})


def read(path: Path, folders: Sequence[Path] = (), given: Sequence[Path] = ()) -> PassContext:
    ctx = PassContext(
        registry=Registry(outside=False), folders=[str(one) for one in folders],
        given=[str(one) for one in given],
    )  # fmt: skip
    ctx.source = load_model(str(path), ctx.registry, ctx)
    return ctx


def fields(ctx: PassContext) -> list[str]:
    assert ctx.source is not None
    nodes = [node for process in ctx.source.processes for node in process.nodes]
    bindings = [getattr(node, "binding", None) for node in nodes]
    return [one.name for b in bindings if isinstance(b, Form) for one in b.fields]


CAMUNDA_7 = 'camunda:formKey="camunda-forms:{}"'
REFERENCE = 'camunda:formRef="approve"'
FLOWABLE = 'flowable:formKey="approve"'

PLACES = {
    "Camunda 7, next to the model": ("m.bpmn", CAMUNDA_7.format("deployment:a.form"), "a.form"),
    "Camunda 7 Run": ("m.bpmn", CAMUNDA_7.format("deployment:/a.form"), "a.form"),
    "Camunda 7, web application": (
        "src/main/resources/m.bpmn", CAMUNDA_7.format("app:forms/a.form"),
        "src/main/webapp/forms/a.form",
    ),
    "a folder of forms below": ("m.bpmn", REFERENCE, "forms/approve.form"),
    "a folder of forms below, by id": ("m.bpmn", REFERENCE, "forms/other.form"),
    "Flowable, beside the processes": (
        "src/main/resources/processes/m.bpmn", FLOWABLE, "src/main/resources/forms/x.form",
    ),
    "Camunda 8, in the resources": (
        "src/main/resources/bpmn/m.bpmn", REFERENCE, "src/main/resources/static/x.form",
    ),
    "tests": ("src/test/resources/m.bpmn", REFERENCE, "src/main/resources/x.form"),
}  # fmt: skip


@pytest.mark.parametrize("case", PLACES)
def test_a_form_is_found_where_projects_keep_it(tmp_path: Path, case: str) -> None:
    model, key, place = PLACES[case]
    write(tmp_path, **{model: MODEL.format(id="p", task=task(key)), place: form("amount")})
    assert fields(read(tmp_path / model)) == ["amount"]


def test_a_form_beside_the_models_of_a_repository(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "repo/pom.xml": "",
            "repo/models/a/m.bpmn": MODEL.format(id="p", task=task(REFERENCE)),
            "repo/forms/x.form": form("amount"),
            "forms/y.form": form("outside"),
        },
    )
    path = tmp_path / "repo" / "models" / "a" / "m.bpmn"
    assert fields(read(path)) == ["amount"]
    (tmp_path / "repo" / "forms" / "x.form").unlink()
    assert fields(read(path)) == []
    assert fields(read(path, folders=[tmp_path])) == ["outside"]


def test_nothing_outside_of_the_models_folder_is_read_without_a_project(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "models/m.bpmn": MODEL.format(id="p", task=task(REFERENCE)),
            "forms/approve.form": form("amount"),
            "other/approve.form": form("amount"),
            "other/n.bpmn": "",
        },
    )
    path = tmp_path / "models" / "m.bpmn"
    assert fields(read(path)) == []
    assert fields(read(path, folders=[tmp_path / "models"])) == []
    assert fields(read(path, given=[path, tmp_path / "other" / "n.bpmn"])) == ["amount"]
    (tmp_path / "other" / "approve.form").unlink()
    assert fields(read(path, folders=[tmp_path])) == ["amount"]


def test_the_id_counts_before_the_name_of_the_file(tmp_path: Path) -> None:
    files = {"approve.form": form("named", "x"), "b.form": form("identified")}
    write(tmp_path, **files, **{"m.bpmn": MODEL.format(id="p", task=task(REFERENCE))})
    assert fields(read(tmp_path / "m.bpmn")) == ["identified"]
    write(tmp_path, **{"m.bpmn": MODEL.format(id="p", task=task(CAMUNDA_7.format("approve.form")))})
    assert fields(read(tmp_path / "m.bpmn")) == ["named"]


def test_the_folder_in_a_key_selects_one_of_several_files(tmp_path: Path) -> None:
    key = CAMUNDA_7.format("deployment:new/a.form")
    write(
        tmp_path,
        **{
            "m.bpmn": MODEL.format(id="p", task=task(key)),
            "forms/new/a.form": form("new"),
            "forms/old/a.form": form("old"),
        },
    )
    assert fields(read(tmp_path / "m.bpmn")) == ["new"]


def test_forms_that_differ_are_reported_with_their_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "m.bpmn": MODEL.format(id="p", task=task(REFERENCE)),
            "forms/a/approve.form": form("one"),
            "forms/b/approve.form": form("one"),
        },
    )
    path = tmp_path / "m.bpmn"
    assert fields(read(path)) == ["one"]  # copies
    write(tmp_path, **{"forms/b/approve.form": form("two")})
    ctx = read(path)
    assert fields(ctx) == []
    (found,) = [d for d in ctx.diagnostics if d.code == "OF147"]
    assert "`a/approve.form` and `b/approve.form`" in found.message
    write(tmp_path, **{"x.form": form("near")})
    ctx = read(path)
    assert (fields(ctx), [d for d in ctx.diagnostics if d.code == "OF147"]) == (["near"], [])


@pytest.mark.parametrize(
    "key", ['camunda:formKey="embedded:app:forms/a.html"', 'camunda:formRef="${form}"']
)
def test_pages_and_expressions_are_not_searched(tmp_path: Path, key: str) -> None:
    write(
        tmp_path,
        **{"m.bpmn": MODEL.format(id="p", task=task(key)), "a.html.form": form("x", "${form}")},
    )
    assert fields(read(tmp_path / "m.bpmn")) == []


def test_commands_find_forms_in_their_folders(tmp_path: Path) -> None:
    """Also for a process that another file calls, and after the form has changed."""
    call = '<callActivity id="t-main" name="Call" calledElement="part"/>'
    write(
        tmp_path,
        **{
            "a/main.bpmn": MODEL.format(id="main", task=call),
            "b/part.bpmn": MODEL.format(id="part", task=task(REFERENCE, "part")),
            "ui/approve.form": form("amountOfTheOrder"),
        },
    )
    out = tmp_path.parent / f"{tmp_path.name}-out"

    def compiled() -> list[str]:
        ran = orgflowc("compile", str(tmp_path), "--target", "n8n", "-o", f"{out}/")
        assert ran.code == 0, ran.err
        return [p.name for p in sorted(out.iterdir()) if "amountOfTheOrder" in p.read_text()]

    assert len(compiled()) == 2  # by itself, and as a called process
    write(tmp_path, **{"ui/approve.form": form("other")})
    assert compiled() == []


def test_kept_results_of_check_depend_on_the_forms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORGFLOW_CACHE", str(tmp_path / "cache"))
    models = tmp_path / "models"
    write(
        models,
        **{
            "m.bpmn": MODEL.format(id="p", task=task(REFERENCE)),
            "n.bpmn": MODEL.format(id="q", task=task(REFERENCE, "q")),
            "forms/a.form": form("one"),
        },
    )
    assert "OF147" not in orgflowc("check", str(models)).out
    write(models, **{"forms/new/b.form": form("two")})
    assert orgflowc("check", str(models)).out.count("OF147") >= 1
    (models / "forms" / "new" / "b.form").unlink()
    assert "OF147" not in orgflowc("check", str(models)).out


def test_contexts_of_a_session_have_the_folders(tmp_path: Path) -> None:
    from orgflow.commands.inputs import expand_folders

    session = Session()
    expand_folders((str(tmp_path), "x.bpmn"), session)
    assert session.context().folders == (str(tmp_path),)
