"""A process from a log: its structure, with the numbers and times that support each element."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from orgflow_ir.mining.choice_rules import ChoiceRules, Observation, find_choice_rules
from orgflow_ir.mining.drawn_tree import StepLabel, WayLabel, draw_process
from orgflow_ir.mining.event_log import Scalar
from orgflow_ir.mining.infrequent_miner import DEFAULT_NOISE, mine_variants
from orgflow_ir.mining.log_cleaning import CleanLog
from orgflow_ir.mining.process_tree import Choice, Tree, list_choices, list_leaves
from orgflow_ir.mining.tree_visits import LeafVisit, TreeVisits, WayVisit
from orgflow_ir.model import Process
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.records import NamedTuple, dataclass

MOST_OBSERVATIONS: Final = 4_000
"""Cases of a choice in which a condition is looked for, evenly spread."""

MOST_TIMES: Final = 20_000
"""Times of an activity of which the distribution is computed."""

LEAST_WAIT: Final = 3600.0
"""Seconds from which a wait may be a timer."""

LEAST_WAITS: Final = 10

TIMER_SPREAD: Final = 0.1
"""The share of the median within which nine of ten waits of a timer are."""

CITED_EVENTS: Final = 2


class TimeSpread(NamedTuple):
    """The distribution of durations in seconds: how many, and their quantiles."""

    number: int
    p5: float
    median: float
    p95: float

    def __str__(self) -> str:
        low, high = show_duration(self.p5), show_duration(self.p95)
        shown = show_duration(self.median)
        return shown if low == high else f"{shown} ({low} to {high})"


@dataclass(eq=False)
class ActivityFigures:
    """The figures of an activity in a log.

    Attributes:
        events, cases: how often it occurs, and in how many cases.
        wait: from the moment when it was possible to its start, or to its end in logs that state no
            starts.
        work: from its start to its end.
        timer: the wait in seconds if it always is the same.
    """

    events: int
    cases: int
    wait: TimeSpread | None
    work: TimeSpread | None
    timer: float | None


@dataclass(eq=False)
class MinedProcess:
    """A process of a log.

    Attributes:
        tree: the structure, whose steps are places in the activities of the log.
        process: the process that is drawn of it.
        figures: by activity.
        way_counts: the number of visits of each branch of each choice, by the number of the choice.
        rules: the conditions of choices that have some.
        fitting: the share of the events that are in the structure.
    """

    tree: Tree
    process: Process
    figures: dict[int, ActivityFigures]
    way_counts: dict[int, Counter[int]]
    rules: dict[int, ChoiceRules]
    fitting: float


def mine_process(
    clean: CleanLog,
    *,
    noise: float = DEFAULT_NOISE,
    name: str = "",
    is_automatic: bool = False,
    with_timers: bool = True,
) -> MinedProcess:
    """The process of a log.

    Args:
        clean: the log, with at least one event.
        noise: see `mine_variants`.
        name: the name of the process.
        is_automatic: whether activities are calls of tools, so that tasks are service tasks.
        with_timers: whether a wait that always is the same is drawn as a timer.
    """
    tree = mine_variants({v: len(cases) for v, cases in clean.variants.items()}, noise)
    visited = _collect_visits(clean, tree)
    figures = {step: _measure_activity(clean, visited, step) for step in list_leaves(tree)}
    choices = list(list_choices(tree))
    rules: dict[int, ChoiceRules] = {}
    for number, choice in enumerate(choices):
        observations = _observe_choice(clean, visited.decisions.get(number, ()))
        conditions = find_choice_rules(observations, len(choice.options))
        if conditions is not None:
            rules[number] = conditions
    numbers = {id(choice): n for n, choice in enumerate(choices)}

    def label_ways(choice: Choice) -> Sequence[WayLabel | None]:
        number = numbers[id(choice)]
        return _label_ways(choice, visited.way_counts.get(number, Counter()), rules.get(number))

    process = draw_process(
        tree,
        {
            step: _label_step(clean, step, figures[step], is_automatic, with_timers)
            for step in figures
        },
        prefix="mined", name=name, origin="log-miner", label_ways=label_ways,
    )  # fmt: skip
    total = sum(len(variant) * len(cases) for variant, cases in clean.variants.items())
    fitting = sum(entry.events for entry in figures.values()) / total if total else 1.0
    return MinedProcess(tree, process, figures, visited.way_counts, rules, fitting)


# -- visits ------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Visits:
    """The visits of all cases: events, cases and times by activity, ways and the cases that took
    them by choice."""

    events: Counter[int]
    cases: Counter[int]
    waits: dict[int, list[float]]
    works: dict[int, list[float]]
    decisions: dict[int, list[tuple[int, int, int]]]
    way_counts: dict[int, Counter[int]]


def _collect_visits(clean: CleanLog, tree: Tree) -> _Visits:
    visits = _Visits(Counter(), Counter(), {}, {}, {}, {})
    finder = TreeVisits(tree)
    time_of, start_of = clean.log.time_of, clean.start_of
    for variant, cases in clean.variants.items():
        visited = list(finder.find_visits(variant))
        leaves = [visit for visit in visited if isinstance(visit, LeafVisit)]
        for visit in leaves:
            visits.events[visit.step] += len(cases)
            waits = visits.waits.setdefault(visit.step, [])
            works = visits.works.setdefault(visit.step, [])
            if len(waits) >= MOST_TIMES:
                continue
            for case in cases:
                events = clean.cases[case]
                event = events[visit.place]
                start, end = start_of[event], time_of[event]
                if start == start and end == end:
                    works.append(end - start)
                if visit.after >= 0:
                    wait = (start if start == start else end) - time_of[events[visit.after]]
                    if wait == wait:
                        waits.append(wait)
        for step in {visit.step for visit in leaves}:
            visits.cases[step] += len(cases)
        for decision in visited:
            if isinstance(decision, WayVisit):
                visits.way_counts.setdefault(decision.choice, Counter())[decision.way] += len(cases)
                taken = visits.decisions.setdefault(decision.choice, [])
                taken += [(case, decision.after, decision.way) for case in cases]
    return visits


def _measure_activity(clean: CleanLog, visits: _Visits, step: int) -> ActivityFigures:
    wait, work = (
        measure_spread(visits.waits.get(step, ())),
        measure_spread(visits.works.get(step, ())),
    )
    timer = None
    if (
        wait is not None and wait.number >= LEAST_WAITS and wait.median >= LEAST_WAIT
        and wait.p95 - wait.p5 <= TIMER_SPREAD * wait.median
    ):  # fmt: skip
        timer = round_duration(wait.median)
    return ActivityFigures(visits.events[step], visits.cases[step], wait, work, timer)


def measure_spread(seconds: Sequence[float]) -> TimeSpread | None:
    """The distribution of durations, `None` without any."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    last = len(ordered) - 1
    p5, median, p95 = (ordered[round(last * share)] for share in (0.05, 0.5, 0.95))
    return TimeSpread(len(ordered), p5, median, p95)


_UNITS: Final = (("d", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))


def show_duration(seconds: float) -> str:
    """A duration in its largest unit, with three digits at most: `2.5 d`."""
    for unit, size in _UNITS:
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return "0 s"


def round_duration(seconds: float) -> float:
    """The roundest duration that differs by at most a twentieth."""
    for size in (7 * 86_400.0, 86_400.0, 3600.0, 60.0):
        rounded = round(seconds / size) * size
        if rounded and abs(rounded - seconds) <= seconds / 20:
            return rounded
    return round(seconds)


def format_duration(seconds: float) -> str:
    """A duration as ISO 8601."""
    whole = round(seconds)
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M"), (rest, "S")) if n)
    return "P" + (f"{days}D" if days else "") + (f"T{time}" if time else "" if days else "T0S")


# -- choices -----------------------------------------------------------------------------------


def _observe_choice(clean: CleanLog, taken: Sequence[tuple[int, int, int]]) -> list[Observation]:
    """The values that cases had at a choice, in the order of the cases."""
    stride = max(1, len(taken) // MOST_OBSERVATIONS)
    chosen = sorted(taken)[::stride]
    log = clean.log
    observed = []
    for case, after, way in chosen:
        values: dict[str, Scalar] = {
            name: column[case] for name, column in log.case_attributes.items() if case in column
        }
        # the last value before the choice
        before = clean.cases[case][: after + 1]
        for name, column in log.attributes.items():
            for event in reversed(before):
                if event in column:
                    values[name] = column[event]
                    break
        observed.append(Observation(values, way))
    return observed


def _label_ways(
    choice: Choice, counts: Mapping[int, int], rules: ChoiceRules | None
) -> list[WayLabel | None]:
    labels: list[WayLabel | None] = []
    total = sum(counts.values()) or 1
    for way in range(len(choice.options)):
        number = counts.get(way, 0)
        doc = f"Taken {number:,} of {total:,} times ({number / total:.0%})."
        rule = rules.rules[way] if rules is not None else None
        if rules is None:
            labels.append(WayLabel("", "", (), doc=doc))
        elif rule is None:
            labels.append(WayLabel("", "else", (), doc=doc, is_default=True))
        else:
            doc += (
                f" The condition is right in {rules.accuracy:.0%} of cases that it was not found "
                f"in; the most frequent way is taken in {rules.baseline:.0%}."
            )
            labels.append(WayLabel("", str(rule), (), doc=doc, condition=rule.feel or ""))
    return labels


# -- steps -------------------------------------------------------------------------------------


def _label_step(
    clean: CleanLog, step: int, figures: ActivityFigures, is_automatic: bool, with_timers: bool
) -> StepLabel:
    name = clean.log.activities[step]
    return StepLabel(
        name, "", _cite_events(clean, step),
        doc=describe_figures(figures, clean.count_cases()),
        wait=format_duration(figures.timer) if figures.timer and with_timers else "",
        task_type="service" if is_automatic else "user",
    )  # fmt: skip


def describe_figures(figures: ActivityFigures, cases: int) -> str:
    """The figures of an activity as sentences."""
    text = f"Occurs in {figures.cases:,} of {cases:,} cases"
    if figures.events > figures.cases:
        text += f", {figures.events:,} times"
    if figures.wait is not None and figures.wait.p95 > 0:
        text += f". Starts {figures.wait} after it is possible"
    if figures.work is not None and figures.work.p95 > 0:
        text += f". Takes {figures.work}"
    return text + "."


def _cite_events(clean: CleanLog, step: int) -> tuple[Evidence, ...]:
    """The first events of an activity in a text file, with their lines."""
    log = clean.log
    name = log.activities[step]
    if not name.strip() or any(letter in name for letter in '&<>"\n\r'):
        return ()  # written in another form
    cited: list[Evidence] = []
    for event, activity in enumerate(log.activity_of):
        if activity == step:
            line = log.line_of[event]
            if line <= 0:
                break
            cited.append(
                Evidence(document=os.path.basename(log.file), quote=name, lines=(line, line))
            )
            if len(cited) == CITED_EVENTS:
                break
    return tuple(cited)
