"""The wordings of the referee corpora of `terse_mails`: other organisations, English and German."""

# ruff: noqa: E501 - wordings in one piece each
# fmt: off

from __future__ import annotations

from terse_words import Kind, Task

ENGLISH_REFEREE = (
    Kind("Handle ship call",
         {"A": "Port Agent", "M": "Master", "H": "Harbour Office", "T": "Terminal Planner", "C": "Chandler"},
         ("MV Corvina", "the Astrid Bay", "MT Sula", "the Nordlys", "MV Palmetto"),
         ("{thing}", "{thing} ETA {day}", "call {n}", "berth"), (
        Task("Announce arrival", 1, (
            "M>A | ETA pilot station {day} 0600, draft {few}.4 m, two passengers. | Slowed down by weather, expect us {day} late. | {thing} inbound, all well on board.",
            "A>H | Herewith the notice for {thing}, voyage {n}. | {thing} due {day}, crew list and last ten ports follow.",
        )),
        Task("Assign berth", 1, (
            "H>A | Number {few} is yours from noon, call {n}. | {thing} goes to the east quay, tugs at five. | No room before {day}, anchor till then.",
            "A>M | You get quay {few}, pilot boards at the buoy. | Please anchor, they are full until {day}.",
        )),
        Task("Discharge cargo", 1, (
            "A>T | How many gangs for {thing}? {m} tonnes of rape. | Shore crane or ship's gear for call {n}?",
            "T>A | Two gangs, rain stops us though. | Hold {few} empty, the rest by {day}. | All out at 2140, tally {m}.",
        )),
        Task("Supply ship", 0.6, (
            "M>A | Short of eggs, paint and a rescue boat battery. | We want fresh water, {few}0 tonnes, and bonded stores.",
            "A>C | List for {thing} below, alongside by {day}. | Please deliver to the gangway, ref {n}.",
            "C>A | On the quay, mate has signed. | No paint in that shade, grey sent.",
        )),
        Task("Clear ship outwards", 1, (
            "A>H | {thing} ready to sail, papers with you? | Departure {day}, dues of {money} are settled.",
            "H>A | Cleared, fair winds. | Missing the waste receipt for {n}.",
        )),
        Task("Settle disbursement account", 1, (
            "A>M | Statement {m} for {thing}, {money} in all, vouchers within. | Please have owners remit {money} for call {n}.",
            "M>A | Owners have wired it. | What is the {money} for mooring men about?",
        )),
    )),
    Kind("Appeal exam grade",
         {"S": "Student", "O": "Exams Office", "L": "Lecturer", "R": "Second Reader"},
         ("organic chemistry", "statics II", "the seminar on Kant", "labour law", "linear algebra"),
         ("{thing}", "my mark in {thing}", "case {n}", "question about my paper"), (
        Task("Lodge appeal", 1, (
            "S>O | I got {few} points for {thing} and can't believe it. What can I do? | My answer to question {few} was not marked at all. | I would like to contest my result in {thing}, matriculation {n}.",
            "O>S | We have opened case {n}. You hear from us by {day}. | You are two days late but we let it through, {n}.",
        )),
        Task("Inspect script", 1, (
            "O>S | You may look at your script on {day}, room {few}. | Come with your card at nine, no photos.",
            "S>O | Seen it, page four was never read! | I looked through it, my sum was right.",
        )),
        Task("Obtain lecturer statement", 1, (
            "O>L | Student disputes {thing}, file {n}. Your view please? | {n}: what do you say to question {few}?",
            "L>O | The sketch is missing, I stick to my marks. | Fair point, I added two points. | He copied the formula wrong, see margin.",
        )),
        Task("Arrange second marking", 0.7, (
            "O>R | Would you take a blind look at {n}? Script in the tray. | Needs a fresh pair of eyes, {thing}, until {day}.",
            "R>O | I come to {few}8, so a pass. | Same mark as the first. | Half a grade better, comments on a sheet.",
        )),
        Task("Decide on appeal", 1, (
            "O>S | The board met, your mark goes up to {few}. | {n}: we regret, the grade stands. | Your complaint was upheld, new transcript next week.",
            "S>O | Thank you so much! | Then I'll see a lawyer. | OK, thanks for trying.",
        )),
    )),
    Kind("Allocate flat",
         {"T": "Tenancy Desk", "A": "Applicant", "C": "Caretaker", "B": "Allocation Board"},
         ("Mill Lane 4", "the two-bed over the bakery", "Weir House 12", "the ground floor at Tanner Row", "flat 31 in the tower"),
         ("{thing}", "home for us?", "list number {n}", "viewing"), (
        Task("Register application", 1, (
            "A>T | We are five in two rooms, please put us down for something bigger. | Is {thing} still free? I earn {money} a month.",
            "T>A | You're on the list as {n}. | Got your form, the payslips are missing, {n}.",
        )),
        Task("View flat", 1, (
            "T>C | Can you let number {n} into {thing} on {day}? | Someone wants to look round {thing}, keys with you?",
            "C>T | Showed them round, they measured for a piano. | Nobody turned up at {thing}.",
            "A>T | We love it, the light! | Too damp for my chest, sorry.",
        )),
        Task("Vote on allocation", 1, (
            "T>B | {n} or the couple for {thing}? Points are equal. | Proposal for {thing}: {n}, family of five.",
            "B>T | {few} in favour, one abstained. | The family, clearly. | Not with those arrears.",
        )),
        Task("Sign lease", 1, (
            "T>A | Good news, {thing} is yours, come and sign {day}. | Two copies of the lease, deposit {money}.",
            "A>T | Signed, deposit went out today. | May we paint it yellow?",
        )),
        Task("Hand over keys", 1, (
            "C>T | Keys gone, meters read {m}. | {thing} handed over, a scratch on the bath noted. | Three keys given, cellar as well.",
            "A>T | Moved in, heating makes a noise. | Thank you for everything!",
        )),
    )),
    Kind("Recall beer batch",
         {"Q": "Brewery Lab", "B": "Brewmaster", "W": "Wholesale Desk", "P": "Pub Landlord", "I": "Food Inspector"},
         ("the amber ale", "Old Heron stout", "the wheat from tank 9", "winter bock", "the low-alcohol lager"),
         ("{thing}", "lot {n}", "something off with {thing}", "bottles"), (
        Task("Report defect", 1, (
            "P>W | {thing} tastes of vinegar, three guests left theirs. | Caps on {thing} hiss, one burst. | Splinters in a bottle of {thing}, lot {n}!",
            "W>Q | Grumbles about {n}, {few} pubs so far. | Please look at lot {n}, {thing}.",
        )),
        Task("Analyse sample", 1, (
            "Q>B | Lactic bugs in {n}, plate count {m}. | Glass from the rinser, I fear, {n}. | Kept bottles of {n} are flat as well.",
            "B>Q | Check the neighbours of that lot too. | How sure are you?",
        )),
        Task("Decide on recall", 1, (
            "B>W | We take {n} back, everything since {day}. | Stop {thing} at once, nothing leaves the yard.",
            "W>B | That's {m} crates. | Who tells the chains?",
        )),
        Task("Notify authority", 0.7, (
            "B>I | We must tell you about lot {n}, glass possible. | Voluntary withdrawal of {thing}, details in the annex.",
            "I>B | Received, we come by on {day}. | Send the delivery list for {n}.",
        )),
        Task("Collect bottles", 1, (
            "W>P | Please put {thing} aside, lorry comes {day}. | Don't sell {n}, you get it credited.",
            "P>W | {few} crates waiting in the cellar. | Sold out already, sorry. | Gone with your driver this morning.",
        )),
        Task("Destroy stock", 0.8, (
            "W>B | All {m} crates went down the drain, witness was there. | Poured away, glass to the bank.",
            "B>W | Good, close the book on {n}. | What did it cost us?",
        )),
    )),
    Kind("Award small grant",
         {"G": "Grants Officer", "A": "Club", "T": "Trustee", "F": "Treasurer"},
         ("the skate ramp", "a minibus for the choir", "raised beds at the school", "the chess set for the home", "the allotment shed"),
         ("{thing}", "your request {n}", "money for {thing}", "trustees"), (
        Task("Receive proposal", 1, (
            "A>G | We dream of {thing}, could you chip in {money}? | Please find our wish for {thing}, two quotes with it.",
            "G>A | Logged as {n}, the next meeting is on {day}. | Sounds fun. Who will look after it later?",
        )),
        Task("Assess proposal", 1, (
            "G>T | {n}: solid club, {money} for {thing}. Your thoughts? | One more for the pile, {thing}.",
            "T>G | I like it, but the quote is steep. | Reaches forty kids, high on my list. | Who insures that?",
        )),
        Task("Approve grant", 1, (
            "T>G | Carried, {money}, with one against. | Yes to {n}, half now and half later. | Not this year.",
            "G>A | Wonderful news about {thing}: {money}! | Your {n} went through, terms overleaf.",
        )),
        Task("Pay grant", 1, (
            "G>F | {money} to the club for {n}, IBAN in the file. | Please send out the first half for {thing}.",
            "F>G | Left the bank today. | Wrong IBAN, bounced.",
        )),
        Task("Review use of funds", 0.8, (
            "G>A | Could you show us what became of the {money}? | Receipts for {n} by {day} please.",
            "A>G | Pictures and bills within, kids are thrilled. | It cost less, we return {money}.",
        )),
    )),
    Kind("Stage guest performance",
         {"P": "Programme Manager", "C": "Company Manager", "S": "Stage Technician", "B": "Box Office"},
         ("the puppet Hamlet", "Circus Lumo", "the clog dancers", "a one-woman Medea", "the Baltic choir"),
         ("{thing}", "{thing} in spring", "gig {n}", "house"), (
        Task("Negotiate contract", 1, (
            "P>C | We'd love {thing} on {day}, fee of {money}? | What would {thing} cost for two nights?",
            "C>P | {money} plus hotel and we're in. | Only one night, then Ghent. | Deal, papers to follow, {n}.",
        )),
        Task("Check technical rider", 1, (
            "C>S | We hang {few} points at 300 kilos, is your grid up to it? | Rider for {n}: dance floor, haze, no dimmers.",
            "S>C | Grid takes it, haze needs the fire watch. | Proscenium is a metre too narrow for {thing}.",
        )),
        Task("Sell tickets", 1, (
            "P>B | {thing} goes live {day}, top price {few}0. | Put up {n}, hold the front row.",
            "B>P | {m} gone in an hour! | Slow, shall we do two for one? | Full house but for the gods.",
        )),
        Task("Set up stage", 1, (
            "S>P | In at eight, focused by five, one lamp blew. | {thing} is rigged, waiting for the floor.",
            "P>S | Get-out must be done by midnight. | Thanks, watch the trap door.",
        )),
        Task("Settle box office", 1, (
            "B>P | Takings {money}, {few} comps. | {n}: {m} in the till, card slips attached.",
            "P>C | Your share is {money}, on its way. | Statement for {thing} enclosed. See you again?",
        )),
    )),
)
"""Six processes of six organisations."""

TALK_ENGLISH_REFEREE = (
    ("There's a wasp nest above bay two, mind your heads.",),
    ("Anyone for a run at lunch?", "My knee says no.", "Me, slowly."),
    ("Out today with a sick child, back {day} I hope.", "Get well soon to the little one."),
    ("Grandpa's allotment has too many courgettes, help yourselves.", "Took three, thanks!"),
    ("Whose alarm has been going off since seven?", "Sorry, mine."),
    ("Our webinar starts in one hour: five myths about cloud backup.",),
    ("Last chance: early bird rates end {day}.",),
    ("Your subscription renews soon, nothing to do.",),
    ("The printer on two eats paper again.", "Kick it on the left."),
    ("Secret Santa draw is in the tea room.", "Is there a limit?"),
    ("Could somebody lend me {few} pounds for the meter?", "On your desk."),
    ("Bus strike on {day}, plan ahead.",),
    ("He has retired at last. Drinks from four!", "Wouldn't miss it."),
    ("Yoga is cancelled this week.",),
    ("Does the fridge smell or is it me?", "It's the cheese from May."),
    ("We value your opinion, rate your last parcel.",),
    ("Found a set of car keys with a felt owl.", "That's my owl!"),
    ("I am away until {day}. Mails are not forwarded.",),
    ("Crossword, seven letters, sea bird?", "Pelican.", "Fits!"),
    ("New mugs have come, one each please.",),
)
"""Exchanges that belong to no process."""

GERMAN_REFEREE = (
    Kind("Hund vermitteln",
         {"P": "Tierpflegerin", "I": "Interessent", "L": "Tierheimleitung", "T": "Tierärztin"},
         ("der Dackel Moritz", "die alte Senta", "der Welpe aus Zwinger 3", "die Hündin vom Rastplatz", "der blinde Bobby"),
         ("{thing}", "Anfrage {n}", "Hund", "Unser neues Familienmitglied?"), (
        Task("Anfrage beantworten", 1, (
            "I>P | Ist {thing} noch zu haben? Wir haben Garten und Kinder. | Meine Frau hat sich in {den} verguckt.",
            "P>I | Noch frei, braucht aber viel Auslauf. | Gern, Ihre Nummer bei uns ist {n}. Wie lange wäre er allein?",
        )),
        Task("Kennenlernen vereinbaren", 1, (
            "P>I | Kommen Sie am {day} um {few}, bitte feste Schuhe. | {day} nachmittags wäre ruhig, passt das?",
            "I>P | Wir waren da, ein Traum! | Passt, wir bringen die Kinder mit. | Er hat geknurrt, war aber sonst lieb.",
        )),
        Task("Zuhause prüfen", 0.7, (
            "L>I | Unsere Ehrenamtliche schaut am {day} bei Ihnen vorbei. | Dürfen wir uns die Wohnung ansehen?",
            "P>L | Zaun ist hoch genug, Vermieter einverstanden. | War dort bei {n}: viele Treppen, sonst in Ordnung.",
        )),
        Task("Hund untersuchen", 0.8, (
            "L>T | Bitte {den} einmal durchchecken und impfen. | Könnten Sie bei {dem} noch die Zähne machen?",
            "T>L | Gechippt und geimpft, Herz leise Geräusche. | Alles gesund, {few} Kilo zu viel. Rechnung {m}.",
        )),
        Task("Vertrag unterschreiben", 1, (
            "L>I | Schutzvertrag ist vorbereitet, Gebühr {money} Euro. | Wenn Sie am {day} kommen, machen wir alles fertig, {n}.",
            "I>L | Unterschrieben und bezahlt, wir sind so glücklich. | Heute abgeholt, schläft schon auf dem Sofa.",
        )),
        Task("Nachkontrolle durchführen", 0.6, (
            "P>I | Wie geht es {dem}? Ich käme am {day} vorbei. | Kurzer Besuch zur Nachschau, passt Ihnen {day}?",
            "I>P | Frisst für zwei, kommen Sie gern. | Leider zieht er an der Leine.",
        )),
    )),
    Kind("Druckauftrag abwickeln",
         {"K": "Werbeabteilung", "B": "Kundenberater", "V": "Vorstufe", "D": "Drucker", "F": "Fahrdienst"},
         ("das Winzerheft", "der Messeflyer", "die Speisekarte", "der Bildband", "das Plakat A1"),
         ("{thing}", "{n}", "Auflage", "Angebot {thing}"), (
        Task("Angebot erstellen", 1, (
            "K>B | Was kostet {thing}, {few}000 Stück, matt? | Bräuchten bis {day} einen Preis für {den}.",
            "B>K | {money} Euro netto, auf Bilderdruck. | Angebot {n} anbei, Papier ist teurer geworden.",
        )),
        Task("Druckdaten prüfen", 1, (
            "K>V | Daten liegen auf dem Server, Ordner {n}. | Hier die neue Datei, die alte bitte wegwerfen.",
            "V>K | Schriften fehlen, Anschnitt auch. | Bild auf Seite {few} ist zu grob. | Jetzt sauber.",
        )),
        Task("Druck freigeben", 1, (
            "V>K | Der Proof geht heute raus. | Bitte schauen Sie über den Andruck zu {n}.",
            "K>V | Kann so laufen! | Das Rot ist zu rosa, sonst gut. | Freigegeben, Unterschrift siehe Scan.",
        )),
        Task("Auflage drucken", 1, (
            "V>D | Platten für {den} stehen bereit. | {n} auf die große Maschine, eilt.",
            "D>B | Läuft, {few}00 Bogen Makulatur. | Fertig gedruckt, muss trocknen. | Farbe steht, Falz heute Nacht.",
        )),
        Task("Ware ausliefern", 1, (
            "B>F | {few} Paletten für {n}, Rampe hinten. | Bitte {den} am {day} mitnehmen.",
            "F>B | Abgeladen, Lieferschein {m}. | Niemand da, steht beim Nachbarn.",
        )),
        Task("Auftrag abrechnen", 0.8, (
            "B>K | Rechnung {m}, {money} Euro, zehn Tage. | Wie besprochen mit Nachlass, {n}.",
            "K>B | Ist angewiesen. | Wir sehen da {few}0 Euro zu viel.",
        )),
    )),
    Kind("Transportschaden regulieren",
         {"E": "Empfänger", "S": "Spedition", "G": "Gutachter", "V": "Versicherung"},
         ("die Waschmaschinen", "das Klavier", "die Glasplatten", "der Schaltschrank", "die Weinkisten"),
         ("{thing}", "Schaden {n}", "Ihre Lieferung", "Palette umgekippt"), (
        Task("Schaden melden", 1, (
            "E>S | Bei {dem} ist eine Ecke eingedrückt. | {thing} kam nass an, Folie gerissen. | Wir haben die Annahme von {dem} nur unter Vorbehalt quittiert.",
            "S>E | Das tut uns leid, Vorgang {n}. Fotos? | Bitte nichts wegwerfen, wir melden uns.",
        )),
        Task("Schaden begutachten", 0.8, (
            "S>G | {n}: bitte bis {day} ansehen, {thing}. | Hätten Sie am {day} Zeit für {den}?",
            "G>S | Totalschaden, mangelhaft verzurrt. | Reparabel, etwa {money} Euro. | Verpackung war zu dünn.",
        )),
        Task("Versicherung einschalten", 1, (
            "S>V | Neuer Fall {n}, Bericht und Frachtbrief hängen an. | Wir bitten um Deckung für {den}.",
            "V>S | Police greift, Selbstbehalt {money}. | Uns fehlt der Frachtbrief {m}.",
        )),
        Task("Entschädigung zahlen", 1, (
            "V>E | Sie erhalten {money} Euro auf Ihr Konto. | Überwiesen zu {n}, damit ist alles abgegolten.",
            "E>V | Geld ist da. | Das deckt nicht mal die Hälfte!",
        )),
        Task("Fahrer schulen", 0.5, (
            "S>G | Wir haben dem Fahrer das Zurren noch mal gezeigt. | Kurs zur Ladungssicherung ist am {day}.",
        )),
    )),
    Kind("Fernleihe besorgen",
         {"L": "Leserin", "B": "Bibliothek", "G": "Gebende Bibliothek"},
         ("der Atlas von 1874", "die Dissertation Krüger", "das Handbuch der Orgel", "der Tagungsband Pilze", "die Noten zu Zemlinsky"),
         ("{thing}", "Fernleihe {n}", "Buch", "Bestellung"), (
        Task("Bestellung aufnehmen", 1, (
            "L>B | Ich suche {den}, Sie haben das nicht im Haus. | Kommt man irgendwie an {den}?",
            "B>L | Ist notiert, Zettel {n}, kostet {few} Euro. | Geht, dauert zwei Wochen.",
        )),
        Task("Buch anfordern", 1, (
            "B>G | Wir hätten gern {den}, Bestellung {n}. | Ist {thing} bei Ihnen greifbar?",
            "G>B | Verliehen bis {day}. | Geht morgen in die Kiste. | Nur Lesesaal!",
        )),
        Task("Buch ausgeben", 1, (
            "B>L | Liegt für Sie am Tresen. | {thing} ist da, bis {day} bitte.",
            "L>B | Abgeholt, danke. | Komme erst am {day} dazu.",
        )),
        Task("Leihfrist verlängern", 0.5, (
            "L>B | Ginge es noch zwei Wochen länger? | Ich bin erst bei Seite {few}0.",
            "B>L | Bis {day} verlängert. | Die andere Seite sagt nein.",
        )),
        Task("Buch zurücksenden", 1, (
            "L>B | Heute in den Kasten geworfen. | Zurückgebracht, ein Fleck war schon drin.",
            "B>G | {thing} ist wieder auf dem Weg, {n}. | Eingepackt, mit Dank zurück.",
        )),
    )),
)
"""Four processes of four organisations."""

TALK_GERMAN_REFEREE = (
    ("Wer hat die Leiter zuletzt gehabt?", "Steht hinterm Tor."),
    ("Heute Grillen im Hof, jeder bringt was mit.", "Ich mache Nudelsalat."),
    ("Parkplatz {few} ist wegen Baumschnitt gesperrt.",),
    ("Mein Fahrrad ist weg!", "Das blaue? Lehnt am Schuppen."),
    ("Jetzt anmelden: Onlinekurs Zeitmanagement.",),
    ("Der Drucker im Flur spinnt.", "Stecker raus, Stecker rein."),
    ("Bin heute beim Zahnarzt, ab zwei wieder da.",),
    ("Abwesend bis {day}, in dringenden Fällen die Zentrale.",),
    ("Tippspiel: wer ist noch nicht dabei?", "Ich, keine Ahnung von Fußball."),
    ("Es zieht, wer hat das Fenster oben offen?",),
    ("Die Blumen von Frau Kemper brauchen Wasser.", "Schon gegossen."),
    ("Ihr Abo verlängert sich am {day} von selbst.",),
    ("Gute Besserung, wir denken an dich!", "Danke, bin bald wieder da."),
    ("Zwölf Gründe für eine neue Kaffeemaschine, jetzt im Shop.",),
    ("Regenschirm gefunden, schwarz mit Holzgriff.",),
)
"""The same as `TALK_ENGLISH_REFEREE`."""
