"""Stated decisions: the runs that they add, and the labels of choices."""

from __future__ import annotations

from collections.abc import Sequence

from orgflow.agents.discovery.stated_decisions import (
    StatedDecision,
    StatedOption,
    add_stated_runs,
    group_decisions,
    label_choices,
)

from orgflow_ir.mining.event_rows import Trace
from orgflow_ir.mining.inductive_miner import mine_tree
from orgflow_ir.mining.process_tree import list_choices, list_leaves

LETTERS = "abcdefgh"


def _traces(*rows: str) -> list[Trace]:
    return [Trace(n, tuple(map(LETTERS.index, row))) for n, row in enumerate(rows)]


def _decide(question: str, *options: str, case: int = 0) -> StatedDecision:
    """A decision: an option is its condition and its steps, with a star if it is only stated."""
    return StatedDecision(
        case, question,
        tuple(
            StatedOption(
                condition, frozenset(map(LETTERS.index, steps.strip("*"))), "*" in steps, ()
            )
            for condition, _, steps in (option.partition(": ") for option in options)
        ),
    )  # fmt: skip


def _add(rows: Sequence[str], *decisions: StatedDecision) -> list[str]:
    added = add_stated_runs(_traces(*rows), decisions)
    assert [trace.case for trace in added] == list(range(len(added)))
    return ["".join(LETTERS[step] for step in trace.steps) for trace in added]


# -- runs --------------------------------------------------------------------------------------


def test_a_branch_that_all_cases_took_may_be_left_out() -> None:
    licence = _decide("Is a licence needed?", "in the street: b", "in the shop: ")
    assert _add(["abc", "abc"], licence) == ["abc", "abc", "ac"]
    assert _add(["abc", "ac"], licence) == ["abc", "ac"], "a case shows it"


def test_decisions_are_never_combined() -> None:
    first, second = _decide("One?", "yes: b", "no: "), _decide("Two?", "yes: d", "no: ")
    third = _decide("Three?", "yes: f", "no: ")
    rows = _add(["abcdefg"], first, second, third)
    assert rows == ["abcdefg", "acdefg", "abcefg", "abcdeg"]


def test_a_branch_at_the_end_adds_no_run() -> None:
    assert _add(["abc"], _decide("Refused?", "yes: c", "no: ")) == ["abc"]


def test_an_option_that_was_only_stated_replaces_the_branch() -> None:
    # `c` is shown only by the message that says what would happen otherwise
    decision = _decide("How much?", "small: b", "large: c*")
    assert _add(["abcd", "abcd"], decision) == ["abd", "abcd"], "another case took it"
    assert _add(["abcd"], decision) == ["abd", "acd"]


def test_no_step_is_lost() -> None:
    ends = _decide("How much?", "small: c", "large: d*")
    assert _add(["abcd"], ends) == ["abc", "abd"], "what ends the process instead was stated"
    only = _decide("How much?", "small: b*", "large: c*", "huge: d*")
    assert _add(["abcde"], only) == ["abe", "ace", "ade"]
    also = _decide("What?", "this: c", "that: bd*")
    more = _decide("Which?", "one: a", "other: b*")
    for decisions in ([also, more], [more, also]):
        rows = _add(["abcd"], *decisions)
        assert {step for row in rows for step in row} == set("abcd")


def test_what_comes_after_an_option_is_no_other_option() -> None:
    # both happened, one after the other: only the first is a branch
    decision = _decide("What first?", "then: c", "now: b")
    assert _add(["abcd"], decision) == ["abcd", "acd"]


# -- labels ------------------------------------------------------------------------------------


def _label(rows: Sequence[str], *decisions: StatedDecision) -> list[tuple[str, list[str]]]:
    """The steps of each choice, and the labels of its ways."""
    tree = mine_tree(_traces(*rows))
    labels = label_choices(tree, decisions)
    return [
        (
            "".join(LETTERS[step] for step in sorted(list_leaves(choice))),
            ["-" if label is None else label.text for label in labels[choice]],
        )
        for choice in list_choices(tree) if choice in labels
    ]  # fmt: skip


def test_a_choice_is_labelled_by_the_decision_of_most_of_its_steps() -> None:
    much = _decide("Much?", "yes: bc", "no: d")
    little = _decide("Little?", "perhaps: c", "never: e")
    assert _label(["abce", "ade"], little, much) == [("bcd", ["yes", "no"])]
    assert _label(["abce", "ade"], little) == [("bcd", ["perhaps", "-"])]
    assert _label(["abce", "ade"]) == []


def test_an_empty_way_has_the_option_without_steps() -> None:
    assert _label(["abc", "ac"], _decide("Licence?", "yes: b", "no: ")) == [("b", ["yes", "no"])]
    two = _decide("Licence?", "yes: b", "no: ", "perhaps: ")
    assert _label(["abc", "ac"], two) == [("b", ["yes", "-"])], "nobody knows which"


def test_a_decision_labels_one_choice_and_a_label_one_way() -> None:
    decision = _decide("Much?", "yes: be", "no: ")
    assert _label(["abcde", "acd"], decision) == [("b", ["yes", "no"])]
    twice = _decide("Much?", "yes: bd", "no: ")
    assert _label(["abe", "ade"], twice) == [("bd", ["-", "-"])]


def test_decisions_of_several_cases_are_one() -> None:
    first = _decide("Is the sum large?", "yes: b", "no: c")
    same_steps = _decide("Who signs?", "chief: b", "clerk: c", case=1)
    same_words = _decide("Is this sum too large?", "yes: e", "no: f", case=2)
    other = _decide("Who delivers?", "van: g", "bike: h", case=3)
    assert group_decisions([first, same_steps, other]) == [[first, same_steps], [other]]
    assert group_decisions([first, same_words, other]) == [[first, same_words], [other]]
    again = same_steps._replace(case=0)
    assert group_decisions([first, again]) == [[first], [again]], "of one case they are two"
