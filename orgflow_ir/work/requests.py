"""HTTP requests of tasks: the request, and the use of the response by each vendor's rules.

Sources: Camunda 7's manual, "Connectors" (http-connector, soap-http-connector); Camunda 8's REST
connector; Flowable's "Http Task"; jBPM's `RESTWorkItemHandler`. Every text is parsed in its own
language. Secrets (`{{secrets.X}}`, passwords, constant Authorization headers) are never passed
on; they become a credential to connect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal

from orgflow_ir.languages.feel.parser import parse_expression
from orgflow_ir.languages.feel.reading import as_expression
from orgflow_ir.model.bindings import HANDLERS, MAPPED_FAILURE, Http, Parameter
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program import java_operators, methods
from orgflow_ir.program.ecmascript_operators import LOOSE
from orgflow_ir.program.java_operators import JAVA
from orgflow_ir.program.juel_operators import JUEL
from orgflow_ir.program.syntax import (
    Call,
    Conditional,
    ConditionError,
    Constant,
    Exact,
    Tree,
    Variable,
    is_operation,
)
from orgflow_ir.work.mappings import language_of, read_value, variable_name
from orgflow_ir.work.scripts import as_value, read_script
from orgflow_ir.work.statements import Assign, Fail, Statement, Throw, When

CredentialKind = Literal["basic", "bearer", "header", "query", "oauth2"]
Part = Literal["text", "body", "status", "headers", "message", "whole", "error"]
"""A part of a response: its body as text or as parsed JSON, or the code and the reason phrase of
its status. `whole` is an object of status, headers and body. `error` is an object of code and
message if the status is 400 or more, otherwise null."""

SECRET = re.compile(r"\{\{\s*secrets\.([\w.-]+)\s*\}\}|\bsecrets\.([\w-]+)")
_NAMED = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A token of HTTP, as in header names (RFC 9110, 5.6.2)."""

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_WITH_BODY = ("POST", "PUT", "PATCH")
_MOST_STATUS = 599


class Credential(NamedTuple):
    """A credential to connect: its kind, and its description in the source, without any secret."""

    kind: CredentialKind
    hint: str = ""


class Request(NamedTuple):
    """One HTTP request.

    Attributes:
        method: one of HTTP. url, headers, query, body: expressions; headers and query may also be
        one expression for an object.
        content: media type of a text body; empty for a JSON body.
        media: the media type, if only a run shows it; the body is then a text of that type.
        credential: the credential to connect.
        refuses: whether a response with a status of 400 or more is an error of the request.
        answer: names under which later steps read parts of the response.
        after: the processing of the response.
        seconds: the timeout.
        redirects: whether redirects are followed.
    """

    method: str
    url: Tree
    headers: tuple[tuple[str, Tree], ...] = ()
    all_headers: Tree | None = None
    query: tuple[tuple[str, Tree], ...] = ()
    all_query: Tree | None = None
    body: Tree | None = None
    content: str = ""
    media: Tree | None = None
    credential: Credential | None = None
    refuses: bool = False
    answer: tuple[tuple[str, Part], ...] = ()
    after: tuple[Statement, ...] = ()
    seconds: float | None = None
    redirects: bool = True


def read_request(http: Http, task: str = "") -> Request:
    """The request of a binding of the task with the id `task`. Raises `ConditionError` for
    unsupported content."""
    return _Reader(http, task).request()


class _Reader:
    def __init__(self, http: Http, task: str) -> None:
        self.http, self.task = http, task
        self.settings: dict[str, str] = dict(http.parameters)
        self.credential: Credential | None = None

    def request(self) -> Request:
        http = self.http
        method = self.method()
        url = self.value("URL", self.text("url"))
        if url is None or url == Constant(""):
            raise ConditionError("the model does not define the URL")
        _no_secret("the URL", self.text("url"))
        if http.by == "flowable":
            url = _literal_plus(url)
        self.unsupported()
        self.authentication()
        headers = [(name, text) for name, text in http.headers]
        if http.by in ("zeebe", None):
            headers += self.entries("headers")
        content = next((t for n, t in headers if n.lower() == "content-type"), "")
        content = content or self.settings.get("ContentType", "")
        for name, header in (("AcceptHeader", "Accept"), ("AcceptCharset", "Accept-Charset")):
            if name in self.settings:
                headers.append((header, self.settings[name]))
        charset = self.settings.get("ContentTypeCharset")
        if content and charset:
            content = f"{content}; charset={charset}"
        read_headers = tuple(self.headers(headers))
        body = self.body(method)
        whole = self.whole("headers")
        as_json = http.by == "zeebe" or http.by is None
        media = "" if as_json and not content else _constant_text(content, http.by) or "text/plain"
        shown = None
        if body is not None and whole is not None:
            if content:
                raise ConditionError("the type of its body is stated beside its headers")
            shown = Call(methods.MEDIA_TYPE, (whole,))
            body, whole = (
                Call(methods.AS_MEDIA, (body, shown)),
                Call(methods.OTHER_HEADERS, (whole,)),
            )
        elif body is not None:
            body = self.checked(body, media)
        return Request(
            method=method,
            url=url,
            headers=read_headers,
            all_headers=whole,
            query=tuple((n, self.plain(f"query parameter `{n}`", t)) for n, t in http.query),
            all_query=self.whole("queryParameters"),
            body=body,
            content=media,
            media=shown,
            credential=self.credential,
            refuses=self.refuses(),
            answer=_ANSWERS.get(http.by or "zeebe", ()),
            after=tuple(self.after(url)),
            seconds=self.seconds(),
            redirects=self.redirects(),
        )

    def unsupported(self) -> None:
        """Settings that would be lost."""
        for name in _FLAGS:
            if self.flag(name):
                raise ConditionError(f"`{name}` is not supported")
        for name in HANDLERS:
            if name in self.settings:
                raise ConditionError(f"`{name}` changes it, and is not supported")
        if MAPPED_FAILURE in self.settings:
            raise ConditionError("a failure that becomes an error of the process is not supported")
        encoding = self.settings.get("requestBodyEncoding", "").strip().lower()
        if encoding not in ("", "utf-8", "utf8"):
            raise ConditionError("n8n encodes a body as UTF-8, not as `requestBodyEncoding`")
        for option in _connector_options(self.settings):
            if option not in _OPTIONS:
                raise ConditionError(f"the option `{option}` of its requests is not supported")

    def flag(self, name: str) -> bool:
        """Whether a setting is on; one that is an expression may be."""
        text = (self.settings.get(name) or "").strip().lstrip("=").strip().lower()
        return text not in ("", "false", "null")

    # -- what is sent ----------------------------------------------------------------------------

    def method(self) -> str:
        text = (self.http.method or "GET").strip().strip('="').upper()
        if text not in _METHODS:
            raise ConditionError("its method is only known at run time")
        return text

    def text(self, name: Literal["url", "body"]) -> Parameter | None:
        """The text of a field, which a script among the inputs may be."""
        given = self.http.url if name == "url" else self.http.body
        if given is not None:
            return Parameter(name=name, text=given)
        wanted = "url" if name == "url" else "payload"
        return next((p for p in self.http.inputs if p.name == wanted and p.language), None)

    def value(self, what: str, parameter: Parameter | None) -> Tree | None:
        if parameter is None:
            return None
        try:
            if parameter.language in ("list", "map", "nested"):
                raise ConditionError("a list or map is not a text")
            if parameter.language not in (None, "feel", "variable"):
                return as_value(read_script(parameter.text, parameter.language, sets=False))
            language = parameter.language or language_of(parameter.text, self.http.by)
            return read_value(parameter.text.strip(), language)
        except ConditionError as error:
            raise ConditionError(f"{what}: {error}") from None

    def plain(self, what: str, text: str) -> Tree:
        _no_secret(what, Parameter(name="", text=text))
        tree = self.value(what, Parameter(name="", text=text))
        assert tree is not None
        return tree

    def headers(self, headers: list[tuple[str, str]]) -> Iterator[tuple[str, Tree]]:
        """Headers but the type of the body. One that identifies the sender is a credential."""
        for name, text in headers:
            if _NAMED.fullmatch(name) is None:
                raise ConditionError(f"`{name}` is no header")
            if name.lower() == "content-type":
                if _constant_text(text, self.http.by) is None:
                    raise ConditionError("the type of the body is only known at run time")
                continue
            identifies = name.lower() in ("authorization", "x-api-key", "api-key", "cookie")
            constant = _constant_text(text, self.http.by) is not None
            if SECRET.search(text) or (identifies and constant):
                self.connect(Credential("header", f"header {name}{_secret_names(text)}"))
                continue
            yield name, self.plain(f"header `{name}`", text)

    def entries(self, name: str) -> list[tuple[str, str]]:
        """The entries of a setting that is a context: each can be a constant, a credential or the
        type of the body. Other expressions stay as they are."""
        entries = context_entries(self.settings.get(name, ""))
        if entries is None:
            return []
        del self.settings[name]
        return entries

    def whole(self, name: str) -> Tree | None:
        """Headers or query parameters that are one expression."""
        text = self.settings.get(name)
        if text is None or not text.strip():
            return None
        if not text.lstrip().startswith("="):
            raise ConditionError(f"{name} is no expression")
        return self.plain(name, text)

    def body(self, method: str) -> Tree | None:
        parameter = self.text("body")
        if parameter is None or not parameter.text.strip():
            return None
        # The connectors of all engines ignore the body of other methods.
        if method in ("GET", "HEAD") or (method not in _WITH_BODY and self.http.by is not None):
            return None
        _no_secret("the body", parameter)
        return self.value("body", parameter)

    def checked(self, body: Tree, media: str) -> Tree:
        """The body, whose text has to be JSON if its type is; raises `ConditionError` for a body
        that would be sent in another form."""
        kind = media.partition(";")[0].strip().lower()
        if kind.startswith("multipart/"):
            raise ConditionError(f"a body of the type `{kind}` is not supported")
        if not is_json(kind):
            return body
        if not isinstance(body, Constant):
            return body if _is_structure(body) else Call(methods.JSON_TEXT, (body,))
        try:
            json.loads(str(body.value))
        except ValueError:
            raise ConditionError("its body is not JSON, but its type is") from None
        return body

    def seconds(self) -> float | None:
        """The time for a connection and for the answer: n8n has one limit for both."""
        settings = {**self.settings, **_connector_options(self.settings)}

        def stated(names: Mapping[str, int]) -> float | None:
            for name, per in names.items():
                text = (settings.get(name) or "").strip().lstrip("=").strip()
                if text.replace(".", "", 1).isdecimal():
                    return float(text) / per
            return None

        answer = stated(_ANSWER_TIMES)
        return answer + (stated(_CONNECTION_TIMES) or 0) if answer else None

    # -- who sends it ----------------------------------------------------------------------------

    def authentication(self) -> None:
        stated = dict(self.http.authentication)
        kind = (stated.get("type") or stated.get("AuthType") or "").strip('="').lower()
        if "requestSecureHeaders" in self.settings:
            self.connect(Credential("header", "the secure headers of the request"))
        if kind in ("", "noauth", "none"):
            return
        hint = _secret_names(" ".join(stated.values())).strip(" ()")
        user = stated.get("username") or stated.get("Username")
        if kind == "basic":
            shown = f"user {user}" if user and not SECRET.search(user) else ""
            self.connect(Credential("basic", ", ".join(filter(None, (shown, hint)))))
        elif kind == "bearer":
            self.connect(Credential("bearer", hint))
        elif "oauth" in kind:
            self.connect(Credential("oauth2", hint))
        elif kind == "apikey":
            name = _constant_text(stated.get("name", ""), self.http.by) or ""
            place: CredentialKind = (
                "query" if "query" in stated.get("apiKeyLocation", "").lower() else "header"
            )
            self.connect(Credential(place, " ".join(filter(None, (name, hint)))))
        else:
            raise ConditionError(f"authentication of the type `{kind}` is not supported")

    def connect(self, credential: Credential) -> None:
        if self.credential is not None:
            raise ConditionError("it has more than one kind of authentication")
        self.credential = credential

    # -- what becomes of the answer --------------------------------------------------------------

    def refuses(self) -> bool:
        match self.http.by:
            case "camunda":  # it hands over whatever comes back
                return (
                    _connector_options(self.settings).get("throw-http-error", "").lower() == "true"
                )
            case "flowable":
                return False
            case "jbpm":
                return self.settings.get("HandleResponseErrors", "").lower() == "true"
        # Without redirects, n8n takes every status from 300 for an error.
        return "errorExpression" not in self.settings and self.redirects()

    def redirects(self) -> bool:
        """Whether redirects are followed."""
        follows = (self.settings.get("followRedirects") or "").strip().lstrip("=").strip().lower()
        return follows != "false" and not self.flag("disallowRedirects")

    def after(self, url: Tree) -> Iterator[Statement]:
        http = self.http
        match http.by:
            case "camunda":
                pass  # its output parameters read the parts themselves
            case "flowable":
                yield from self.flowable()
            case "jbpm":
                yield from self.jbpm(url)
            case _:
                yield from self.zeebe()

    def jbpm(self, url: Tree) -> Iterator[Statement]:
        """A result is there for a status from 200 to 299 only."""
        status, result = Variable(("Status",)), Variable(("Result",))
        success = JAVA.logic["and"](
            JAVA.comparison[">="](status, Constant(200)),
            JAVA.comparison["<"](status, Constant(300)),
        )
        done = (Constant("request to endpoint "), url, Constant(" successfully completed "))
        failed = (Constant("endpoint "), url, Constant(" could not be reached: "), result)
        values: dict[str, tuple[Tree, Tree]] = {
            # An object of a class has the names that the JSON of the response has.
            "Result": (
                Call(methods.JSON, (result,)) if self.settings.get("ResultClass") else result,
                Constant(None),
            ),
            "Status": (status, status),
            "StatusMsg": (
                Call(java_operators.TEXT, (*done, Variable(("StatusMsg",)))),
                Call(java_operators.TEXT, failed),
            ),
        }
        for output in self.http.outputs:
            if output.text not in values:
                raise ConditionError(f"its result `{output.text}` is not supported")
            then, otherwise = values[output.text]
            value = then if then == otherwise else JAVA.choice(success, then, otherwise)
            yield Assign(variable_name(output.name), value)

    def zeebe(self) -> Iterator[Statement]:
        expression = self.settings.get("errorExpression")
        if expression:
            yield from _error_statements(expression)
        if not self.refuses():
            failed = LOOSE.comparison["!="](Variable(("error",)), Constant(None))
            code, why = Variable(("error", "code")), Variable(("error", "message"))
            text = Call(java_operators.TEXT, (Constant("HTTP "), code, Constant(" "), why))
            yield When(failed, (Fail(text),), ())
        if self.http.result:
            yield Assign(variable_name(self.http.result), Variable(("response",)))
        result = self.settings.get("resultExpression")
        if result:
            yield from _result_entries(result)

    def flowable(self) -> Iterator[Statement]:
        settings = self.settings
        prefix = settings.get("resultVariablePrefix", "").strip() or self.task
        if _constant_text(prefix, "flowable") is None and prefix:
            raise ConditionError("the prefix of its variables is only known at run time")
        # Statuses count from 400, and from 300 if redirects are not followed.
        least = 300 if self.flag("disallowRedirects") else 400
        for name, error in (("handleStatusCodes", True), ("failStatusCodes", False)):
            for condition in _status_conditions(settings.get(name, ""), least):
                status = Call(java_operators.TEXT, (Constant("HTTP"), Variable(("statusCode",))))
                # What is handled is an error of the process, whose code a boundary event names.
                yield When(condition, (Fail(status, bpmn=error),), ())
        if self.flag("saveResponseParameters"):
            for name, part in (("StatusCode", "statusCode"), ("Reason", "reason")):
                yield Assign(variable_name(f"{prefix}Response{name}"), Variable((part,)))
        result = self.http.result or (f"{prefix}ResponseBody" if prefix else "")
        if result:
            value: Tree = Variable(("responseBody",))
            kind = settings.get("responseVariableType", "").strip()
            if kind.lower() not in ("", "string", "json"):
                raise ConditionError(f"`{kind}` as the type of its result is not supported")
            if self.flag("saveResponseVariableAsJson") or kind.lower() == "json":
                value = JUEL.choice(
                    methods.EMPTY(value), Constant(None), Call(methods.JSON, (value,))
                )
            yield Assign(variable_name(result), value)


def _literal_plus(url: Tree) -> Tree:
    """The address in which Flowable encodes each plus."""
    if isinstance(url, Constant):
        return Constant(str(url.value).replace("+", "%2B"))
    return Call(methods.LITERAL_PLUS, (url,))


_FLAGS = (
    "ignoreNullValues", "storeResponse", "groupSetCookieHeaders", "ignoreException",
    "saveRequestVariables", "saveResponseParametersTransient", "skipEncoding",
)  # fmt: skip
"""Settings that change a request or the use of its response, and that n8n has no equivalent of."""
CONFIG = ("request-config", "configOptions")
"""Inputs of Camunda 7's connectors that hold options of the request."""
_OPTIONS = ("connection-timeout", "socket-timeout", "throw-http-error")
"""Options of Camunda 7's connectors for a request that are supported."""


def _connector_options(settings: Mapping[str, str]) -> dict[str, str]:
    """Options of Camunda 7's connectors for a request."""
    lines = (line for name in CONFIG for line in settings.get(name, "").splitlines())
    pairs = (line.partition(":") for line in lines if line.strip())
    return {name.strip(): _without_braces(value) for name, _, value in pairs}


def _without_braces(text: str) -> str:
    """A constant without the braces of an expression: `${1000}`."""
    match = re.fullmatch(r"[$#]\{\s*(\w+)\s*\}", text.strip())
    return match[1] if match is not None else text.strip()


def context_entries(text: str) -> list[tuple[str, str]] | None:
    """The entries of a context of FEEL, `={"Accept": a}`, each with its text or expression, without
    those that are null; `None` for other expressions, and if an entry reads another one."""
    from orgflow_ir.languages.feel.parser import FeelError
    from orgflow_ir.program.exact_names import list_free_names
    from orgflow_ir.program.structures import ContextLiteral

    text = text.strip().removeprefix("=")
    try:
        tree = parse_expression(text, []) if text else None
    except FeelError:
        return None
    if not isinstance(tree, ContextLiteral):
        return None
    keys = [entry.key for entry in tree.entries]
    if any(name in keys for entry in tree.entries for name in list_free_names(entry.value)):
        return None
    entries = []
    for key, entry in zip(keys, tree.entries, strict=True):
        value, span = entry.value, entry.value.span
        if value == Constant(None):
            continue
        constant = isinstance(value, Constant) and isinstance(value.value, str)
        written = str(value.value) if constant else f"={text[span.start : span.end]}"  # type: ignore[union-attr]
        entries.append((key, written))
    return entries


def _is_structure(tree: Tree) -> bool:
    """Whether a value is an object or a list wherever it is evaluated."""
    if isinstance(tree, Call):
        return tree.operation in (methods.MAP, methods.LIST)
    if not isinstance(tree, Exact):
        return False
    from orgflow_ir.program.feel_operators import EXACT_LIST  # of FEEL only
    from orgflow_ir.program.structures import ContextLiteral

    return isinstance(tree.body, ContextLiteral) or is_operation(tree.body, EXACT_LIST)


def is_json(media: str) -> bool:
    """Whether a media type, or none at all, is that of JSON."""
    kind = media.partition(";")[0].strip().lower()
    return not kind or kind == "application/json" or kind.endswith("+json")


_CONNECTION_TIMES = {
    "connectionTimeoutInSeconds": 1, "ConnectTimeout": 1000, "connection-timeout": 1000,
}  # fmt: skip
_ANSWER_TIMES = {
    "readTimeoutInSeconds": 1, "requestTimeout": 1000, "ReadTimeout": 1000, "socket-timeout": 1000,
}  # fmt: skip
"""Settings with a time limit, and their units in a second. 0 is no limit."""
_ANSWERS: dict[str, tuple[tuple[str, Part], ...]] = {
    "camunda": (("response", "text"), ("statusCode", "status"), ("headers", "headers")),
    "flowable": (("responseBody", "text"), ("statusCode", "status"), ("reason", "message")),
    "jbpm": (("Result", "text"), ("Status", "status"), ("StatusMsg", "message")),
    "zeebe": (
        ("response", "whole"), ("body", "body"), ("status", "status"), ("headers", "headers"),
        ("error", "error"),
    ),
}  # fmt: skip
"""Names that each vendor's outputs, results and errors refer to."""


def _constant_text(text: str, by: str | None) -> str | None:
    """A text of a vendor that no expression is in; `None` for others."""
    try:
        tree = read_value(text.strip(), language_of(text, by))
    except ConditionError:
        return None
    return tree.value if isinstance(tree, Constant) and isinstance(tree.value, str) else None


def _no_secret(what: str, parameter: Parameter | None) -> None:
    if parameter is not None and SECRET.search(parameter.text):
        raise ConditionError(f"{what} contains a secret, which belongs in a credential")


def _secret_names(text: str) -> str:
    """The names of secrets in a text."""
    names = [a or b for a, b in SECRET.findall(text)]
    return f" (secret {', '.join(dict.fromkeys(names))})" if names else ""


def _status_conditions(text: str, least: int) -> Iterator[Tree]:
    """Conditions of `404, 5XX, 401-403`, for statuses from `least` on."""
    status = Variable(("statusCode",))
    for piece in filter(None, (part.strip() for part in text.split(","))):
        span = re.fullmatch(r"(\d)[xX]{2}|(\d{3})(?:-(\d{3}))?", piece)
        if span is None:
            raise ConditionError(f"`{piece}` is not an HTTP status")
        hundreds, first, last = span.groups()
        low = int(hundreds) * 100 if hundreds else int(first)
        high = low + 99 if hundreds else int(last or first)
        if high > _MOST_STATUS or low > high:
            raise ConditionError(f"`{piece}` is not an HTTP status")
        if high < least:
            continue
        yield JAVA.logic["and"](
            JAVA.comparison[">="](status, Constant(max(low, least))),
            JAVA.comparison["<="](status, Constant(high)),
        )


def _error_statements(text: str) -> Iterator[Statement]:
    """`if error.code = "404" then bpmnError("NONE", "not there") else null`."""
    from orgflow_ir.languages.feel.parser import FeelError
    from orgflow_ir.program.structures import ContextLiteral, FunctionCall

    try:
        tree = parse_expression(text.strip().removeprefix("="), [])
    except FeelError as error:
        raise ConditionError(f"error expression: {error}") from None

    def empty(part: Tree) -> bool:
        return part in (Constant(None), ContextLiteral(()))

    def read(part: Tree) -> tuple[Statement, ...]:
        match part:
            case Constant(None):
                return ()
            case Conditional(_, (condition, then, otherwise)):
                return (When(as_expression(condition), read(then), read(otherwise)),)
            case FunctionCall(Variable(("bpmnError",)), (Constant(str() as code), *rest), None):
                if any(not empty(argument) for argument in rest[1:]):
                    raise ConditionError("variables of `bpmnError` are not supported")
                return (Throw(code, as_expression(rest[0]) if rest else None),)
            case FunctionCall(Variable(("jobError",)), (message, *rest), None):
                if any(argument != Constant(Decimal(0)) for argument in rest[1:2]):
                    raise ConditionError("retries of `jobError` are not supported")
                return (Fail(as_expression(message)),)
        raise ConditionError("only `if`, `bpmnError` and null are supported in error expressions")

    return iter(read(tree))


def _result_entries(text: str) -> Iterator[Statement]:
    """The variables of a result expression, `= {total: body.sum}`."""
    from orgflow_ir.languages.feel.parser import FeelError
    from orgflow_ir.program.structures import ContextLiteral

    try:
        tree = parse_expression(text.strip().removeprefix("="), [])
    except FeelError as error:
        raise ConditionError(f"result expression: {error}") from None
    if not isinstance(tree, ContextLiteral):
        raise ConditionError("only `{name: value}` is supported in result expressions")
    given = [entry.key for entry in tree.entries]
    for at, entry in enumerate(tree.entries):
        value = as_expression(entry.value)
        if any(path[0] in given[:at] for path in value.paths):
            raise ConditionError(
                "entries of a result expression that read other entries are not supported"
            )
        yield Assign(variable_name(entry.key), value)
