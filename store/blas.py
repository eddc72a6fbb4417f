"""Number of threads of numpy's linear algebra: one, if `orgflow.store` is imported first.

Waiting threads of OpenBLAS spin. If other programs use the processor, a product of matrices
otherwise takes three times its processor time, and more elapsed time than with one thread. The
parallel work here consists of whole batches, which do not wait for each other.
"""

from __future__ import annotations

import os
import sys

_VARIABLE = "OPENBLAS_NUM_THREADS"

if "numpy" not in sys.modules:
    os.environ.setdefault(_VARIABLE, "1")

WORKERS = min(4, os.cpu_count() or 1) if os.environ.get(_VARIABLE) == "1" else 1
"""Number of threads that compute at a time; one if the library has its own threads."""
