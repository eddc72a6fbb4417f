"""What changed between two versions of n8n workflows: `files.diff`, `files.diff_workflows`.

Nothing is imported here, so that the table of rules does not bring the machine with it.
"""
