"""The wordings of `terse_mails`: processes and small talk in English and German."""

# ruff: noqa: E501 - wordings in one piece each
# fmt: off

from __future__ import annotations

from typing import NamedTuple


class Task(NamedTuple):
    """A task: its true name, in which share of cases it is done, and the mails that tell of it.

    A mail is `S>R` (who writes to whom, by the letter of the role), then its possible texts, each
    after a `|`. `{thing}`, `{n}` and `{m}` (numbers) are the same in all mails of a case; `{day}`,
    `{few}` (a digit) and `{money}` are drawn anew for each mail. German texts have `{den}` and
    `{dem}` for the accusative and the dative of the thing.
    """

    name: str
    share: float
    mails: tuple[str, ...]


class Kind(NamedTuple):
    """A process: its roles by letter, what its cases are about, subjects and tasks in order."""

    name: str
    roles: dict[str, str]
    things: tuple[str, ...]
    subjects: tuple[str, ...]
    tasks: tuple[Task, ...]


ENGLISH = (
    Kind("Discharge patient",
         {"N": "Ward Nurse", "D": "Physician", "F": "Pharmacist", "W": "Social Worker", "T": "Transport Desk"},
         ("Mrs Hallam in bed 4", "the hip patient in room 212", "old Mr Okafor", "the gentleman after the bypass", "the lady with pneumonia", "bed 17"),
         ("{thing} going home", "Going home: {thing}", "{thing}", "bed plan"), (
        Task("Decide on discharge", 1, (
            "D>N | Saw {thing} on the round just now, wound looks dry, no fever for two days. From my side home on {day}. | {thing} can go on {day} if the bloods tomorrow are fine. CRP is down to {few}. | I'd say {thing} is fit to leave us on {day}, stairs went well with the physio.",
            "N>D | Good, the daughter will be relieved. I'll start the paperwork for file {n}. | Noted, {day} it is. Do you want another ECG before that? | OK. The bed is already promised to A&E by the way.",
        )),
        Task("Write discharge letter", 1, (
            "N>D | Doctor, the letter for the GP is still missing for {thing}. | Could you dictate the discharge letter before you go to theatre? | The letter on file {n} has no diagnosis in it yet.",
            "D>N | Letter is dictated and signed, secretary has it. | Done, I wrote the letter, {few} pages, medication list at the back. | Signed the discharge letter, the copy for the GP goes out tonight.",
        )),
        Task("Prepare medication", 1, (
            "N>F | We need take-home tablets for {thing}, {few} days' worth, see the chart. | Can you put together the bag of medicines for file {n}? New: apixaban. | Hello pharmacy, chart for {thing} is in the tray, home supply please.",
            "F>N | Medicines are bagged, I changed the painkiller because of the kidney values. | Packed the tablets and printed the plan when to take what. | Bag is ready at the hatch; please go through the new anticoagulant with the patient.",
        )),
        Task("Arrange home care", 0.6, (
            "N>W | {thing} lives alone on the third floor, who will help with washing? | Can you sort a carer for {thing}? Son is abroad.",
            "W>N | Care service comes twice a day from {day}, and the insurer agreed to a raised toilet seat. | I got a carer from the district service, first visit {day} at eight. | Arranged meals and a carer, the family has the number.",
        )),
        Task("Book transport", 0.7, (
            "N>T | Need a lying transport on {day} for {thing}, about eleven. | Ride home for file {n}, wheelchair, {day} before noon please.",
            "T>N | Booked, the car is at the south entrance at {few} past eleven. | Transport is confirmed for {day}, driver rings the ward. | Reserved a wheelchair taxi, ref {m}.",
        )),
        Task("Free bed", 1, (
            "N>D | {thing} left the ward at noon, bed is stripped and being cleaned. | Patient has gone, I told admissions the bed is free. | Handed over the letter and the bag, {thing} is on the way home, bed reported free.",
        )),
    )),
    Kind("Acquire book",
         {"R": "Reader", "L": "Librarian", "B": "Bookseller", "C": "Cataloguer"},
         ("the atlas of Baltic birds", "the new Kowalczyk novel", "a handbook on bridge bearings", "the Latin grammar", "the history of dyes", "Tidal Economies"),
         ("{thing}", "Wish list: {thing}", "Request for {thing}", "could you get {thing}"), (
        Task("Suggest title", 1, (
            "R>L | I couldn't find {thing} on your shelves, would the library buy it? | My seminar needs {thing}, and yours is the only library within forty miles. Could you get a copy? | Please consider {thing} for the collection, three of us want to read it.",
            "L>R | Thanks for the suggestion, I'll see what it costs. | Lovely idea. We are tight this quarter but I'll look into it. | We only have an edition from 1974, so yes, that would make sense.",
        )),
        Task("Check budget", 0.8, (
            "L>C | What's left in the humanities fund? {thing} would be {money}. | Do we still have money in line {n} for a title at {money}?",
            "C>L | There's {money} in the pot until June. | Fund has enough, I earmarked the sum. | It's fine if we drop the second copy of the dictionary.",
        )),
        Task("Order copy", 1, (
            "L>B | We'd like one hardback of {thing}, library rate, account {n}. | Please put {thing} on our account {n}, one copy, no rush.",
            "B>L | Your order is in, publisher says {few} weeks. | Ordered one copy, {money} including postage. | It's out of print, but I have found a very good second-hand one for {money}, I took it for you.",
        )),
        Task("Take delivery", 1, (
            "B>L | Parcel left us today, invoice {m} inside. | {thing} went out with the van this morning.",
            "L>B | Parcel is here, thank you, but one corner is bumped. | Received the book this morning, invoice goes to accounts. | Unpacked it, all in order.",
        )),
        Task("Catalogue book", 1, (
            "L>C | On your desk: {thing}, please do it before the rest, somebody is waiting. | New arrival for you, shelf mark please.",
            "C>L | Record is live, shelf mark {n}. | I entered the book in the catalogue and glued the label in, spine is {n}. | Catalogued, and stamped it too. It needs a plastic jacket.",
        )),
        Task("Notify reader", 1, (
            "L>R | Good news, {thing} is waiting for you at the desk until {day}. | Your book has come, held under your name for a week.",
            "R>L | Wonderful, I'll fetch it on {day}. | That was quick, thanks! | Can my wife collect it?",
        )),
    )),
    Kind("Repair heating in flat",
         {"T": "Tenant", "H": "Caretaker", "M": "Property Manager", "K": "Heating Contractor"},
         ("the radiator in the nursery", "our boiler", "the heating in 3B", "the towel rail", "the whole left side of the house", "the thermostat in the hall"),
         ("Cold again", "{thing}", "no heat", "flat {n}"), (
        Task("Report fault", 1, (
            "T>H | {thing} has been stone cold since {day}, we sit here in coats. | Hello, {thing} gurgles all night and doesn't get warm any more. | It is fourteen degrees in here, {thing} is dead.",
            "H>T | Oh dear. Which floor are you, and is the water hot? | I will come up after lunch. | Have you tried opening the valve all the way?",
        )),
        Task("Inspect fault", 1, (
            "H>M | Was up at flat {n}, bled everything, no use, the pump is gone I reckon. | I looked at {thing}: pressure {few} bar lower than it should be, valve stuck. Above my skills. | Went round, it's the circulation pump, needs a firm.",
        )),
        Task("Request quote", 0.7, (
            "M>K | What would a new pump for Linden Court {n} cost, fitted? | Could you price the job in flat {n}? Caretaker's notes below.",
            "K>M | {money} all in, pump is a Grundfos, labour {few} hours. | Quote attached, {money}, valid for a fortnight.",
        )),
        Task("Approve repair", 1, (
            "M>K | That's all right, go ahead, order number {m}. | You have my go for {money}, please keep the old part. | Accepted, please fit it this week.",
            "K>M | Thanks, part comes on {day}. | Cheers, we'll sort a slot with the tenant.",
        )),
        Task("Agree appointment", 1, (
            "K>T | We can come on {day} between eight and ten, will somebody be in? | Fitter is in your street on {day}, does the afternoon suit?",
            "T>K | {day} works, ring twice, the bell is weak. | I'm at work but the neighbour has a key. | Yes please, the earlier the better.",
        )),
        Task("Carry out repair", 1, (
            "K>M | Job at flat {n} is finished, new pump runs, took {few} hours. | We swapped the valve and flushed the pipes, all warm now. | Fitted the part this morning, pressure is back.",
            "T>H | It's warm! Thank you all. | Warm at last, though it drips a bit below the valve.",
        )),
        Task("Pay invoice", 0.8, (
            "K>M | Bill {m} for Linden Court attached, {money}. | Our invoice {m} for flat {n}, thirty days net.",
            "M>K | Paid today. | Invoice checked against the quote and transferred. | Your bill says {few} hours travel, that was not agreed, please correct it.",
        )),
    )),
    Kind("Obtain filming permit",
         {"S": "Location Scout", "C": "City Clerk", "O": "Producer", "G": "Police Liaison", "Z": "Resident Speaker"},
         ("Tanner Square", "the old ferry pier", "Mill Lane 8-20", "the stairs below the cathedral", "the tram depot", "Harbour Street"),
         ("Shoot at {thing}", "{thing}, {day}", "Permit {n}", "night shoot"), (
        Task("Scout location", 1, (
            "S>O | Walked {thing} tonight, exactly the light the director wants, but there's a bus stop in frame. | {thing} would do for scene {few}, photos in the folder. Power is a problem. | I found it: {thing}. Wet cobbles, no shop signs.",
            "O>S | Love it. What does the town want for it? | Looks expensive. Check whether we may close it. | Go for it, we shoot {day}.",
        )),
        Task("Apply for permit", 1, (
            "S>C | We ask for leave to film at {thing} on {day}, crew of {few}0, two trucks. Form enclosed. | Application for {thing}, night of {day}, with site plan. | Herewith our filming form for {thing}.",
            "C>S | Your form has come in, file {n}. The insurance certificate isn't with it. | Received, number {n}. How loud will it be after ten? | Thank you, file {n}; I need a plan showing the cable runs.",
        )),
        Task("Supply insurance certificate", 0.6, (
            "O>C | Liability cover over {money} thousand attached for file {n}. | Here is the certificate you were missing on {n}.",
        )),
        Task("Consult police", 1, (
            "C>G | Film people want {thing} shut on {day}, can traffic cope? | Your view on closing {thing}, file {n}, please by {day}.",
            "G>C | We can live with it if one lane stays open, and two stewards. | No objections from us, but no blank shots. | Diversion via the ring works, I've drawn it in.",
        )),
        Task("Inform residents", 0.7, (
            "C>Z | People at {thing} should hear about a shoot on {day}, parking goes from six. | Would you pass the leaflet round? File {n}.",
            "Z>C | Leaflets are in every letter box. Two are furious about parking. | Told everyone; the dentist asks about patients.",
        )),
        Task("Grant permit", 1, (
            "C>S | Permit {n} is issued, conditions on page two, fee {money}. | You may film at {thing}, permit {n} is attached. | Granted, subject to quiet from eleven on.",
            "S>C | Thank you, fee is on its way. | Great, the crew has been told about the conditions.",
        )),
        Task("Pay fee", 0.8, (
            "O>C | Fee for {n} transferred, {money}. | We've paid the {money} for {thing}.",
        )),
    )),
    Kind("Analyse water sample",
         {"U": "Customer", "E": "Lab Reception", "A": "Analyst", "Q": "Quality Lead"},
         ("our well behind the barn", "the hotel pool", "the dairy's cooling tower", "a spring at Nether Farm", "the school's drinking fountains", "fish pond 2"),
         ("Water from {thing}", "sample {n}", "{thing}", "lab"), (
        Task("Request analysis", 1, (
            "U>E | Could you test {thing}? The water has tasted of metal since {day}. | We need nitrate and coliforms for {thing}, what do you charge? | The authority wants figures for {thing} by {day}.",
            "E>U | Surely. The basic panel is {money}, bottles go out to you today. | Happy to. Please fill the brown bottle to the brim and keep it cold. | We can, {money} plus tax; the courier fetches it {day}.",
        )),
        Task("Register sample", 1, (
            "E>A | {few} bottles came in from {thing}, logged as {n}, in fridge {few}. | Sample {n} is booked in, temperature on arrival {few} degrees.",
            "A>E | One bottle has no date on it, please ask. | Got them. Label on {n} is smudged but readable.",
        )),
        Task("Analyse sample", 1, (
            "A>Q | {n}: nitrate {few}2 mg, no coliforms, iron through the roof. | Plates for {n} show {few} colonies, I'd count that as over the limit. | Ran {n} on the ICP, lead {few} micrograms, duplicates agree.",
        )),
        Task("Repeat measurement", 0.4, (
            "Q>A | I don't believe the iron in {n}, run it again with a fresh blank. | Standard drifted that day, please do {n} once more.",
            "A>Q | Second run gives the same within two percent. | Did it again, now {few}, first one was carry-over.",
        )),
        Task("Release results", 1, (
            "Q>A | Figures for {n} released, you can write it up. | Signed off {n}. | I went through the raw data of {n}, fine by me.",
        )),
        Task("Send report", 1, (
            "A>U | Report {n} attached. Short version: don't drink it until the iron filter is in. | Please find the findings for {thing}; all values within limits. | Your certificate for {thing}, number {n}.",
            "U>A | Thanks. What kind of filter? | That's a relief. | The authority asks for the method used, could you add it?",
        )),
        Task("Bill customer", 0.7, (
            "E>U | Our bill for {n}, {money}, payable in two weeks. | Attached you find bill {m} for sample {n}.",
            "U>E | Paid. | Will be settled on {day}.",
        )),
    )),
    Kind("Organise school excursion",
         {"T": "Class Teacher", "H": "Headteacher", "V": "Parents' Speaker", "B": "Coach Company"},
         ("the salt mine", "the planetarium", "the zoo in Brenning", "the Roman villa", "the glassworks", "the bog"),
         ("Trip to {thing}", "{thing}", "year {few}: {thing}", "outing"), (
        Task("Propose trip", 1, (
            "T>H | My year {few} would like to see {thing} on {day}, fits the curriculum nicely. | Can we do {thing} on {day}? {few}7 children, three grown-ups. | I've a plan for {thing}: leave at eight, back by four.",
            "H>T | Fine with me, but no more than {few} euros a head. | Lovely, you'd miss the fire drill though. Take {day}. | All right. Who looks after the ones that stay?",
        )),
        Task("Hire coach", 1, (
            "T>B | What is a fifty-seater to {thing} and back, {day}? | We want a coach with belts for {day}, school gate, {few} to eight.",
            "B>T | {money} with driver, tolls extra. | We have one free, {money}; shall I hold it? | Held for you, booking {n}.",
        )),
        Task("Collect consent forms", 1, (
            "T>V | Slips for {thing} go home today, could you nudge the others to sign? | I have {few} of twenty-seven forms back, help! | Please remind the parents, the signed slips for {thing} are due {day}.",
            "V>T | Reminded everyone in the group, two have lost theirs. | Mine's in the bag. I rang the Duartes, theirs comes on {day}. | All but one signed, the Kims say no.",
        )),
        Task("Collect money", 0.7, (
            "T>V | {few} euros each for {thing}, in an envelope please. | Some money for the trip is outstanding, {few} families.",
            "V>T | I've gathered the rest in cash and put it in your pigeonhole. | The support fund covers two children, I asked.",
        )),
        Task("Buy tickets", 0.7, (
            "T>H | Tickets for {thing} are bought, group rate, {money} on the school card. | I reserved the guide at {thing}, {money}.",
        )),
        Task("Hold trip", 1, (
            "T>H | We're back from {thing}, nobody lost, one nosebleed. | All home safe at half past four. {thing} was a hit.",
            "V>T | Mine hasn't stopped talking about it, thank you! | The children loved it.",
        )),
    )),
    Kind("Lend painting",
         {"K": "Curator", "R": "Registrar", "X": "Borrowing Museum", "V": "Conservator", "I": "Insurer", "J": "Art Courier"},
         ("the Winter Harbour", "Portrait of a Glazier", "the large still life with quinces", "the Andersson triptych", "Woman with Lute", "the blue abstract of 1958"),
         ("{thing}", "Loan of {thing}", "Your exhibition", "loan {n}"), (
        Task("Receive loan request", 1, (
            "X>K | For our show we should dearly like {thing}, from {day} for three months. | May we ask for {thing}? Facilities report enclosed. | We hope you can part with {thing} for a while; it would hang in room {few}.",
            "K>X | I'd be glad to, let me talk to our conservator first. | In principle yes, the board meets {day}. | It travels badly, but I will ask.",
        )),
        Task("Check condition", 1, (
            "K>V | Could {thing} stand a journey? | {thing}: would you have a look at the flaking upper left?",
            "V>K | It may travel in a climate crate, no higher than {few}5 percent humidity. | I consolidated two spots and photographed it, it can go. | Looked at it under UV, sound. Frame needs a new backing.",
        )),
        Task("Sign loan agreement", 1, (
            "R>X | Agreement {n} in two copies, please sign and send one back. | Loan contract for {thing} attached, mind clause {few}.",
            "X>R | Signed copy is in the post. | Our director signed today, clause {few} amended by hand.",
        )),
        Task("Insure painting", 1, (
            "R>I | Nail to nail for {thing}, value {money} thousand, from {day}. | Cover for loan {n}, please.",
            "I>R | Policy {m} covers it from {day}, premium {money}. | Covered. We want two drivers on the lorry.",
        )),
        Task("Ship painting", 1, (
            "R>J | Pick-up {day}, crate {few}0 by 140, air ride. | Crate for {thing} is closed, when do you come?",
            "J>R | Lorry at your dock {day}, seven sharp. | On board and sealed, two drivers, arriving {day}.",
            "X>R | {thing} arrived, resting in its crate for a day. | Unpacked with our conservator, no change against your report.",
        )),
        Task("Return painting", 0.8, (
            "X>R | Show is over, {thing} leaves us {day}. | Taking it down on {day}.",
            "V>K | {thing} is back on its hook, compared with the photos, nothing new. | It's home, one scratch on the frame, I filed a report.",
        )),
    )),
    Kind("Fix software bug",
         {"S": "Support", "D": "Developer", "T": "Tester", "R": "Release Manager"},
         ("the export button", "login on tablets", "the tax field", "dark mode", "the nightly import", "the search box"),
         ("{thing} broken", "{n}: {thing}", "{thing}", "regression?"), (
        Task("Report bug", 1, (
            "S>D | Three customers say {thing} does nothing since {day}. Ticket {n}. | {thing} crashes with a white page, happens every time with long names. | New one: {thing}, steps in {n}.",
            "D>S | Which browser? And do you have a log? | Hm, I touched that code last week. Having a look. | Ouch. Is there a workaround?",
        )),
        Task("Reproduce bug", 0.8, (
            "D>T | Can you make {n} happen on staging? I can't. | Please try {thing} with an empty profile.",
            "T>D | Yes, comes up in Firefox only, video in {n}. | Reproduced, needs two tabs open.",
        )),
        Task("Fix bug", 1, (
            "D>T | Pushed a patch for {n}, was a race in the session code. | {n} is fixed on the branch, two lines. | Found it: wrong time zone. Patch is up, please test.",
            "D>S | Cause of {n} is found, fix tonight. | It was us, sorry. Tell them it'll be in the next build.",
        )),
        Task("Test fix", 1, (
            "T>D | {n} passes on all four browsers. | Still there on Safari, back to you. | Retested {thing}, can't break it any more.",
        )),
        Task("Approve release", 0.8, (
            "T>R | {n} is good to go from my side. | Green for {thing}, please put it in the hotfix.",
            "R>T | Goes out {day} at six. | In build {m}. | Frozen until {day}, sorry.",
        )),
        Task("Deploy fix", 1, (
            "R>S | Build {m} is out with {n}. | Rolled out the hotfix to all regions. | Deployed, no alarms so far.",
            "S>R | Customers confirm it works. | Closed the tickets, thank you.",
        )),
    )),
)
"""Eight processes of eight organisations."""

TALK_ENGLISH = (
    ("Who left the oven on in the kitchen upstairs?", "Not me, I had salad."),
    ("Has anyone seen my umbrella, green with a duck handle?", "There's one by the lift."),
    ("Quiz night on {day}, we are two short. Anyone?", "Count me in.", "I only know geography."),
    ("Marta has had her baby! A girl, four kilos.", "How lovely, give her our best!"),
    ("The west car park is closed on {day} for painting.",),
    ("Reminder: change your password every ninety days.",),
    ("Newsletter: ten ways to sit better at your desk.",),
    ("Is the coffee machine broken or is it just me?", "It wants descaling."),
    ("Running late, train stuck at Elmbridge.", "No worries."),
    ("Lost: one glove, sentimental value.",),
    ("Did you watch the match? Unbelievable.", "I turned off at half-time, typical."),
    ("Happy birthday!! Cake at three in the corner office.", "Thank you all, you are sweet!"),
    ("Choir is looking for tenors, Thursdays at seven.",),
    ("My cousin sells honey, {few} a jar, tell me if you want some.", "Two for me please."),
    ("Fire alarm test at ten, please don't leave the building.",),
    ("The lift is out again, take the stairs.",),
    ("Could you water my plants until {day}?", "Sure, the cactus as well?"),
    ("Your parcel could not be delivered, please collect it at the kiosk.",),
    ("50% off on garden furniture, this weekend only!",),
    ("Welcome to the fitness portal, confirm your address here.",),
    ("I'm out of the office until {day}, with no access to mail.",),
    ("What was the name of that Thai place?", "Lotus something, near the bank."),
    ("Somebody parked across two bays, silver Skoda.",),
    ("Blood donation bus is in the yard on {day}.",),
    ("Can we swap shifts on {day}? Dentist.", "Fine, you owe me one."),
    ("Photos of the summer party are online.", "Oh no, the karaoke."),
    ("The canteen menu: lentils, schnitzel, rhubarb.",),
    ("Survey: how happy are you with the new chairs? Two minutes only.",),
    ("Does anyone have a phone charger for an old Nokia?", "Museum?"),
    ("Bike shed code has changed, ask at the gate.",),
)
"""Exchanges that belong to no process; two people take turns."""

GERMAN = (
    Kind("Bauantrag prüfen",
         {"B": "Bauherrin", "S": "Sachbearbeitung Bauamt", "A": "Architekt", "F": "Feuerwehr", "N": "Nachbar"},
         ("der Anbau am Birkenweg", "unsere Garage", "das Gartenhaus in der Senke", "die Dachgaube Nr. 14", "der Carport hinter der Kirche"),
         ("{thing}", "Bauvorhaben {n}", "Antrag {n}", "Rückfrage zum Plan"), (
        Task("Antrag einreichen", 1, (
            "A>S | anbei die Unterlagen für {den}, dreifach und unterschrieben. | Wir reichen hiermit den Antrag ein, es geht um {den}, Baukosten etwa {money} Euro. | die Mappe für {den} habe ich heute bei Ihnen abgegeben.",
            "S>A | Ihr Antrag ist eingegangen, Aktenzeichen {n}. | Danke, läuft bei uns unter {n}. Der Lageplan ist vom falschen Jahr. | eingegangen und erfasst, Az. {n}.",
        )),
        Task("Unterlagen nachfordern", 0.6, (
            "S>A | Zu {n} fehlt uns noch der Standsicherheitsnachweis. | Bitte reichen Sie die Berechnung der Abstandsflächen bis {day} nach.",
            "A>S | Der Nachweis vom Statiker ist beigefügt. | Nachgereicht, jetzt sollte alles da sein.",
        )),
        Task("Nachbarn anhören", 0.7, (
            "S>N | Ihr Nachbar möchte bauen, {thing}. Sie können die Pläne bis {day} einsehen. | Anhörung zu {n}: haben Sie Einwände?",
            "N>S | Solange mein Fenster Licht behält, ist es mir recht. | Ich bin dagegen, das steht viel zu dicht an der Hecke. | Keine Einwände von uns.",
        )),
        Task("Brandschutz prüfen", 0.7, (
            "S>F | Bitte um Stellungnahme zum Brandschutz, Az. {n}. | Kommt ihr mit der Leiter ran? {thing}, Plan liegt bei.",
            "F>S | Zufahrt ist breit genug, zweiter Rettungsweg vorhanden. | Wir brauchen eine feuerhemmende Tür, sonst in Ordnung.",
        )),
        Task("Genehmigung erteilen", 1, (
            "S>B | die Genehmigung {n} ist erteilt, Sie dürfen anfangen. Gebühr {money} Euro. | Ihr Bescheid liegt bei, mit {few} Auflagen. | Genehmigt! Der Bescheid {n} geht heute in die Post.",
            "B>S | Vielen Dank, das ging ja schnell. | Was bedeutet Auflage {few} genau? | Danke, dann kann der Bagger am {day} kommen.",
        )),
        Task("Baubeginn anzeigen", 0.8, (
            "B>S | Hiermit zeige ich an, dass wir am {day} anfangen. | Die Baugrube wird am {day} ausgehoben, Az. {n}.",
        )),
    )),
    Kind("Reklamation einer Küche bearbeiten",
         {"K": "Kundin", "V": "Küchenverkäufer", "M": "Monteur", "L": "Lager"},
         ("die Arbeitsplatte", "der Hängeschrank über der Spüle", "die Schublade links", "das Kochfeld", "die Blende am Sockel"),
         ("Meine Küche, {thing}", "{thing}", "Auftrag {n}", "Mangel"), (
        Task("Reklamation aufnehmen", 1, (
            "K>V | leider hat {thing} schon beim Auspacken einen Riss gehabt. | {thing} klemmt, da bewegt sich nichts mehr. | So geht das nicht, {thing} hängt schief, und das bei {money} Euro!",
            "V>K | Das tut mir leid. Schicken Sie mir bitte ein Bild? | Oje. Ich nehme das auf, Vorgang {n}. | Entschuldigung, wir kümmern uns sofort.",
        )),
        Task("Schaden begutachten", 1, (
            "V>M | Kannst du bei Vorgang {n} vorbeischauen? Es geht um {den}. | Schau dir bitte {den} an, Kundin ist ab vier daheim.",
            "M>V | War dort, {thing} ist verzogen, das war unser Fehler. | Angeschaut: Scharnier gebrochen, brauchen ein neues Teil. | Transportschaden, ganz klar.",
        )),
        Task("Ersatzteil bestellen", 1, (
            "V>L | Bitte {den} neu bestellen, Vorgang {n}, Dekor Eiche. | Wir brauchen Ersatz für {den}, habt ihr das da?",
            "L>V | Im Werk bestellt, kommt in {few} Wochen. | Liegt noch eins im Regal {few}, ich lege es zurück.",
        )),
        Task("Termin vereinbaren", 1, (
            "V>K | Das Teil ist da. Passt Ihnen der {day} vormittags? | Unser Monteur könnte am {day} kommen.",
            "K>V | {day} geht, aber bitte erst nach neun. | Passt, der Schlüssel ist bei Frau Lorenz.",
        )),
        Task("Teil austauschen", 1, (
            "M>V | Eingebaut, Kundin ist zufrieden. | Habe {den} getauscht, alte Platte liegt im Wagen. | Fertig bei {n}, hat {few} Stunden gedauert.",
            "K>V | Jetzt ist alles gut, danke. | Sieht prima aus. Nur die Fuge ist etwas dunkler.",
        )),
        Task("Gutschrift ausstellen", 0.5, (
            "V>K | Für den Ärger schreiben wir Ihnen {money} Euro gut. | Anbei eine Gutschrift {m}.",
        )),
    )),
    Kind("Turnier ausrichten",
         {"O": "Turnierleiter", "V": "Vereinsvorsitz", "S": "Schiedsrichterobmann", "H": "Hallenwart", "G": "Gastverein"},
         ("das Pfingstturnier", "der Jugendcup", "das Hallenmasters", "der Altherrenpokal", "das Mixed-Turnier"),
         ("{thing}", "{thing} am {day}", "Halle", "Einladung"), (
        Task("Halle reservieren", 1, (
            "O>H | Ist die große Halle am {day} frei? {thing} steht an. | Ich bräuchte für {den} die Halle mit Tribüne.",
            "H>O | Ist eingetragen, Schlüssel ab sieben. | Nur die kleine, in der großen ist Flohmarkt. | Reserviert, kostet {money} Euro.",
        )),
        Task("Vereine einladen", 1, (
            "O>G | wir laden euch herzlich zu {dem} ein, {day}, Startgeld {few}0 Euro. | Habt ihr Lust auf {den}? Meldung bitte bis {day}.",
            "G>O | Wir kommen mit zwei Mannschaften. | Melden hiermit ein Team, Startgeld ist überwiesen. | Dieses Jahr leider nicht, zu viele Verletzte.",
        )),
        Task("Schiedsrichter ansetzen", 1, (
            "O>S | Für {den} brauche ich {few} Schiris. | Wen kannst du mir am {day} schicken?",
            "S>O | Angesetzt sind Brandt und der junge Weiß. | Habe {few} gefunden, einer pfeift erst ab mittags.",
        )),
        Task("Spielplan erstellen", 1, (
            "O>G | Der Spielplan hängt an, Anpfiff um {few} nach neun. | Anbei wer wann gegen wen spielt.",
            "G>O | Können wir im zweiten Spiel tauschen? Wir haben lange Anfahrt. | Passt uns gut.",
        )),
        Task("Verpflegung organisieren", 0.6, (
            "O>V | Wer macht Kuchen für {den}? | Wir brauchen Grill und Getränke.",
            "V>O | Getränke sind beim Händler bestellt, auf Kommission. | {few} Kuchen zugesagt, Grill bringt Uwe.",
        )),
        Task("Pokale übergeben", 1, (
            "O>V | {thing} ist gelaufen, Sieger waren die Gäste, Pokale sind übergeben. | War ein schöner Tag, {money} Euro Überschuss.",
            "G>O | Danke für das tolle Turnier! | Super organisiert, bis nächstes Jahr.",
        )),
    )),
    Kind("Ausbildungsplatz besetzen",
         {"P": "Personalabteilung", "B": "Bewerber", "M": "Ausbildungsmeister", "R": "Betriebsrat"},
         ("die Stelle als Elektroniker", "der Platz in der Tischlerei", "die Lehre zur Köchin", "die Ausbildung im Lager", "der Lackiererplatz"),
         ("Bewerbung", "{thing}", "Ihre Bewerbung {n}", "Lehrstelle"), (
        Task("Bewerbung sichten", 1, (
            "B>P | ich möchte mich um {den} bewerben, Zeugnisse liegen bei. | mit großem Interesse habe ich gelesen, dass {thing} frei ist.",
            "P>B | vielen Dank für Ihre Bewerbung, wir melden uns bis {day}. | Ihre Unterlagen sind da, Kennung {n}.",
            "P>M | Neue Mappe für {den}, Mathe drei, Werken eins. Was meinst du? | Schau mal in {n} rein, klingt gut.",
        )),
        Task("Eignungstest durchführen", 0.7, (
            "P>B | Wir laden Sie zum Test am {day} um {few} Uhr ein. | Der Test dauert zwei Stunden, bitte Ausweis mitbringen.",
            "M>P | Test ausgewertet: {few}8 von 100 Punkten. | Hat beim Löten ruhige Hände, Rechnen geht so.",
        )),
        Task("Gespräch führen", 1, (
            "P>B | Gern würden wir Sie kennenlernen, {day}, Tor 2. | Hätten Sie am {day} Zeit für ein Gespräch?",
            "B>P | Ja, ich komme gern. | Da schreibe ich Mathe, ginge auch der Tag danach?",
            "M>P | Netter Kerl, pünktlich, weiß was er will. Von mir aus nehmen. | Das Gespräch war zäh, aber ich gebe ihm eine Chance.",
        )),
        Task("Betriebsrat beteiligen", 0.7, (
            "P>R | Wir wollen {n} für {den} einstellen, bitte um Zustimmung. | Anhörung zur Einstellung, Kennung {n}.",
            "R>P | Zugestimmt. | Haben wir am {day} beraten, keine Bedenken.",
        )),
        Task("Vertrag schließen", 1, (
            "P>B | Herzlichen Glückwunsch, Sie haben {den}. Vertrag anbei, bitte unterschrieben zurück. | der Ausbildungsvertrag liegt bei, zweifach.",
            "B>P | Unterschrieben, Original ist in der Post. | Danke!! Meine Eltern müssen noch unterschreiben.",
        )),
        Task("Bei Kammer anmelden", 0.6, (
            "P>M | {n} ist bei der Kammer eingetragen, Beginn am ersten August. | Kammer hat bestätigt, Berufsschule auch.",
        )),
    )),
    Kind("Heizöl liefern",
         {"K": "Hausverwaltung", "D": "Disposition", "F": "Fahrer", "B": "Buchhaltung"},
         ("Lindenhof 3", "die Grundschule", "das Vereinsheim", "Haus Abendruh", "die Gärtnerei Plöger"),
         ("Heizöl {thing}", "{thing}", "Lieferung {n}", "Tank fast leer"), (
        Task("Bestellung annehmen", 1, (
            "K>D | Für {den} brauchen wir {few}000 Liter, was kostet es heute? | Der Tank von {dem} ist fast leer, bitte liefern.",
            "D>K | Heute {few}9 Cent, soll ich eintragen? | Notiert, Auftrag {n}. | Wir hätten {day} noch Platz auf der Tour.",
        )),
        Task("Preis bestätigen", 0.7, (
            "K>D | Einverstanden, bitte so bestellen. | Zu dem Preis gern.",
            "D>K | Preis ist fest für {n}, Bestätigung hängt an. | Ist fest gebucht.",
        )),
        Task("Tour planen", 1, (
            "D>F | Nimm {den} am {day} mit, {few}000 Liter, enge Einfahrt. | {day}: erst {den}, dann das Dorf. Schlauch 40 Meter.",
            "F>D | Geht klar, brauche den kleinen Wagen. | Vor neun komme ich da nicht rein, Schulbus.",
        )),
        Task("Öl abfüllen", 1, (
            "F>D | {thing} voll, {few}120 Liter, Lieferschein {m}. | Abgefüllt, Grenzwertgeber hat gehakt. | Fertig bei {dem}, Schein ist unterschrieben.",
            "K>D | Danke, aber die Einfahrt ist voller Ölflecken! | Alles gut gelaufen, Fahrer war sehr nett.",
        )),
        Task("Rechnung stellen", 1, (
            "D>B | Lieferschein {m} zum Abrechnen, Auftrag {n}. | Bitte {n} fakturieren.",
            "B>K | Rechnung {m} über {money} Euro liegt bei, zahlbar sofort. | Anbei unsere Rechnung zu {dem}.",
            "K>B | Überwiesen. | Da stehen {few}00 Liter zu viel drauf, bitte prüfen.",
        )),
    )),
)
"""Five processes of five organisations."""

TALK_GERMAN = (
    ("Wer hat den letzten Kaffee genommen und nicht nachgefüllt?", "Schuldig."),
    ("Am {day} ist Betriebsausflug, festes Schuhwerk!",),
    ("Hat jemand meinen Schirm gesehen?", "Der rote? Steht im Flur."),
    ("Newsletter: zehn Rezepte mit Kürbis.",),
    ("Alles Gute zum Geburtstag!", "Danke euch, Kuchen steht in der Küche."),
    ("Bin im Stau, fangt ohne mich an.", "Alles klar."),
    ("Das Tor klemmt, bitte hinten raus.",),
    ("Spiel gesehen gestern?", "Frag nicht."),
    ("Bitte bis {day} das Passwort ändern.",),
    ("Suche Mitfahrgelegenheit nach Kassel.", "Ich fahre am {day}."),
    ("Die Kantine hat am {day} zu.",),
    ("Nur heute: Winterreifen zum halben Preis!",),
    ("Ich bin bis {day} nicht im Büro.",),
    ("Katze zugelaufen, grau, hört auf nichts.", "Das ist Mimi aus der Drei!"),
    ("Wer kommt mit zum Bowling?", "Ich!", "Diesmal ohne mich."),
    ("Feuerprobe um zehn, bitte sitzen bleiben.",),
    ("Ihr Paket konnte nicht zugestellt werden.",),
    ("Wie hieß der Italiener am Markt?", "Da Enzo."),
    ("Die Fotos vom Sommerfest sind online.",),
    ("Umfrage: Wie zufrieden sind Sie mit den Stühlen?",),
)
"""The same as `TALK_ENGLISH`."""
