"""The support set as files for a manual import, for servers that a deployment cannot reach.

n8n's command line keeps the ids of imported workflows, by which processes call the set. The table
is found by its name.
"""

from __future__ import annotations

import json
from typing import Final

from orgflow.backends.n8n.format.document import Workflow, node_uuid
from orgflow.backends.n8n.node_types import data_table
from orgflow.backends.n8n.node_types.data_table import create_table_parameters
from orgflow.backends.n8n.node_types.manual_trigger import NODE as MANUAL
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES, TABLE_NAME
from orgflow.backends.n8n.waiting.support_set import (
    DEFAULT_OPTIONS,
    SupportOptions,
    build_support_set,
    import_references,
)
from orgflow.backends.n8n.waiting.workflow_builder import References, WorkflowBuilder

TABLE_WORKFLOW: Final = node_uuid("orgflow/waiting/table").replace("-", "")[:16]
"""The id of the workflow that creates the table."""

_ABOUT: Final = (
    "## Create table\nRun this workflow once: it creates the Data Table of open work, unless it is "
    "there. Afterwards it can be deleted."
)


def import_files(options: SupportOptions = DEFAULT_OPTIONS) -> dict[str, str]:
    """The text of each workflow by the name of its file; the numbers are the order in which they
    are published."""
    workflows = [_table_workflow(), *build_support_set(import_references(), options).values()]
    return {
        f"{number:02}-{workflow['name'].removeprefix('orgflow: ').replace(' ', '-')}.json": (
            json.dumps(workflow, ensure_ascii=False, indent=2) + "\n"
        )
        for number, workflow in enumerate(workflows)
    }


def _table_workflow() -> Workflow:
    builder = WorkflowBuilder("table", References({}, {"table": TABLE_WORKFLOW}, {}))
    builder.add_note(_ABOUT)
    builder.add_node("Run once", MANUAL.name, (0, 0), {})
    parameters = create_table_parameters(TABLE_NAME, COLUMN_NAMES)
    builder.add_node(
        "Create the table", data_table.NODE.name, (1, 0), parameters, after=["Run once"]
    )
    return builder.build_workflow("orgflow: create table")
