"""Phrases of German messages: object and verb by word forms and order."""

from __future__ import annotations

import pytest
from orgflow.agents.language.german_phrases import find_german_phrases


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Der Antrag ist eingegangen, Aktenzeichen 12.", "Antrag erhalten"),
        ("Bitte reichen Sie die Berechnung der Flächen bis Montag nach.", "Berechnung nachreichen"),
        ("die Freigabe 77 ist erteilt, Sie dürfen anfangen.", "Freigabe erteilen"),
        ("Wir bitten Sie, den Vertrag zu unterschreiben.", "Vertrag unterschreiben"),
        ("Das Formular ist noch auszufüllen.", "Formular ausfüllen"),
        ("Ich prüfe die Rechnung morgen.", "Rechnung prüfen"),
        ("Könnten Sie bitte den Lieferschein einscannen?", "Lieferschein einscannen"),
        ("Die Rechnung liegt bei.", "Rechnung senden"),
        ("Anbei unsere Rechnung zu dem Auftrag.", "Rechnung senden"),
        ("Haben Sie das Ventil bestellt?", "Ventil bestellen"),
        ("Die Pumpe wurde gestern mit dem Kran ausgetauscht.", "Pumpe austauschen"),
        ("Die Abrechnung für März stelle ich heute aus.", "Abrechnung ausstellen"),
        ("Der Urlaubsantrag von Frau Müller ist zu genehmigen.", "Urlaubsantrag genehmigen"),
        ("Das Gerät ist repariert.", "Gerät reparieren"),
        ("Wir haben die Unterlagen an das Labor verschickt.", "Unterlagen verschicken"),
        ("Ich habe den Wagen beim Händler gefeiert.", "Wagen feiern"),
    ],
)
def test_object_and_verb(text: str, name: str) -> None:
    (found,) = find_german_phrases([text], {"meyer"})
    assert [phrase.name for phrase in found[:1]] == [name]
    begin, end = found[0].span
    assert text[begin:end] == found[0].sentence


def test_a_report_without_an_object_is_about_the_subject() -> None:
    (found,) = find_german_phrases(["Genehmigt!"], set(), ["Urlaubsantrag Meyer"])
    assert [phrase.name for phrase in found] == ["Urlaubsantrag genehmigen"]


def test_verbs_that_share_an_object() -> None:
    (found,) = find_german_phrases(["Die Pumpe wurde ausgetauscht und getestet."], set())
    assert {phrase.name for phrase in found} == {"Pumpe austauschen", "Pumpe testen"}


@pytest.mark.parametrize(
    "text",
    [
        "Alles Gute zum Geburtstag!",
        "Der Vermieter ist einverstanden.",
        "Der Preis ist wie besprochen.",
        "Danke, bis morgen.",
        "Wie geht es dem Hund?",
        "Die Zufahrt ist breit genug.",
        "Wir haben das Haus gesehen.",
        "Am Montag bin ich nicht im Büro.",
    ],
)
def test_what_says_nothing_of_what_is_done(text: str) -> None:
    assert find_german_phrases([text], set()) == [[]]


def test_what_is_not_done_or_only_supposed_counts_for_less() -> None:
    (done,), (not_done,), (supposed,) = find_german_phrases(
        [
            "Wir haben die Ware erhalten.",
            "Wir haben die Ware noch nicht erhalten.",
            "Wenn wir die Ware erhalten haben, geht es los.",
        ],
        set(),
    )
    assert done.name == not_done.name == "Ware erhalten"
    assert done.score > max(not_done.score, supposed.score)


def test_names_of_people_are_no_things() -> None:
    (found,) = find_german_phrases(["Ich habe gestern Meyer bestellt."], {"meyer"})
    assert found == []
