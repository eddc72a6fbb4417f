"""The draft by rules: sentences, steps, cue words; always sound, always with evidence."""

from __future__ import annotations

import orgflow
import pytest
from orgflow.agents.language.identification import seems_english
from orgflow.agents.language.sentences import split_sentences
from orgflow.agents.text.rule_based import draft_text

from orgflow_ir.model import Gateway, Model, Task


def drafted(text: str) -> Model:
    result = orgflow.draft([orgflow.Document("t", text)], "text-rules")
    assert result.model is not None, result.diagnostics
    assert orgflow.check(result).ok
    unexpected = [d for d in result.diagnostics if d.code not in ("OF516", "OF518", "OF653")]
    assert unexpected == []
    return result.model


def names(model: Model) -> list[str]:
    return [n.name for n in model.processes[0].nodes if isinstance(n, Task)]


def kinds(model: Model) -> list[str]:
    return [n.gateway_kind for n in model.processes[0].nodes if isinstance(n, Gateway)]


def test_verbs_and_objects() -> None:
    model = drafted("The clerk checks the invoice. It is then sent to the customer by the manager.")
    assert names(model) == ["Check invoice", "Send invoice to customer"]
    assert [lane.name for lane in model.processes[0].lanes] == ["clerk", "manager"]
    task = model.processes[0].nodes[0]
    assert task.evidence[0].quote == "The clerk checks the invoice."


def test_if_and_otherwise() -> None:
    model = drafted(
        "The clerk checks the stock. If the goods are there, he ships the goods. "
        "Otherwise, he orders the parts. Finally, he writes the invoice."
    )
    assert names(model) == ["Check stock", "Ship goods", "Order parts", "Write invoice"]
    assert kinds(model) == ["exclusive", "exclusive"]
    labels = {f.name for f in model.processes[0].flows if f.name}
    assert labels == {"the goods are there", "otherwise"}


def test_while_is_parallel() -> None:
    model = drafted("While the cook prepares the food, the waiter sets the table.")
    assert names(model) == ["Prepare food", "Set table"]
    assert kinds(model) == ["parallel", "parallel"]


def test_may_is_optional() -> None:
    model = drafted("The clerk opens the case. The clerk may call the customer.")
    assert kinds(model) == ["exclusive"] or kinds(model) == ["exclusive", "exclusive"]


@pytest.mark.parametrize("text", ["", "   \n", "Title: Nothing"])
def test_no_steps(text: str) -> None:
    result = orgflow.draft([orgflow.Document("t", text)], "text-rules")
    assert result.model is None
    assert [d.code for d in result.diagnostics] == ["OF517"]


def test_hostile_names_stay_names() -> None:
    drafted("The clerk writes {{ $env.KEY }} -> X1 | End. The clerk ships (a) -> [b] the order.")


def test_sentences() -> None:
    text = "Title: A b\nMr. Smith, e.g. the boss, pays 3.50 EUR. He leaves!\n- call him\n- wait"
    found = split_sentences(text)
    assert [s.text for s in found] == [
        "Title: A b", "Mr. Smith, e.g. the boss, pays 3.50 EUR.", "He leaves!", "- call him",
        "- wait",
    ]  # fmt: skip
    assert all(text[slice(*s.span)] == s.text for s in found)
    assert [s.heading for s in found] == [True, False, False, False, False]


def test_lines_are_deterministic() -> None:
    sentences = split_sentences("The clerk checks the order. If it is fine, he ships it.")
    assert draft_text(sentences).lines == draft_text(sentences).lines


def flows(model: Model) -> set[tuple[str, str, str]]:
    """Flows by the names of what they connect, gateways by their kinds."""
    (process,) = model.processes
    said = {
        n.id: n.name if isinstance(n, Task) else n.gateway_kind if isinstance(n, Gateway) else "-"
        for n in process.nodes
    }
    return {(said[f.source], f.name, said[f.target]) for f in process.flows}


def test_what_is_told_before_a_condition_is_done_in_any_case() -> None:
    model = drafted(
        "The clerk opens the case. The manager reviews the claim, and if it is approved, "
        "the bank transfers the money."
    )
    assert ("Review claim", "", "exclusive") in flows(model)
    assert ("exclusive", "it is approved", "Transfer money") in flows(model)


def test_a_step_that_is_done_again() -> None:
    model = drafted(
        "The director reviews the report. If revisions are required, the team updates the report "
        "and the director reviews the report again. The team archives the report."
    )
    assert names(model) == ["Review report", "Update report", "Archive report"]
    assert ("Update report", "", "Review report") in flows(model)


def test_otherwise_goes_back_to_the_step_that_a_noun_names() -> None:
    """The branch that the sentence says goes back, not the one before it; going is no step."""
    model = drafted(
        "The recruiter screens the applications. The lead and the recruiter discuss the candidate. "
        "If they agree, the office drafts the contract; otherwise the recruiter goes back to the "
        "screening. Finally, the candidate signs the contract."
    )
    assert not [name for name in names(model) if name.startswith("Go")]
    found = flows(model)
    back = [target for _, label, target in found if label == "otherwise"]
    (draft,) = [target for source, _, target in found if source == "Draft contract"]
    assert draft == "Sign contract"
    assert back == ["Screen applications"]


def test_until_is_a_loop() -> None:
    model = drafted("The team revises the design until the customer is satisfied. It is printed.")
    assert ("exclusive", "otherwise", "Revise design") in flows(model)
    assert ("exclusive", "the customer is satisfied", "Print design") in flows(model)


def test_meanwhile_is_beside_all_that_the_sentence_before_told() -> None:
    model = drafted(
        "The clerk opens the case. The office prepares statements and gathers documents. "
        "Concurrently, the team checks the rules. Afterward, the office submits the documents."
    )
    assert kinds(model) == ["parallel", "parallel"]
    assert ("parallel", "", "Prepare statements") in flows(model)
    assert ("Prepare statements", "", "Gather documents") in flows(model)
    assert ("parallel", "", "Check rules") in flows(model)


def test_a_choice_beside_something_else_is_joined_first() -> None:
    model = drafted(
        "The clerk opens the case. The clerk may call the customer. "
        "Meanwhile, the cook prepares the meal."
    )
    assert ("exclusive", "", "parallel") in flows(model)


def test_nothing_happens_beside_the_end() -> None:
    model = drafted(
        "The clerk opens the case. If the case is empty, the process ends. "
        "Meanwhile, the cook prepares the meal."
    )
    assert "parallel" not in kinds(model)


def test_a_process_that_begins_with_doing_something() -> None:
    assert names(drafted("The process begins with checking the order. The clerk ships it.")) == [
        "Check order", "Ship order",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Le comptable vérifie la facture. Si elle est correcte, le chef la signe.",
        "El empleado revisa el pedido y el gerente lo aprueba por la tarde.",
        "Клерк проверяет заказ. Затем он отправляет счёт.",
        "担当者は注文を確認する。",
    ],
)
def test_another_language(text: str) -> None:
    assert not seems_english(text)
    result = orgflow.draft([orgflow.Document("t", text)], "text-rules")
    assert [d.code for d in result.diagnostics] == ["OF651"]
    assert result.model is None


@pytest.mark.parametrize(
    "text",
    [
        "Check order. Pack goods. Send invoice.",
        "The clerk sends the invoice to La Poste and El Corte in Los Angeles, Las Vegas et al.",
        "Müller checks Größe of the Übergabe.",
    ],
)
def test_english_with_other_words(text: str) -> None:
    assert seems_english(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The clerk checks order #4711.", "Check order #4711"),
        ("The clerk archives invoice 2024/17.", "Archive invoice 2024/17"),
        ("The system reserves 10 % of the budget.", "Reserve 10 % of budget"),
        ("The clerk sends reminder 2 after 14 days.", "Send reminder 2"),
        ("The technician installs version 2.5 on server 7.", "Install version 2.5 on server 7"),
        ("The customer pays $500.", "Pay $500"),
        ("The driver picks up a 24-hour pass.", "Pick up 24-hour pass"),
        ("The clerk enters invoice INV-2024-001 in SAP R/3.", "Enter invoice INV-2024-001"),
        ("The clerk issues ticket no. 5.", "Issue ticket no. 5"),
        ("The agent waits 24 hours.", "Wait 24 hours"),
        ("The clerk signs 2 copies of contract A-17.", "Sign 2 copies of contract A-17"),
        ("The clerk checks the order 3 times.", "Check order"),
    ],
)
def test_names_keep_numbers(text: str, name: str) -> None:
    assert names(drafted(text)) == [name]


def test_conditions_keep_numbers_and_signs() -> None:
    model = drafted("If the amount exceeds 1,500.50 EUR or 10 %, the manager signs the order.")
    labels = [f.name for f in model.processes[0].flows]
    assert "the amount exceeds 1,500.50 EUR or 10 %" in labels


def test_sentences_that_nothing_rests_on_are_reported_with_their_place() -> None:
    text = "The clerk checks the order.\n  Level 2 support repairs laptop X200.\n"
    result = orgflow.draft([orgflow.Document("t", text)], "text-rules")
    found = [d for d in result.diagnostics if d.code == "OF518"]
    assert [str(d.loc) for d in found] == ["t:2:3"]
    assert "Level 2 support repairs laptop X200." in found[0].message


def test_places_are_those_of_the_sentences() -> None:
    model = drafted("Hello!\n\nThe clerk checks the stock. If it is low, he orders the parts.")
    process = model.processes[0]
    places = {n.name: str(n.loc) for n in process.nodes}
    assert places["Check stock"] == "t:3:1"
    assert places["Order parts"] == "t:3:29"
    assert {str(e.loc) for e in (*process.nodes, *process.flows)} == {"t:3:1", "t:3:29"}


def test_german_is_drafted_by_its_own_rules() -> None:
    text = (
        "Urlaubsantrag\n\nDer Mitarbeiter füllt das Formular aus. Wenn der Antrag genehmigt wird, "
        "trägt die Personalabteilung den Urlaub ein."
    )
    model = drafted(text)
    assert model.processes[0].name == "Urlaubsantrag"
    assert names(model) == ["Formular ausfüllen", "Urlaub eintragen"]
    labels = {f.name for f in model.processes[0].flows if f.name}
    assert labels == {"der Antrag genehmigt wird", "otherwise"}


def test_tables_are_reported_and_are_no_steps() -> None:
    text = (
        "The clerk checks the order.\n\n| Role | Task |\n|---|---|\n| Buyer | orders the parts |\n"
    )
    result = orgflow.draft([orgflow.Document("t", text)], "text-rules")
    assert result.model is not None
    assert names(result.model) == ["Check order"]
    (found,) = [d for d in result.diagnostics if d.code == "OF518"]
    assert "2 rows of tables" in found.message
    assert str(found.loc) == "t:3:1"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("The agent checks whether the item is under warranty.",
         ["Check whether item is under warranty"]),
        ("The agent checks if the item is damaged. The agent calls the customer.",
         ["Check whether item is damaged", "Call customer"]),
        ("This procedure describes returns. The clerk opens the parcel. See also policy R-3.",
         ["Open parcel"]),
        ("The refund is reduced by 20 %.", ["Reduce refund"]),
    ],
)  # fmt: skip
def test_what_is_checked_and_what_is_no_step(text: str, steps: list[str]) -> None:
    model = drafted(text)
    assert names(model) == steps
    assert kinds(model) == []
    assert "20 %" not in [lane.name for lane in model.processes[0].lanes]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # The parser takes these verbs, actors and objects for something else.
        (
            "The caretaker inspects the flat. If the damage is small, the caretaker repairs it.",
            "T2 Repair flat | caretaker",
        ),
        ("Receptionist registers the patient.", "T1 Register patient | Receptionist"),
        ("Radiology takes the X-ray and sends it.", "T1 Take X-ray | Radiology"),
    ],
)
def test_words_that_are_parsed_wrong(text: str, expected: str) -> None:
    assert expected in draft_text(split_sentences(text)).lines


_ACTORS = (
    "team lead", "sales lead", "project lead", "shift lead", "tech lead", "account lead",
    "quality lead", "support desk", "help desk", "service desk", "trade desk", "front desk",
    "process owner", "order clerk", "return clerk", "claim handler", "review board", "board chair",
    "call center", "purchase department", "audit committee", "design team", "change manager",
    "release manager", "test engineer", "research fellow", "control room", "credit office",
    "tax office", "dispatch office", "intake nurse", "case worker", "repair shop", "watch officer",
    "night watch", "head cook", "line cook", "head judge", "unit head", "tour guide", "sales rep",
    "contact person", "market research group",
)  # fmt: skip
"""People and places of work; the last noun or one before it may also be a verb."""


@pytest.mark.parametrize("actor", _ACTORS)
def test_an_actor_whose_nouns_may_be_verbs(actor: str) -> None:
    drafts = {
        "The {} fills in the report and sends it to the customer.": [
            "Fill in report | {}", "Send report to customer | {}",
        ],
        "The {} reviews the request.": ["Review request | {}"],
        "Then the {} checks the order.": ["Check order | {}"],
        "The {} must sign the contract.": ["Sign contract | {}"],
        "The {} then archives the file.": ["Archive file | {}"],
        "The {}s check the order.": ["Check order | {}s"],
        "After the review, the {} answers the question.": ["Answer question | {}"],
        "The clerk opens the case, and the {} orders the parts.": [
            "Open case | clerk", "Order parts | {}",
        ],
        "While the {} plans the visit, the clerk books the room.": [
            "Plan visit | {}", "Book room | clerk",
        ],
    }  # fmt: skip
    for text, expected in drafts.items():
        assert steps(text.format(actor)) == [step.format(actor) for step in expected], text


def steps(text: str) -> list[str]:
    """Name and actor of the steps that the rules find."""
    lines = draft_text(split_sentences(text)).lines.splitlines()
    declared = [line.split(" ", 1)[1].split(" | ") for line in lines if line.startswith("T")]
    return [f"{parts[0]} | {parts[1]}" for parts in declared if len(parts) == 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The team lead and the clerk review the form.", "Review form | team lead and clerk"),
        ("The clerk and the team lead review the form.", "Review form | clerk and team lead"),
        ("The form is approved by the team lead.", "Approve form | team lead"),
        ("The form is sent to the team lead.", "Send form to team lead | "),
        ("The team lead, who owns the budget, signs the form.", "Sign form | team lead"),
        ("After the team lead approves the form, the clerk files it.", "File form | clerk"),
        ("Team lead signs the form.", "Sign form | Team lead"),
        # These are verbs.
        ("The assistant helps prepare the letter.", "Prepare letter | assistant"),
        ("The provisions of the act apply.", "Apply | provisions of act"),
    ],
)
def test_a_noun_that_may_be_a_verb_elsewhere(text: str, expected: str) -> None:
    assert steps(text) == [expected]


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("Unsuitable candidates receive a rejection. Suitable candidates are invited.",
         ("unsuitable candidates", "Receive rejection"),
         ("suitable candidates", "Invite suitable candidates")),
        ("The clerk checks the forms and rejects unsuitable ones. Suitable ones are kept.",
         ("unsuitable ones", "Reject unsuitable ones"), ("suitable ones", "Keep suitable ones")),
        ("Incomplete forms are returned, and complete forms are archived.",
         ("incomplete forms", "Return incomplete forms"),
         ("complete forms", "Archive complete forms")),
        ("Incomplete forms are returned, while complete forms are archived.",
         ("incomplete forms", "Return incomplete forms"),
         ("complete forms", "Archive complete forms")),
        ("Non-urgent tickets are queued. Urgent tickets are solved.",
         ("non-urgent tickets", "Queue non-urgent tickets"),
         ("urgent tickets", "Solve urgent tickets")),
        ("Small claims are paid. Large claims are checked by an expert.",
         ("small claims", "Pay small claims"), ("large claims", "Check large claims")),
        ("Candidates who are not suitable receive a rejection. Suitable candidates are invited.",
         ("candidates who are not suitable", "Receive rejection"),
         ("suitable candidates", "Invite suitable candidates")),
        ("Defective parts are sent back. The remaining parts are stored.",
         ("defective parts", "Send defective parts"), ("otherwise", "Store remaining parts")),
        ("The clerk rejects invalid requests. The clerk approves valid requests.",
         ("invalid requests", "Reject invalid requests"),
         ("valid requests", "Approve valid requests")),
    ],
)  # fmt: skip
def test_kinds_that_exclude_each_other(
    text: str, one: tuple[str, str], other: tuple[str, str]
) -> None:
    model = drafted(f"The clerk opens the case. {text} The manager closes the case.")
    assert kinds(model) == ["exclusive", "exclusive"]
    found = flows(model)
    for label, step in (one, other):
        assert ("exclusive", label, step) in found
        assert (step, "", "exclusive") in found
    split = next(n for n in model.processes[0].nodes if isinstance(n, Gateway))
    assert one[0].split()[0] in split.evidence[0].quote.lower()


def test_three_kinds_are_three_branches() -> None:
    model = drafted(
        "The clerk reads the claim. Low claims are paid. Medium claims are checked. "
        "High claims are refused. The clerk closes the file."
    )
    branches = {label for _, label, _ in flows(model) if label}
    assert branches == {"low claims", "medium claims", "high claims"}


@pytest.mark.parametrize(
    "text",
    [
        "Small parts are packed. Then large parts are packed.",
        "The clerk packs small parts. The clerk packs large parts.",
        "The clerk checks internal accounts. The clerk checks external accounts.",
        "Suitable candidates are invited. Unsuitable machines are sold.",
        "Large parts are packed. Big parts are sold.",
    ],
)
def test_kinds_that_are_a_sequence(text: str) -> None:
    assert kinds(drafted(f"The clerk opens the case. {text}")) == []


def drawn(text: str) -> list[str]:
    """The flows of a draft in graph lines, with the names of steps in place of their keys."""
    lines = draft_text(split_sentences(text)).lines.splitlines()
    declared = [line.split(" ", 1) for line in lines if " | " in line]
    names = {key: rest.split(" | ")[0] for key, rest in declared if key[0] == "T"}
    flows = [line for line in lines if " | " not in line]
    return [" ".join(names.get(word, word) for word in flow.split(" ")) for flow in flows]


@pytest.mark.parametrize(
    "text",
    [
        "Check the parcel. If it is damaged, send it back and stop here. Store the parcel.",
        "Check the parcel. If it is damaged, the process is cancelled. Store the parcel.",
        "Check the parcel. If it is damaged, the procedure stops. Store the parcel.",
    ],
)
def test_more_words_for_an_end(text: str) -> None:
    drafted(text)
    flows = drawn(text)
    assert "Store parcel -> End" in flows
    assert len([flow for flow in flows if flow.endswith(" End")]) == 2


def test_what_stops_a_process_anywhere_is_no_step() -> None:
    text = (
        "The clerk opens the file. When the customer resigns, the process is cancelled. Then the "
    )
    text += "clerk prints the file."
    assert names(drafted(text)) == ["Open file", "Print file"]
    result = orgflow.draft([orgflow.Document("t", text)], "text-rules")
    assert any("the process is cancelled" in d.message for d in result.diagnostics)


@pytest.mark.parametrize(
    ("text", "parallel"),
    [
        (
            "The cook plans the menu. Then three things happen at the same time: the waiter sets "
            "the table, the baker bakes the bread, and the driver fetches the wine.",
            ["Set table", "Bake bread", "Fetch wine"],
        ),
        (
            "The lab tests the sample and at the same time the nurse informs the patient.",
            ["Test sample", "Inform patient"],
        ),
        (
            "The lab tests the sample and the nurse informs the patient simultaneously.",
            ["Test sample", "Inform patient"],
        ),
    ],
)
def test_steps_of_one_sentence_at_the_same_time(text: str, parallel: list[str]) -> None:
    assert kinds(drafted(text)) == ["parallel", "parallel"]
    flows = drawn(text)
    assert [flow for flow in flows if flow.startswith("A1 ->")] == [f"A1 -> {s}" for s in parallel]


def test_a_condition_in_the_meantime() -> None:
    text = (
        "The baker bakes the bread. In the meantime the waiter opens the terrace, if it is warm. "
        "Otherwise the waiter closes the windows. Finally the cook cleans the kitchen."
    )
    assert kinds(drafted(text)) == ["parallel", "exclusive", "exclusive", "parallel"]
    flows = drawn(text)
    assert {"A1 -> Bake bread", "A1 -> X1", "X1 -(otherwise)-> Close windows"} <= set(flows)
    assert "A2 -> Clean kitchen" in flows


def test_an_exception_in_which_case_something_else_is_done() -> None:
    flows = drawn(
        "The guard opens the gate, unless the pass has expired, in which case he calls the office."
    )
    assert "X1 -(the pass has expired)-> Call office" in flows
    assert "X1 -(otherwise)-> Open gate" in flows


@pytest.mark.parametrize("cue", ["Where", "In the event that"])
def test_other_words_for_a_condition(cue: str) -> None:
    flows = drawn(
        f"The clerk reads the claim. {cue} a claim exceeds 2,000 EUR, the director approves it."
    )
    assert "X1 -(a claim exceeds 2,000 EUR)-> Approve claim" in flows


def test_repeating_it_goes_back() -> None:
    text = "The cook salts the soup. The cook tastes the soup and stirs it. This is repeated until "
    text += "it is good. The waiter serves the soup."
    assert names(drafted(text)) == ["Salt soup", "Taste soup", "Stir soup", "Serve soup"]
    assert "X1 -(otherwise)-> Taste soup" in drawn(text)


def test_how_something_is_done_is_no_actor() -> None:
    model = drafted("The customer is informed by e-mail. The parcel is confirmed by phone. "
                    "The passport is sent by registered mail. "
                    "The letter is signed by the director.")  # fmt: skip
    assert [lane.name for lane in model.processes[0].lanes if lane.name] == ["director"]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("Receipts have to be attached to the claim.", ["Attach receipts to claim"]),
        ("The porter rejects the parcel and the process ends.", ["Reject parcel"]),
        (
            "The nurse makes the bed and the cleaning team cleans the room.",
            ["Make bed", "Clean room"],
        ),
        ("The porter weighs the parcel; the clerk stamps it.", ["Weigh parcel", "Stamp parcel"]),
        ("The clerk prints the form. We go on once it is paid.", ["Print form"]),
        ("The porter weighs the parcel. Is it heavy?", ["Weigh parcel"]),
    ],
)
def test_clauses_that_are_easily_misread(text: str, steps: list[str]) -> None:
    assert names(drafted(text)) == steps


def test_an_interview() -> None:
    text = (
        "Anna: What do you do first?\nBen: The hotline opens a ticket.\n"
        "Anna: And then?\nBen: The technician repairs the machine. I check the report."
    )
    model = drafted(text)
    assert names(model) == ["Open ticket", "Repair machine", "Check report"]
    assert [lane.name for lane in model.processes[0].lanes] == ["hotline", "technician", "Ben"]


def test_labels_of_lines_are_actors() -> None:
    model = drafted("Clerk: Open the file.\nManager: Sign the file.\nClerk: Close the file.\n"
                    "Manager: Inform the customer.")  # fmt: skip
    assert names(model) == ["Open file", "Sign file", "Close file", "Inform customer"]
    assert [lane.name for lane in model.processes[0].lanes] == ["Clerk", "Manager"]
