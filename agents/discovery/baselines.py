"""The baselines of discovery, as published: one call over all messages, and one call for each
cluster of K-Means. Both save processes of the same schema as the agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from orgflow.agents.discovery.described import UnusableProcess, read_saved
from orgflow.agents.discovery.discover import Discovery
from orgflow.agents.discovery.growing import Known, build_process
from orgflow.agents.discovery.toolbox import Toolbox, pick_evenly
from orgflow.agents.discovery.traits import Traits, traits_of
from orgflow.agents.model_client.answer_reading import UnreadableAnswer, read_json
from orgflow.agents.model_client.usage import Expected, estimate_tokens
from orgflow.agents.prompting import render_prompt

from orgflow_ir.model.message import Message
from orgflow_ir.pipeline.agent_services import Embedder, ModelClient

CLUSTER_MESSAGES = 30
"""Number of messages of a cluster that are shown: those nearest to its centre."""

PROMPT_TOKENS = 100_000
"""Maximum length of the prompt of one call over all messages; beyond it, an even sample is
shown."""

_ANSWER = 1_000
"""Tokens of an answer, for estimates: some processes with their messages."""

ROUNDS = 50
"""Maximum number of iterations of K-Means, which usually converges in fewer."""


def discover_in_one_call(
    messages: Sequence[Message],
    embedder: Embedder,
    client: ModelClient,
    *,
    prompt_tokens: int = PROMPT_TOKENS,
) -> Discovery:
    """The processes that a model names after seeing all messages at once.

    Raises `ServiceError`, `OverBudget`, `Cancelled` like the client.
    """
    traits = traits_of(messages, embedder)
    places = range(len(traits.messages))
    tools = Toolbox(traits, None, embedder, (), (), "")
    sizes = [estimate_tokens([tools.whole(place)]) for place in places]
    most = int(prompt_tokens / (sum(sizes) / len(sizes))) if sizes else 0
    return _build_discovery(
        traits,
        _ask_about_messages(traits, pick_evenly(places, most), embedder, client, cluster=False),
    )


def discover_by_clusters(
    messages: Sequence[Message],
    embedder: Embedder,
    client: ModelClient,
    *,
    clusters: int,
    seed: int = 0,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> Discovery:
    """The processes that a model names after seeing each cluster of K-Means over the meaning of
    messages.

    Args:
        clusters: their number; the published baseline is given the true number of processes.
        seed: determines the first centres.

    Raises `ServiceError`, `OverBudget`, `Cancelled` like the client.
    """
    traits = traits_of(messages, embedder)
    vectors: Any = np.array(embedder.embed([m.text for m in traits.messages]), np.float32)
    labels, centres = cluster_by_k_means(vectors, clusters, seed)
    known: list[Known] = []
    for number, centre in enumerate(centres):
        progress(number, len(centres), "clusters")
        own = np.flatnonzero(labels == number)
        near = own[np.argsort(-(vectors[own] @ centre), kind="stable")][:CLUSTER_MESSAGES]
        known += _ask_about_messages(
            traits, sorted(int(p) for p in near), embedder, client, cluster=True
        )
    return _build_discovery(traits, known)


def expected_baseline(messages: Sequence[Message], calls: int) -> Expected:
    """The approximate usage of a baseline with this number of calls: a sample or a cluster of the
    messages each."""
    texts = [message.text for message in messages]
    rules = estimate_tokens(
        [
            render_prompt("discover_baseline"),
            render_prompt("discover_all", messages="", left_out=0, one=False),
        ]
    )
    read = min(estimate_tokens(texts), PROMPT_TOKENS * calls)
    return Expected(calls, rules * calls + read, calls * _ANSWER, calls)


def cluster_by_k_means(vectors: Any, clusters: int, seed: int) -> tuple[Any, Any]:
    """The cluster of each row, and the centres (Lloyd's algorithm; first centres as k-means++,
    Arthur and Vassilvitskii 2007)."""
    count = len(vectors)
    clusters = max(1, min(clusters, count))
    rng = np.random.default_rng(seed)
    centres = vectors[[int(rng.integers(count))]] if count else vectors
    nearest: Any = np.full(count, np.inf)
    while len(centres) < clusters:
        nearest = np.minimum(nearest, ((vectors - centres[-1]) ** 2).sum(1))
        if not nearest.sum():  # fewer different rows than clusters
            break
        chosen = int(rng.choice(count, p=nearest / nearest.sum()))
        centres = np.vstack([centres, vectors[chosen]])
    labels = np.zeros(count, int)
    for _ in range(ROUNDS):
        distances = (vectors**2).sum(1)[:, None] - 2 * vectors @ centres.T + (centres**2).sum(1)
        nearest_centres = distances.argmin(1)
        moved = np.array(
            [vectors[nearest_centres == n].mean(0) if (nearest_centres == n).any() else centre
             for n, centre in enumerate(centres)]
        )  # fmt: skip
        if (nearest_centres == labels).all() and np.allclose(moved, centres):
            break
        labels, centres = nearest_centres, moved
    return labels, centres


def _ask_about_messages(
    traits: Traits, places: Sequence[int], embedder: Embedder, client: ModelClient, *, cluster: bool
) -> list[Known]:
    """The processes of one answer; one that cannot be used is left out."""
    if not places:
        return []
    tools = Toolbox(traits, None, embedder, (), (), "")
    shown = "\n".join(tools.whole(place) for place in places)
    left_out = 0 if cluster else len(traits.messages) - len(places)
    prompt = render_prompt("discover_all", messages=shown, left_out=left_out, one=cluster)
    reply = client.ask(
        [{"role": "system", "content": render_prompt("discover_baseline")},
         {"role": "user", "content": prompt}]
    )  # fmt: skip
    try:
        value = read_json(reply.text).value
    except UnreadableAnswer:
        return []
    given = value.get("processes") if isinstance(value, dict) else value
    known = []
    for entry in given if isinstance(given, list) else [value]:
        try:
            saved = read_saved(entry, tools.shown)
        except UnusableProcess:
            continue
        process = Known(saved.name, saved.description, saved.trigger, saved.goal)
        process.add(saved, saved.cited, embedder)
        known.append(process)
    return known


def _build_discovery(traits: Traits, known: Sequence[Known]) -> Discovery:
    """The processes with their cited messages as one case each; a message that several cite is the
    first one's."""
    taken: set[int] = set()
    processes = []
    for number, process in enumerate(known, 1):
        process.cases = [[p for p in process.cases[0] if p not in taken]]
        taken.update(process.cases[0])
        processes.append(build_process(process, f"process_{number}", traits))
    kept = tuple(process for process in processes if process.cases[0])
    noise = tuple(m.id for place, m in enumerate(traits.messages) if place not in taken)
    return Discovery(kept, noise)
