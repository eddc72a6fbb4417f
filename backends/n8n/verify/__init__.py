"""Translation validation of n8n workflows against the processes they were made of."""

from orgflow.backends.n8n.verify.reference import NotLegal, Reference, reference, references
from orgflow.backends.n8n.verify.verify import MOST_STATES, verify_process

from orgflow_ir.targets.verification import Verdict, Verification

__all__ = [
    "MOST_STATES",
    "NotLegal",
    "Reference",
    "Verdict",
    "Verification",
    "reference",
    "references",
    "verify_process",
]
