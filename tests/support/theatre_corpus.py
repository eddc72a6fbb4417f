"""The messages of a small theatre: twelve processes, written from their descriptions.

A second corpus in another field and style than `synth`: people who write short, chat and phone,
call one thing by several names, leave steps unsaid, and write late. Each process is an outline, the
truth; its cases take different ways, repeat parts, and wait for parties outside. Half of the staff
works in several processes.
"""

# ruff: noqa: E501  # texts of messages

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

START = datetime(2025, 9, 1, 9, tzinfo=UTC)
CASES = 8
"""Number of cases of each process."""

STAFF = {
    "box office": ("Hanne Vik", "Ole Brandt"), "stage manager": ("Rosa Quint", "Emil Sand"),
    "props": ("Ida Torp", "Jonas Fehr"), "costume": ("Mira Lund", "Selma Holt"),
    "lighting": ("Viggo Dahl", "Knut Berg"), "director": ("Ada Falk", "Per Stein"),
    "production": ("Lena Moe", "Bo Winter"), "accounts": ("Gro Nilsen", "Gro Nilsen"),
    "press": ("Tuva Lie", "Tuva Lie"), "house": ("Arne Foss", "Arne Foss"),
}  # fmt: skip
"""The people of each role; two roles may ask the same person in a small house."""

OUTSIDE = (
    "Berit Aas", "Carl Moen", "Dina Roth", "Elias Krog", "Frida Munk", "Georg Hals", "Hedda Ness",
    "Ivar Bull", "Jorun Ek", "Kaspar Lind", "Linn Aker", "Magnus Ravn", "Nora Sund", "Otto Grahl",
    "Pia Lohne", "Rolf Egge", "Siri Vang", "Tor Myhre", "Unni Flo", "Vera Skog",
)  # fmt: skip

THINGS = (
    "Peer", "the Seagull", "Woyzeck", "Antigone", "the Tempest", "Faust", "Medea", "Woolf",
    "Godot", "the Cherry Orchard", "Nathan", "Tartuffe",
)  # fmt: skip


class Act(NamedTuple):
    """A step with its messages: who writes to whom, and texts, one of which is taken. A text of
    several lines is a phone call; `>` begins the answer of the other side."""

    name: str
    writer: str
    reader: str
    texts: tuple[str, ...]


class Description(NamedTuple):
    """A process: what it is, its outline (a letter for each step), its steps, and the ways of its
    cases, each a row of letters."""

    name: str
    text: str
    outline: str
    acts: Mapping[str, Act]
    ways: tuple[str, ...]


GUEST = "guest"
"""The party outside, another person in each case."""

PROCESSES = (
    Description(
        "school-groups",
        "A teacher wants seats for a class. The box office looks for free seats, reserves them or "
        "offers another evening, and confirms. The list of names is due ten days later, otherwise "
        "the teacher is reminded. When the school has paid, the tickets are handed out.",
        "a\nb\nchoose: seats free?\n  if: yes\n  if: no\n    d\nc\ne\nrepeat:\n  f\n"
        "again if: no list\n  g\nh\ni\n",
        {
            "a": Act("Receive group request", GUEST, "box office", (
                "Good morning, I would like to bring my class, {n} pupils, to {t}. Is there "
                "anything left in October?", "hello! we are {n} and want to see {t}, what can you "
                "do for us")),
            "b": Act("Check free seats", "box office", GUEST, (
                "Thanks for writing. I'm looking at the plan of the hall, one moment.",
                "Looked it up in the seating plan. I'll get back in a minute about the {n} of you.")),
            "c": Act("Reserve seats", "box office", GUEST, (
                "I have blocked {n} in the stalls for you, rows 7 to 9.",
                "done, {n} places are held under the name of the school")),
            "d": Act("Offer another evening", "box office", GUEST, (
                "That evening is sold out, I'm afraid. How about the Thursday after?",
                "No luck, full house. Would the matinee on the 14th do instead?")),
            "e": Act("Send confirmation", "box office", GUEST, (
                "Attached is the confirmation for {n}. We need the names of the pupils within ten "
                "days.", "Here it is in writing. Please let us have the class list in ten days.")),
            "f": Act("Wait for class list", GUEST, "box office", (
                "Here are the names, sorry about the handwriting.",
                "list attached, two more boys than I thought")),
            "g": Act("Remind teacher", "box office", GUEST, (
                "The ten days are over and I have no list yet. Could you send it?",
                "Gentle nudge: names still missing")),
            "h": Act("Collect payment", "accounts", "box office", (
                "The school's transfer for {t} is in, {n} x 9.", "Money from the school arrived.")),
            "i": Act("Hand out tickets", "box office", GUEST, (
                "Tickets lie at the desk for you, just ask for Hanne.",
                "You picked up all {n}, have a nice evening!")),
        },
        ("abcefhi", "abdcefhi", "abcegfhi", "abcefhi", "abdcegfhi", "abcefhi"),
    ),
    Description(
        "props",
        "A director needs a prop. The props workshop looks in the store; what is there is mended, "
        "anything else is built. The director sees it, and it is changed until it is right. Then "
        "it goes to the stage and into the prop book.",
        "a\nb\nchoose: in the store?\n  if: yes\n    c\n  if: no\n    d\nrepeat:\n  e\n"
        "again if: not right\n  f\ng\nh\n",
        {
            "a": Act("Request prop", "director", "props", (
                "I need a birdcage for {t}, big enough for a head.",
                "For {t}: could I have a telephone with a real dial? By next week ideally.")),
            "b": Act("Search store", "props", "director", (
                "Going down to the cellar to see what we have.", "Been through shelves 4 to 11.")),
            "c": Act("Mend prop", "props", "director", (
                "Found one from 1998, the bottom is loose. I'm glueing it.",
                "There was one, rusty. Sanded and painted it.")),
            "d": Act("Build prop", "props", "director", (
                "Nothing like it in the house, I'm making it from wire and papier-mache.",
                "We don't have that. Started to build it this morning.")),
            "e": Act("Show prop to director", "props", "director", (
                "Director: So that's it?\nProps: Have a look, turn it around.\n"
                "Director: I'll think about it over lunch.",
                "It's on your table for {t}. What do you say?")),
            "f": Act("Change prop", "props", "director", (
                "Too shiny you said, so I broke it down with shoe polish.",
                "ok made the handle longer as you wanted")),
            "g": Act("Bring prop to stage", "props", "stage manager", (
                "It stands on the left props table from tonight on, for {t}.",
                "Brought it up to you, second act, left side.")),
            "h": Act("Enter in prop book", "props", "stage manager", (
                "Wrote it into the book, page 31.", "book is up to date, number {n}")),
        },
        ("abcegh", "abdegh", "abdefegh", "abcefegh", "abdefefegh", "abcegh"),
    ),
    Description(
        "understudies",
        "An actor reports sick. The stage manager calls the understudy. If the understudy can "
        "play, there is a rehearsal, otherwise production hires somebody from an agency. Meanwhile "
        "the costume is fitted. The audience is told, and the extra fee is paid.",
        "a\nb\ntogether:\n  choose: can play?\n    if: yes\n      c\n    if: no\n      d\n  e\nf\ng\n",
        {
            "a": Act("Report sick", GUEST, "stage manager", (
                "39 degrees, no voice. I can't do {t} tonight, so sorry.",
                "Stage: Stage door, Rosa.\nActor: It's me, I'm in bed, doctor says a week.\n"
                "Stage: Oh dear. Get well.")),
            "b": Act("Call understudy", "stage manager", "director", (
                "Rang the understudy for {t}. Waiting for a yes.",
                "I've got the second cast on the phone.")),
            "c": Act("Rehearse with understudy", "director", "stage manager", (
                "We run the scenes at two on the small stage.",
                "Went through it twice, knows the lines better than the first cast.")),
            "d": Act("Hire guest actor", "production", "director", (
                "The agency sends somebody who did {t} in Aarhus, contract for two nights.",
                "Second cast is abroad. I engaged a guest through the agency.")),
            "e": Act("Fit costume", "costume", "stage manager", (
                "Taking in the coat, two sizes smaller.", "costume for tonight pinned and sewn")),
            "f": Act("Inform audience", "press", "box office", (
                "Slip about the change of cast for {t} is printed, please put it out.",
                "It's on the website and at the door now.")),
            "g": Act("Pay extra fee", "accounts", "production", (
                "Transferred the fee for jumping in.", "extra evening paid with this month's wages")),
        },
        ("abcefg", "abecfg", "abdefg", "abedfg", "abcefg", "abdefg"),
    ),
    Description(
        "lamps",
        "A lamp fails. Lighting tests it and replaces it from the shelf, or orders a spare from "
        "the supplier and waits for it. After the replacement the light is focused, and the stage "
        "manager signs off. The fault goes into the log.",
        "a\nb\nchoose: spare on the shelf?\n  if: no\n    c\n    d\n  else:\ne\nf\ng\nh\n",
        {
            "a": Act("Report broken lamp", "stage manager", "lighting", (
                "Number {n} on the second bridge is dark.", "profile {n} flickers in act one of {t}")),
            "b": Act("Test lamp", "lighting", "stage manager", (
                "Measured it, the ballast is gone, not the bulb.", "Swapped cables, still dead.")),
            "c": Act("Order spare part", "lighting", GUEST, (
                "Please send us two ballasts 575, as last time.",
                "We have none on the shelf. Can you deliver one bulb by Friday?")),
            "d": Act("Receive spare part", GUEST, "lighting", (
                "Your parcel left our warehouse, it should be with you tomorrow.",
                "Driver handed it over at your gate this morning.")),
            "e": Act("Replace part", "lighting", "stage manager", (
                "New one is in.", "changed it, took the ladder down again")),
            "f": Act("Focus light", "lighting", "director", (
                "Pointing it again at the chair for {t}, ten minutes.",
                "Re-aimed with the barn doors, edge is sharp.")),
            "g": Act("Sign off light", "stage manager", "lighting", (
                "Ran the cue, looks as before. Fine by me.", "ok from the desk, thanks")),
            "h": Act("Enter in log", "lighting", "house", (
                "Fault of lamp {n} is in the log.", "logged, third one this month")),
        },
        ("abefgh", "abcdefgh", "abefgh", "abcdefgh", "abefgh", "abcdefgh"),
    ),
    Description(
        "guest-shows",
        "A company offers a guest show. Production looks at the calendar and haggles about the "
        "fee until both agree. A contract is drafted, a lawyer reads it, both sign, and a deposit "
        "is paid. Where no date is free, production declines.",
        "a\nb\nchoose: date free?\n  if: no\n    i\n    end: declined\n  if: yes\n    repeat:\n"
        "      c\n    again if: no agreement\n      d\n    e\n    f\n    g\n    h\n",
        {
            "a": Act("Receive offer", GUEST, "production", (
                "We tour with {t} in spring and would love to stop at your house.",
                "offer attached: {t}, 70 minutes, seven people, price on page 2")),
            "b": Act("Check calendar", "production", "stage manager", (
                "Rosa, is the second week of April open?", "Do we have the big stage in week 15?")),
            "c": Act("Negotiate fee", "production", GUEST, (
                "We could do 4,000 and the hotel. Does that work for you?",
                "The house takes 30 percent, you keep the rest?")),
            "d": Act("Make counter offer", GUEST, "production", (
                "4,000 does not even pay the van. 5,200.", "We need the hotel for two nights on top.")),
            "e": Act("Draft contract", "production", GUEST, (
                "Agreed then. I'm writing it up.", "Draft of the agreement about {t} attached.")),
            "f": Act("Check contract", "accounts", "production", (
                "Our lawyer read it: paragraph 6 about liability has to be ours.",
                "Read the paper, fine with one comma.")),
            "g": Act("Sign contract", GUEST, "production", (
                "Signed and in the post.", "Here is the page with both signatures.")),
            "h": Act("Pay deposit", "accounts", GUEST, (
                "A third of the sum is on its way to you.", "deposit for {t} paid today")),
            "i": Act("Decline offer", "production", GUEST, (
                "All our weeks are taken, so we have to say no this time.",
                "Sorry, no room in the season for {t}.")),
        },
        ("abcefgh", "abcdcefgh", "abi", "abcdcdcefgh", "abcefgh", "abi"),
    ),
    Description(
        "refunds",
        "Somebody wants money back for a ticket. The box office looks the ticket up. If the show "
        "was cancelled, the money is paid back; in illness a voucher is sent; otherwise it is "
        "refused. The answer goes out, and the booking is corrected.",
        "a\nb\nchoose: reason?\n  if: show cancelled\n    c\n  if: ill\n    d\n  if: none\n    e\nf\n",
        {
            "a": Act("Receive refund request", GUEST, "box office", (
                "I had two tickets for {t} and could not come. Can I have my money back?",
                "what happens with my ticket {n} now? the show did not take place!!")),
            "b": Act("Look up ticket", "box office", GUEST, (
                "Let me find your order first. Which name was it?",
                "I see it here, number {n}, paid by card.")),
            "c": Act("Pay money back", "accounts", GUEST, (
                "We returned the full price to your card.", "Since {t} was called off, 58 are on "
                "their way back to you.")),
            "d": Act("Send voucher", "box office", GUEST, (
                "With a doctor's note we can give you a voucher, here it is.",
                "Get well soon! A voucher for any evening is attached.")),
            "e": Act("Refuse refund", "box office", GUEST, (
                "We cannot take tickets back for a change of plans, I am sorry.",
                "No refund in this case, see the terms on the back.")),
            "f": Act("Correct booking", "box office", "accounts", (
                "Seats are free in the system again, order {n} closed.",
                "I cancelled {n} in the books.")),
        },
        ("abcf", "abdf", "abef", "abcf", "abdf", "abef"),
    ),
    Description(
        "fire-inspection",
        "The fire brigade announces an inspection. The inspector walks through the house and lists "
        "defects. They are fixed and inspected again until nothing is left. The certificate comes, "
        "and the house files it.",
        "a\nrepeat:\n  b\nagain if: defects\n  c\n  d\ne\nf\n",
        {
            "a": Act("Announce inspection", GUEST, "house", (
                "The yearly inspection of your building is due. I'd come on Tuesday at ten.",
                "fire safety visit: please have all rooms open next week")),
            "b": Act("Inspect house", GUEST, "house", (
                "I was in all rooms today, up to the grid.",
                "Inspector: Where does this door go?\nHouse: Paint shop.\nInspector: Let's see it. "
                "And the hydrants.")),
            "c": Act("List defects", GUEST, "house", (
                "Three points: extinguisher in the foyer expired, exit sign dark, curtain unproofed.",
                "my findings are attached, two of them serious")),
            "d": Act("Fix defects", "house", GUEST, (
                "All points of your list are done, photos attached.",
                "New extinguishers hang, the sign shines.")),
            "e": Act("Issue certificate", GUEST, "house", (
                "Nothing left to complain about. The paper is attached.",
                "Your certificate for this year.")),
            "f": Act("File certificate", "house", "production", (
                "It hangs at the stage door, copy in the folder.", "filed under safety")),
        },
        ("abef", "abcdbef", "abcdbcdbef", "abef", "abcdbef", "abcdbef"),
    ),
    Description(
        "costume-hire",
        "People from outside hire costumes. Costume picks some and fits them; the guest signs and "
        "leaves a deposit. When they come back, they are looked over. Damage is mended and kept "
        "from the deposit; then the rest is given back. After two weeks without return, the guest "
        "is called.",
        "a\nb\nc\nd\nchoose: late?\n  if: after two weeks\n    e\n  else:\nf\ng\nchoose: damaged?\n"
        "  if: yes\n    h\n  else:\ni\n",
        {
            "a": Act("Request costumes", GUEST, "costume", (
                "For a wedding in the style of 1920 we look for {n} outfits.",
                "hi, can one borrow the robes from {t}? it's for a student film")),
            "b": Act("Fit costumes", "costume", GUEST, (
                "Come by on Monday, I have laid out some for you to try.",
                "The blue one fits you best, I let the hem down.")),
            "c": Act("Sign hire agreement", GUEST, "costume", (
                "Signed, see scan.", "here the form back with my signature")),
            "d": Act("Take deposit", "costume", "accounts", (
                "Got 150 in cash from the film people, in the box.", "Deposit of 200 taken.")),
            "e": Act("Call guest about return", "costume", GUEST, (
                "Costume: Hello, the two weeks are over, where are our robes?\n"
                "Guest: Oh, in the car. Tomorrow!",
                "You wanted to bring everything back on the 3rd. When can we expect it?")),
            "f": Act("Return costumes", GUEST, "costume", (
                "Left the bags at the stage door.", "all back, thank you so much, it was great")),
            "g": Act("Look over costumes", "costume", "costume", (
                "Went through the bags: all there.", "Checked seam by seam.")),
            "h": Act("Mend damage", "costume", GUEST, (
                "There is a wine stain and a torn sleeve, we mend it and keep 40 for that.",
                "zip broken, repaired, 25 off the deposit")),
            "i": Act("Give deposit back", "accounts", GUEST, (
                "The deposit is on your account again.", "Paid back what was left.")),
        },
        ("abcdfgi", "abcdefgi", "abcdfghi", "abcdfgi", "abcdefghi", "abcdfgi"),
    ),
    Description(
        "booklets",
        "For each premiere press makes a booklet: texts are collected, edited and laid out. The "
        "director reads the proofs until there are no mistakes. The printer prints and delivers, "
        "and the box office counts the boxes.",
        "a\nb\nc\nrepeat:\n  d\nagain if: mistakes\n  e\nf\ng\nh\n",
        {
            "a": Act("Collect texts", "press", "director", (
                "I need your two pages about {t} by the 10th, please.",
                "Who writes about the music? Still collecting for the booklet of {t}.")),
            "b": Act("Edit texts", "press", "director", (
                "Shortened your text by a third, I hope you can live with it.",
                "went over all pieces with the red pen")),
            "c": Act("Lay out booklet", "press", "production", (
                "First layout is on the server, 24 pages.", "pictures and text are on the page now")),
            "d": Act("Read proofs", "director", "press", (
                "Read it on the train. Some things on page 5.", "I'm through with the pages.")),
            "e": Act("Correct booklet", "press", "director", (
                "The name of the composer is right now, and page 5.", "mistakes are out")),
            "f": Act("Order print", "press", GUEST, (
                "Please print 1,500 of {t}, files are in the usual place.",
                "Print order: {n}00 copies, matt paper.")),
            "g": Act("Deliver booklets", GUEST, "press", (
                "Two pallets reach you on Wednesday before noon.", "printed and shipped")),
            "h": Act("Count boxes", "box office", "press", (
                "30 boxes of the booklet are in the foyer, all there.",
                "counted, one box too few but ok")),
        },
        ("abcdfgh", "abcdedfgh", "abcdfgh", "abcdededfgh", "abcdedfgh", "abcdfgh"),
    ),
    Description(
        "stage-hands",
        "A stage hand is needed. Production posts the job, people apply, some are invited for a "
        "trial shift. The stage manager judges it. Who is good gets a contract, the others get a "
        "refusal.",
        "a\nb\nc\nd\ne\nf\nchoose: good?\n  if: yes\n    g\n  if: no\n    h\n",
        {
            "a": Act("Report vacancy", "stage manager", "production", (
                "Jens leaves at the end of the month, I need two more hands.",
                "We are one short for {t}. Can we hire?")),
            "b": Act("Post job", "production", "press", (
                "Please put the job on the website.", "ad is in Saturday's paper")),
            "c": Act("Apply for job", GUEST, "production", (
                "I read that you look for people behind the stage. I am strong and punctual.",
                "application attached, can start at once")),
            "d": Act("Invite applicant", "production", GUEST, (
                "Would you come for a trial shift on Friday evening?",
                "We'd like to see you at work, Friday six o'clock.")),
            "e": Act("Work trial shift", GUEST, "stage manager", (
                "Was there from six to eleven, my arms know it.", "thanks for the evening with you all")),
            "f": Act("Judge trial shift", "stage manager", "production", (
                "Quick, careful, listens.", "How it went? Came late, stood in the way of the flat.")),
            "g": Act("Send contract", "production", GUEST, (
                "Welcome aboard! The contract is attached.", "please sign and bring your bank data")),
            "h": Act("Send refusal", "production", GUEST, (
                "We decided for somebody else. All the best to you.",
                "Thank you for coming, but it will not work with us.")),
        },
        ("abcdefg", "abcdefh", "abcdefg", "abcdefh", "abcdefg", "abcdefg"),
    ),
    Description(
        "donations",
        "A donor offers something. Production looks at the conditions and accepts or declines. If "
        "it is accepted, accounts writes a receipt, the director thanks, and press names the donor "
        "in the booklet.",
        "a\nb\nchoose: conditions fine?\n  if: yes\n    c\n    together:\n      d\n      e\n      f\n"
        "  if: no\n    g\n",
        {
            "a": Act("Offer donation", GUEST, "production", (
                "My late aunt loved your house. I would like to give {n},000 in her name.",
                "our firm wants to sponsor {t}, with the logo on the curtain")),
            "b": Act("Examine conditions", "production", "accounts", (
                "Somebody wants to give us money. Can you look whether there are strings attached?",
                "Gro, the letter says a few things about what we'd have to do. Your view?")),
            "c": Act("Accept donation", "production", GUEST, (
                "We accept with great joy.", "Yes, gladly! The account is below.")),
            "d": Act("Write receipt", "accounts", GUEST, (
                "The receipt for your tax office is attached.", "receipt sent by post")),
            "e": Act("Thank donor", "director", GUEST, (
                "From the whole company: thank you. Two seats are yours whenever you like.",
                "I wanted to thank you myself, it means a lot for {t}.")),
            "f": Act("Name donor in booklet", "press", "production", (
                "Donor is on the last page of the booklet.", "name added under friends of the house")),
            "g": Act("Decline donation", "production", GUEST, (
                "We cannot put a logo on the stage, so with regret no.",
                "The conditions do not fit our house. Thank you all the same.")),
        },
        ("abcdef", "abcfde", "abg", "abcedf", "abcdfe", "abg"),
    ),
    Description(
        "lost-things",
        "Things are found after a show. The house writes them down and keeps them. Somebody asks, "
        "the description is compared. If it fits, the thing is handed over. What nobody asks for "
        "in six months goes to charity.",
        "a\nb\nfirst:\n  on: receive inquiry\n    c\n    d\n    e\n  on: after 6 months\n    f\n",
        {
            "a": Act("Find thing", "box office", "house", (
                "There was an umbrella in row {n}.", "found after {t}: one glove, grey, left")),
            "b": Act("Write down thing", "house", "box office", (
                "It's in the list and in the cupboard.", "noted, shelf 3")),
            "c": Act("Ask for thing", GUEST, "house", (
                "I think I left something under my seat yesterday, did anybody bring it to you?",
                "missing since {t}!! please tell me you have it")),
            "d": Act("Compare description", "house", GUEST, (
                "What does it look like exactly? Any marks?",
                "Can you describe it? There are four of that kind here.")),
            "e": Act("Hand over thing", "house", GUEST, (
                "Yes, that's yours. It's at the stage door for you.",
                "Given to you today, take care of it.")),
            "f": Act("Give thing to charity", "house", "production", (
                "Half a year is over, the box went to the charity shop.",
                "Took what nobody wanted to the Red Cross.")),
        },
        ("abcde", "abcde", "abf", "abcde", "abf", "abcde"),
    ),
)  # fmt: skip

CHAT = (
    "Who has the key of the kitchen?", "coffee machine is dead again", "Lovely light outside today",
    "Lunch at twelve?", "There is cake on the second floor", "My bike has a flat tyre",
    "Happy birthday!!", "has anyone seen my scarf", "Parking is closed on Sunday because of the run",
    "Did you see the match?", "the lift is stuck, take the stairs", "haha yes", "see you tomorrow",
    "Newsletter: ten tips for better sleep", "Your parcel could not be delivered, click here",
    "good night everybody", "nice weekend all", "No, that was last year I think",
)  # fmt: skip
NOISE = 150
"""Number of messages of no process."""


def list_outlines() -> dict[str, str]:
    """The outline of each process; the ids of its steps are their letters."""
    outlines = {}
    for process in PROCESSES:
        lines = []
        for line in process.outline.splitlines():
            letter = line.strip()
            act = process.acts.get(letter)
            if act is not None:
                line = f"{line.replace(letter, act.name)} | {act.writer} | #step_{letter}"
            lines.append(line)
        outlines[process.name] = "\n".join(lines) + "\n"
    return outlines


def make_theatre_corpus(
    seed: int = 1, *, hard: bool = False
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The messages as records of JSON lines, and the truth as `orgflowc eval` reads it. A hard
    corpus has neither roles nor threads."""
    rng = random.Random(seed)
    records: list[dict[str, Any]] = []
    known: dict[str, Any] = {}
    for process in PROCESSES:
        for case in range(CASES):
            letters = process.ways[case % len(process.ways)]
            records += _play_case(rng, process, case, letters, known)
    for number in range(NOISE):
        writer, reader = rng.sample(sorted({p for pair in STAFF.values() for p in pair}), 2)
        at = START + timedelta(days=rng.uniform(0, 120))
        id_ = f"noise-{number}"
        records.append(_make_record(id_, at, "chat", writer, reader, "", rng.choice(CHAT)))
        known[id_] = {"process": None, "scenario": None, "tasks": []}
    if hard:
        for record in records:
            record["thread"] = None
            for key in ("sender", "receivers"):
                record[key] = _strip_roles(record[key])
    records.sort(key=lambda record: (record["date"], record["id"]))
    processes = {
        process.name: {
            "name": process.name.replace("-", " "), "description": process.text,
            "scenarios": [
                {"scenario": f"{process.name}-{n}", "tasks": [process.acts[x].name for x in way]}
                for n, way in enumerate(process.ways[:CASES])
            ],
        }
        for process in PROCESSES
    }  # fmt: skip
    return records, {"processes": processes, "messages": known}


def _strip_roles(people: Any) -> Any:
    """Names without the roles behind them."""
    if isinstance(people, list):
        return [_strip_roles(person) for person in people]
    return str(people).partition(" (")[0]


def _play_case(
    rng: random.Random, process: Description, case: int, letters: str, known: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The messages of one case."""
    at = START + timedelta(days=rng.uniform(0, 90), hours=rng.uniform(0, 8))
    guest = OUTSIDE[(case * 7 + len(process.name) + PROCESSES.index(process)) % len(OUTSIDE)]
    people = {role: pair[case % 2] for role, pair in STAFF.items()} | {GUEST: guest}
    thing, number = rng.choice(THINGS), rng.randrange(11, 60)
    said: dict[str, int] = {}
    subject = f"{process.acts[letters[0]].name.split()[-1]} {thing.removeprefix('the ')}"
    for place, letter in enumerate(letters):
        act = process.acts[letter]
        text = act.texts[(case + said.get(letter, 0)) % len(act.texts)]
        said[letter] = said.get(letter, 0) + 1
        channel = "phone" if "\n" in text else ("chat" if text[0].islower() else "email")
        text = text.format(n=number, t=thing)
        id_ = f"{process.name}-{case}-{place}"
        to = act.reader if act.reader != act.writer else "production"
        writer, reader = (f"{people[role]} ({role.title()})" for role in (act.writer, to))
        given = subject if channel == "email" else ""
        yield _make_record(id_, at, channel, writer, reader, given, text)
        known[id_] = {
            "process": process.name, "scenario": f"{process.name}-{case}",
            "tasks": [f"step_{letter}"],
        }  # fmt: skip
        if rng.random() < 0.35 and channel != "phone":
            answer = rng.choice(_NODS)
            later = at + timedelta(minutes=rng.uniform(4, 50))
            more = f"{id_}-b"
            yield _make_record(more, later, channel, reader, writer, given, answer)
            known[more] = dict(known[id_])
        long_wait = letter in ("e", "c") and rng.random() < 0.3
        at += (
            timedelta(days=rng.uniform(6, 15)) if long_wait else timedelta(hours=rng.uniform(2, 30))
        )


_NODS: Sequence[str] = (
    "Thank you!", "ok", "Good, got it.", "Fine with me.", "Thanks, that helps.", "perfect",
    "All right then.", "Received.",
)  # fmt: skip


def _make_record(
    id_: str, at: datetime, channel: str, writer: str, reader: str, subject: str, text: str
) -> dict[str, Any]:
    return {
        "id": id_, "date": at.isoformat(timespec="minutes"), "channel": channel,
        "sender": writer, "receivers": [reader], "subject": subject, "body": text,
        "thread": f"{subject} {min(writer, reader)} {max(writer, reader)}" if subject else None,
    }  # fmt: skip
