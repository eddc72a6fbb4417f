"""What is code and what is a label, in every language that conditions are found in."""

from __future__ import annotations

import pytest

from orgflow_ir.languages.recognise import read_condition
from orgflow_ir.model import Expression
from orgflow_ir.program.evaluator import evaluate
from orgflow_ir.program.syntax import Comparison, ConditionError, as_javascript
from orgflow_ir.work.scripts import read_script

JAVA = "http://www.java.com/java"
MVEL = "http://www.mvel.org/2.0"
XPATH = "http://www.w3.org/1999/XPath"

LABELS = [
    "groß - Sonderversand", "klein - Normalversand", "Ja/Nein", "yes / no", "checked and paid",
    "rejected or cancelled", "not approved", "3 + 1", "A * B", "Alter >= 18 - Erwachsener",
    "Betrag > 1000 €", "Amount (net)", "Freigabe(ja)", "$100 - $200", "is special", "approved",
    "ja: weiter", "e.g. later", "24/7", "Order; then pay later", "",
]  # fmt: skip

CODE = [
    ("x > 10", None), ("a = 1 and b", None), ("!rejected", None), ("true", None),
    ("amount - discount > 100", None), ("x > 10", XPATH), ("${a and b}", XPATH), ("=not(a)", None),
    ("return x > 10;", JAVA), ("return x > 10;", None), ("x > 10", JAVA), ("return x > 10", MVEL),
    ('return kind.equals("vip") && amount >= 5;', JAVA), ('return "vip".equals(kind);', JAVA),
    ("return KieFunctions.isFalse(check);", JAVA), ("order/amount > 10", XPATH),
    ("bpmn:getDataObject('clarified') = 'yes'", XPATH), ("$amount > 10", XPATH),
    ("= some x in xs satisfies x > 1", None), ("${a.isEmpty() ? b == 1 : c}", None),
    ('return kcontext.getVariable("amount") > 5;', JAVA), ("return x > 10;", "javascript"),
]  # fmt: skip

UNREAD = [
    ("return KieFunctions.isWeird(check);", JAVA,
     "calls of `KieFunctions.isWeird` are not supported"),
    ("${bean.isHighRisk()}", None, "calls of `isHighRisk` are not supported"),
    ("= risk(x) = 1", None, "the function `risk` is not supported"),
    ("return (Boolean) ok;", JAVA, "`ok` is not supported here"),
    ("int x = 3; return x > y;", JAVA, "a single `=` is an assignment in this language"),
    ("/order/amount > 10", None, "`/` is not supported here"),
    ("count(item) > 1", XPATH, "calls of `count` are not supported"),
    ("Service Level == 'Premium'", None, "`Level` is not supported here"),
    ('Vacation Approval = "Approved"', None, "`Approval` is not supported here"),
    ("isVip() && paid", None, "calls of `isVip` are not supported"),
    ("Person( age > 20 )", "http://www.jboss.org/drools/rule",
     "the language `http://www.jboss.org/drools/rule` is not supported"),
]  # fmt: skip


@pytest.mark.parametrize("language", [None, XPATH])
@pytest.mark.parametrize("text", LABELS)
def test_prose_is_a_label(text: str, language: str | None) -> None:
    assert read_condition(Expression(text=text, language=language)) is None


@pytest.mark.parametrize(("text", "language"), CODE)
def test_code_is_read(text: str, language: str | None) -> None:
    assert read_condition(Expression(text=text, language=language)) is not None


@pytest.mark.parametrize(("text", "language", "reason"), UNREAD)
def test_code_that_is_not_understood_is_no_label(
    text: str, language: str | None, reason: str
) -> None:
    with pytest.raises(ConditionError) as found:
        read_condition(Expression(text=text, language=language))
    assert str(found.value) == reason


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ('return kind.equals("vip");', "vip", True),
        ('return kind.equals("vip");', "VIP", False),
        ('return !"vip".equals(kind);', "vip", False),
        ('return kind == "vip" || kind == "gold";', "gold", True),
    ],
)
def test_java_compares_texts_by_what_they_hold(text: str, kind: str, wanted: bool) -> None:
    tree = read_condition(Expression(text=text, language=JAVA))
    assert tree is not None
    assert evaluate(tree, {("kind",): kind}) is wanted


def test_spans_are_those_of_the_whole_text() -> None:
    text = '  return kind.equals("vip") ;'
    tree = read_condition(Expression(text=text, language=JAVA))
    assert isinstance(tree, Comparison)
    assert text[slice(*tree.span)] == 'kind.equals("vip")'
    assert text[slice(*tree.left.span)] == "kind"


@pytest.mark.parametrize("text", ["${'abc' == 5}", "${a && 5 < 'abc'}", "${5 != true}"])
def test_comparisons_that_are_errors_in_juel_are_refused(text: str) -> None:
    with pytest.raises(ConditionError, match="a text that is none"):
        read_condition(Expression(text=text))


@pytest.mark.parametrize(
    ("code", "language", "reason"),
    [
        ("x = a / b", "java", "depends on types"),
        ("x = 'ab' * n", "groovy", "of texts"),
        ("x = a < None", "python", "`<` of these values"),
        ("x = 'a' >= 5", "python", "`>=` of these values"),
        ("x = 'a' + 0.1 * 3", "groovy", "the text of a decimal"),
        ("x = a * 0.1 % 3", "groovy", "of decimals"),
        ("x = 'a' + 1", "python", "`\\+` of these values"),
        ("x = [1] + [2]", "python", "`\\+` of these values"),
        ("x = 'a' * 3", "python", "`\\*` of these values"),
        ("x = '%s' % a", "python", "`%` of these values"),
    ],
)
def test_scripts_whose_value_depends_on_types_are_refused(
    code: str, language: str, reason: str
) -> None:
    with pytest.raises(ConditionError, match=reason):
        read_script(code, language)


@pytest.mark.parametrize(
    ("code", "a"),
    [
        ("0.1 + 0.2 == 0.3", 0),
        ("1.1 * 3 == 3.3", 0),
        ("a * 1.1 == 3.3", 3),
        ("a * 1.1 == 2.75", 2.5),
        ("a + 0.2 == 0.30000000000000004", 0.1),
        ("1 / a == 0.3333333333", 3),
        ("-2 / a == -0.6666666667", 3),
        ("1 / a == 0.0009765625", 1024),
        ("0.1 / a == 0.0333333333", 3),
        ("10 / a == 33.333333333333336", 0.3),  # a variable with a fraction is a double
        ("(a - 0.1) * 3 == 2.7", 1),
    ],
)
def test_decimals_in_groovy_are_exact(code: str, a: float) -> None:
    for tree in (
        read_script(code, "groovy").value,
        read_condition(Expression(text=code, language="groovy")),
    ):
        assert tree is not None
        assert evaluate(tree, {("a",): a}) is True
        assert evaluate(as_javascript(tree), {("a",): a}) is True
