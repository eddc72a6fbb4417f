"""Rules of the core itself: broken plugins, crashed passes, unreadable input, misused options."""

from __future__ import annotations

from orgflow_ir.diagnostics.rule import Category, Rule, Severity


class BrokenPlugin(Rule):
    """
    What it finds
        An installed plugin that could not be loaded, registered something invalid or a name that is
        already taken, or could not decide whether a file has its format.
    Why it is wrong
        This run lacks the part named in the message; everything else works.
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
        An input that does not exist, is not a file, or cannot be read.
    Why it is wrong
        There is nothing to compile.
    Example
        orgflowc compile oder.bpmn --target n8n
    Instead
        Check the path; use `-` for standard input (with --from).
    """

    code = "OF002"
    name = "unreadable-input"
    severity = Severity.ERROR
    category = Category.INPUT


class UnknownFormat(Rule):
    """
    What it finds
        An input whose format is neither given with --from nor recognised by its suffix.
    Why it is wrong
        Guessing a format could produce a meaningless model instead of an error.
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
        An `orgflow.toml` that cannot be read: invalid TOML, an unknown key, a value of the wrong
        type.
    Why it is wrong
        The setting would be ignored silently.
    Example
        `[[supress]]` instead of `[[suppress]]`.
    Instead
        Correct the setting that the message names; the configuration reference lists all keys.
    """

    code = "OF004"
    name = "invalid-configuration"
    severity = Severity.ERROR
    category = Category.INPUT


class UnusedSuppression(Rule):
    """
    What it finds
        A suppression, in a model or in `orgflow.toml`, that matches no finding.
    Why it is wrong
        The fault was fixed or never existed; an unused suppression hides the next one.
    Example
        `orgflow:suppress="OF203: both may run"` at a gateway whose branches are now joined.
    Instead
        Remove the suppression.
    """

    code = "OF005"
    name = "unused-suppression"
    severity = Severity.WARNING
    category = Category.INPUT


class FaultySuppression(Rule):
    """
    What it finds
        A suppression without a reason, of an unknown rule, or of a rule that cannot be
        suppressed: only findings about the model can (OF1xx to OF5xx).
    Why it is wrong
        It has no effect. The reason explains to later readers of the model why the finding is wrong
        or harmless.
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
        Texts of a model, from a JSON file or an agent, that contain control characters, unpaired
        surrogates, U+FFFE or U+FFFF.
    Why it is wrong
        XML, databases and terminals reject such characters or misinterpret them. They are replaced
        with a space or U+FFFD.
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
        A part of the compiler (a frontend, a pass, a lowering or a backend) or a pass of a plugin
        that failed with an exception, or a pass that returned no model. The finding is at the
        element that was processed, where that is known, else in the file.
    Why it is wrong
        This is a bug in that part, not in your model; the findings of the other passes are
        reported.
    Example
        A plugin's pass reads a field that the model does not have.
    Instead
        Report it and attach the model, or skip a pass with `opt --passes`.
    """

    code = "OF901"
    name = "crashed-pass"
    severity = Severity.ERROR
    category = Category.INTERNAL


class InvalidAfterPass(Rule):
    """
    What it finds
        A pass that left an invalid model: a duplicate id, a flow to a missing node.
    Why it is wrong
        All later passes and the backend rely on a valid model. This is a bug in the named pass.
    Example
        A lowering that removes a gateway but not all of its flows.
    Instead
        Report it and attach the model.
    """

    code = "OF902"
    name = "invalid-after-pass"
    severity = Severity.ERROR
    category = Category.INTERNAL


class FaultyLeaf(Rule):
    """
    What it finds
        A frontend or backend that failed with an exception or returned something other than a model
        or files; or lowerings of a target that failed or do not terminate.
    Why it is wrong
        This is a bug in that frontend, backend or lowering (or in its plugin), not in your model;
        nothing was written.
    Example
        A plugin's backend whose `emit` forgets to return its files.
    Instead
        Report it to the maintainer of the plugin, or uninstall the package.
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
