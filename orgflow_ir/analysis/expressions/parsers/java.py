"""Java and MVEL, as jBPM and Bonita have them in conditions: `return amount > 100;`."""

from __future__ import annotations

from orgflow_ir.analysis.expressions.parsers.javascript import GroovyParser
from orgflow_ir.analysis.expressions.syntax import Comparison, Constant, Path, Span, Tree, Variable


class JavaParser(GroovyParser):
    """Comparisons, logic and `equals`. Java's `==` on variables compares values here, too: those of
    a process are boxed or texts, of which nobody means the identity; MVEL compares them so."""

    def primary(self) -> Tree:
        """Texts have methods: `"vip".equals(kind)`."""
        tree = super().primary()
        if isinstance(tree, Constant) and isinstance(tree.value, str) and self.ahead("."):
            self.take()
            name = self.take().text
            self.expect("(")
            return self._equals(tree) if name == "equals" else self.call((name,), tree.span.start)
        return tree

    def call(self, path: Path, start: int) -> Tree:
        """`kind.equals("vip")`; other methods raise `ConditionError`."""
        if path[-1] == "equals" and len(path) > 1:
            receiver = Variable(path[:-1], Span(start, self.tokens[self.at - 2].span.start - 1))
            return self._equals(receiver)
        return super().call(path, start)

    def _equals(self, left: Tree) -> Tree:
        right = self.disjunction()
        self.expect(")")
        span = Span(left.span.start, self.tokens[self.at - 1].span.end)
        return Comparison("==", left, right, "java", span)
