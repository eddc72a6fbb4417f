"""The contract for engines, which execute the workflows of a target locally or on a server."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar, Literal

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins.runners import Runner, RunnerError

if TYPE_CHECKING:
    from orgflow_ir.pipeline import PassContext

LOCAL = "local"
"""The name of a target's engine on this machine, used in place of an address."""

MODEL = "model"
"""The name of the model of a target's engine, which needs no installation."""

_HOST = re.compile(r"(localhost|[\w-]+(\.[\w-]+)+|[\w-]+:\d+)(:\d+)?(/[\w/.-]*)?", re.ASCII)


class AccessError(ValueError):
    """A usage error: an invalid address or key, or a missing package.
    The message never contains a key."""


class InstallError(RunnerError):
    """An engine was not installed; the previous installation is unchanged."""


class RemoteError(RunnerError):
    """A call of a server failed; the message names the call and never contains a key.

    Attributes:
        stage: the step that failed.
    """

    stage: Literal["deploy", "activation", "execution"] = "deploy"

    @property
    def everywhere(self) -> bool:
        """Whether the server or the key is at fault, so no other call will succeed."""
        return False

    def report(self, ctx: PassContext) -> None:
        """Emit the error as a diagnostic of the target."""
        raise NotImplementedError


class ServerAccess(NamedTuple):
    """How to reach a server, as the user gave it.

    Attributes:
        address: the address of the server; the backend decides which forms it accepts.
        key_file: a file with the key, `-` for standard input, None for the target's environment
            variable.
        wait: number of seconds for which a temporarily failing call is retried.
    """

    address: str
    key_file: str | None = None
    wait: float = 30.0


def is_address(engine: str) -> bool:
    """Whether the name of an engine is the address of a server."""
    return "://" in engine


def looks_like_server(text: str) -> bool:
    """Whether `text` is the address of a web server without its scheme."""
    return bool(_HOST.fullmatch(text.strip()))


class RemoteEngine(NamedTuple):
    """An engine at an address, connected.

    Attributes:
        runner: the runner that executes workflows there.
        options: target options that the version of the engine requires.
    """

    runner: Runner
    options: Mapping[str, str]


class Installable(NamedTuple):
    """Software that `EngineProvider.install` puts on this machine.

    Attributes:
        help: a paragraph for people about its purpose, location and requirements.
        cost: space and time needed, for the help of an option, such as `2.9 GB, minutes`.
        versions: available versions, the default one first; empty if there is no choice.
    """

    help: str
    cost: str = ""
    versions: tuple[str, ...] = ()


class EngineStatus(NamedTuple):
    """The state of a target's engine on this machine.

    Attributes:
        installed: whether it can be used.
        facts: properties by name, such as its folder and its versions.
        problems: why it cannot be used, one sentence per reason; empty if it can be used.
    """

    installed: bool
    facts: Mapping[str, str]
    problems: tuple[str, ...] = ()


class EngineMessage(NamedTuple):
    """A kind of message of an engine or its server, and its cause.

    Attributes:
        rule: a name for the kind.
        pattern: a pattern found in the text, ignoring case.
        fault: the source of the fault: the `model`, the `target` (one of its limits), the
            `translation` (a defect of the compiler), or `unknown`, such as a server that is down.
        cause: the cause, as a sentence.
        fix: the remedy.
        confidence: the confidence in this diagnosis.
    """

    rule: str
    pattern: re.Pattern[str]
    fault: Literal["model", "target", "translation", "unknown"]
    cause: str
    fix: str
    confidence: Literal["high", "medium", "low"] = "high"


class RunningServer(NamedTuple):
    """A server on this machine that responds.

    Attributes:
        address: its address, without a slash at the end.
        key_file: a file with a key for it.
        login: the account of its editor: e-mail address and password.
        log: the file with its output.
        pid: its process.
        begun: whether the call that returned this value started it.
    """

    address: str
    key_file: str
    login: tuple[str, str]
    log: str
    pid: int
    begun: bool = False


class ServerExecution(NamedTuple):
    """An execution on a server.

    Attributes:
        id: the server's id.
        workflow: the server's id of its workflow.
        status: the server's term, such as `waiting` or `success`.
    """

    id: str
    workflow: str
    status: str


class LocalServer(ABC):
    """A complete server of a target on this machine, with a separate account and data folder. It
    listens on 127.0.0.1 only, and on the same port each time."""

    @property
    @abstractmethod
    def installed(self) -> bool:
        """Whether it can be started."""

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, str]:
        """Its properties by name; starts nothing."""

    @abstractmethod
    def running(self) -> RunningServer | None:
        """The server, if it is running."""

    @abstractmethod
    def start(self, on_line: Callable[[str], None], *, port: int | None = None) -> RunningServer:
        """Start it in the background unless it is running; without `port`, on its previous port.

        Raises:
            RunnerError: it is not installed, the port is taken, or it does not start.
        """

    @abstractmethod
    def stop(self) -> bool:
        """Stop the running server; returns whether one was running. Never ends another process.

        Raises:
            RunnerError: it does not stop.
        """

    @abstractmethod
    def held(
        self, on_line: Callable[[str], None], *, port: int | None = None
    ) -> AbstractContextManager[RunningServer]:
        """The running server, otherwise one that stops with the `with` block and with this process.
        Raises as `start`."""

    @abstractmethod
    def executions(self, server: RunningServer) -> tuple[ServerExecution, ...]:
        """The latest executions, oldest first. Raises `RunnerError` if it does not respond."""


class EngineProvider(ABC):
    """The engines of a target: the local one, and those at addresses.

    Attributes:
        about: a description of the local engine, for `orgflowc engine --help`.
        engine: the installable local engine.
        server: an installable complete server for tests, if there is one.
        messages: known kinds of engine messages, the most specific first.
    """

    about: ClassVar[str] = ""
    engine: ClassVar[Installable] = Installable("")
    server: ClassVar[Installable | None] = None

    @property
    def messages(self) -> tuple[EngineMessage, ...]:
        """See the class."""
        return ()

    @abstractmethod
    def runner(self) -> Runner:
        """A runner on the local engine, which its first run starts."""

    def model_runner(self) -> Runner | None:
        """A runner on a model of the engine, for machines without an installed engine; `None` if
        the target has no such model. Runs that the model does not support are `unplayable`."""
        return None

    @abstractmethod
    def status(self) -> EngineStatus:
        """The state of the local engine; returns quickly."""

    @abstractmethod
    def install(
        self,
        on_line: Callable[[str], None],
        *,
        force: bool = False,
        server: bool = False,
        version: str | None = None,
    ) -> str:
        """Install the local engine (or the server), unless it is installed already.

        Args:
            on_line: called with each line of progress.
            force: install again.
            server: install `server` instead.
            version: one of the available versions.

        Returns: Its location.

        Raises:
            RunnerError: it cannot be installed.
        """

    def shared_workflows(self) -> Mapping[str, str]:
        """Texts by file names: the parts that the processes of a server share, for a manual
        import. Nothing by default."""
        return {}

    def local_server(self) -> LocalServer | None:
        """The server that `install` puts on this machine, if there is one."""
        return None

    def connect(
        self, access: ServerAccess, ctx: PassContext
    ) -> AbstractContextManager[RemoteEngine | None] | None:
        """The engine at an address, closed at the end of the `with` block; in it, None after an
        error, which is in `ctx`. Returns None instead if the target does not run on servers.

        Raises:
            AccessError: when the block is entered.
        """
        return None


class LocalEngine(NamedTuple):
    """The engine that executes runs on this machine.

    Attributes:
        runner: the runner, which the caller closes.
        name: `LOCAL` or `MODEL`.
    """

    runner: Runner
    name: str


def local_engine(engines: EngineProvider, engine: str | None) -> LocalEngine | None:
    """The engine with a name on this machine; without a name, the installed engine or otherwise the
    engine model, if the target has one. `None` if there is no engine with that name."""
    if engine not in (None, LOCAL, MODEL):
        return None
    if engine == MODEL or (engine is None and not engines.status().installed):
        model = engines.model_runner()
        if model is not None:
            return LocalEngine(model, MODEL)
        if engine == MODEL:
            return None
    return LocalEngine(engines.runner(), LOCAL)
