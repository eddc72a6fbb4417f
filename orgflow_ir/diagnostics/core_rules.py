"""Rules of the core itself: broken plugins, crashed passes, unreadable input, misused options."""

from __future__ import annotations

from orgflow_ir.diagnostics.rule import Category, Rule, Severity


class BrokenPlugin(Rule):
    """
    What it finds
        An installed plugin could not be loaded, or registered something its hook does not take,
        or something under a name that is taken, or cannot say whether a file is in its format.
    Why it is wrong
        What the message names is missing from this run; everything else works.
    Example
        A package registers `orgflow.plugins` → `acme_orgflow`, and importing that module fails.
    Instead
        Update or uninstall the package named in the message.
    """

    code = "OF001"
    name = "broken-plugin"
    severity = Severity.WARNING
    category = Category.INPUT


class UnreadableInput(Rule):
    """
    What it finds
        An input that does not exist, is not a file, or may not be read.
    Why it is wrong
        There is nothing to compile.
    Example
        orgflowc compile oder.bpmn --target n8n
    Instead
        Check the path; `-` reads standard input (with --from).
    """

    code = "OF002"
    name = "unreadable-input"
    severity = Severity.ERROR
    category = Category.INPUT


class UnknownFormat(Rule):
    """
    What it finds
        An input whose format is neither said with --from nor recognised by its suffix.
    Why it is wrong
        A file that is guessed wrongly gives nonsense instead of an error.
    Example
        orgflowc compile process.txt --target n8n
    Instead
        Name the frontend: --from bpmn. `orgflowc list frontends` shows all.
    """

    code = "OF003"
    name = "unknown-format"
    severity = Severity.ERROR
    category = Category.INPUT


class InvalidConfiguration(Rule):
    """
    What it finds
        An `orgflow.toml` that cannot be read: no TOML, a key that means nothing, a value of the
        wrong type.
    Why it is wrong
        What it says would be ignored silently.
    Example
        `[[supress]]` instead of `[[suppress]]`.
    Instead
        Fix what the message names; the command reference shows every key.
    """

    code = "OF004"
    name = "invalid-configuration"
    severity = Severity.ERROR
    category = Category.INPUT


class UnusedSuppression(Rule):
    """
    What it finds
        A suppression, in a model or in `orgflow.toml`, of something that is not found.
    Why it is wrong
        The fault was fixed or never there; left standing, the suppression will hide the next one.
    Example
        `orgflow:suppress="OF203: both may run"` at a gateway whose branches are joined by now.
    Instead
        Take the suppression out.
    """

    code = "OF005"
    name = "unused-suppression"
    severity = Severity.WARNING
    category = Category.INPUT


class FaultySuppression(Rule):
    """
    What it finds
        A suppression without a reason, of a rule that does not exist, or of one that cannot be
        suppressed: only findings about what a model says can (OF1xx to OF5xx).
    Why it is wrong
        It has no effect. A reason is asked for because whoever reads the model next has to know
        why the finding is wrong or harmless.
    Example
        `orgflow:suppress="OF203"`
    Instead
        `orgflow:suppress="OF203: sending the note twice does no harm"`
    """

    code = "OF006"
    name = "faulty-suppression"
    severity = Severity.WARNING
    category = Category.INPUT


class UnwritableCharacters(Rule):
    """
    What it finds
        Texts of a model with control characters, surrogates without their pair, or U+FFFE and
        U+FFFF, from a JSON file or from an agent.
    Why it is wrong
        XML, databases and terminals do not take them, so that outputs would be refused or do harm.
        They are replaced by a space or by U+FFFD.
    Example
        {"id": "pack", "name": "Pack\\u0007", "type": "User"}
    Instead
        {"id": "pack", "name": "Pack", "type": "User"}
    """

    code = "OF007"
    name = "unwritable-characters"
    severity = Severity.WARNING
    category = Category.INPUT


class CrashedPass(Rule):
    """
    What it finds
        A pass of the compiler (or of a plugin) failed with an exception, or gave no model.
    Why it is wrong
        It is a defect of that pass, not of your model; what the other passes found is shown.
    Example
        A plugin's pass reads a field that the model does not have.
    Instead
        Report it with the model, or leave the pass out with `opt --passes`.
    """

    code = "OF901"
    name = "crashed-pass"
    severity = Severity.ERROR
    category = Category.INTERNAL


class InvalidAfterPass(Rule):
    """
    What it finds
        A pass left a model that breaks the rules of the IR: an id twice, a flow to nowhere.
    Why it is wrong
        Every later pass and the backend rely on them; it is a defect of the pass named.
    Example
        A lowering removes a gateway and forgets one of its flows.
    Instead
        Report it with the model.
    """

    code = "OF902"
    name = "invalid-after-pass"
    severity = Severity.ERROR
    category = Category.INTERNAL


class FaultyLeaf(Rule):
    """
    What it finds
        A frontend or a backend failed with an exception, or gave something that is no model or no
        file; or lowerings of a target failed, or would rewrite a model without end.
    Why it is wrong
        It is a defect of that frontend, backend or lowering (or of the plugin it came with), not of
        your model; nothing was written.
    Example
        A plugin's backend whose `emit` forgets to return its files.
    Instead
        Report it to whoever makes the plugin named, or uninstall the package that provides it.
    """

    code = "OF903"
    name = "faulty-leaf"
    severity = Severity.ERROR
    category = Category.INTERNAL


CORE_RULES: tuple[type[Rule], ...] = (
    BrokenPlugin,
    UnreadableInput,
    UnknownFormat,
    InvalidConfiguration,
    UnusedSuppression,
    FaultySuppression,
    UnwritableCharacters,
    CrashedPass,
    InvalidAfterPass,
    FaultyLeaf,
)
