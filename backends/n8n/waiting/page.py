"""Page: shows a task to whoever has its key, and leads to further tasks of the same person.

The form of a task is a page of n8n, which shows the same empty form whether the task is open or
not. This page says first whether the task is open, shows values that were given before, and links
to the form. The key in the address is the only protection, so it stays out of other pages: no
referrer is sent, and nothing is stored.

Values: a row may name variables in its local variable `shown`; nothing else of the process is
shown, since whoever completes a task need not see all data of the process.
"""

from __future__ import annotations

from typing import Final

from orgflow.backends.n8n.format.document import Workflow, node_uuid
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.respond_to_webhook import page_parameters
from orgflow.backends.n8n.node_types.webhook import NODE as WEBHOOK
from orgflow.backends.n8n.node_types.webhook import open_page
from orgflow.backends.n8n.waiting.rows import MOST_CHANGES
from orgflow.backends.n8n.waiting.rows_code import variables_code
from orgflow.backends.n8n.waiting.workflow_builder import References, WorkflowBuilder

ABOUT = (
    "`GET /webhook/orgflow-task?key=KEY` shows the task with this key: whether it is open, values "
    "that were given before, its form, and further open tasks of the same person."
)

PAGE_PATH: Final = "orgflow-task"
"""The path of the address below `/webhook`."""

SHOWN: Final = "shown"
"""The local variable of a task's row that lists the variables which its page shows."""

_MOST_TASKS: Final = 50
_LONGEST_VALUE: Final = 500

_ESCAPE: Final = (
    r"s=>String(s??'').replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,'')"
    r""".replace(/[&<>"'`]/g,c=>'&#'+c.charCodeAt(0)+';')"""
)
"""JavaScript that makes a text part of a page: no markup, and no characters that turn its
direction."""

_SAFE_LINK: Final = r"l=>/^(https?:\/\/[^\s\\]|\/(?![\/\\]))[^\s\\]*$/i.test(String(l||''))"
"""JavaScript: whether a link leads to a page, and not to a script or to another kind of address."""

_STYLE: Final = (
    "body{font-family:sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color:#222} "
    "dt{color:#666;margin-top:.6rem} dd{margin:0;white-space:pre-wrap;overflow-wrap:anywhere} "
    "a.form{display:inline-block;margin:1rem 0;padding:.6rem 1.2rem;background:#1f5fa8;"
    "color:#fff;text-decoration:none;border-radius:.3rem}"
)


def _page_code() -> str:
    """JavaScript for the status and the text of the page."""
    return (
        f"((t,vs,ts,e,ok)=>{{const there=!!t.id,open=t.state==='open';"
        "const l=JSON.parse(t.local_variables||'{}');"
        f"const names=Array.isArray(l.{SHOWN})?l.{SHOWN}:[];"
        "const text=v=>e((typeof v==='object'?JSON.stringify(v):String(v))"
        f".slice(0,{_LONGEST_VALUE}));"
        "const values=names.filter(n=>Object.hasOwn(vs,n)&&vs[n]!==null)"
        ".map(n=>'<dt>'+e(n)+'</dt><dd>'+text(vs[n])+'</dd>').join('');"
        "const day=d=>e(String(d||'').slice(0,16).replace('T',' '));"
        "const others=ts.filter(o=>o.id&&o.key!==t.key&&there&&t.assignee)"
        ".map(o=>'<li><a href=\"?key='+encodeURIComponent(o.key)+'\">'+e(o.title||o.element)+'</a>'"
        "+(o.due?' (due '+day(o.due)+' UTC)':'')+'</li>').join('');"
        "const link=!t.link||/[?&]key=/.test(t.link)?t.link:"
        "t.link+(t.link.includes('?')?'&':'?')+'key='+encodeURIComponent(t.key);"
        "const what=open?(ok(link)?'<a class=\"form\" href=\"'+e(link)+'\">Open the form</a>'"
        ":'<p>This task is open.</p>')"
        ":['running','ending','done'].includes(t.state)"
        "?'<p>This task has already been answered.</p>':'<p>This task is no longer open.</p>';"
        "const title=e(there?t.title||t.element:'Task');"
        'const html=\'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">'
        f"<title>'+title+'</title><style>{_STYLE}</style></head><body><h1>'+title+'</h1>'"
        "+(open&&t.due?'<p>Due '+day(t.due)+' UTC</p>':'')"
        "+(open&&values?'<dl>'+values+'</dl>':'')+what"
        "+(others?'<h2>Your further tasks</h2><ul>'+others+'</ul>':'')+'</body></html>';"
        "return {status:there?200:404,html} } )"
        f"($('The task').first().json,{variables_code('Changed variables')},"
        f"$('Tasks of the person').all().map(i=>i.json),{_ESCAPE},{_SAFE_LINK})"
    )


def build_page(refers: References, name: str, note: str) -> Workflow:
    """The workflow."""
    builder = WorkflowBuilder("page", refers)
    builder.add_note(note)
    builder.add_node(
        "Task page",
        WEBHOOK.name,
        (0, 0),
        open_page(PAGE_PATH),
        webhookId=node_uuid("orgflow/waiting/page/address"),
    )
    builder.add_get(
        "The task",
        (1, 0),
        (
            ("key", "eq", make_expression("String($json.query.key||'-')")),
            ("kind", "eq", "task"),
            ("state", "neq", "staged"),
        ),
        1,
        after=["Task page"],
    )
    builder.add_get(
        "Changed variables",
        (2, 0),
        (
            ("instance", "eq", make_expression("$json.instance||'-'")),
            ("variables", "neq", "{}"),
            ("live", "eq", "0"),
            ("state", "neq", "cancelled"),
        ),
        MOST_CHANGES,
        after=["The task"],
    )
    builder.add_get(
        "Tasks of the person",
        (3, 0),
        (
            ("kind", "eq", "task"),
            ("state", "eq", "open"),
            ("assignee", "eq", make_expression("$('The task').first().json.assignee||'-'")),
        ),
        _MOST_TASKS,
        after=["Changed variables"],
    )
    builder.add_fields(
        "Write the page", (4, 0), _page_code(), after=["Tasks of the person"], executeOnce=True
    )
    builder.add_node(
        "Show the page",
        "respondToWebhook",
        (5, 0),
        page_parameters(make_expression("$json.status"), make_expression("$json.html")),
        after=["Write the page"],
    )
    return builder.build_workflow(name)
