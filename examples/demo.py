"""What `make demo` shows: what an emitted n8n workflow holds, and what to do with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(model: str, result: str) -> None:
    """Describe the workflow file `result` that `model` was compiled to."""
    workflow = json.loads(Path(result).read_text("utf-8"))
    nodes = [n for n in workflow["nodes"] if not n["type"].endswith(".stickyNote")]
    print(f"\n{model}\n  became an n8n workflow with {len(nodes)} nodes,\n  {result}:\n")
    width = max(len(node["name"]) for node in nodes)
    for node in nodes:
        print(f"    {node['name']:<{width}}  {node['type'].rsplit('.', 1)[-1]}")
    readme = Path(model).parent / "README.md"
    print(
        f"""
What to do next
  look at it     in n8n: a new workflow, menu, Import from File, the file above
  connect it     replace the placeholders, as this page says:
                 {readme}
  run it here    .venv/bin/orgflowc engine install       # n8n's engine, 0.9 GB
                 .venv/bin/orgflowc run --all-paths \\
                   {model}
  your own file  .venv/bin/orgflowc check FILE.bpmn
                 .venv/bin/orgflowc compile --target n8n -o FILE.json FILE.bpmn"""
    )


if __name__ == "__main__":
    main(*sys.argv[1:3])
