"""From the control flow of a scope to nested lines.

Lines follow each other until flows come together again. A vertex contains the vertices that it
dominates; one where flows come together comes after its dominator (N. Ramsey, "Beyond Relooper",
2022). A loop becomes `repeat:`, with its exit behind it. Any other flow is a `go to:`, so each
graph of exclusive gateways has an outline. Parallel and inclusive splits need their join:
`together:` is written for blocks, for partial orders (`after`), and where the branches end by
themselves. Anything else is `Unstructured`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from orgflow.backends.outline.flow_graph import ROOT, Edge, FlowGraph, Unstructured
from orgflow.backends.outline.format.line_forms import Line

from orgflow_ir.model import Flow
from orgflow_ir.model.element_names import slug
from orgflow_ir.model.records import NamedTuple, dataclass

MAX_DEPTH = 30
"""Maximum nesting of blocks in a scope."""

_OWN_SCOPE = frozenset(("part", "each"))


class Block(NamedTuple):
    """Lines, and whether the flow goes on behind them."""

    lines: tuple[Line, ...] = ()
    falls: bool = False


class _Own(NamedTuple):
    """A vertex by itself: its lines, and the edge behind them, if there is exactly one.
    Otherwise `falls` tells whether the flow goes on where branches come together."""

    lines: tuple[Line, ...] = ()
    after: Edge | None = None
    falls: bool = False


@dataclass(eq=False)
class _Loop:
    """A repetition that lines are written for, and where it is left to."""

    header: str
    exit: str | None


class LineMaker:
    """Makes the line of a vertex; `structure_scope` adds the lines inside it."""

    def make_line(self, node: str) -> Line:
        """The line of a step, an event or a gateway."""
        raise NotImplementedError

    def make_event(self, node: str, *, stops: bool | None = None) -> Line:
        """The `on:` line of an event that is waited for, or at a step."""
        raise NotImplementedError

    def make_branch(self, flow: Flow | None) -> Line:
        """The `if:` or `else:` line of a flow."""
        raise NotImplementedError

    def make_plain(self, keyword: str) -> Line:
        """A line that no element of the model is behind."""
        return Line(keyword)


def structure_scope(graph: FlowGraph, maker: LineMaker) -> tuple[Line, ...]:
    """The lines of a scope. Raises `Unstructured`."""
    block = _Structure(graph, maker).write_from(ROOT, None)
    return _name_targets(_drop_last_end(block.lines))


class _Structure:
    def __init__(self, graph: FlowGraph, maker: LineMaker) -> None:
        self._graph, self._maker = graph, maker
        self._loops: list[_Loop] = []
        self._open: set[str] = set()
        self._deferred: set[str] = set()
        self._joined: set[str] = set()
        """Joins whose split has been written."""
        self._depth = 0
        self._writers: dict[str, Callable[[str, str | None], _Own]] = {
            "root": self._write_root, "step": self._write_step, "choice": self._write_choice,
            "event": self._write_first, "fork": self._write_fork, "some": self._write_some,
            "end": self._write_end, "pass": self._pass_on, "join": self._write_join,
            "gather": self._write_join, "boundary": self._pass_on, "start": self._pass_on,
        }  # fmt: skip

    # -- sequences ----------------------------------------------------------------------------

    def write_from(self, vertex: str, follow: str | None) -> Block:
        """The lines from a vertex until `follow`, which comes behind them. `None`: nothing does."""
        if self._depth >= MAX_DEPTH:
            raise Unstructured(vertex, f"it is inside more than {MAX_DEPTH} blocks")
        self._depth += 1
        lines: list[Line] = []
        behind: list[str | None] = [follow]
        at: str | None = vertex
        falls = False
        while at is not None:
            own, pushed = self._write_vertex(at, behind)
            behind += pushed
            lines += own.lines
            at, falls = None, own.falls
            if own.after is not None:
                block = self._resolve_edge(own.after, behind[-1])
                if block is None:
                    at = own.after.target
                else:
                    lines += block.lines
                    falls = block.falls
            while at is None and len(behind) > 1:
                merge = behind.pop()
                assert merge is not None
                if falls or self._graph.kinds[merge] != "end":
                    at = merge
        self._depth -= 1
        return Block(tuple(lines), falls)

    def write_edge(self, edge: Edge, follow: str | None) -> Block:
        """The lines behind an edge until `follow`."""
        block = self._resolve_edge(edge, follow)
        return self.write_from(edge.target, follow) if block is None else block

    def _resolve_edge(self, edge: Edge, follow: str | None) -> Block | None:
        """What an edge is that leads to lines which stand elsewhere; `None` if they stand here."""
        target, graph = edge.target, self._graph
        if target == follow:
            return Block(falls=True)
        if self._loops and self._loops[-1].exit == target:
            return Block((self._maker.make_plain("leave"),))
        if graph.kinds[target] == "end":
            return Block((self._maker.make_line(target),))
        forward = [e for e in graph.into[target] if not graph.dominates(target, e.source)]
        if len(forward) > 1 or target in self._deferred or target in self._open:
            return Block((self._make_jump(target),))
        return None

    def _make_jump(self, target: str) -> Line:
        if self._graph.kinds[target] in ("pass", "join", "gather"):
            raise Unstructured(target, "flows come together at it from different blocks")
        return self._maker.make_plain("go to")._replace(text=target)

    def _write_vertex(self, vertex: str, behind: Sequence[str | None]) -> tuple[_Own, list[str]]:
        """A vertex by itself, and the vertices that come behind it, the first one last."""
        if vertex in self._graph.back and vertex not in self._open:
            return self._write_loop(vertex, behind[-1])
        kinds = self._graph.kinds
        merges = [m for m in self._graph.merges.get(vertex, ()) if m not in self._deferred]
        if behind[-1] is not None and all(kinds[m] == "end" for m in merges):
            merges = []  # inside a block every way to an end has its own line
        pushed = sorted(merges, key=lambda m: kinds[m] == "end")[::-1]
        follow = pushed[-1] if pushed else behind[-1]
        own = self._writers[kinds[vertex]](vertex, follow)
        return own, [m for m in pushed if m not in self._deferred]

    # -- loops --------------------------------------------------------------------------------

    def _write_loop(self, header: str, follow: str | None) -> tuple[_Own, list[str]]:
        """A repetition: its body, and the vertices that it is left to."""
        behind = self._find_exits(header, follow)
        exit_ = behind[0] if behind else follow
        self._open.add(header)
        self._deferred.update(behind)
        self._loops.append(_Loop(header, exit_))
        body = self.write_from(header, header)
        self._loops.pop()
        line = self._maker.make_plain("repeat")._replace(element=header)
        line = _fold_again(line, body)
        left = exit_ is not None and _is_left(line)
        return _Own((line,), None, left), behind[::-1]

    def _find_exits(self, header: str, follow: str | None) -> list[str]:
        """The vertices that stand behind a loop: where flows out of it come together, otherwise the
        one that most of them lead to, the earliest of several."""
        graph = self._graph
        body = graph.loop_body(header)
        leaving = [e.target for v in body for e in graph.out[v] if e.target not in body]
        fixed = ("boundary", "join", "gather", "pass")
        leaving = [t for t in leaving if t not in self._deferred and graph.kinds[t] not in fixed]
        merges = {
            m for v in body for m in graph.merges.get(v, ())
            if m not in body and m not in self._deferred and graph.kinds[m] != "end"
        }  # fmt: skip
        if merges:
            return sorted(merges, key=graph.order.__getitem__)
        if follow in leaving:
            return []
        steps = [t for t in leaving if graph.kinds[t] != "end" and graph.dominates(header, t)]
        candidates = steps or [t for t in leaving if graph.dominates(header, t)]
        if not candidates:
            return []
        return [min(candidates, key=lambda t: (-candidates.count(t), -graph.order[t]))]

    # -- vertices -----------------------------------------------------------------------------

    def _pass_on(self, vertex: str, follow: str | None) -> _Own:
        del follow
        return _Own((), self._graph.out[vertex][0])

    def _write_join(self, vertex: str, follow: str | None) -> _Own:
        """A join is a part of its split. An inclusive one behind an exclusive choice passes each
        token on."""
        if vertex not in self._joined:
            self._check_single_token(vertex)
        return self._pass_on(vertex, follow)

    def _check_single_token(self, join: str) -> None:
        """Raises `Unstructured` for a join that waits for flows which no block brings to it."""
        graph = self._graph
        seen = {join, graph.dominator[join]}
        work = [edge.source for edge in graph.into[join]]
        reason = "flows come together at it that no block before it splits"
        if graph.kinds[join] == "join":
            raise Unstructured(join, reason)
        while work:
            vertex = work.pop()
            if graph.kinds[vertex] in ("fork", "some"):
                raise Unstructured(join, reason)
            if vertex not in seen:
                seen.add(vertex)
                work += [edge.source for edge in graph.into[vertex]]

    def _write_end(self, vertex: str, follow: str | None) -> _Own:
        del follow
        return _Own((self._maker.make_line(vertex),))

    def _write_root(self, vertex: str, follow: str | None) -> _Own:
        """One start is in line with what follows; what only one of several leads to is in it."""
        edges = self._graph.out[vertex]
        if len(edges) == 1:
            start = edges[0].target
            if self._graph.kinds[start] != "start":
                return _Own((), edges[0])
            line = self._maker.make_line(start)
            return _Own((line,), self._graph.out[start][0])
        lines = []
        falls = False
        for edge in edges:
            block = self.write_edge(self._graph.out[edge.target][0], follow)
            lines.append(self._maker.make_line(edge.target)._replace(children=block.lines))
            falls = falls or block.falls
        return _Own(tuple(lines), None, falls)

    def _write_step(self, vertex: str, follow: str | None) -> _Own:
        """A step with the events at it. Behind one that stops it, the flow goes on where it goes on
        behind the step."""
        del follow
        main, *others = self._graph.out[vertex]
        line = self._maker.make_line(vertex)
        after = main.target if len(self._graph.into[main.target]) > 1 else None
        events = [
            self._write_event(edge.target, after, stops=event.interrupting)
            for edge, event in zip(others, self._graph.events.get(vertex, ()), strict=True)
        ]
        return _Own((line._replace(children=(*line.children, *events)),), main)

    def _write_event(self, vertex: str, after: str | None, *, stops: bool) -> Line:
        line = self._maker.make_event(vertex, stops=stops)
        edge = self._graph.out[vertex][0]
        if stops:
            return line._replace(children=self.write_edge(edge, after).lines)
        loops, self._loops = self._loops, []
        block = self.write_edge(edge, None)
        self._loops = loops
        return line._replace(children=_drop_last_end(block.lines))

    def _write_choice(self, vertex: str, follow: str | None) -> _Own:
        line = self._maker.make_line(vertex)
        branches = [
            (self._maker.make_branch(edge.flow), self.write_edge(edge, follow))
            for edge in self._graph.out[vertex]
        ]
        branches.sort(key=lambda branch: branch[0].keyword == "else")
        return _hoist_branch(line, branches)

    def _write_first(self, vertex: str, follow: str | None) -> _Own:
        branches = []
        for edge in self._graph.out[vertex]:
            event = edge.target
            into, out = self._graph.into[event], self._graph.out[event]
            if len(into) > 1 or len(out) > 1 or event in self._graph.back:
                raise Unstructured(event, "it is an event that is waited for in several places")
            branches.append((self._maker.make_event(event), self.write_edge(out[0], follow)))
        return _hoist_branch(self._maker.make_line(vertex), branches)

    def _write_some(self, vertex: str, follow: str | None) -> _Own:
        """An inclusive split: its branches end, or come together at the inclusive join."""
        merges = [m for m in self._graph.merges.get(vertex, ()) if self._graph.kinds[m] != "end"]
        join = merges[0] if merges else None
        if len(merges) > 1 or (join is not None and self._graph.kinds[join] != "gather"):
            raise Unstructured(vertex, "its branches do not come together at one inclusive join")
        del follow
        loops, self._loops = self._loops, []
        branches = [
            (self._maker.make_branch(edge.flow), self.write_edge(edge, join))
            for edge in self._graph.out[vertex]
        ]
        self._loops = loops
        falling = sum(block.falls for _, block in branches)
        if falling != (len(self._graph.into[join]) if join is not None else 0):
            raise Unstructured(vertex, "its branches do not come together at one inclusive join")
        self._joined.update(merges)
        branches.sort(key=lambda branch: branch[0].keyword == "else")
        lines = tuple(branch._replace(children=block.lines) for branch, block in branches)
        line = self._maker.make_line(vertex)
        return _Own((line._replace(children=lines),), None, join is not None)

    # -- parallel branches --------------------------------------------------------------------

    def _write_fork(self, vertex: str, follow: str | None) -> _Own:
        """A parallel split with its join, as a partial order, or with branches that end."""
        del follow
        graph = self._graph
        merges = [m for m in graph.merges.get(vertex, ()) if graph.kinds[m] != "end"]
        kinds = {graph.kinds[m] for m in merges}
        if not kinds <= {"join", "gather"}:
            raise Unstructured(
                vertex, "its parallel branches meet without a parallel join behind them"
            )
        if not merges:
            return self._write_ending_fork(vertex)
        if len(merges) == 1 and len(graph.into[merges[0]]) == len(graph.out[vertex]):
            return self._write_block(vertex, merges[0])
        if len(merges) == 1 and len(graph.into[merges[0]]) < len(graph.out[vertex]):
            return self._write_partly_ending(vertex, merges[0])
        return self._write_order(vertex, merges)

    def _write_branches(self, edges: Iterable[Edge], follow: str | None) -> list[Block]:
        """Branches that no repetition around them is left from."""
        loops, self._loops = self._loops, []
        blocks = [self.write_edge(edge, follow) for edge in edges]
        self._loops = loops
        return blocks

    def _write_block(self, vertex: str, join: str) -> _Own:
        blocks = self._write_branches(self._graph.out[vertex], join)
        for block in blocks:
            if not block.falls or _has_jumps(block.lines):
                raise Unstructured(vertex, "one of its parallel branches does not reach the join")
        self._joined.add(join)
        return _Own((self._make_together(vertex, [b.lines for b in blocks]),), None, True)

    def _make_together(self, vertex: str, branches: Iterable[tuple[Line, ...]]) -> Line:
        rows = [self._make_row(lines) for lines in branches]
        return self._maker.make_line(vertex)._replace(children=tuple(rows))

    def _make_row(self, lines: tuple[Line, ...]) -> Line:
        """One branch: a line by itself, or several in a `row:`."""
        single = len(lines) == 1 and lines[0].keyword not in ("leave", "go to", "end")
        return lines[0] if single else self._maker.make_plain("row")._replace(children=lines)

    def _write_ending_fork(self, vertex: str) -> _Own:
        """Branches that end by themselves: the process ends when all have."""
        blocks = self._write_branches(self._graph.out[vertex], None)
        rows = [self._close_branch(vertex, block) for block in blocks]
        lines = (self._make_together(vertex, rows), self._maker.make_plain("end"))
        return _Own(lines, None, False)

    def _close_branch(self, vertex: str, block: Block) -> tuple[Line, ...]:
        """A branch that ends, as one that goes on behind `together:`: a part, if an end in it has a
        name or comes early."""
        lines = _drop_last_end(block.lines)
        if block.falls or _has_keyword(block.lines, ("go to", "leave")):
            raise Unstructured(vertex, "its parallel branches meet without a join")
        if not _has_jumps(lines):
            return lines
        if _has_keyword(lines, ("stop",)):
            raise Unstructured(vertex, "one of its parallel branches ends everything")
        return (self._maker.make_plain("part")._replace(children=block.lines),)

    def _write_partly_ending(self, vertex: str, join: str) -> _Own:
        """Some branches meet and go on to an end, others end by themselves."""
        blocks = self._write_branches(self._graph.out[vertex], join)
        meeting = [block for block in blocks if block.falls]
        if len(meeting) != len(self._graph.into[join]) or any(
            _has_jumps(block.lines) for block in meeting
        ):
            raise Unstructured(vertex, "one of its parallel branches does not reach the join")
        self._deferred.add(join)
        self._joined.add(join)
        behind = self._write_branches([self._graph.out[join][0]], None)[0]
        inner = self._maker.make_plain("together")._replace(
            children=tuple(self._make_row(block.lines) for block in meeting)
        )
        first = (inner,) if len(meeting) > 1 else meeting[0].lines
        rows = [self._close_branch(vertex, Block((*first, *behind.lines), behind.falls))]
        rows += [self._close_branch(vertex, block) for block in blocks if not block.falls]
        lines = (self._make_together(vertex, rows), self._maker.make_plain("end"))
        raise_unless_last(self._graph, vertex, join)
        return _Own(lines, None, False)

    def _write_order(self, vertex: str, merges: Sequence[str]) -> _Own:
        """Branches that wait for each other: every part between two parallel gateways is a branch,
        which names those before it."""
        order = _PartialOrder(self._graph, vertex, merges[-1])
        loops, self._loops = self._loops, []
        rows: list[Line] = []
        for number, branch in enumerate(order.branches):
            block = self.write_edge(branch.edge, branch.until)
            if not block.falls or _has_jumps(block.lines):
                raise Unstructured(vertex, "one of its parallel branches does not reach the join")
            row = self._make_row(block.lines)
            before = sorted(order.before[number])
            rows.append(row._replace(after=tuple(f"{vertex}\x1f{n}" for n in before)))
        self._loops = loops
        self._deferred.update(merges[:-1])
        self._joined.add(merges[-1])
        line = self._maker.make_line(vertex)._replace(children=_name_branches(rows, vertex))
        return _Own((line,), None, True)


def raise_unless_last(graph: FlowGraph, vertex: str, join: str) -> None:
    """A join whose flows are all inside the split: nothing else leads to it."""
    if not all(graph.dominates(vertex, edge.source) for edge in graph.into[join]):
        raise Unstructured(vertex, "its parallel branches meet others")


class _Branch(NamedTuple):
    """A part between two parallel gateways."""

    edge: Edge
    until: str


class _PartialOrder:
    """The branches between a parallel split and the join that all of them reach.

    Attributes:
        branches: the branches, in order.
        before: by number, the branches that each one waits for.
    """

    def __init__(self, graph: FlowGraph, split: str, join: str) -> None:
        self._graph, self._split, self._join = graph, split, join
        self.branches: list[_Branch] = []
        self.before: list[set[int]] = []
        self._arriving: dict[str, list[set[int]]] = {}
        gateways = [split]
        self._arriving[split] = []
        while gateways:
            gateway = gateways.pop(0)
            waited = set().union(*self._arriving[gateway]) if self._arriving[gateway] else set()
            for edge in graph.out[gateway]:
                until, arriving = self._follow_edge(edge, waited)
                self._arriving.setdefault(until, []).append(arriving)
                if until != join and len(self._arriving[until]) == len(graph.into[until]):
                    gateways.append(until)
        reached = len(self._arriving.get(join, ()))
        if reached != len(graph.into[join]):
            raise Unstructured(split, "its parallel branches do not come together at one join")

    def _is_gateway(self, vertex: str) -> bool:
        return self._graph.kinds[vertex] in ("fork", "join")

    def _follow_edge(self, edge: Edge, waited: set[int]) -> tuple[str, set[int]]:
        """The gateway behind an edge, and the branches that are done there."""
        if self._is_gateway(edge.target):
            return edge.target, waited
        until = self._next_gateway(edge)
        number = len(self.branches)
        self.branches.append(_Branch(edge, until))
        self.before.append(set(waited))
        return until, {number}

    def _next_gateway(self, edge: Edge) -> str:
        """The first parallel gateway that every way behind an edge passes."""
        graph = self._graph
        root = edge.target
        if len(graph.into[root]) > 1 and root not in graph.back:
            raise Unstructured(self._split, "its parallel branches meet without a join")
        inside = {root}
        work = [root]
        outside: set[str] = set()
        while work:
            for after in graph.successors[work.pop()]:
                if self._is_gateway(after) or not graph.dominates(root, after):
                    outside.add(after)
                elif after not in inside:
                    inside.add(after)
                    work.append(after)
        if len(outside) != 1 or not self._is_gateway(next(iter(outside))):
            raise Unstructured(self._split, "its parallel branches are in no order")
        return outside.pop()


def _name_branches(rows: Sequence[Line], split: str) -> tuple[Line, ...]:
    """The branches with the marks of those before them; the marks become ids later."""
    waited = {id for row in rows for id in row.after}
    return tuple(
        row._replace(id=f"{split}\x1f{number}") if f"{split}\x1f{number}" in waited else row
        for number, row in enumerate(rows)
    )


# -- lines ---------------------------------------------------------------------------------------


def _hoist_branch(line: Line, branches: Sequence[tuple[Line, Block]]) -> _Own:
    """A choice; if all branches but one end, that one goes on behind it. If all end, the longest
    does, the last of several."""
    falling = [n for n, (_, block) in enumerate(branches) if block.falls]
    hoisted: int | None = None
    if len(falling) == 1:
        hoisted = falling[0]
    elif not falling and branches:
        sizes = [len(block.lines) for _, block in branches]
        longest = len(sizes) - 1 - sizes[::-1].index(max(sizes))
        hoisted = longest if sizes[longest] > 1 else None
    children = tuple(
        branch._replace(children=() if number == hoisted else block.lines)
        for number, (branch, block) in enumerate(branches)
    )
    after = branches[hoisted][1].lines if hoisted is not None else ()
    return _Own((line._replace(children=children), *after), None, bool(falling))


def _fold_again(line: Line, body: Block) -> Line:
    """A repetition. Where its last choice either leaves it or goes on, that choice is its end."""
    lines = body.lines
    for place in range(len(lines) - 1, -1, -1):
        choice = lines[place]
        folded = _again_of(choice) if choice.keyword == "choose" else None
        if folded is not None and body.falls:
            again = folded._replace(children=(*folded.children, *lines[place + 1 :]))
            named = line._replace(
                text=choice.text, performer=choice.performer, sentences=choice.sentences,
                doubt=choice.doubt,
            )  # fmt: skip
            return named._replace(children=(*lines[:place], again))
    ending = (Line("again"),) if body.falls else ()
    return line._replace(children=(*lines, *ending))


def _again_of(choice: Line) -> Line | None:
    """`again if:` in place of a choice of which the default only leaves the repetition."""
    if len(choice.children) != 2 or choice.reads or choice.writes or choice.named is not None:
        return None
    again, leave = choice.children
    plain = leave.keyword == "else" and not leave.text and not leave.sentences
    if not plain or [child.keyword for child in leave.children] != ["leave"]:
        return None
    if again.keyword != "if" or not (again.text or again.condition):
        return None
    return again._replace(keyword="again")


def _walk_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """All lines of the same scope: not those in parts, and not those of events beside a step."""
    stack = list(lines)
    while stack:
        line = stack.pop()
        yield line
        if line.keyword not in _OWN_SCOPE:
            stack += line.children
        else:
            stack += [child for child in line.children if child.keyword == "on"]


def _walk_branch(lines: Iterable[Line]) -> Iterator[Line]:
    """Like `_walk_lines`, without the events beside a step: their flow is their own."""
    stack = list(lines)
    while stack:
        line = stack.pop()
        yield line
        inner = line.children
        if line.keyword in _OWN_SCOPE:
            inner = tuple(child for child in inner if child.keyword == "on")
        stack += [child for child in inner if child.qualifier != "also"]


def _has_keyword(lines: Iterable[Line], keywords: Sequence[str]) -> bool:
    return any(line.keyword in keywords for line in _walk_lines(lines))


def _has_jumps(lines: Iterable[Line]) -> bool:
    """Whether a flow may not go on behind the lines."""
    return any(line.keyword in ("end", "go to") for line in _walk_branch(lines)) or _leaves_loop(
        lines
    )


def _leaves_loop(lines: Iterable[Line]) -> bool:
    """Whether lines leave a repetition that is around them."""
    stack = list(lines)
    while stack:
        line = stack.pop()
        if line.keyword == "leave":
            return True
        if line.keyword != "repeat" and line.keyword not in _OWN_SCOPE:
            stack += line.children
    return False


def _is_left(line: Line) -> bool:
    """Whether a repetition ends: by its own end, or by `leave:`."""
    if any(child.keyword == "again" and (child.text or child.condition) for child in line.children):
        return True
    return _leaves_loop(line.children)


def _drop_last_end(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Lines without a plain end behind them, where the end is implied."""
    if lines and lines[-1] == Line("end", element=lines[-1].element):
        return lines[:-1]
    return lines


def _name_targets(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Ids for the lines that others go to or wait for, in place of the references to vertices and
    branches; each id is a short form of the line's words."""
    wanted = {
        reference
        for line in _walk_lines(lines)
        for reference in (*((line.text,) if line.keyword == "go to" else ()), *line.after)
    }
    if not wanted:
        return lines
    ids: dict[str, str] = {}
    used: set[str] = set()
    for line in _list_in_order(lines):
        for reference in (line.id, line.element):
            if reference in wanted and reference not in ids:
                ids[reference] = next((ids[r] for r in (line.id, line.element) if r in ids), "")
                ids[reference] = ids[reference] or _short_id(line, used)
    return _replace_references(lines, ids, set())


def _list_in_order(lines: Iterable[Line]) -> Iterator[Line]:
    """All lines of the same scope, as they are printed."""
    for line in lines:
        yield line
        inner = line.children
        if line.keyword in _OWN_SCOPE:
            inner = tuple(child for child in inner if child.keyword == "on")
        yield from _list_in_order(inner)


def _short_id(line: Line, used: set[str]) -> str:
    words = line.text or next((c.text for c in _list_in_order(line.children) if c.text), "")
    base = slug(words, words=3) or line.keyword.replace(" ", "_")
    id, number = base, 2
    while id in used:
        id, number = f"{base}_{number}", number + 1
    used.add(id)
    return id


def _replace_references(
    lines: tuple[Line, ...], ids: dict[str, str], placed: set[str]
) -> tuple[Line, ...]:
    """Lines with ids; each id once, at the first of the lines of its vertex."""
    replaced = []
    for line in lines:
        id = next((ids[r] for r in (line.id, line.element) if r in ids), "")
        if id in placed or line.keyword in ("if", "else", "again"):
            id = ""
        placed.add(id)
        text = ids.get(line.text, line.text) if line.keyword == "go to" else line.text
        after = tuple(ids[reference] for reference in line.after)
        if line.keyword in _OWN_SCOPE:
            events = tuple(c for c in line.children if c.keyword == "on")
            others = tuple(c for c in line.children if c.keyword != "on")
            children = (*others, *_replace_references(events, ids, placed))
        else:
            children = _replace_references(line.children, ids, placed)
        replaced.append(line._replace(id=id, text=text, after=after, children=children))
    return tuple(replaced)
