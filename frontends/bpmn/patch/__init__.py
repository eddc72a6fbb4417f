"""Writing a fix into the BPMN file it was found in: nothing outside the edited elements changes."""

from orgflow.frontends.bpmn.patch.patch import patched as patched
