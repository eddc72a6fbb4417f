"""The plugin of Camunda Modeler in a browser with bpmn-js: findings on the canvas and in the panel,
and their fixes."""

from __future__ import annotations

from pathlib import Path

from modeler_page import canvas, drawn, menu

ROOT = Path(__file__).resolve().parents[2]
FAULTY = ROOT / "tests/diagnostics/OF201-deadlocked-join/bad.bpmn"


def test_a_deadlock_is_shown_fixed_and_gone(tmp_path: Path) -> None:
    (tmp_path / "orgflow.toml").write_text('[rules]\nOF501 = "off"\nOF502 = "off"\n', "utf-8")
    text = drawn(FAULTY)
    with menu(tmp_path) as sent, canvas(tmp_path) as page:
        page.show(text)
        page.act(sent["action"], sent["options"])
        page.header("orgflow: 1 finding")
        assert page.badges() == {"join": "1"}
        panel = page.page.locator(".orgflow-panel")
        assert "waits for `Reorder`" in panel.inner_text()
        page.page.locator(".orgflow-badge").click()
        assert page.page.evaluate("modeler.get('selection').get().map(e => e.id)") == ["join"]

        panel.get_by_role("button").click()
        page.header("orgflow: no findings")
        assert page.badges() == {}
        assert '<exclusiveGateway id="join">' in page.xml()

        page.page.evaluate("modeler.get('commandStack').undo()")  # one step; then it is asked again
        page.header("orgflow: 1 finding")
        assert '<parallelGateway id="join">' in page.xml()
        page.act("orgflowHide", {})
        assert page.badges() == {}
        assert panel.count() == 0


def test_a_fault_is_shown(tmp_path: Path) -> None:
    with canvas(tmp_path) as page:
        page.show(drawn(FAULTY))
        page.act("orgflowFailed", {"message": "the language server ended"})
        page.page.get_by_text("the language server ended").wait_for()


def test_a_fix_that_the_canvas_does_not_make_changes_nothing(tmp_path: Path) -> None:
    with canvas(tmp_path) as page:
        page.show(drawn(FAULTY))
        before = page.xml().replace("<bpmndi:BPMNLabel />", "")
        # A process of another name: the plugin changes steps and flows only. The task with it has
        # to keep its name, too.
        wanted = before.replace('name="Order"', 'name="Sale"').replace('"Pack"', '"Wrap"')
        assert wanted.count('name="Sale"') == 1
        page.page.evaluate("xml => modeler.get('orgflowFindings').fix({ xml })", wanted)
        page.page.get_by_text("This fix cannot be made on the canvas", exact=False).wait_for()
        # Undoing a renaming leaves bpmn-js with an empty element for the label.
        assert page.xml().replace("<bpmndi:BPMNLabel />", "") == before
