"""English mails, notices and calls about any task."""

from __future__ import annotations

import re
from collections.abc import Callable

from orgflow.evaluation.corpus.language import Act, Language, split_lines, split_words

_IRREGULAR = {
    line.split()[0]: (line.split()[1], line.split()[2])
    for line in split_lines(
        """
    be was been
    become became become
    begin began begun
    bind bound bound
    break broke broken
    catch caught caught
    cost cost cost
    fall fell fallen
    fly flew flown
    forget forgot forgotten
    grow grew grown
    hit hit hit
    know knew known
    lay laid laid
    lose lost lost
    quit quit quit
    reset reset reset
    ride rode ridden
    say said said
    seek sought sought
    shoot shot shot
    shut shut shut
    sign signed signed
    speak spoke spoken
    spend spent spent
    split split split
    stand stood stood
    teach taught taught
    throw threw thrown
    understand understood understood
    wear wore worn
    win won won
    bring brought brought
    build built built
    buy bought bought
    choose chose chosen
    come came come
    cut cut cut
    deal dealt dealt
    do did done
    draw drew drawn
    drive drove driven
    eat ate eaten
    feed fed fed
    fetch fetched fetched
    find found found
    forgive forgave forgiven
    get got got
    give gave given
    go went gone
    hand handed handed
    have had had
    hear heard heard
    hold held held
    keep kept kept
    leave left left
    lend lent lent
    make made made
    meet met met
    pay paid paid
    put put put
    read read read
    run ran run
    see saw seen
    sell sold sold
    send sent sent
    set set set
    show showed shown
    sow sowed sown
    take took taken
    tell told told
    think thought thought
    wash washed washed
    withdraw withdrew withdrawn
    write wrote written
    """
    )
}
_DOUBLED = frozenset(
    split_words(
        """
    admit begin chat clip commit control crop cut dip drop equip fit flag forget get grab hit
    jot knit let log map occur permit pin plan plot pop prefer put quit refer reset run scan
    scrub set ship shop shut sit skip snap spin split step stop strip submit swap swim tag tap
    tip transfer transmit trim win wrap zip
        """
    )
)

_SYNONYMS: dict[str, tuple[str, ...]] = {
    "check": ("look over", "go through", "verify", "have a look at"),
    "send": ("forward", "email", "pass on", "get out"),
    "receive": ("get", "take in"),
    "create": ("set up", "draw up", "put together"),
    "prepare": ("get ready", "put together", "draft"),
    "select": ("pick", "choose", "settle on"),
    "choose": ("pick", "select", "decide on"),
    "review": ("read through", "go over", "look at"),
    "evaluate": ("assess", "weigh up", "rate"),
    "assess": ("evaluate", "weigh up"),
    "conduct": ("carry out", "do", "hold"),
    "perform": ("carry out", "do"),
    "complete": ("finish", "wrap up"),
    "provide": ("hand over", "supply", "give them"),
    "submit": ("hand in", "file", "put in"),
    "update": ("bring up to date", "refresh"),
    "identify": ("find", "work out", "spot"),
    "approve": ("sign off", "okay", "give the green light to"),
    "notify": ("tell", "let know about it:", "inform"),
    "inform": ("tell", "notify"),
    "order": ("get in", "ask for", "buy"),
    "enter": ("type in", "fill in", "put in"),
    "register": ("sign up", "enrol", "record"),
    "collect": ("gather", "get together", "pull together"),
    "determine": ("work out", "find out", "settle"),
    "define": ("write down", "settle", "pin down"),
    "develop": ("work out", "build up"),
    "generate": ("produce", "make"),
    "arrange": ("organise", "fix up"),
    "schedule": ("fix a date for", "plan in"),
    "calculate": ("work out", "compute"),
    "implement": ("put in place", "carry out"),
    "close": ("wrap up", "finish off"),
    "archive": ("file away", "put on file"),
}

_VERBS = frozenset((*_IRREGULAR, *_DOUBLED, *_SYNONYMS)) | frozenset(
    split_words(
        """
    accept accompany acknowledge acquire activate add address adjust advance advertise advise agree
    align allocate allow amend analyse analyze announce answer appeal apply appoint appraise
    ask assemble assign assist attach attend audit authorise authorize await award back bake
    balance bill block board book borrow brief browse calibrate call cancel categorise
    categorize certify change charge clarify classify clean clear click code combine
    communicate compare compensate compile complain compute configure confirm connect consider
    consolidate construct consult contact continue convert cook copy correct count cover
    credit deactivate debit decide declare drink graduate position train transition decline
    deduct delegate delete deliver demand deny
    deploy deposit describe design destroy detect diagnose disassemble discard disconnect
    discuss dispatch display dispose distribute document download draft edit elaborate email
    enable encourage end engage enquire enrol enroll ensure escalate establish estimate
    examine exchange execute expand explain explore export extend extract face facilitate fail
    file fill filter finalise finalize finance finish fix follow forward fulfil fulfill gather
    grade grant greet guide handle help hire hold host import improve increase initiate
    inquire insert inspect install instruct insure integrate interview introduce invalidate
    investigate invite invoice issue join judge label launch learn link list load locate look
    lower mail maintain manage manufacture mark match measure mention merge mix modify monitor
    motivate move need negotiate note obtain offer onboard open operate oppose optimise
    optimize organise organize outline pack package park participate pass pick place play
    polish post pour present press print process procure produce promise promote propose prove
    publish purchase query question quote raise rank rate ready realise realize rebook
    recalculate recommend reconcile recruit redesign reduce refine refund refuse reject
    release relocate remind remove renew rent reorder repair repeat replace reply report
    represent request require research reserve resolve respond restart restock restore
    resubmit retrieve return revise revoke reward round save score screen search secure
    separate serve settle share sharpen sketch solve sort source specify start state stay
    stock store study suggest summarise summarize supervise support surrender survey switch
    talk target taste test thank track trade train translate transport travel treat trigger
    try turn type unload unpack unsubscribe upgrade upload use validate view visit wait warn
    water weigh welcome widen work
        """
    )
)
"""Verbs that names of tasks begin with. The list is not complete."""

_NOUNS = frozenset(
    split_words(
        "system kitchen hr guest flight ultrasound guidewire doppler sales rules waitress campaign "
        "it auto post-travel friend bank department staff team chef agent secretary user"
    )
)
_PERSON = re.compile(
    r"(?:er|or|ist|ee|ent|ant|ian|mechanic|officer|systems?|teams?|department|bank|engine|guest|"
    r"kitchen|staff|chef|secretary|representative)$", re.IGNORECASE,
)  # fmt: skip

_NOT_VERBS = re.compile(
    r"(?:tion|ment|ance|ence|ity|ness|sion|al|ful|ic|er|or|ee|ist|ian|'s)$", re.IGNORECASE
)
_PARTICLES = ("in", "out", "up", "off", "down", "back", "over", "on", "away", "along")


def form_past(verb: str) -> tuple[str, str]:
    """The past and the participle of a verb, its particle behind it."""
    word, space, rest = verb.partition(" ")
    if word in _IRREGULAR:
        forms = _IRREGULAR[word]
    elif word.endswith("e"):
        forms = (word + "d",) * 2
    elif re.search(r"[^aeiou]y$", word):
        forms = (word[:-1] + "ied",) * 2
    elif word in _DOUBLED:
        forms = (word + word[-1] + "ed",) * 2
    else:
        forms = (word + "ed",) * 2
    return forms[0] + space + rest, forms[1] + space + rest


def form_gerund(verb: str) -> str:
    """The form in -ing."""
    word, space, rest = verb.partition(" ")
    if word.endswith("ie"):
        word = word[:-2] + "y"
    elif word.endswith("e") and not word.endswith("ee") and word != "be":
        word = word[:-1]
    elif word in _DOUBLED:
        word += word[-1]
    return f"{word}ing{space}{rest}"


def derive_infinitive(word: str) -> str:
    """The infinitive of a verb in the third person."""
    lower = word.lower()
    if lower in ("is", "has", "does", "goes"):
        return {"is": "be", "has": "have", "does": "do", "goes": "go"}[lower]
    if lower.endswith("ies"):
        return lower[:-3] + "y"
    if re.search(r"(?:sh|ch|ss|x|zz)es$", lower):
        verb = lower[:-2]
        return verb + "e" if verb not in _VERBS and verb + "e" in _VERBS else verb
    verb = lower.removesuffix("s")
    shorter = verb.removesuffix("e")
    return shorter if verb not in _VERBS and shorter in _VERBS else verb


def _of_participle(word: str) -> str:
    lower = word.lower()
    for verb, forms in _IRREGULAR.items():
        if forms[1] == lower:
            return verb
    if lower.endswith("ied"):
        return lower[:-3] + "y"
    stem = lower.removesuffix("ed")
    for known in (stem, stem + "e", stem[:-1]):
        if known in _VERBS and form_past(known)[0] == lower:
            return known
    if re.search(r"([^aeiousl])\1$", stem):
        return stem[:-1]
    return stem + "e" if re.search(r"(?:at|in|is|iz|v|c|g|s|ur|ar|ir|or)$", stem) else stem


def divide_name(name: str) -> tuple[str, str, str]:
    """Subject, verb and object of a task's name, each as far as the name has it.

    `Check stock` and `Customer checks stock` have the same verb; `Stock is checked by clerk` too. A
    name without a verb (`Flight test`) is something that people do.
    """
    text = name.strip().rstrip("?!.").strip()
    passive = re.match(
        r"(?P<o>.+?)(?<!\bwhat)(?<!\bwhich)(?<!\bthat)(?<!\bwho)(?<!\bif it)\s+"
        r"(?:is|are|being|gets)\s+(?:being\s+)?(?P<v>\w+(?:ed|en|wn|nt|ld))\b"
        r"(?P<rest>.*)$", text, re.IGNORECASE,
    )  # fmt: skip
    if passive:
        rest = re.sub(r"^\s*by\s+", "", passive["rest"])
        subject = rest.strip() if re.match(r"\s*by\s", passive["rest"]) else ""
        tail = "" if subject else passive["rest"]
        return subject, _of_participle(passive["v"]), f"{passive['o']}{tail}"
    parts = text.split()
    if len(parts) == 1:
        return ("", text.lower(), "") if text.lower() in _VERBS else ("", "do", text)
    place = _verb_after_subject(parts)
    if place:
        subject = " ".join(parts[:place]).removesuffix(" can")
        return subject, _after_subject(parts[place].lower()), " ".join(parts[place + 1 :])
    verb = parts[0].lower()
    if verb not in _VERBS:
        verb = _match_infinitive(verb)
    if not verb:
        return "", "do", text
    others = parts[1:]
    if others[0].lower() in _PARTICLES and len(others) > 1:
        verb, others = f"{verb} {others[0].lower()}", others[1:]
    return "", verb, " ".join(others)


def _verb_after_subject(parts: list[str]) -> int:
    """The place of the verb in a name that begins with who does it; 0 in others."""
    first = parts[0].lower()
    if first in _VERBS and not parts[0].isupper():
        return 0
    places = range(1, min(4, len(parts) - 1))
    return next((place for place in places if _is_verb_at(parts, place)), 0)


def _is_verb_at(parts: list[str], place: int) -> bool:
    """Whether the word at a place, which others precede and follow, is the verb of a sentence."""
    word, before, follows = (parts[i].lower() for i in (place, place - 1, place + 1))
    person = _PERSON.search(before) is not None or parts[place - 1].isupper()
    if before in ("the", "a", "of") or (word == "claims" and _PERSON.search(follows)):
        return False
    if word in _VERBS and (before == "can" or (person and word not in ("test", "process"))):
        return True
    third = re.fullmatch(r"[a-z]{2,}s", word) and not word.endswith(("ss", "us", "ous", "is"))
    if not third or (follows in ("of", "for", "in", "and", "or") and not person):
        return False
    first = parts[0].lower()
    noun = first in _NOUNS or _NOT_VERBS.search(first) is not None
    known = derive_infinitive(word) in _VERBS and (place == 1 or noun)
    article = follows in ("the", "a", "an", "his", "her", "its", "their", "to", "out")
    return bool(known or article or (person and not _PERSON.search(word)))


def _after_subject(word: str) -> str:
    if word in _VERBS:
        return word
    verb = derive_infinitive(word)
    return verb if verb in _VERBS else _match_infinitive(verb) or verb


def _match_infinitive(first: str) -> str:
    """The verb that the first word of a name is a form of; empty where it is no verb."""
    if derive_infinitive(first) in _VERBS and first not in _NOUNS:
        return derive_infinitive(first)
    if first.endswith(("ed", "en", "wn", "nt", "ld")) and _of_participle(first) in _VERBS:
        return _of_participle(first)
    for verb, forms in _IRREGULAR.items():
        if forms[0] == first:
            return verb
    if first in _NOUNS or _NOT_VERBS.search(first) or not first.isalpha():
        return ""
    return "" if first.endswith("ing") and len(first) > 5 else first


_FIXED = re.compile(
    r"(?:the|a|an|my|your|his|her|its|our|their|if|whether|that|to|for|with|in|on|at|about|into|"
    r"from|as|and|all|any|each|which|what|how|until|\d|['\"])\b", re.IGNORECASE,
)  # fmt: skip


def choose_forms(name: str, chance: Callable[[], float]) -> Act:
    """The forms of a task; now and then with another verb or a shorter object."""
    subject, verb, thing = divide_name(name)
    if chance() < 0.4 and verb in _SYNONYMS:
        choices = _SYNONYMS[verb]
        verb = choices[int(chance() * len(choices))]
    bare = _lower_first(thing)
    whole = bare if _FIXED.match(bare) or not bare else f"the {bare}"
    head = re.split(r"\b(?:from|to|for|with|in|into|of|by|via|on|about|at|and|or)\b", bare)[0]
    last = (head.split() or bare.split() or ["it"])[-1]
    plural = last.endswith("s") and not last.endswith("ss")
    short = (
        ("them" if plural else "it") if _FIXED.match(bare) or not head.strip() else f"the {last}"
    )
    if chance() < 0.25:
        whole = short
    before, participle = form_past(verb)
    space = " " if whole else ""
    return Act(
        do=f"{verb}{space}{whole}",
        did=f"{before}{space}{whole}",
        doing=f"{form_gerund(verb)}{space}{whole}",
        done=participle,
        thing=whole or "it",
        short=short,
        subject=subject,
        topic=bare or name.lower(),
    )


def _lower_first(text: str) -> str:
    return " ".join(
        w if w.isupper() or not w[:1].isupper() or w[1:] != w[1:].lower() else w.lower()
        for w in text.split()
    )


ENGLISH = Language(
    code="en",
    act=choose_forms,
    requests=split_lines(
        """
    Could you {do} today?
    Can I ask you to {do} next?
    Your turn now: please {do}.
    We still have to {do}, are you free for that this afternoon?
    Before we can go on, somebody needs to {do}. Would that be you?
    It would help a lot if you could {do} before {day}.
    Would you mind {doing}? I am stuck here until about four.
    Next on the list is {doing}, I think that is with you.
    Please {do} when you get a minute.
    Any chance that you {do} before the end of {day}?
    I was told you are the one to {do}. Is that right?
    {name}, please don't forget to {do}.
    """
    ),
    reports=split_lines(
        """
    I {did} this morning.
    Just a quick note that I {did}.
    Done: we {did} yesterday evening.
    I finally {did}, it took a bit longer than planned.
    As agreed on {day}, I {did}.
    We {did} right after your call.
    You can tick off {doing}, that is behind us.
    I managed to {do} after all.
    Finished {doing} a minute ago.
    For your information: I {did} and put a copy into the folder.
    So, I {did}. Nothing odd to report.
    {name}, I {did} as you asked.
    """
    ),
    plans=split_lines(
        """
    I am going to {do} now and will let you know how it goes.
    I'll {do} first thing on {day}.
    Right now I'm busy {doing}, bear with me.
    My plan is to {do} before lunch.
    Then I will {do}, unless you object.
    """
    ),
    passives=split_lines(
        """
    Good news, {thing} has been {done}.
    I can confirm: {thing} was {done} at ten.
    {thing} got {done} without any trouble.
    As of {day}, {thing} counts as {done}.
    """
    ),
    obliques=split_lines(
        """
    That's {thing} off my desk.
    About {thing}: settled, you can carry on.
    {thing}: everything as it should be.
    Ticked off on my side, over to you.
    This one is through as well. What comes next?
    I have dealt with {short}, see the file.
    As for {thing}, all is in order.
    """
    ),
    systems=split_lines(
        """
    AUTOMATIC NOTICE {ref}: {topic} {done}. Please do not reply.
    {ref} status changed: {topic} ({done}).
    Task "{do}" of {ref} finished at {day} 14:02.
    """
    ),
    answers=split_lines(
        """
    Thanks, noted.
    Great, that was quick.
    Perfect, then we can carry on.
    All right, I'll take it from here.
    Okay, and did you notice anything unusual?
    No, all as expected this time.
    Got it, thank you.
    Fine by me. Shout if you need anything.
    Hm, I would have expected that earlier, but good.
    Sorry for the late answer, I was on the road. Yes, go ahead.
    Understood. Could you add a line about it in the file?
    Will do.
    """
    ),
    details=split_lines(
        """
    It is about {case}, in case you wondered.
    The number is {ref}.
    See {ref} for the rest.
    This belongs to {case}.
    {amount} euros, if anybody asks.
    You find me in {place} until four.
    The papers are in {place}.
    They would like to have it by {day}.
    Nobody answered the phone on {day}, so I simply went ahead.
    There was a queue, as always.
    I had to do it twice because the page froze.
    The first attempt did not go through, the second did.
    {case} again, you remember.
    For {ref} this was the last open point on my side.
    I wrote the time down, it took {amount} minutes, no joke.
    The attachment is bigger than it looks.
    """
    ),
    talk=split_lines(
        """
    By the way, your umbrella is still at my place.
    How was the weekend at the lake?
    The coffee here gets worse every week.
    I hope your back is better.
    What weather, my shoes are still wet.
    My train was forty minutes late again.
    Say hello to the others.
    Did you see the match?
    Is it only me or is it freezing in here?
    Greetings from a very full train.
    """
    ),
    greetings=split_lines(
        """
    Hi {name},
    Hello {name},
    Dear {name},
    {name},
    Good morning {name},
    Hi there,
    """
    ),
    closings=split_lines("Best regards,\nBest,\nThanks,\nCheers,\nKind regards,\nAll the best,"),
    subjects=split_lines(
        """
    {topic}
    {ref}
    {case}
    {topic} - {case}
    question about {topic}
    {ref}: {topic}
    next step
    a short question
    {case}, continued
    update
    """
    ),
    quote="On {day}, {name} wrote:",
    days=split_lines("Monday\nTuesday\nWednesday\nThursday\nFriday\ntomorrow\nnext week"),
    places=split_lines(
        "room 4.12\nthe annex\nthe blue cabinet\nthe second floor\nthe shared drive\nbuilding C"
    ),
    cases=split_lines(
        """
    the {last} matter
    {street} {number}
    file {number}
    Mr {last}
    Ms {last}
    the {last} family
    the {street} one
    """
    ),
    streets=split_lines(
        "Mill Lane\nHarbour Road\nKestrel Close\nStation Street\nOrchard Way\nChapel Hill\n"
        "Foundry Row\nLinden Avenue\nQuarry Path\nBridge End\nTanner's Yard\nWindmill Rise"
    ),
    first=split_words(
        "Ada Basil Clara Dmitri Edith Farouk Greta Hamid Ivy Jasper Kira Leon Maud Nadia Oscar "
        "Priya Quentin Rosa Stellan Tamar Ulric Vera Wendell Xenia Yusuf Zelda Abel Bonnie Cyril "
        "Delia Emmet Flora Gideon Hester Ivo Juno Kaspar Lena Milan Nell Orla Piers Renata Silas "
        "Thea Umar Violet Willem Yara Zora"
    ),
    last=split_words(
        "Ashdown Birkett Calloway Drummond Eastwick Fairbairn Gathercole Hargreave Inglewood "
        "Jessop Kirkbride Lockwood Mainwaring Netherby Oakeshott Pemberton Quillan Ravenscroft "
        "Stanhope Thackeray Underhill Venables Wetherby Yardley Zeller Arkwright Blakeney Cottrell "
        "Dunmore Ellery Finchley Granger Holbrook Ives Jardine Kemble Langton Merrick Norwood "
        "Osgood Prescott Radcliffe Selwyn Tolliver Upton Vickers Winslow"
    ),
    staff=split_lines(
        "Clerk\nCoordinator\nTeam Lead\nSpecialist\nOffice Manager\nAnalyst\nDesk Officer\n"
        "Assistant\nSupervisor\nTechnician\nCase Worker\nController"
    ),
    outside=split_lines("Customer\nApplicant\nClient\nMember\nGuest\nPartner"),
    system="Workflow System (automated)",
    topics=split_lines(
        """
    the coffee machine on two
    parking bay 12
    the lift
    the summer party
    Saturday's football
    the choir rehearsal
    the fire drill
    the canteen menu
    a lost grey scarf
    the heating in the annex
    Juno's leaving present
    the fridge and its contents
    the quiz night
    the charity run
    the new chairs
    a second-hand pram
    the bike shed key
    the window that will not close
    the wifi in the basement
    the raffle
    the carpool to the coast
    a flat to let near the park
    the pub on Thursday
    the newsletter photograph
    the plants in the hallway
    the broken vending machine
    the book club
    somebody's alarm clock
    the fantasy league
    the smell in the stairwell
    """
    ),
    openers=split_lines(
        """
    Does anybody know anything about {topic}?
    Once more about {topic}: this cannot go on.
    Are you coming along? I mean {topic}, {day}.
    I have had enough of {topic}, honestly.
    Reminder to all: {topic}. You know who you are.
    Funny story about {topic}, remind me at lunch.
    Whoever is in charge of {topic}, you are my hero.
    Quick show of hands regarding {topic}?
    Has {topic} come up with you as well?
    I would put in ten euros for {topic}. Who joins?
    """
    ),
    replies=split_lines(
        """
    Ha, not again.
    Count me in.
    I'd rather not, sorry. Kids.
    No idea, ask somebody on three.
    That was me and I regret nothing.
    Same here, since Easter at least.
    {day} works for me.
    Can't, my sister is visiting.
    Who even decides such things?
    I could bring a cake.
    Please take me off this list.
    Let's talk at lunch.
    Fine, but not before six.
    You made my day.
    I give up.
    It was like that when I came.
    """
    ),
    pickup=split_lines("{name} speaking.\nYes, {name} here.\nHello?\n{name}, good morning."),
    call=split_lines(
        "discuss\nconsult\nnegotiat\ninterview\ncall\nphone\nask\ntalk\nmeet\ndescribe"
    ),
    notify=split_lines("notif\nremind\nconfirm\ninform\nalert"),
)
