"""Texts of timers as typed values."""

from __future__ import annotations

import pytest
from orgflow.backends.n8n.node_types import schedule_trigger

from orgflow_ir.model import EventDefinition, Expression
from orgflow_ir.model.timer_values import Computed, Cron, Cycle, Duration, Moment, Time, Unread
from orgflow_ir.model.timers import read_time


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("P1Y2M3DT4H5M6S", Duration(1, 2, 0, 3, 4, 5, 6)),
        (" PT1.5S ", Duration(seconds=1.5)),
        ("PT1,5S", Duration(seconds=1.5)),
        ("P2W", Duration(weeks=2)),
        ("P1.5D", Duration(days=1.5)),
        ("PT0.25H", Duration(hours=0.25)),
        ("-PT5M", Duration(minutes=5, sign="-")),
        ("PT-5M", Duration(minutes=5, sign="-")),
        ("+P1D", Duration(days=1, sign="+")),
        ("2030-01-31", Moment("2030-01-31")),
        ("2030-01-31T10:00", Moment("2030-01-31", "10:00")),
        ("2030-01-31T10:00:00.5+02:00", Moment("2030-01-31", "10:00:00.5", "+02:00")),
        ("2030-01-31T10:00Z", Moment("2030-01-31", "10:00", "Z")),
        ("R3/PT10M", Cycle(Duration(minutes=10), 3)),
        ("R/PT10M", Cycle(Duration(minutes=10))),
        ("R-1/P1D", Cycle(Duration(days=1), -1)),
        ("R5/2030-01-31T10:00Z/P1D",
         Cycle(Duration(days=1), 5, start=Moment("2030-01-31", "10:00", "Z"))),
        ("R/P1D/2030-01-31", Cycle(Duration(days=1), end=Moment("2030-01-31"))),
        ("0 0 12 * * ?", Cron(("0", "0", "12", "*", "*", "?"), quartz=True)),
        ("0 0/5 * ? * mon-fri 2030",
         Cron(("0", "0/5", "*", "?", "*", "MON-FRI", "2030"), quartz=True)),
        ("*/5 9 * * 1-5", Cron(("*/5", "9", "*", "*", "1-5"))),
        ("0 0 L * ?", Cron(("0", "0", "L", "*", "?"), quartz=True)),
        ("${duration}", Computed("${duration}", ("duration",))),
        ("#{order.due}", Computed("#{order.due}", ("order", "due"))),
        ("${now().plusDays(days)}", Computed("${now().plusDays(days)}")),
        ("${now().minusDays(1)}", Computed("${now().minusDays(1)}")),
        ("${now().plusDays(1)}", Duration(days=1)),
        ("${dateTime().plusWeeks(1).plusHours(2).toDate()}", Duration(weeks=1, hours=2)),
        ('=now() + duration("P1DT2H")', Duration(days=1, hours=2)),
        ('=now() + duration("-P1D")', Computed('=now() + duration("-P1D")')),
        ("PT${n}H", Computed("PT${n}H")),
        ("=delay", Computed("=delay")),
        ("5s", Duration(seconds=5, notation="short")),
        ("1d2h30m", Duration(days=1, hours=2, minutes=30, notation="short")),
        ("2d 3h", Duration(days=2, hours=3, notation="short")),
        ("1H30M 500ms", Duration(hours=1, minutes=30, seconds=0.5, notation="short")),
        ("@daily", Cron(("0", "0", "*", "*", "*"))),
        ("@Hourly", Cron(("0", "*", "*", "*", "*"))),
        ("@reboot", Unread("@reboot")),
        ("500ms###1s",
         Cycle(Duration(seconds=1, notation="short"),
               delay=Duration(seconds=0.5, notation="short"))),
        ("14 Tage", Duration(days=14, notation="words")),
        ("1 week", Duration(weeks=1, notation="words")),
        ("2  Monate", Duration(months=2, notation="words")),
        ("14 Werktage", Unread("14 Werktage")),
        ("zwei Wochen", Duration(weeks=2, notation="words")),
        ("14 days later", Duration(days=14, notation="words")),
        ("after 3 days", Duration(days=3, notation="words")),
        ("Nach 2 Stunden.", Duration(hours=2, notation="words")),
        ("wait for an hour", Duration(hours=1, notation="words")),
        ("1 hour and 30 minutes", Duration(hours=1, minutes=30, notation="words")),
        ("1 Stunde 30 Minuten", Duration(hours=1, minutes=30, notation="words")),
        ("30 minutes and 1 hour", Unread("30 minutes and 1 hour")),
        ("within 3 days", Unread("within 3 days")),
        ("14 working days", Unread("14 working days")),
        ("every 5 minutes", Cycle(Duration(minutes=5, notation="words"))),
        ("alle zwei Wochen", Cycle(Duration(weeks=2, notation="words"))),
        ("Daily", Cycle(Duration(days=1, notation="words"))),
        ("every 0 minutes", Unread("every 0 minutes")),
        ("every Monday at 9", Cron(("0", "9", "*", "*", "1"))),
        ("Mondays and Fridays at 9:30", Cron(("30", "9", "*", "*", "1,5"))),
        ("jeden Montag um 9 Uhr", Cron(("0", "9", "*", "*", "1"))),
        ("every weekday at noon", Cron(("0", "12", "*", "*", "1-5"))),
        ("daily at 5 pm", Cron(("0", "17", "*", "*", "*"))),
        ("daily at 12 am", Cron(("0", "0", "*", "*", "*"))),
        ("täglich um 5 Uhr", Cron(("0", "5", "*", "*", "*"))),
        ("on the 1st of every month at 8:00", Cron(("0", "8", "1", "*", "*"))),
        ("daily at 5", Unread("daily at 5")),
        ("daily at 25:00", Unread("daily at 25:00")),
        ("on the 31st of every month at 8:00", Unread("on the 31st of every month at 8:00")),
        ("every Monday", Unread("every Monday")),
        ("every second Monday at 9", Unread("every second Monday at 9")),
        ("werktags um 9 Uhr", Unread("werktags um 9 Uhr")),
        ("at 9", Unread("at 9")),
        ('= duration("PT1H")', Duration(hours=1)),
        ('=@"PT1H"', Duration(hours=1)),
        ("${'PT5M'}", Duration(minutes=5)),
        ('=date and time("2030-01-31T10:00Z")', Moment("2030-01-31", "10:00", "Z")),
        ('=cycle(3, duration("PT10M"))', Cycle(Duration(minutes=10), 3)),
        ('=cycle(duration("PT10M"))', Cycle(Duration(minutes=10))),
        ('=duration(wait)', Computed("=duration(wait)")),
        ('=duration("soon")', Computed('=duration("soon")')),
        ("every day at five or so", Unread("every day at five or so")),
        ("P", Unread("P")),
        ("PT", Unread("PT")),
        ("P1.5DT1H", Unread("P1.5DT1H")),
        ("R3/soon", Unread("R3/soon")),
        ("R/2030-01-31", Unread("R/2030-01-31")),
        ("10:00", Unread("10:00")),
        ("1 2 3 4", Unread("1 2 3 4")),
    ],
)  # fmt: skip
def test_texts(text: str, time: Time) -> None:
    found = read_time(text)
    assert found == time
    assert type(found) is type(time)


def test_a_language_counts_for_what_is_nothing_else() -> None:
    assert read_time("due", "feel") == Computed("due")
    assert read_time("PT5M", "feel") == Duration(minutes=5)
    assert read_time("due", "http://www.w3.org/1999/XPath") == Unread("due")


@pytest.mark.parametrize("text", ["2030-01-31", "2030-01-31T10:00", "2030-01-31T10:00:07.5+0100"])
def test_a_moment_has_its_text(text: str) -> None:
    found = read_time(text)
    assert isinstance(found, Moment)
    assert found.text == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("PT90M", 5400), ("P1W", 604800), ("P1DT1S", 86401), ("P1M", None), ("P1Y", None),
     ("-PT1S", -1), ("PT0.5H", 1800), ("1h", 3600)],
)  # fmt: skip
def test_lengths(text: str, seconds: float | None) -> None:
    found = read_time(text)
    assert isinstance(found, Duration)
    assert found.exact_seconds == seconds


def test_possible_moments() -> None:
    for text, possible in (("2030-12-31T23:59:59Z", True), ("2030-13-01", False),
                           ("2030-01-32", False), ("2030-01-01T24:00", False),
                           ("2030-01-01T10:60", False), ("2031-02-29", False),
                           ("2032-02-29", True), ("2030-04-31", False),
                           ("2100-02-29", False)):  # fmt: skip
        found = read_time(text)
        assert isinstance(found, Moment)
        assert found.is_possible is possible


def test_the_time_of_an_event_follows_its_text() -> None:
    definition = EventDefinition(kind="timer", timer="duration", expression=Expression(text="PT1H"))
    assert definition.time == Duration(hours=1)
    later = definition.replace(expression=Expression(text="${wait}"))
    assert later.time == Computed("${wait}", ("wait",))
    assert definition.replace(expression=None).time is None
    assert definition.replace(expression=Expression(text=" ")).time is None
    assert EventDefinition(kind="conditional", expression=Expression(text="PT1H")).time is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("61 * * * *", "`61` is not a minute"),
        ("0 0 25 * * ?", "`25` is not an hour"),
        ("0 70-80 * * * ?", "`70` is not a minute"),
        ("0 0 9 ? * 8", "`8` is not a day of the week"),
        ("*/0 * * * *", "a step of it is zero"),
        ("0 0 30 2 *", "its months do not have this day"),
        ("0 0 0 31 4,6 ?", "its months do not have this day"),
        ("0 0 9 15W * ?", "n8n's scheduler does not support this cron expression"),
        ("R/PT0S", "its interval is zero"),
        ("R/-PT1H", "its interval is negative"),
        ("2030-01-01T10:00:00+25:00", "this time does not exist"),
    ],
)
def test_times_that_cannot_come_are_refused_for_this_reason(text: str, reason: str) -> None:
    definition = EventDefinition(kind="timer", timer="cycle", expression=Expression(text=text))
    assert schedule_trigger.for_timer(definition) is None
    assert schedule_trigger.why_not(read_time(text)) == reason


@pytest.mark.parametrize("text", ["0 0 29 2 *", "0 0 30 2 1", "0 0 0 31 1-4 ?", "0 0 9 ? * 7"])
def test_rare_days_are_kept(text: str) -> None:
    definition = EventDefinition(kind="timer", timer="cycle", expression=Expression(text=text))
    assert schedule_trigger.for_timer(definition) is not None


def test_zones() -> None:
    assert read_time("2030-01-01T10:00:00+18:00") == Moment("2030-01-01", "10:00:00", "+18:00")
    for zone, there in (("+18:00", True), ("-1200", True), ("+18:01", False), ("+02:60", False)):
        assert Moment("2030-01-01", "10:00", zone).is_possible is there
