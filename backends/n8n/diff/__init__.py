"""The differences between two versions of n8n workflows: `files.diff`, `files.diff_workflows`.

Nothing is imported here, so the table of rules does not load the machine.
"""
