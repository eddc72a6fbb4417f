"""Writing a fix into the BPMN file of its finding: nothing outside the edited elements changes."""

from orgflow.frontends.bpmn.patch.patch import apply_patch as apply_patch
