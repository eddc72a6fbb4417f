"""Colours of pictures, light and dark, as style sheets without variables, which every viewer
supports."""

from __future__ import annotations

from orgflow_ir.model.records import NamedTuple


class Palette(NamedTuple):
    """Colours by purpose."""

    paper: str
    node: str
    stroke: str
    text: str
    frame: str
    header: str
    soft: str
    error: str
    error_fill: str
    warning: str
    warning_fill: str
    info: str
    info_fill: str
    taken: str
    taken_fill: str


LIGHT = Palette(
    "#ffffff", "#ffffff", "#343b46", "#1b1f24", "#8d96a3", "#f3f5f8", "#5d6673",
    "#c62828", "#fdecea", "#a85d00", "#fff4e0", "#1565c0", "#e8f1fc", "#1b7f4b", "#e5f5ec",
)  # fmt: skip
DARK = Palette(
    "#14181d", "#1f262f", "#b9c2cf", "#e8ebf0", "#5b6675", "#1a2028", "#97a2b1",
    "#ff7b72", "#3a1d1d", "#e3b341", "#352a12", "#79c0ff", "#15283c", "#56d364", "#15321f",
)  # fmt: skip

THEMES = ("auto", "light", "dark")


def style_sheet(theme: str) -> str:
    """The style sheet for `auto`, `light` or `dark`. Raises `ValueError` for another theme."""
    if theme not in THEMES:
        raise ValueError(f"there is no theme {theme!r}; the themes are {', '.join(THEMES)}")
    base = _FIXED + _style_rules(f".of-{theme}", DARK if theme == "dark" else LIGHT)
    if theme == "auto":
        base += f"@media (prefers-color-scheme:dark){{{_style_rules('.of-auto', DARK)}}}"
    return base


_FIXED = (
    ".of{font-family:Arial,Helvetica,'Liberation Sans',sans-serif;font-size:12px}"
    ".of-frame{stroke-width:1.5}.of-lane{stroke-width:1;fill:none}"
    ".of-node,.of-mark,.of-line{stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}"
    ".of-mark{stroke-width:1.3}.of-thick{stroke-width:3.2}.of-call{stroke-width:3.6}"
    ".of-dash{stroke-dasharray:5 3.5}.of-dot{stroke-dasharray:1.2 4}"
    ".of-event-sub{stroke-dasharray:1.5 3.5}.of-group{stroke-dasharray:9 4 1.5 4;fill:none}"
    ".of-line,.of-none{fill:none}.of-message{stroke-dasharray:8 5}"
    ".of-bold{font-weight:bold}.of-small{font-size:10px}"
)


def _style_rules(scope: str, p: Palette) -> str:
    rules = [
        (".of-paper", f"fill:{p.paper}"),
        (".of-node", f"fill:{p.node};stroke:{p.stroke}"),
        (".of-open", f"fill:{p.paper};stroke:{p.stroke}"),
        (".of-mark", f"stroke:{p.stroke};fill:none"),
        (".of-solid", f"stroke:{p.stroke};fill:{p.stroke}"),
        (".of-hollow", f"stroke:{p.node};fill:{p.stroke}"),
        (".of-line", f"stroke:{p.stroke}"),
        (".of-head", f"fill:{p.stroke};stroke:{p.stroke}"),
        (".of-blank", f"fill:{p.paper};stroke:{p.stroke}"),
        (".of-soft", f"stroke:{p.soft}"),
        (".of-frame", f"fill:{p.paper};stroke:{p.frame}"),
        (".of-header", f"fill:{p.header};stroke:{p.frame}"),
        (".of-lane", f"stroke:{p.frame}"),
        ("text", f"fill:{p.text};stroke:none"),
        (".of-halo", f"stroke:{p.paper};fill:{p.text};stroke-width:3;stroke-linejoin:round;"
                     "paint-order:stroke"),
    ]  # fmt: skip
    for name, colour, fill in (
        ("taken", p.taken, p.taken_fill), ("info", p.info, p.info_fill),
        ("warning", p.warning, p.warning_fill), ("error", p.error, p.error_fill),
    ):  # fmt: skip
        rules += [
            (f".of-{name} .of-node", f"stroke:{colour};fill:{fill};stroke-width:2.6"),
            (f".of-{name} .of-frame", f"stroke:{colour}"),
            (f".of-{name} .of-lane", f"stroke:{colour};stroke-width:2"),
            (f".of-{name} .of-line", f"stroke:{colour};stroke-width:2.6"),
            (f".of-{name} .of-head", f"stroke:{colour};fill:{colour}"),
            (f".of-{name} .of-mark", f"stroke:{colour}"),
            (f".of-{name} .of-solid", f"stroke:{colour};fill:{colour}"),
            (f".of-badge-{name}", f"fill:{colour}"),
        ]
    rules.append((".of-badge-text", f"fill:{p.paper};font-weight:bold;font-size:11px"))
    return "".join(f"{scope} {name}{{{body}}}" for name, body in rules)
