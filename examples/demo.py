"""What `make demo` shows: what an emitted n8n workflow holds, and what to do with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(model: str, result: str) -> None:
    """Describe the workflow file `result` that `model` was compiled to."""
    workflow = json.loads(Path(result).read_text("utf-8"))
    nodes = [n for n in workflow["nodes"] if not n["type"].endswith(".stickyNote")]
    print(f"\n{model}\n  became the n8n workflow {result} with {len(nodes)} nodes:\n")
    width = max(len(node["name"]) for node in nodes)
    for node in nodes:
        print(f"    {node['name']:<{width}}  {node['type'].rsplit('.', 1)[-1]}")
    readme = Path(model).parent / "README.md"
    print(
        f"""
What to do next
  look at it     in n8n: a new workflow, menu, Import from File, {result}
  connect it     {readme} says what to put in place of each placeholder
  run it here    .venv/bin/orgflowc engine install     (n8n's own engine, about 0.9 GB)
                 .venv/bin/orgflowc run {model} --all-paths
  your own file  .venv/bin/orgflowc check FILE.bpmn
                 .venv/bin/orgflowc compile FILE.bpmn --target n8n -o FILE.json"""
    )


if __name__ == "__main__":
    main(*sys.argv[1:3])
