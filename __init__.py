"""orgflow compiles process models into automation: `read`, `check`, `compile`, `verify`, `run` …

What is exported here is loaded when it is first used; `orgflow.api` has the documentation.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orgflow.api import (
        AccessError,
        CheckResult,
        CompileResult,
        Diagnostic,
        Document,
        Emitted,
        InputError,
        Model,
        OptionError,
        ReadResult,
        ReplayReport,
        RunnerError,
        RunResult,
        Services,
        UnknownName,
        UnsupportedError,
        Verdict,
        Verification,
        VerifyResult,
        check,
        compile,
        draft,
        fill,
        read,
        run,
        verify,
    )

    __version__: str

__all__ = [
    "AccessError", "CheckResult", "CompileResult", "Diagnostic", "Document", "Emitted",
    "InputError", "Model", "OptionError", "ReadResult", "ReplayReport", "RunResult",
    "RunnerError", "Services", "UnknownName", "UnsupportedError", "Verdict", "Verification",
    "VerifyResult", "__version__", "check", "compile", "draft", "fill", "read", "run", "verify",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("orgflow")
    if name in __all__:
        from orgflow import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
