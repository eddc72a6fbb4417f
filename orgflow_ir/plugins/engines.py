"""The contract for engines: what executes the workflows of a target, here or on a server."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from orgflow_ir.plugins.contracts import Runner, RunnerError

if TYPE_CHECKING:
    from orgflow_ir.pipeline import PassContext

LOCAL = "local"
"""The name of a target's engine on this machine, where an address could stand."""

MODEL = "model"
"""The name of the model of a target's engine, which needs no installation."""

_HOST = re.compile(r"(localhost|[\w-]+(\.[\w-]+)+|[\w-]+:\d+)(:\d+)?(/[\w/.-]*)?", re.ASCII)


class AccessError(ValueError):
    """A usage error: an invalid address or key, or a missing package.
    The message never holds a key."""


class InstallError(RunnerError):
    """An engine was not installed; what was there before is still in place."""


class RemoteError(RunnerError):
    """A call of a server failed; the message names the call and never holds a key.

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
        address: of the server; a backend decides which forms it takes.
        key_file: a file with the key, `-` for standard input, None for the target's environment
            variable.
        wait: how many seconds a call that fails temporarily is tried again.
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
        runner: executes workflows there.
        options: target options that the version of the engine demands.
    """

    runner: Runner
    options: Mapping[str, str]


class Installable(NamedTuple):
    """Something that `EngineProvider.install` puts on this machine.

    Attributes:
        help: a paragraph for people: what it is for, where it goes, what it needs.
        cost: what it takes, for an option's line of help, such as `2.9 GB, minutes`.
        versions: versions to choose from, the default one first; empty where there is no choice.
    """

    help: str
    cost: str = ""
    versions: tuple[str, ...] = ()


class EngineStatus(NamedTuple):
    """The state of a target's engine on this machine.

    Attributes:
        installed: whether it can be used.
        facts: what there is to know of it, by name: its folder, its versions.
        problems: why it cannot be used, a sentence each; empty where it can.
    """

    installed: bool
    facts: Mapping[str, str]
    problems: tuple[str, ...] = ()


class EngineMessage(NamedTuple):
    """A kind of message of an engine or its server, and what causes it.

    Attributes:
        rule: a name for the kind.
        pattern: found in the text, whatever its case.
        fault: what is to blame: the `model`, the `target` (a limit of it), the `translation`
            (a defect of the compiler), or `unknown`, such as a server that is down.
        cause: what went wrong, a sentence.
        fix: what to do.
        confidence: how sure that is.
    """

    rule: str
    pattern: re.Pattern[str]
    fault: Literal["model", "target", "translation", "unknown"]
    cause: str
    fix: str
    confidence: Literal["high", "medium", "low"] = "high"


class RunningServer(NamedTuple):
    """A server on this machine that answers.

    Attributes:
        address: where it answers, without a slash at the end.
        key_file: a file with a key for it.
        login: the account of its editor: e-mail address and password.
        log: the file with what it writes.
        pid: its process.
        begun: whether the call that gave this value has started it.
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
        status: in the server's words, such as `waiting` or `success`.
    """

    id: str
    workflow: str
    status: str


class LocalServer(ABC):
    """A whole server of a target on this machine, with an account and a data folder of its own. It
    listens on 127.0.0.1 only, and on the same port each time."""

    @property
    @abstractmethod
    def installed(self) -> bool:
        """Whether it can be started."""

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, str]:
        """What there is to know of it, by name; starts nothing."""

    @abstractmethod
    def running(self) -> RunningServer | None:
        """The server, where it runs."""

    @abstractmethod
    def start(self, on_line: Callable[[str], None], *, port: int | None = None) -> RunningServer:
        """Start it in the background, unless it runs; without `port` where it was before.

        Raises:
            RunnerError: it is not installed, the port is taken, or it does not start.
        """

    @abstractmethod
    def stop(self) -> bool:
        """End the server that runs; whether one did. Never ends another process.

        Raises:
            RunnerError: it does not end.
        """

    @abstractmethod
    def held(
        self, on_line: Callable[[str], None], *, port: int | None = None
    ) -> AbstractContextManager[RunningServer]:
        """The server that runs, else one that ends with the `with` block and with this process.
        Raises as `start`."""

    @abstractmethod
    def executions(self, server: RunningServer) -> tuple[ServerExecution, ...]:
        """The latest executions, oldest first. Raises `RunnerError` where it does not answer."""


class EngineProvider(ABC):
    """The engines of a target: one on this machine, and those at addresses.

    Attributes:
        about: what the local engine is, for `orgflowc engine --help`.
        engine: the local engine as something to install.
        server: a whole server to install for tests, if there is such a thing.
        messages: kinds of messages of the engines, the most specific first.
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
        """A runner on the local engine, which is started by its first run."""

    def model_runner(self) -> Runner | None:
        """A runner on a model of the engine, for machines where the engine is not installed; `None`
        where the target has no such model. What the model does not know is `unplayable`."""
        return None

    @abstractmethod
    def status(self) -> EngineStatus:
        """The state of the local engine; starts nothing that takes long."""

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
            version: one of the versions of what is installed.

        Returns:
            Where it is.

        Raises:
            RunnerError: it cannot be installed.
        """

    def local_server(self) -> LocalServer | None:
        """The server that `install` puts on this machine, where there is such a thing."""
        return None

    def connect(
        self, access: ServerAccess, ctx: PassContext
    ) -> AbstractContextManager[RemoteEngine | None] | None:
        """The engine at an address, closed at the end of the `with` block; in it, None after an
        error, which is in `ctx`. None in place of the whole where the target runs on no server.

        Raises:
            AccessError: when the block is entered.
        """
        return None


class LocalEngine(NamedTuple):
    """What plays runs on this machine.

    Attributes:
        runner: plays them; to be closed.
        name: `LOCAL` or `MODEL`.
    """

    runner: Runner
    name: str


def local_engine(engines: EngineProvider, engine: str | None) -> LocalEngine | None:
    """The engine of a name on this machine; without a name the installed engine, else the model of
    it, where the target has one. `None` where there is no engine of that name."""
    if engine not in (None, LOCAL, MODEL):
        return None
    if engine == MODEL or (engine is None and not engines.status().installed):
        model = engines.model_runner()
        if model is not None:
            return LocalEngine(model, MODEL)
        if engine == MODEL:
            return None
    return LocalEngine(engines.runner(), LOCAL)
