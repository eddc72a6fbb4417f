"""The language of messages, and what discovery does with others than English."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from german_models import write_models
from orgflow import cli
from orgflow.agents.discovery.discover import describe_processes, find_message_phrases
from orgflow.agents.discovery.traits import traits_of
from orgflow.agents.language.identification import identify_language, identify_languages
from orgflow.evaluation.corpus.english import ENGLISH
from orgflow.evaluation.corpus.german import GERMAN
from orgflow.evaluation.corpus.language import Language
from orgflow.store.embedder import HashedWords
from small_corpus import corpus

from orgflow_ir.filling.evidence_check import check_evidence
from orgflow_ir.model import Model
from orgflow_ir.model.message import Message, Person
from orgflow_ir.pipeline import PassContext

RECHNUNG = """flowchart TD
  a([Start]) --> b[Rechnung erfassen]
  b --> c[Betrag prüfen]
  c --> d[Rechnung freigeben]
  d --> e[Zahlung anweisen]
  e --> f[Beleg ablegen]
  f --> g([Ende])
"""
URLAUB = """flowchart TD
  a([Start]) --> b[Urlaub beantragen]
  b --> c[Resturlaub prüfen]
  c --> d[Vertretung festlegen]
  d --> e[Urlaubsantrag genehmigen]
  e --> f[Kalender aktualisieren]
  f --> g([Ende])
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Could you please look at the invoice before we send it?", "en"),
        ("Die Rechnung ist noch nicht bezahlt, bitte prüfen Sie das.", "de"),
        ("Bonjour, la facture n'est pas encore payée, merci de vérifier avec votre banque.", "fr"),
        ("Hola, la factura no está pagada. ¿Puede usted revisar por favor?", "es"),
        ("Ciao, la fattura non è ancora stata pagata, grazie del controllo.", "it"),
        ("De factuur is nog niet betaald, kan je dat graag voor mij nakijken?", "nl"),
        ("Olá, a fatura ainda não foi paga, você pode verificar com o banco?", "pt"),
        ("Dzień dobry, faktura nie jest jeszcze opłacona, proszę o kontakt.", "pl"),
        ("Hej, fakturan är inte betald ännu, kan du kolla det?", "sv"),
        ("Добрый день, счёт ещё не оплачен.", "Cyrillic script"),
        ("請求書をお送りします。", "Japanese"),
        ("ok 42", ""),
        ("", ""),
    ],
)
def test_languages_are_told_apart(text: str, expected: str) -> None:
    assert identify_language(text) == expected


@pytest.mark.parametrize("one", [ENGLISH, GERMAN], ids=["en", "de"])
def test_no_sentence_is_taken_for_another_language(one: Language) -> None:
    texts = [*one.requests, *one.reports, *one.answers, *one.details, *one.talk, *one.replies]
    found = [identify_language(text) for text in texts]
    assert sum(code not in ("", one.code) for code in found) <= len(texts) * 0.03
    assert sum(code == one.code for code in found) >= len(texts) * 0.45


def test_short_messages_are_in_the_language_of_their_thread() -> None:
    def message(id_: str, sender: str, thread: str, body: str) -> Message:
        return Message(id_, None, "email", Person(sender), thread=thread, body=body)

    found = identify_languages([
        message("1", "Ann", "t", "Die Rechnung ist noch nicht da, bitte um Prüfung."),
        message("2", "Bob", "t", "ok"),
        message("3", "Ann", "", "ok"),
        message("4", "Eve", "", "Please have a look at the new invoice, it is not right."),
        message("5", "Eve", "", "ok"),
    ])  # fmt: skip
    assert found == ["de", "de", "de", "en", "en"]


@pytest.mark.slow
def test_other_languages_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("rechnung", RECHNUNG), ("urlaub", URLAUB)):
        (tmp_path / f"{name}.mmd").write_text(text, "utf-8")
    models = [str(tmp_path / f"{name}.mmd") for name in ("rechnung", "urlaub")]
    out, store = tmp_path / "corpus", str(tmp_path / "store")
    assert cli.run(["synth", *models, "-o", str(out), "--language", "de"]) == 0
    messages, _ = corpus()
    lines = [
        {"id": m.id, "date": str(m.date), "sender": m.sender and m.sender.name, "body": m.body}
        for m in messages
    ]
    (out / "english.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert cli.run(["ingest", str(out), "--store", store]) == 0
    capsys.readouterr()
    assert cli.run(["discover", store]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "messages are not in English" in said
    assert "in German" in said


@pytest.mark.parametrize(
    ("titles", "text", "steps"),
    [
        (("Commande", "Livraison", "Facture"), "Merci de vous occuper de la {} pour nous.",
         ("Commande", "Livraison", "Facture")),
        (("Bestellung", "Lieferung", "Rechnung"), "Bitte die {} noch heute für uns prüfen, danke.",
         ("Bestellung prüfen", "Lieferung prüfen", "Rechnung prüfen")),
    ],
    ids=["fr", "de"],
)  # fmt: skip
def test_without_a_parser_steps_are_verbs_in_german_and_subjects_elsewhere(
    titles: tuple[str, ...], text: str, steps: tuple[str, ...]
) -> None:
    people = (Person("Anke (Einkauf)"), Person("Uwe (Lager)"))
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    messages = [
        Message(f"{case}-{number}", start + timedelta(days=30 * case, hours=number), "email",
                people[number % 2], (people[1 - number % 2],), f"Re: AB-7{case}: {title}",
                text.format(title), thread=f"{case}")
        for case in range(2)
        for number, title in enumerate(titles)
    ]  # fmt: skip
    embedder = HashedWords()
    traits = traits_of(messages, embedder)
    cases = [[0, 1, 2], [3, 4, 5]]
    (found,) = describe_processes(
        traits, cases, [[0, 1]], find_message_phrases(traits, cases), embedder
    ).processes
    assert found.steps == steps
    ctx = PassContext()
    texts = {m.id: m.text for m in messages}
    model = Model(id="m", processes=(found.process,))
    check_evidence(model, texts.get, ctx)
    assert ctx.diagnostics == []


@pytest.mark.slow
def test_a_german_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Six processes with German names, 192 messages: what is found is much more than by chance, and
    steps are named in the words of the people though nothing parses German."""
    models = write_models(tmp_path)
    out, store = tmp_path / "corpus", str(tmp_path / "store")
    assert cli.run(["synth", *models, "-o", str(out), "--language", "de", "--scenarios", "4"]) == 0
    assert cli.run(["ingest", str(out / "messages.jsonl"), "--store", store]) == 0
    capsys.readouterr()
    assert cli.run(["eval", "discovery", store, str(out / "truth.json")]) == 0
    table = capsys.readouterr().out
    discovered, by_chance = {}, {}
    for line in table.splitlines():
        name, *figures = re.split(r" {2,}", line.split("(")[0].strip())
        if name in ("v measure", "noise f1", "step recall"):
            discovered[name] = float(figures[0].split()[0])
            by_chance[name] = float(re.findall(r"\d\.\d+", line)[-3])
    assert discovered["v measure"] >= 0.8, table
    assert discovered["noise f1"] >= 0.75, table
    assert discovered["step recall"] >= 0.45, table
    assert by_chance["step recall"] <= discovered["step recall"] / 2, table
