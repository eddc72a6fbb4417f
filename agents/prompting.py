"""Prompts: templates in `prompts/`, and texts of documents, fenced so that they remain data."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orgflow_ir.lazy_modules import LazyModule

if TYPE_CHECKING:
    import jinja2
else:  # when a prompt is filled: importing jinja2 takes longer than a small compile
    jinja2 = LazyModule("jinja2")

_FOLDER = Path(__file__).resolve().parent / "prompts"
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def render_prompt(name: str, **values: Any) -> str:
    """The prompt `name` with values; the same text for the same values.

    Raises `jinja2.TemplateError` if a value is missing, which is an internal error.
    """
    text: str = _load_templates().get_template(f"{name}.j2").render(**values)
    return text.strip() + "\n"


def list_prompt_blocks(name: str) -> dict[str, str]:
    """The texts of the named blocks of the prompt `name`, in their order."""
    template = _load_templates().get_template(f"{name}.j2")
    context = template.new_context()
    return {block: "".join(render(context)).strip() for block, render in template.blocks.items()}


@cache
def _load_templates() -> Any:
    """The templates; Jinja is heavy, so that the first prompt loads it."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # a prompt is no page
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["fenced"] = fence_text
    return environment


def fence_text(text: str, title: str = "document") -> str:
    """A text between two lines that it cannot contain, since they include its hash. Invisible
    characters (control, bidirectional, tags) are removed.

    Example:
        >>> print(fenced("We ship it.", "mail 7"))
        ----- begin mail 7 302e95d77fc3 -----
        We ship it.
        ----- end mail 7 302e95d77fc3 -----
    """
    plain = visible_text(text)
    mark = hashlib.sha256(plain.encode()).hexdigest()[:12]
    name = " ".join(re.sub(r"[^\w .-]", " ", title).split()) or "document"
    return f"----- begin {name} {mark} -----\n{plain.strip()}\n----- end {name} {mark} -----"


def visible_text(text: str) -> str:
    """The text without invisible characters; line ends are line feeds."""
    return _HIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
