"""Values for which no condition of a gateway is true: which values are tried."""

from __future__ import annotations

import pytest

from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Expression
from orgflow_ir.program.condition_completeness import find_uncovered, values_text
from orgflow_ir.program.syntax import Tree


def trees(*texts: str) -> list[Tree]:
    found = [read_condition(Expression(text=text)) for text in texts]
    assert None not in found
    return [tree for tree in found if tree is not None]


@pytest.mark.parametrize(
    ("conditions", "left"),
    [
        (('${ok == "true"}', '${ok == "false"}'), None),
        (("${ok == 'True'}", "${ok == 'False'}"), None),
        (('${ok == "true"}', "${ok == 'later'}"), "ok = 'something else'"),
        (('${ok == "true"}', '${ok == "true" and n > 1}'), "ok = 'false'"),
        (('${ok == "yes"}', '${ok == "no"}'), "ok = 'something else'"),
        (("${ok == true}", "${ok == false}"), None),
    ],
)
def test_a_text_compared_with_truth_values_has_no_other(
    conditions: tuple[str, ...], left: str | None
) -> None:
    values = find_uncovered(trees(*conditions))
    assert (values is None) == (left is None)
    if values is not None and left is not None:
        assert values_text(values).startswith(left)
