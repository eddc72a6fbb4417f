"""The address of the language model and the limits of its use: flags, environment, `orgflow.toml`.

[model]                             # in orgflow.toml; the key never stands there
url = "http://127.0.0.1:8080/v1"
name = "qwen3-8b"
temperature = 0
seconds = 120                       # for one call
tokens = 50000                      # for one run, in and out
answer-tokens = 4000                # for one answer
cost = 0.50                         # for one run, in the currency of the prices
price-in = 0.15                     # per million tokens
price-out = 0.60
redact = "auto"                     # auto (unless the endpoint is on this machine), on
record = "build/model-calls"        # every call is kept there, and never paid twice
weak = true                         # a small model: its drafts are reviewed once more

Whoever writes to a repository writes its `orgflow.toml`. The file therefore cannot
choose who receives the key, switch off the replacement of personal data, or name a folder outside
its own. The table `[model]` of the user's own `orgflow/orgflow.toml` can.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import urlsplit

from orgflow.agents.model_client.recordings import recorded_with

from orgflow_ir.model.contained_paths import is_inside
from orgflow_ir.model.records import dataclass

URL, NAME, KEY = "ORGFLOW_MODEL_URL", "ORGFLOW_MODEL", "ORGFLOW_MODEL_KEY"
"""The environment variables that name a language model; `environment_variable` names the others."""

Redact = Literal["auto", "on", "off"]


class SettingsError(ValueError):
    """Settings that cannot be used; the message is one line with the remedy."""


class NotConfigured(SettingsError):
    """No language model is configured; the message names the missing part."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """An endpoint and the limits of its use.

    Attributes:
        url: the base address, as `https://host/v1`.
        name: of the model.
        key: identifies the user to the endpoint; never printed, never recorded.
        temperature: 0 is as deterministic as the endpoint supports.
        seconds: timeout of one call, after which it is retried.
        patience: maximum total wait between the tries of one call, in seconds.
        tries: of one call, including the first.
        tokens, cost: for the run; `None` is unlimited.
        answer_tokens: for one answer.
        price_in, price_out: for a million tokens; 0 if unspecified.
        redact: whether personal data is replaced before anything is sent.
        record: the folder of recorded calls; empty for none.
        replay: only recorded calls are answered; no request is sent.
        weak: whether the model is weak, so that its drafts are reviewed once more.
        withheld: whether there is a key that the endpoint does not receive, since a repository
            names the address.
    """

    url: str
    name: str
    key: str = ""
    temperature: float = 0.0
    seconds: float = 120.0
    patience: float = 60.0
    tries: int = 5
    tokens: int | None = 50_000
    answer_tokens: int = 4_000
    cost: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    redact: Redact = "auto"
    record: str = ""
    replay: bool = False
    weak: bool = False
    withheld: bool = False

    def __repr__(self) -> str:
        return f"<ModelSettings: {self.name} at {self.url}>"  # never the key

    @property
    def local(self) -> bool:
        """Whether the endpoint is on this machine, so no data leave it."""
        host = urlsplit(self.url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def priced(self) -> bool:
        """Whether tokens have a price, so that a cost is known."""
        return bool(self.price_in or self.price_out)

    @property
    def redacts(self) -> bool:
        """Whether personal data is replaced before anything is sent."""
        return self.redact == "on" or (self.redact == "auto" and not self.local)


KEYS: Mapping[str, tuple[str, type | tuple[type, ...], str]] = {
    "url": ("url", str, "a text"),
    "name": ("name", str, "a text"),
    "temperature": ("temperature", (int, float), "a number"),
    "seconds": ("seconds", (int, float), "a number"),
    "patience": ("patience", (int, float), "a number"),
    "tries": ("tries", int, "a whole number"),
    "tokens": ("tokens", int, "a whole number"),
    "answer-tokens": ("answer_tokens", int, "a whole number"),
    "cost": ("cost", (int, float), "a number"),
    "price-in": ("price_in", (int, float), "a number"),
    "price-out": ("price_out", (int, float), "a number"),
    "redact": ("redact", str, "`auto`, `on` or `off`"),
    "record": ("record", str, "a text"),
    "weak": ("weak", bool, "`true` or `false`"),
}
"""The keys of `[model]`: attribute, type, and the name of the type in messages."""


def environment_variable(key: str) -> str:
    """The environment variable of a key of `[model]`: ORGFLOW_MODEL_PRICE_IN for `price-in`."""
    return {"url": URL, "name": NAME}.get(key) or f"{NAME}_{key.upper().replace('-', '_')}"


def read_settings(
    environment: Mapping[str, str],
    table: Mapping[str, Any] | None = None,
    flags: Mapping[str, Any] | None = None,
    *,
    folder: str = "",
    own_table: Mapping[str, Any] | None = None,
) -> ModelSettings:
    """The settings from flags, otherwise the environment, otherwise the table `[model]` of the
    repository, otherwise the user's own.

    Args:
        table: of the repository's file, which is not trusted with the key.
        flags: by attribute; `None` if not given.
        folder: of the repository's file; its `record` is relative to it, and stays inside it.
        own_table: of the user's own file.

    Raises:
        NotConfigured: there is no address or no name of a model, or no key for an endpoint on
            another machine.
        SettingsError: a value cannot be used.
    """
    given = {k: v for k, v in (flags or {}).items() if v is not None}
    trusted = _from_table(own_table or {}) | _from_environment(environment) | given
    repository = _from_repository(table or {}, folder)
    values = _from_table(own_table or {}) | repository
    values |= _from_environment(environment) | given
    if values.get("replay") and values.get("record"):
        values = _as_recorded(values)
    missing = [v for v, attribute in ((URL, "url"), (NAME, "name")) if not values.get(attribute)]
    if missing:
        raise NotConfigured(f"no language model is configured: set {' and '.join(missing)}")
    if "url" in repository and values["url"] != trusted.get("url") and values.pop("key", ""):
        values["withheld"] = True
    settings = replace(ModelSettings(url="", name=""), **values)
    _check_settings(settings)
    if not settings.key and not settings.local and not settings.replay:
        raise NotConfigured(_missing_key(settings))
    return settings


def _missing_key(settings: ModelSettings) -> str:
    if settings.withheld:
        return (
            f"{KEY} is not sent to {settings.url}, which the repository's orgflow.toml names: to "
            f"allow it, set {URL} or give --model-url"
        )
    return f"the endpoint {settings.url} needs a key: set {KEY}"


def _from_repository(table: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """The values of a file that anybody may have written. Raises `SettingsError`."""
    values = _from_table(table)
    if values.get("redact") == "off":
        raise SettingsError(
            "a repository's orgflow.toml cannot switch off `redact`: give --redact off or set "
            f"{environment_variable('redact')}=off"
        )
    record = values.get("record")
    if record:
        path = os.path.join(folder, record)
        if os.path.isabs(record) or not is_inside(path, folder or os.curdir):
            raise SettingsError(
                f"`record` of [model] is {record!r}, which is outside the folder of orgflow.toml: "
                "name a folder inside it, or give --record"
            )
        values["record"] = path
    return values


def _as_recorded(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a run that sends nothing: where none name a model, its calls are those that were
    recorded, and personal data is replaced where it was then."""
    recording = recorded_with(values["record"])
    completed = {
        "url": "http://localhost/",
        "name": recording.model if recording else "recorded",
        **values,
    }
    if (
        recording is not None
        and recording.redacted is not None
        and completed.get("redact", "auto") == "auto"
    ):
        completed["redact"] = "on" if recording.redacted else "off"
    return completed


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if key := environment.get(KEY, "").strip():
        values["key"] = key
    for name, (attribute, kind, wanted) in KEYS.items():
        text = environment.get(environment_variable(name), "").strip()
        if not text:
            continue
        try:
            values[attribute] = _read_value(text, kind)
        except (ValueError, KeyError):
            raise SettingsError(
                f"{environment_variable(name)} is {text!r}; it must be {wanted}"
            ) from None
    return values


def _read_value(text: str, kind: type | tuple[type, ...]) -> Any:
    """The value of an environment variable. Raises `ValueError`."""
    if kind is str:
        return text
    if kind is bool:
        return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
    return int(text) if kind is int else float(text)


def _from_table(table: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "key":
            raise SettingsError(f"`key` does not belong in orgflow.toml: set {KEY} instead")
        if key not in KEYS:
            raise SettingsError(f"[model] has no key `{key}`; it has: {', '.join(KEYS)}")
        attribute, kind, wanted = KEYS[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise SettingsError(f"`{key}` of [model] is {value!r}; it must be {wanted}")
        values[attribute] = value
    return values


def _check_settings(settings: ModelSettings) -> None:
    parts = urlsplit(settings.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"{settings.url!r} is not an address: it must begin with http or https")
    if parts.username is not None or parts.password is not None:
        raise SettingsError(f"the address of the model contains a key: set {KEY} instead")
    if settings.redact not in ("auto", "on", "off"):
        raise SettingsError(f"`redact` is {settings.redact!r}; it must be `auto`, `on` or `off`")
    if not 0 <= settings.temperature <= 2:
        raise SettingsError(f"the temperature is {settings.temperature}; it must be from 0 to 2")
    for name, value, least in (
        ("seconds", settings.seconds, 0.001), ("tries", settings.tries, 1),
        ("tokens", settings.tokens, 1), ("answer-tokens", settings.answer_tokens, 1),
        ("cost", settings.cost, 0), ("price-in", settings.price_in, 0),
        ("price-out", settings.price_out, 0), ("patience", settings.patience, 0),
    ):  # fmt: skip
        if value is not None and not value >= least:  # also not-a-number
            raise SettingsError(f"`{name}` is {value}; it must be {least} or more")
    if settings.cost and not settings.priced and not settings.replay:
        raise SettingsError(
            "`cost` has no effect without prices: set `price-in` and `price-out` in [model] of "
            "orgflow.toml"
        )
