"""Symbols in nodes: types of tasks, kinds of events and gateways, markers of activities."""

from __future__ import annotations

import math

from orgflow_ir.model import Event, Gateway, Loop

Marks = list[str]


def num_text(value: float) -> str:
    """A coordinate: at most two decimals, no more than needed."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def draw_path(d: str, kind: str = "of-mark", x: float = 0, y: float = 0) -> str:
    """A path translated to (x, y)."""
    move = f' transform="translate({num_text(x)} {num_text(y)})"' if x or y else ""
    return f'<path class="{kind}" d="{d}"{move}/>'


def draw_circle(x: float, y: float, r: float, kind: str) -> str:
    """A circle."""
    return f'<circle class="{kind}" cx="{num_text(x)}" cy="{num_text(y)}" r="{num_text(r)}"/>'


_GEAR = (
    "M8 1.2 9.6 1.2 10 3 11.6 3.7 13.1 2.6 14.3 3.8 13.2 5.3 13.9 6.9 15.7 7.3 15.7 8.9 13.9 9.3 "
    "13.2 10.9 14.3 12.4 13.1 13.6 11.6 12.5 10 13.2 9.6 15 8 15 7.6 13.2 6 12.5 4.5 13.6 3.3 "
    "12.4 4.4 10.9 3.7 9.3 1.9 8.9 1.9 7.3 3.7 6.9 4.4 5.3 3.3 3.8 4.5 2.6 6 3.7 7.6 3Z"
)
_ENVELOPE = "M1 3H16V13H1Z"
_FLAP = "M1 3 8.5 9 16 3"
_TASKS: dict[str, tuple[tuple[str, str], ...]] = {
    "user": (
        ("M2 15V12.5C2 9.8 4.2 8.6 6.2 8.2L8.5 9.6 10.8 8.2C12.8 8.6 15 9.8 15 12.5V15Z", ""),
        ("M8.5 8.4C6.6 8.4 5.3 6.8 5.3 4.8 5.3 2.8 6.6 1.4 8.5 1.4S11.7 2.8 11.7 4.8C11.7 6.8 "
         "10.4 8.4 8.5 8.4Z", ""),
    ),
    "manual": (
        ("M1.5 8.5 4.5 4.5 8.5 3.2 8.7 4.6 6.6 5.7H15.2Q16.2 6.5 15.2 7.3H10.5 15.8Q16.6 8.2 15.8 "
         "9H10.5 15Q15.8 9.9 15 10.7H10.5 14Q14.7 11.6 13.9 12.4H5.6L1.5 11Z", ""),
    ),
    "service": ((_GEAR, ""), ("M8.8 5.7A2.4 2.4 0 1 0 8.81 5.7Z", "")),
    "script": (
        ("M4.5 1.5H14C10.5 5 15.5 8.5 12.5 15H2.5C6 9.5 1.5 6 4.5 1.5Z", ""),
        ("M5.5 5H10.5M6 8H11.3M5.8 11H11.3", ""),
    ),
    "send": ((_ENVELOPE, "of-mark of-solid"), (_FLAP, "of-mark of-hollow of-none")),
    "receive": ((_ENVELOPE, ""), (_FLAP, "")),
    "business-rule": (("M1 2.5H16V14H1ZM1 6H16M1 10H16M6 6V14", ""),),
}  # fmt: skip


def task_icon(kind: str, x: float, y: float) -> Marks:
    """The symbol of a task's type, 17 wide and high."""
    return [draw_path(d, cls or "of-mark", x, y) for d, cls in _TASKS.get(kind, ())]


def _polygon_path(points: int, radius: float, turn: float = -90.0) -> str:
    corners = []
    for n in range(points):
        angle = math.radians(turn + 360 / points * n)
        corners.append(f"{num_text(radius * math.cos(angle))} {num_text(radius * math.sin(angle))}")
    return f"M{' '.join(corners)}Z"


_EVENTS = {
    "message": "M-8 -5.5H8V5.5H-8ZM-8 -5.5 0 1 8 -5.5",
    "signal": "M0 -8 8.3 6H-8.3Z",
    "error": "M-7.5 7 -3 -6 2.2 1.2 7.5 -7.2 3.2 6.4 -2.2 -0.6Z",
    "escalation": "M0 -8.5 6 7.5 0 1 -6 7.5Z",
    "conditional": "M-6 -8H6V8H-6ZM-4 -5H4M-4 -1.7H4M-4 1.6H4M-4 5H4",
    "compensation": "M-0.5 -6V6L-9 0ZM8 -6V6L-0.5 0Z",
    "link": "M-8 -3.5H1V-7.5L8.5 0 1 7.5V3.5H-8Z",
    "cancel": "M-7.5 -5 -5 -7.5 0 -2.5 5 -7.5 7.5 -5 2.5 0 7.5 5 5 7.5 0 2.5 -5 7.5 -7.5 5 -2.5 0Z",
    "multiple": _polygon_path(5, 8.6),
    "parallel-multiple": "M-2.4 -8H2.4V-2.4H8V2.4H2.4V8H-2.4V2.4H-8V-2.4H-2.4Z",
}


def event_mark(event: Event, x: float, y: float) -> Marks:
    """The symbol in an event, filled if it throws."""
    trigger = event.trigger
    throws = event.position in ("throw", "end")
    if trigger == "none":
        return []
    if trigger == "terminate":
        return [draw_circle(x, y, 10, "of-mark of-solid")]
    if trigger == "timer":
        ticks = "".join(
            f"M{num_text(8 * math.sin(a))} "
            f"{num_text(-8 * math.cos(a))}L{num_text(9.6 * math.sin(a))} "
            f"{num_text(-9.6 * math.cos(a))}"
            for a in (math.radians(30 * n) for n in range(12))
        )
        hands = draw_path(f"{ticks}M0 0 2.2 -6.5M0 0 4.8 1.6", "of-mark", x, y)
        return [draw_circle(x, y, 10, "of-mark"), hands]
    d = _EVENTS[trigger]
    if not throws:
        return [draw_path(d, "of-mark", x, y)]
    if trigger == "message":  # the flap in the colour of the paper
        return [
            draw_path("M-8 -5.5H8V5.5H-8Z", "of-mark of-solid", x, y),
            draw_path("M-8 -5.5 0 1 8 -5.5", "of-mark of-hollow of-none", x, y),
        ]
    return [draw_path(d, "of-mark of-solid", x, y)]


def gateway_mark(gateway: Gateway, x: float, y: float) -> Marks:
    """The symbol in a gateway."""
    match gateway.gateway_kind:
        case "exclusive":
            return [draw_path("M-7 -8 7 8M7 -8-7 8", "of-mark of-thick", x, y)]
        case "parallel":
            return [draw_path("M0 -11V11M-11 0H11", "of-mark of-thick", x, y)]
        case "inclusive":
            return [draw_circle(x, y, 11, "of-mark of-thick")]
        case "complex":
            return [draw_path("M0 -11V11M-11 0H11M-7.5 -7.5 7.5 7.5M7.5 -7.5-7.5 7.5",
                         "of-mark of-thick", x, y)]  # fmt: skip
    if gateway.instantiate:
        inner = draw_path("M0 -8V8M-8 0H8", "of-mark of-thick", x, y)
        shown = inner if gateway.await_all else draw_path(_polygon_path(5, 8), "of-mark", x, y)
        return [draw_circle(x, y, 13, "of-mark"), shown]
    rings = [draw_circle(x, y, 13.5, "of-mark"), draw_circle(x, y, 10.8, "of-mark")]
    return [*rings, draw_path(_polygon_path(5, 7.2), "of-mark", x, y)]


_MARKERS = {
    "loop": "M-4.5 5.6A6.5 6.5 0 1 1 1.5 6.6M-4.6 1.6-4.5 5.7-8.6 5.8",
    "parallel": "M-4.5 -6V6M0 -6V6M4.5 -6V6",
    "sequential": "M-6 -4.5H6M-6 0H6M-6 4.5H6",
    "compensation": "M0 -5V5L-7 0ZM7 -5V5L0 0Z",
    "ad-hoc": "M-7.5 2.5C-5 -4 -2 -3 0 0S5 4 7.5 -2.5C5 7 2 4 0 2S-5 -1 -7.5 2.5Z",
    "collapsed": "M-7 -7H7V7H-7ZM0 -4V4M-4 0H4",
}


def draw_markers(names: list[str], x: float, y: float) -> Marks:
    """Markers in a row around x, the centre of the lower border of an activity."""
    start = x - (len(names) - 1) * 10
    bold = {"parallel": "of-mark of-bar", "sequential": "of-mark of-bar"}
    solid = {"ad-hoc": "of-mark of-solid"}
    return [
        draw_path(_MARKERS[n], bold.get(n) or solid.get(n, "of-mark"), start + 20 * at, y)
        for at, n in enumerate(names)
    ]


def loop_marker(loop: Loop | None) -> list[str]:
    """The marker of a loop."""
    if loop is None:
        return []
    if loop.kind == "standard":
        return ["loop"]
    return ["sequential" if loop.sequential else "parallel"]
