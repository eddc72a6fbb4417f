"""Names of persons in e-mail addresses (`zsofia.bernath@…`), and mailboxes that belong to no
person."""

from __future__ import annotations

import re
import unicodedata

from orgflow.agents.model_client.given_names import stop_words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FUNCTIONS = _words(
    """
    abuse access account accountant accounting accounts address admin administration advice agency
    alert alerts all application applications archive assistant audit bank billing board bookings
    bot bounce bureau business buying campaign care career careers case central channel claims
    client clients clinic command committee complaints compliance contact control controlling credit
    customer customers data delivery department desk development digest dispatch do docs doctor
    donations editor events everyone export facilities facility feedback finance fleet forms forum
    front general goods group head hello help helpdesk here hostmaster hotel hotline house hr human
    import inbox info information inquiries insurance internal invoice invoices it jobs lab legal
    library list loan loans logistics mail mailer maintenance management manager market marketing
    media member members messages monitoring my news newsletter no noc noreply north not notice
    notification notifications notify office online operations order orders owner parts payable
    payment payments payroll people planning police policy portal post postmaster president press
    privacy process processing procurement production products project projects property purchase
    purchasing quality quotes receivable reception records recruiting recruitment refunds register
    registrar registry relations rent repair repairs reply report reports request requests research
    reservations resources returns root safety sale sales school secretary security server service
    servicedesk services shipping shop site south staff stock store student students supplier
    suppliers supply support survey system systems tax team tech technical test tickets tours trade
    training transport travel treasury treasurer unit update updates user users vendor vendors
    warehouse web webmaster welcome west east work workshop www

    abrechnung abteilung anfrage anfragen ambulanz amt angebot angebote annahme antrag antraege
    auftrag auftraege ausbildung bau bestellung bestellungen betrieb bewerbung bewerbungen
    buchhaltung buchung buero bürger buergerbüro dienst direktion disposition einkauf empfang
    fachbereich filiale finanzen geschäftsstelle haus hausverwaltung hilfe kanzlei karriere kasse
    kontakt kredit kunde kunden kundendienst kundenservice labor lager leitung lieferung logistik
    mahnung mitglieder montage nachricht personal personalabteilung post poststelle praxis presse
    produktion projekt qualität qualitaet rechnung rechnungen rechnungswesen recht rechtsabteilung
    redaktion reklamation reklamationen revision sachbearbeitung schaden schule sekretariat
    sozialamt spedition station stelle steuer technik termine transport verein verkauf versand
    versicherung vertrag vertrieb verwaltung vorstand werk werkstatt zentrale zentrum
    """
)
"""Words of addresses and headers that name the purpose of a mailbox."""
_LOCAL = re.compile(r"(?P<local>[^\W_][\w.+'-]*)@[\w-]")
_LEAST = 3
"""Minimum number of letters of a name that is searched for elsewhere."""


def is_function(word: str) -> bool:
    """Whether a word of an address or a header names the purpose of a mailbox instead of a
    person."""
    low = word.lower()
    return low in _FUNCTIONS or low in stop_words()


def names_in_address(address: str, text: str) -> tuple[str, ...]:
    """The names of the person with this address, capitalised.

    Args:
        text: the text that contains the address; an initial and a last name in one word
            (`xetxeberria@…`) are a name if the text contains the last name.

    Example:
        >>> names_in_address("zsofia.bernath@example.org", "")
        ('Zsofia', 'Bernath')
        >>> names_in_address("order.desk@example.org", "")
        ()
    """
    match = _LOCAL.match(address)
    if match is None:
        return ()
    parts = [part.strip("0123456789") for part in re.split(r"[._+-]+", match["local"].lower())]
    parts = [part for part in parts if part]
    if not parts or any(is_function(part) or not part.isalpha() for part in parts):
        return ()
    if len(parts) > 1:
        return tuple(part.capitalize() for part in parts if len(part) >= _LEAST)
    (alone,) = parts
    written = re.search(rf"(?<![\w@.]){re.escape(alone[1:])}(?![\w@])", text, re.IGNORECASE)
    if len(alone) >= _LEAST + 2 and written is not None and not is_function(alone[1:]):
        return (alone[1:].capitalize(),)
    return ()


def plain_letters(name: str) -> str:
    """A name without accents, as in hasty writing: `Zsofia` for `Zsófia`."""
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
