"""`compile` of a model with several processes: each into a file of a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cases import Ran
from orgflow import cli

Invoke = Callable[..., Ran]

OLDER = "n8n{version=1.123}"
"""A target whose processes exchange no messages."""

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t" id="d">'
)
POOLS = (
    '<collaboration id="c"><participant id="pa" name="Buyer" processRef="a"/>'
    '<participant id="pb" name="Seller" processRef="b"/>'
    '<messageFlow id="m" name="order" sourceRef="ta" targetRef="sb"/></collaboration>'
)
SELLER = (
    '<process id="b"><startEvent id="sb" name="Order came"><messageEventDefinition/></startEvent>'
    '<task id="tb" name="Pack"/><sequenceFlow id="fb" sourceRef="sb" targetRef="tb"/></process>'
)

AD_HOC = (
    '<adHocSubProcess id="tb" name="Choose"><task id="u"/><task id="v"/><task id="w"/>'
    '<sequenceFlow id="uv" sourceRef="u" targetRef="v"/>'
    '<sequenceFlow id="uw" sourceRef="u" targetRef="w"/></adHocSubProcess>'
)


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Run a command line in this process."""

    def call(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


def model(folder: Path, step: str) -> Path:
    """A buyer that does one step and sends, and a seller."""
    path = folder / "trade.bpmn"
    path.write_text(
        f'{HEAD}{POOLS}<process id="a"><startEvent id="sa" name="Need"/>{step}'
        '<sequenceFlow id="fa" sourceRef="sa" targetRef="ta"/></process>'
        f"{SELLER}</definitions>"
    )
    return path


@pytest.fixture
def trade(tmp_path: Path) -> Path:
    return model(tmp_path, '<task id="ta" name="Send order"/>')


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """The buyer has what n8n does not support."""
    steps = "".join(f'<task id="{id}"/>' for id in "xyz")
    ways = "".join(
        f'<sequenceFlow id="to-{id}" sourceRef="x" targetRef="{id}"/>' for id in "yz"
    )  # what ends in two ways keeps no order
    return model(tmp_path, f'<adHocSubProcess id="ta" name="Rate">{steps}{ways}</adHocSubProcess>')


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.json"))


def test_each_pool_becomes_a_file_and_messages_between_them_are_gaps(
    invoke: Invoke, trade: Path, tmp_path: Path
) -> None:
    ran = invoke("compile", trade, "--target", OLDER, "-o", f"{tmp_path / 'out'}/", "-v")
    assert ran.code == 0
    assert files(tmp_path / "out") == ["buyer.json", "seller.json"]
    assert "error" not in ran.err
    gap = " ".join(ran.err.split())
    assert "nothing delivers the message flow `order` from `Send order` to `Order came`" in gap
    assert ran.err.count("nothing delivers") == 1
    trade.write_text(trade.read_text().replace(' name="order"', ' name=""'))
    ran = invoke("compile", trade, "--target", OLDER, "-o", f"{tmp_path / 'out'}/", "-v")
    gap = " ".join(ran.err.split())
    assert "nothing delivers the message flow from `Send order` to `Order came`: the proc" in gap


def test_a_bad_pool_does_not_stop_the_others(invoke: Invoke, half: Path, tmp_path: Path) -> None:
    ran = invoke("compile", half, "--target", "n8n", "-o", f"{tmp_path / 'out'}/")
    assert ran.code == 1
    assert files(tmp_path / "out") == ["seller.json"]
    assert ran.err.count("error OF403") == 1


def test_each_is_verified_by_itself(invoke: Invoke, trade: Path, tmp_path: Path) -> None:
    ran = invoke("compile", trade, "--target", OLDER, "--verify", "-o", f"{tmp_path / 'out'}/")
    assert ran.code == 0
    assert ran.err.count(": proved") == 2


def test_a_golden_folder_holds_each(invoke: Invoke, trade: Path, tmp_path: Path) -> None:
    out = f"{tmp_path / 'out'}/"
    invoke("compile", trade, "--target", "n8n", "-o", out)
    assert invoke("compile", trade, "--target", "n8n", "--check", out).code == 0


@pytest.mark.parametrize("output", [(), ("-o", "out.json")])
def test_without_a_folder_the_refusal_names_ways_and_processes(
    invoke: Invoke, trade: Path, output: tuple[str, ...]
) -> None:
    ran = invoke("compile", trade, "--target", OLDER, *output)
    assert ran.code == 1
    said = " ".join(ran.err.split())
    assert "-o DIR/ to compile each process separately" in said
    assert "--process NAME for one of them: `Buyer` and `Seller`" in said


def test_an_unknown_process_lists_those_that_are_there(invoke: Invoke, trade: Path) -> None:
    ran = invoke("compile", trade, "--target", "n8n", "--process", "Sell")
    assert ran.code == 2
    assert "no process `Sell`; did you mean `Seller`? the model has `Buyer` and `Seller`" in ran.err


def test_two_processes_of_one_name_become_two_files(
    invoke: Invoke, half: Path, tmp_path: Path
) -> None:
    half.write_text(half.read_text().replace('"Buyer"', '"Seller"').replace("adHocSub", "sub"))
    out = tmp_path / "out"
    ran = invoke("compile", half, "--target", "asl", "-o", f"{out}/")
    assert ran.code == 0
    assert files(out) == ["seller-2.asl.json", "seller.asl.json"]


# -- options that cannot help ----------------------------------------------------------------------


def test_force_and_allow_lossy_report_that_they_do_not_help(
    invoke: Invoke, half: Path, tmp_path: Path
) -> None:
    ran = invoke("compile", half, "--target", "n8n", "--process", "Buyer", "--force",
                 "--allow-lossy")  # fmt: skip
    assert ran.code == 1
    assert "--force does not help: it permits OF201, OF202 and OF206" in ran.err
    assert "--allow-lossy does not help: there is no approximation" in ran.err
    assert "--target 'n8n{unsupported=stub}' compiles the rest" in ran.err


def test_nothing_is_said_of_options_where_nothing_is_left(invoke: Invoke, trade: Path) -> None:
    ran = invoke("compile", trade, "--target", "n8n", "--process", "Buyer", "--force")
    assert ran.code == 0
    assert "does not help" not in ran.err


def test_pools_of_one_name_are_told_apart_by_ids(invoke: Invoke, trade: Path) -> None:
    trade.write_text(trade.read_text().replace('name="Seller"', 'name="Buyer"'))
    ran = invoke("compile", trade, "--target", OLDER)
    assert "--process NAME for one of them: `a` and `b`" in " ".join(ran.err.split())
    assert invoke("compile", trade, "--target", "n8n", "--process", "b").code == 0


def test_the_last_line_names_what_was_written_and_what_was_not(
    invoke: Invoke, trade: Path, tmp_path: Path
) -> None:
    """A file with several workflows is one file; a model without files is named once."""
    both = f"{tmp_path / 'both.json'}"
    script = trade.read_text().split(POOLS)[0] + (
        '<process id="p" name="Order"><startEvent id="s"/><task id="t" name="Pack"/>'
        '<callActivity id="c" calledElement="q"/><endEvent id="e"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="f2" sourceRef="t" targetRef="c"/>'
        '<sequenceFlow id="f3" sourceRef="c" targetRef="e"/></process>'
        '<process id="q" name="Ship"><startEvent id="qs"/><task id="qt" name="Ship"/>'
        '<sequenceFlow id="qf" sourceRef="qs" targetRef="qt"/></process></definitions>'
    )
    (tmp_path / "calls.bpmn").write_text(script)
    ran = invoke("compile", tmp_path / "calls.bpmn", "--target", "n8n", "-o", both)
    assert (ran.code, files(tmp_path)) == (0, ["both.json"])
    assert f"wrote {both}: " in " ".join(ran.err.split())
    ran = invoke(
        "compile", tmp_path / "calls.bpmn", "--target", "n8n", "-o", f"{tmp_path / 'out'}/"
    )
    assert "(order.json and ship.json): " in " ".join(ran.err.split())


def test_a_model_without_files_is_named_once(invoke: Invoke, half: Path, tmp_path: Path) -> None:
    refused = half.read_text().replace('<task id="tb" name="Pack"/>', AD_HOC)
    (tmp_path / "refused.bpmn").write_text(refused)
    good = model(tmp_path, '<task id="ta" name="Send order"/>')
    paths = [good, tmp_path / "refused.bpmn"]
    ran = invoke("compile", *paths, "--target", "n8n", "-o", f"{tmp_path / 'out'}/")
    assert ran.code == 1
    last = " ".join(ran.err.split())
    assert f"(buyer.json and seller.json), but nothing for `{tmp_path / 'refused.bpmn'}`: " in last
