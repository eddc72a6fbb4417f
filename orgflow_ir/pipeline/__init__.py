"""Passes, the context they share, and the manager that runs a pipeline of them."""

from orgflow_ir.pipeline.context import PassContext
from orgflow_ir.pipeline.manager import AfterEach, PassManager
from orgflow_ir.pipeline.passes import Pass, Stage
from orgflow_ir.pipeline.pipeline_text import PipelineError, parse_pipeline, print_pipeline

__all__ = [
    "AfterEach", "Pass", "PassContext", "PassManager", "PipelineError", "Stage", "parse_pipeline",
    "print_pipeline",
]  # fmt: skip
