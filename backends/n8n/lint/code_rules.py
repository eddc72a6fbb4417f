"""Rules about code and values that n8n cannot use (N8N111 to N8N116, N8N122, N8N123)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class UnreadableCode(Rule):
    """
    What it finds
        A Code node whose text is not valid JavaScript or Python: one that breaks the grammar,
        declares a name twice in one block, waits with `await` in a function that is not `async`, or
        has `import` or `export`.
    Why it is wrong
        n8n accepts the workflow, and the node fails in every run.
    Example
        `return [{ json: { total: 1 ] }];`
    Instead
        Correct the code at the place that the message names.
    """

    code = "N8N111"
    name = "unreadable-code"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class CodeWithoutResult(Rule):
    """
    What it finds
        A Code node whose code returns nothing.
    Why it is wrong
        The node fails: “Code doesn't return items properly”.
    Example
        `const total = $input.all().length;`
    Instead
        Return a list of items: `return [{ json: { total } }];`.
    """

    code = "N8N112"
    name = "code-without-result"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class CodeMode(Rule):
    """
    What it finds
        A Code node that runs once for each item and reads all items of its input.
    Why it is wrong
        n8n does not permit `$input.all()`, `first`, `last` and `itemMatching` in this mode: the
        node fails.
    Example
        `"mode": "runOnceForEachItem"` with `return $input.all()[0];`
    Instead
        Read `$input.item`, or set the mode `runOnceForAllItems`.
    """

    code = "N8N113"
    name = "code-mode"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class BlockedAccess(Rule):
    """
    What it finds
        An expression or code that reads environment variables, or code that loads a module.
    Why it is wrong
        n8n 2 denies access to environment variables by default (`N8N_BLOCK_ENV_ACCESS_IN_NODE`),
        and every n8n permits a Code node only those modules that `NODE_FUNCTION_ALLOW_BUILTIN` and
        `NODE_FUNCTION_ALLOW_EXTERNAL` name: the node fails.
    Example
        `={{ $env.API_URL }}`, `require("fs")`
    Instead
        Use a credential or a variable (`$vars`), and nodes instead of modules; or change the
        settings of the server.
    """

    code = "N8N114"
    name = "blocked-access"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class OtherVersionValue(Rule):
    """
    What it finds
        A parameter with a value that the version of the node does not offer, such as an operation
        that the node does not have for its resource.
    Why it is wrong
        n8n accepts the workflow, and the node fails or does something else in every run.
    Example
        A Merge of version 3 with `"mode": "mergeByIndex"`, which only version 1 has.
    Instead
        Use a value of this version, or set the `typeVersion` that the value belongs to.
    """

    code = "N8N115"
    name = "other-version-value"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class SecretInFile(Rule):
    """
    What it finds
        A parameter that contains a key, a password or a token as text.
    Why it is wrong
        Whoever reads the file or the workflow in the editor has it, and exports and repositories
        keep it.
    Example
        A header `Authorization` with the value `Bearer sk-…`.
    Instead
        Store it in a credential of n8n, select that in the node, and replace the key.
    """

    code = "N8N116"
    name = "secret-in-file"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class CodeResult(Rule):
    """
    What it finds
        A Code node whose code returns a value of the wrong shape: a text or a number, a list of
        these, an item whose `json` is not an object, or a list where it runs once for each item.
        If only some of its `return` statements do so, the severity is warning.
    Why it is wrong
        The node fails: “Code doesn't return items properly”.
    Example
        `return items.map(item => { item.json.total = 1 });`: the function returns nothing.
    Instead
        Return a list of items: `return items.map(item => ({ json: { total: 1 } }));`. In the mode
        `runOnceForEachItem`, return one item.
    """

    code = "N8N122"
    name = "code-result"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class UnknownCodeName(Rule):
    """
    What it finds
        A Code node whose code uses a name that neither the code declares nor n8n provides. If not
        every run evaluates it, the severity is warning.
    Why it is wrong
        The node fails: “itemz is not defined”. n8n's Code node has the names of the language, but
        not those of a browser or of Node.js, such as `fetch`, `URL` and `process`.
    Example
        `return itemz.map(item => item);`
    Instead
        Write the name that is declared. Replace `fetch` by an HTTP Request node.
    """

    code = "N8N123"
    name = "unknown-code-name"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


CODE_RULES: tuple[type[Rule], ...] = (
    UnreadableCode,
    CodeWithoutResult,
    CodeMode,
    BlockedAccess,
    OtherVersionValue,
    SecretInFile,
    CodeResult,
    UnknownCodeName,
)
