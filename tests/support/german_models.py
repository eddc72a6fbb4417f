"""Processes with German names, for corpora in German."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

PROCESSES: dict[str, Sequence[str]] = {
    "rechnung": (
        "Rechnung erfassen", "Betrag prüfen", "Rechnung freigeben", "Zahlung anweisen",
        "Beleg ablegen",
    ),
    "urlaub": (
        "Urlaub beantragen", "Resturlaub prüfen", "Vertretung festlegen",
        "Urlaubsantrag genehmigen", "Kalender aktualisieren",
    ),
    "reklamation": (
        "Reklamation aufnehmen", "Ware begutachten", "Kunden informieren", "Ersatz versenden",
        "Gutschrift erstellen",
    ),
    "einstellung": (
        "Stelle ausschreiben", "Bewerbungen sichten", "Gespräch führen", "Angebot schreiben",
        "Vertrag unterschreiben",
    ),
    "wartung": (
        "Störung melden", "Techniker beauftragen", "Ersatzteil bestellen", "Maschine reparieren",
        "Protokoll erstellen",
    ),
    "kredit": (
        "Kreditantrag annehmen", "Bonität prüfen", "Sicherheiten bewerten", "Konditionen festlegen",
        "Kredit auszahlen",
    ),
}  # fmt: skip
"""Tasks by process; the third and the fourth are a choice."""


def write_models(folder: Path) -> list[str]:
    """Flowcharts of all processes; their paths."""
    paths = []
    for name, (first, second, third, fourth, last) in PROCESSES.items():
        text = (
            f"flowchart TD\n  s([Start]) --> a[{first}]\n  a --> b[{second}]\n  b --> x{{Und?}}\n"
            f"  x -->|ja| c[{third}]\n  x -->|nein| d[{fourth}]\n  c --> e[{last}]\n"
            f"  d --> e\n  e --> f([Ende])\n"
        )
        path = folder / f"{name}.mmd"
        path.write_text(text, "utf-8")
        paths.append(str(path))
    return paths
