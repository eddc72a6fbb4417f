"""Soundness of the control flow: verdicts for every property, with runs that show the faults."""

from orgflow_ir.flow.soundness.analysis import analyse
from orgflow_ir.flow.soundness.verdicts import Analysis, Fault, Property, Verdict, Way

__all__ = ["Analysis", "Fault", "Property", "Verdict", "Way", "analyse"]
