"""How many threads numpy's linear algebra has: one, where `orgflow.store` is imported before.

OpenBLAS lets threads that wait for each other spin. Where other programs use the processor, a
product of matrices then takes three times its processor time, and longer by the clock than with one
thread. What is done in parallel here are whole batches, which do not wait for each other.
"""

from __future__ import annotations

import os
import sys

_VARIABLE = "OPENBLAS_NUM_THREADS"

if "numpy" not in sys.modules:
    os.environ.setdefault(_VARIABLE, "1")

WORKERS = min(4, os.cpu_count() or 1) if os.environ.get(_VARIABLE) == "1" else 1
"""How many threads compute at a time; one where the library has threads of its own."""
