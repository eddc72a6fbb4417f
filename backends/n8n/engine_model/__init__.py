"""A model of n8n's engine: the execution of workflows without running anything.

`EngineModel` compiles a workflow once; `initial`, `outcomes` and `step` walk its configurations,
which are immutable, hashable and finite in number unless items accumulate. `WorldModel` (in
`world_model`) adds what several executions share: Data Tables, messages and a clock. Its worlds
are explored by `explore_worlds` (in `exploration`); every exploration goes through `Explorer`.
"""

from orgflow.backends.n8n.engine_model.config import (
    Config,
    Event,
    Frame,
    Phase,
    Place,
    Role,
    State,
)
from orgflow.backends.n8n.engine_model.model import Advance, EngineModel
from orgflow.backends.n8n.engine_model.outcome import (
    ANSWERED,
    FAILS,
    RUNS,
    TIMED_OUT,
    Emits,
    Fails,
    Opens,
    Outcome,
    Resumes,
    Runs,
    Stays,
)
from orgflow.backends.n8n.engine_model.world import Execution, World
from orgflow.backends.n8n.node_types.behaviour import Counts

__all__ = [
    "ANSWERED",
    "FAILS",
    "RUNS",
    "TIMED_OUT",
    "Advance",
    "Config",
    "Counts",
    "Emits",
    "EngineModel",
    "Event",
    "Execution",
    "Fails",
    "Frame",
    "Opens",
    "Outcome",
    "Phase",
    "Place",
    "Resumes",
    "Role",
    "Runs",
    "State",
    "Stays",
    "World",
]
