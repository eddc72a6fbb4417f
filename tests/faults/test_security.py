"""What untrusted files cannot do: each threat of docs/security.md that has a test here."""

from __future__ import annotations

import base64
import io
import json
import os
import pickle
import re
import stat
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from cli_cases import DEADLOCK, LINEAR, Ran, orgflowc
from model_server import Scripted, model_server
from orgflow.agents.model_client.settings import NotConfigured, SettingsError, read_settings
from orgflow.api import check, read
from orgflow.backends.javascript.source_programs import find_syntax_fault
from orgflow.backends.n8n.format.merge_base import unpack_base
from orgflow.cli import run
from orgflow.commands import check_cache
from orgflow.commands.page_server import browser_at
from orgflow.frontends.messages.html_text import html_text
from orgflow.frontends.messages.message_paths import read_messages
from orgflow.frontends.xml.parser import Limits, XmlFault, parse_xml

from orgflow_ir.model import input_limits
from orgflow_ir.model.contained_paths import is_inside, leads_out
from orgflow_ir.model.input_limits import BoundedZip, LimitExceeded, is_safe_name, load_json
from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.message import BrokenMessage, Message
from orgflow_ir.model.printable import escape_controls, escape_json
from tests.support.shared_data import shared_data

KEY = "sk-secret-0001"
REMOTE = "https://models.example.org/v1"
ENVIRONMENT = {"ORGFLOW_MODEL_KEY": KEY, "ORGFLOW_MODEL": "m"}


# -- the key, and what a repository's configuration cannot do ------------------------------------


def test_the_key_does_not_go_to_an_address_of_the_repository() -> None:
    with pytest.raises(NotConfigured, match=f"is not sent to {re.escape(REMOTE)}"):
        read_settings(ENVIRONMENT, {"url": REMOTE})
    local = read_settings(ENVIRONMENT, {"url": "http://127.0.0.1:27990/v1"})
    assert (local.key, local.withheld) == ("", True)


@pytest.mark.parametrize(
    "allowed",
    [
        {"flags": {"url": REMOTE}},
        {"own_table": {"url": REMOTE}},
        {"environment": {**ENVIRONMENT, "ORGFLOW_MODEL_URL": REMOTE}},
    ],
    ids=["flag", "own configuration", "environment"],
)
def test_a_person_allows_the_address(allowed: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"environment": ENVIRONMENT, "table": {"url": REMOTE}, **allowed}
    assert read_settings(**asked).key == KEY


def test_no_request_of_a_repository_carries_the_key(tmp_path: Path) -> None:
    folder = Path(shared_data("faults", "deploy", "key-to-repository"))
    (tmp_path / "order.triples").write_bytes((folder / "order.triples").read_bytes())
    with model_server([Scripted("{}")] * 20) as server:
        settings = re.sub(
            'url = ".*"', f'url = "{server.url}"', (folder / "orgflow.toml").read_text()
        ).replace('record = "../outside-record"\n', "")
        (tmp_path / "orgflow.toml").write_text(settings)
        env = {**ENVIRONMENT, "ORGFLOW_MODEL_URL": ""}
        orgflowc("fill", "order.triples", "-o", "filled.json", cwd=tmp_path, env=env)
        assert server.keys
        assert not any(KEY in key for key in server.keys)
        chosen = ("--model-url", server.url)
        orgflowc("fill", "order.triples", "-o", "filled.json", *chosen, cwd=tmp_path, env=env)
        assert any(KEY in key for key in server.keys)


def test_the_user_s_own_configuration(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "order.triples").write_text("A -> B\n")
    own = tmp_path / "config" / "orgflow"
    own.mkdir(parents=True)
    with model_server([Scripted("{}")] * 20) as server:
        (own / "orgflow.toml").write_text(f'[model]\nurl = "{server.url}"\nname = "m"\n')
        env = {"ORGFLOW_MODEL_KEY": KEY, "XDG_CONFIG_HOME": str(tmp_path / "config")}
        folder = tmp_path / "repository"
        orgflowc("fill", "order.triples", "-o", "filled.json", cwd=folder, env=env)
        assert any(KEY in key for key in server.keys)


@pytest.mark.parametrize("record", ["../outside-record", "/outside-record", "a/../../b", "link/x"])
def test_records_of_a_repository_stay_inside_it(tmp_path: Path, record: str) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(SettingsError, match=r"outside the folder of orgflow\.toml"):
        read_settings(ENVIRONMENT, {"url": REMOTE, "record": record}, folder=str(folder))
    given = {"record": record, "url": REMOTE}
    assert read_settings(ENVIRONMENT, {}, given, folder=str(folder)).record == record


def test_records_are_relative_to_the_configuration(tmp_path: Path) -> None:
    table = {"url": "http://localhost/v1", "name": "m", "record": "build/calls"}
    assert read_settings({}, table, folder=str(tmp_path)).record == str(tmp_path / "build/calls")


def test_a_repository_cannot_switch_redaction_off() -> None:
    with pytest.raises(SettingsError, match="cannot switch off `redact`"):
        read_settings(ENVIRONMENT, {"url": REMOTE, "redact": "off"}, {"url": REMOTE})
    given = {"url": REMOTE, "redact": "off"}
    assert not read_settings(ENVIRONMENT, {}, given).redacts


# -- the cache of `check` ------------------------------------------------------------------------


def checked(folder: Path, home: Path, cache: str = ".orgflow-cache") -> Ran:
    env = {"ORGFLOW_CACHE": cache, "XDG_CACHE_HOME": str(home)}
    return orgflowc("check", "models", cwd=folder, env=env)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    models = tmp_path / "checkout" / "models"
    models.mkdir(parents=True)
    (models / "good.bpmn").write_text(LINEAR)
    (models / "bad.bpmn").write_text(DEADLOCK)
    return models.parent


def entries(checkout: Path) -> list[Path]:
    return sorted((checkout / ".orgflow-cache").iterdir())


def test_the_key_of_the_machine_is_private(checkout: Path, tmp_path: Path) -> None:
    assert checked(checkout, tmp_path / "home").code == 1
    key = tmp_path / "home" / "orgflow" / "check.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == 32
    before = key.read_bytes()
    assert checked(checkout, tmp_path / "home").code == 1
    assert key.read_bytes() == before
    assert sorted(p.name for p in key.parent.iterdir()) == ["check.key"]


def test_forged_entries_hide_nothing(checkout: Path, tmp_path: Path) -> None:
    """As `forge-cache.py` of the faults: the entries of a checkout, with no findings in them."""
    plain = checked(checkout, tmp_path / "home")
    for place in entries(checkout):
        data = place.read_bytes()[32:]
        entry = check_cache._Unpickler(io.BytesIO(data)).load()
        forged = pickle.dumps(entry._replace(checked=entry.checked._replace(diagnostics=())), 5)
        for signature in (check_cache._new_digest(forged), place.read_bytes()[:32], bytes(32)):
            place.write_bytes(signature + forged)
            assert checked(checkout, tmp_path / "home") == plain


def test_entries_of_another_machine_are_ignored(checkout: Path, tmp_path: Path) -> None:
    plain = checked(checkout, tmp_path / "mine")
    for place in entries(checkout):
        name, data = place.name, place.read_bytes()[32:]
        entry = check_cache._Unpickler(io.BytesIO(data)).load()
        forged = pickle.dumps(entry._replace(checked=entry.checked._replace(diagnostics=())), 5)
        place.write_bytes(check_cache._sign_entry(name, forged, bytes(range(32))) + forged)
    assert checked(checkout, tmp_path / "mine") == plain


def test_an_entry_of_another_file_is_none(checkout: Path, tmp_path: Path) -> None:
    plain = checked(checkout, tmp_path / "home")
    contents = {place: place.read_bytes() for place in entries(checkout)}
    assert len(contents) == 2
    first, second = contents
    first.write_bytes(contents[second])
    second.write_bytes(contents[first])
    assert checked(checkout, tmp_path / "home") == plain


def test_a_key_that_others_can_read_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert check_cache.read_machine_key() is not None
    check_cache.key_path().chmod(0o644)
    assert check_cache.read_machine_key() is None


@pytest.mark.parametrize("named", [True, False], ids=["ORGFLOW_CACHE", "no variable"])
def test_a_user_without_a_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, named: bool
) -> None:
    def fail() -> Path:
        raise RuntimeError("Could not determine home directory.")

    (tmp_path / "a.bpmn").write_text(LINEAR)
    (tmp_path / "b.bpmn").write_text(LINEAR)
    monkeypatch.setattr(Path, "home", fail)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("ORGFLOW_CACHE", raising=False)
    if named:
        monkeypatch.setenv("ORGFLOW_CACHE", str(tmp_path / "cache"))
    assert run(["check", str(tmp_path), "--jobs", "1"]) == 0
    assert not (tmp_path / "cache").exists()


# -- limits: one place for all readers -----------------------------------------------------------


def messages(path: Path) -> tuple[list[Message], list[str]]:
    read_parts = list(read_messages(str(path)))
    kept = [part for part in read_parts if isinstance(part, Message)]
    return kept, [part.reason for part in read_parts if isinstance(part, BrokenMessage)]


DAY = '[{"type":"message","user":"U1","text":"hello","ts":"1700000000.0"}]'


def slack_zip(path: Path, days: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("users.json", '[{"id":"U1","profile":{"real_name":"Ann"}}]')
        archive.writestr("channels.json", '[{"id":"C1","name":"general"}]')
        for name, text in days.items():
            archive.writestr(name, text)
    return path


def test_a_member_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_limits, "MOST_MEMBER", 4 * input_limits.MIB)
    bomb = '[{"type":"message","user":"U1","text":"%s"}]' % ("A" * 4 * input_limits.MIB)
    path = slack_zip(tmp_path / "slack.zip", {"general/1.json": bomb, "general/2.json": DAY})
    assert path.stat().st_size < 1_000_000
    kept, broken = messages(path)
    assert [message.body for message in kept] == ["hello"]
    assert broken == ["has more than 4 MB"]


def test_members_that_unpack_to_too_much_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_limits, "MOST_UNPACKED", 100_000)
    monkeypatch.setattr(input_limits, "MOST_RATIO", 1)
    days = {f"general/{n}.json": DAY.replace("hello", "A" * 30_000) for n in range(5)}
    kept, broken = messages(slack_zip(tmp_path / "slack.zip", days))
    assert len(kept) == 3
    assert broken == ["is in an archive that unpacks to more than its size explains"] * 2


def test_a_member_out_of_the_archive(tmp_path: Path) -> None:
    days = {"../../evil/1.json": DAY, "/etc/1.json": DAY, "general/1.json": DAY}
    kept, broken = messages(slack_zip(tmp_path / "slack.zip", days))
    assert len(kept) == 1
    assert broken == ["leads out of the export; it is not read"] * 2
    assert [is_safe_name(n) for n in ("a/b", "a/..", "C:/x", "\\x", "a\\..\\b", "")] == [
        True, False, False, False, False, False,
    ]  # fmt: skip


def test_an_archive_of_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_limits, "MOST_MEMBERS", 3)
    path = slack_zip(tmp_path / "slack.zip", {"general/1.json": DAY, "general/2.json": DAY})
    with pytest.raises(LimitExceeded, match="is an archive of more than 3 files"):
        BoundedZip(str(path))


def test_damaged_and_encrypted_archives(tmp_path: Path) -> None:
    path = slack_zip(tmp_path / "slack.zip", {"general/1.json": DAY})
    data = bytearray(path.read_bytes())
    for at in [m.start() for m in re.finditer(b"PK\x01\x02", data)]:
        data[at + 8] |= 1  # encrypted
    path.write_bytes(data)
    kept, broken = messages(path)
    assert not kept
    assert "damaged zip file" in broken[0]


DEEP = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP + "1" + "}" * DEEP,
        '[{"a":' * DEEP + "1" + "}]" * DEEP,
        "[" * 257 + "]" * 257,
    ],
    ids=["lists", "objects", "both", "one too many"],
)  # fmt: skip
def test_json_that_is_too_deep(text: str) -> None:
    with pytest.raises(LimitExceeded, match="nested more than 256 levels deep"):
        load_json(text)
    with pytest.raises(LimitExceeded):
        load_json(text.encode("utf-16"))
    with pytest.raises(JsonFault, match="nested more than 256 levels deep"):
        parse_json("x.json", text.encode())


def test_json_at_the_limits() -> None:
    assert load_json("[" * 256 + "]" * 256)
    brackets = json.dumps(["[" * 5_000, '"' + "{" * 5_000, "\\[" * 400])
    assert load_json(brackets) == json.loads(brackets)


def test_json_of_too_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LimitExceeded, match="has more than 10,000,000 values"):
        load_json(b"[" + b"[]," * 10_000_000 + b"1]")
    with pytest.raises(JsonFault, match="the file has more than 1,000,000 values"):
        parse_json("x.json", b'{"nodes":[' + b"[]," * 1_000_000 + b"1]}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<a>" * 300 + "</a>" * 300, "deep"),
        ('<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><l>&b;</l>', "doctype"),
        ('<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><l>&a;</l>', "doctype"),
        ("<l>" + "<a/>" * 1_001 + "</l>", "large"),
        ("<l>" + '<a b="" c="" d="" e="" f=""/>' * 900_000 + "</l>", "large"),
        ('<l a="' + "x" * 5_000_000 + '"/>', "large"),
    ],
    ids=["depth", "entities", "external entity", "elements", "attributes", "token"],
)
def test_xml(text: str, kind: str) -> None:
    with pytest.raises(XmlFault) as raised:
        parse_xml(text.encode(), Limits(max_elements=1_000))
    assert raised.value.kind == kind


HEAD = b"From: a@x.example\nDate: Mon, 3 Mar 2025 10:00:00 +0000\nSubject: s\nMIME-Version: 1.0\n"


TITLE = b"\x02" + struct.pack("<II", 0x00018010, 1) + b"n\0\0"


def nested_parts(levels: int) -> bytes:
    return b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(levels)
    )


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        (nested_parts(300) + b"\n" + b"x\n" * 200_000, "parts nested more than 32 levels deep"),
        (b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 12_000,
         "has more than 10,000 parts"),
        (b"Content-Type: application/ms-tnef\nContent-Transfer-Encoding: base64\n\n"
         + base64.encodebytes(b"\x78\x9f\x3e\x22\0\0" + TITLE * 12_000), "more than 10,000 parts"),
    ],
    ids=["depth", "parts", "winmail"],
)  # fmt: skip
def test_mails(tmp_path: Path, rest: bytes, reason: str) -> None:
    path = tmp_path / "m.eml"
    path.write_bytes(HEAD + rest)
    began = time.process_time()
    kept, broken = messages(path)
    assert not kept
    assert reason in broken[0]
    assert time.process_time() - began < 20


def test_signed_mails_inside_each_other(tmp_path: Path) -> None:
    mail = b"Content-Type: text/plain\n\ninner\n"

    def value(tag: int, content: bytes) -> bytes:
        size = len(content).to_bytes(4, "big")
        return bytes([tag, 0x84]) + size + content

    oid = value(6, bytes.fromhex("2a864886f70d010702"))
    data = value(6, bytes.fromhex("2a864886f70d010701"))
    for _ in range(40):
        octets = value(0xA0, value(4, mail))
        signed = value(2, b"\1") + value(0x31, b"") + value(0x30, data + octets)
        message = value(0x30, oid + value(0xA0, value(0x30, signed)))
        mail = (
            b"Content-Type: application/pkcs7-mime\nContent-Transfer-Encoding: binary\n\n" + message
        )
    path = tmp_path / "m.eml"
    path.write_bytes(HEAD + mail)
    kept, broken = messages(path)
    assert not kept
    assert broken == ["has parts nested more than 32 levels deep"]


@pytest.mark.parametrize(
    "pattern",
    ["<div>", "<a", "<!--", "<!-- x -", "<![CDATA[", "<![if", "<?", "</a", "<", "&", '<a b="',
     "<script>", "<blockquote type=cite>"],
)  # fmt: skip
def test_html_in_mails(pattern: str) -> None:
    began = time.process_time()
    html_text(pattern * (400_000 // len(pattern)))
    assert time.process_time() - began < 10


def test_the_text_after_the_last_tag_stays() -> None:
    assert html_text("<p>one</p><!-- no -->two < three")[0] == "one\n\ntwo < three"
    assert html_text("a < b")[0] == "a < b"


def test_a_number_that_sizes_a_list() -> None:
    row = ["A", "1", "noOp", 1, 0, 0, {}, ""]
    packed = json.dumps([{"id": "w"}, [row], [[0, 10**9, 0, 0]]]).encode()
    assert unpack_base(base64.b64encode(packed).decode()) is None


def test_code_of_comments_without_an_end() -> None:
    began = time.process_time()
    assert find_syntax_fault("/* " * 50_000) is None
    assert time.process_time() - began < 5
    assert find_syntax_fault("return [") is not None


@pytest.mark.parametrize("code", ["/* " * 50_000, "={{ " * 20_000], ids=["comments", "braces"])
def test_texts_of_workflows(tmp_path: Path, code: str) -> None:
    node = {"name": "N", "type": "n8n-nodes-base.code", "typeVersion": 2, "position": [0, 0],
            "parameters": {"jsCode": code}}  # fmt: skip
    start = {**node, "name": "S", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1,
             "parameters": {}}  # fmt: skip
    wires = {"S": {"main": [[{"node": "N", "type": "main", "index": 0}]]}}
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"name": "w", "nodes": [start, node], "connections": wires}))
    began = time.process_time()
    check(read(path))
    assert time.process_time() - began < 10


# -- loopback pages ------------------------------------------------------------------------------


def test_the_secret_of_a_page_is_in_no_process_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform != "linux":
        pytest.skip("the program that opens a browser is replaced on Linux")
    opener, noted = tmp_path / "bin" / "xdg-open", tmp_path / "noted"
    opener.parent.mkdir()
    opener.write_text(
        "#!/bin/sh\n"
        f'(echo "$0 $@"; cat "$1"; stat -c %a "$1") > {noted}.new\n'
        f"mv {noted}.new {noted}\n"
    )
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", f"{opener.parent}:{os.environ['PATH']}")
    secret = "http://127.0.0.1:1234/SECRET/questions"
    with browser_at(secret, wanted=True):
        for _ in range(200):
            if noted.exists():
                break
            time.sleep(0.05)
        command, *page, mode = noted.read_text().splitlines()
        file = Path(command.split()[1])
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert "SECRET" not in command
    assert f'url={secret}"' in "\n".join(page)
    assert mode == "600"
    assert not file.exists()


# -- links out of a folder -----------------------------------------------------------------------


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    folder, outside = tmp_path / "checkout", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.bpmn").write_text(DEADLOCK)
    (outside / "secret.json").write_text(DAY)
    (folder / "own.bpmn").write_text(LINEAR)
    (folder / "secret.bpmn").symlink_to(outside / "secret.bpmn")
    (folder / "folder").symlink_to(outside)
    (folder / "python").symlink_to(sys.executable)
    (folder / "sub").mkdir()
    (folder / "sub" / "again.bpmn").symlink_to("../own.bpmn")
    return folder


def test_links_out_of_a_checked_folder(linked: Path) -> None:
    for folder in (linked, linked.parent / "by-link"):
        if folder is not linked:
            folder.symlink_to(linked)
        done = orgflowc("check", folder, "-v", "--no-cache")
        assert done.code == 0
        assert "secret.bpmn is a symbolic link out of" in " ".join(done.err.split())
        assert "python" not in done.err, "no model was left out"
        assert "OF2" not in done.out
        assert "again.bpmn" in done.out
    named = orgflowc("check", linked / "secret.bpmn", "--no-cache")
    assert named.code == 1


def test_links_out_of_a_folder_of_messages(tmp_path: Path) -> None:
    mail = HEAD + b"\nhello\n"
    outside = tmp_path / "outside.eml"
    outside.write_bytes(mail)
    for parts in ((), ("cur", "new")):
        folder = tmp_path / f"mails-{len(parts)}"
        for part in (".", *parts):
            (folder / part).mkdir(parents=True, exist_ok=True)
        place = folder / "cur" if parts else folder
        (place / "a.eml").write_bytes(mail)
        (place / "b.eml").symlink_to(outside)
        kept, broken = messages(folder)
        assert len(kept) == 1
        assert broken == ["is a symbolic link out of the folder; it is not read"]


def test_links_out_of_an_export(tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text(DAY)
    folder = tmp_path / "export"
    (folder / "general").mkdir(parents=True)
    (folder / "users.json").write_text("[]")
    (folder / "general" / "1.json").symlink_to(tmp_path / "outside.json")
    kept, broken = messages(folder)
    assert not kept
    assert broken == ["leads out of the export; it is not read"]


CALLS = LINEAR.replace('<task id="ship"', '<callActivity calledElement="called" id="ship"')


def test_a_called_process_behind_a_link_out(tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "main.bpmn").write_text(CALLS)
    (tmp_path / "called.bpmn").write_text(LINEAR.replace('id="p"', 'id="called"'))
    (folder / "called.bpmn").symlink_to(tmp_path / "called.bpmn")
    assert "OF120" in {finding.code for finding in check(read(folder / "main.bpmn")).diagnostics}
    (tmp_path / ".git").mkdir()  # now one repository has both
    assert "OF120" not in {d.code for d in check(read(folder / "main.bpmn")).diagnostics}


def test_nothing_is_written_through_a_link_out(linked: Path, tmp_path: Path) -> None:
    output = tmp_path / "built"
    output.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    model = linked / "own.bpmn"
    assert orgflowc("compile", model, "--target", "n8n", "-o", output).code == 0
    (written,) = [path for path in output.iterdir() if path.suffix == ".json"]
    written.unlink()
    written.symlink_to(victim)
    done = orgflowc("compile", model, "--target", "n8n", "-o", output)
    assert done.code == 2
    assert "is a symbolic link out of" in done.err
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("command", ["verify", "diff"])
def test_a_link_out_of_a_folder_of_workflows_is_not_left_out(
    linked: Path, tmp_path: Path, command: str
) -> None:
    """Without the workflow, the result would be about less than the folder contains."""
    folder = tmp_path / "built"
    orgflowc("compile", linked / "own.bpmn", "--target", "n8n", "-o", f"{folder}/")
    (workflow,) = folder.iterdir()
    workflow.rename(tmp_path / "outside.json")
    workflow.symlink_to(tmp_path / "outside.json")
    first = linked / "own.bpmn" if command == "verify" else tmp_path / "outside.json"
    done = orgflowc(command, first, folder)
    assert done.code == 2
    assert f"{workflow} is a symbolic link out of {folder}" in " ".join(done.err.split())


def test_places(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "ab").mkdir()
    assert is_inside(tmp_path / "a" / "b", tmp_path / "a")
    assert not is_inside(tmp_path / "ab", tmp_path / "a")
    assert not leads_out(tmp_path / "ab", tmp_path / "a")  # it is no link


# -- characters that act -------------------------------------------------------------------------

ACTING = "a\x9b31mb\u202ec\u2066d\u200be\u0085f\u2028g\u061ch\U000e0041i"
ACT = re.compile("[\x7f-\x9f\u061c\u200b\u2028\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


@pytest.mark.parametrize("format_", ["text", "github", "json", "sarif"])
def test_no_finding_contains_a_character_that_acts(tmp_path: Path, format_: str) -> None:
    path = tmp_path / "m.bpmn"
    path.write_text(re.sub(r'name="', f'name="{ACTING} ', DEADLOCK))
    done = orgflowc("check", path, "--no-cache", "-v", "--format", format_)
    assert done.code == 1
    assert "OF201" in done.out
    assert not ACT.search(done.out + done.err)
    if format_ in ("json", "sarif"):
        json.loads(done.out)


def test_the_value_in_json_stays(tmp_path: Path) -> None:
    text = json.dumps([ACTING, "\U0001f600"], ensure_ascii=False, indent=1)
    assert json.loads(escape_json(text)) == [ACTING, "\U0001f600"]
    assert not ACT.search(escape_json(text))


def test_file_names_begin_no_command_of_a_runner(tmp_path: Path) -> None:
    (tmp_path / "x\n::add-mask::y\n.bpmn").write_text(DEADLOCK)
    (tmp_path / "link\n::error::z.bpmn").symlink_to("/etc/hostname")
    done = orgflowc("check", tmp_path, "--no-cache", "--format", "github")
    for line in (done.out + done.err).splitlines():
        assert not line.startswith(("::add-mask", "::error::z"))


@pytest.mark.parametrize("command", ["verify", "trace", "diff"])
def test_other_commands(tmp_path: Path, command: str) -> None:
    path, other = tmp_path / "m.bpmn", tmp_path / "other.bpmn"
    path.write_text(re.sub(r'name="', f'name="{ACTING} ', LINEAR))
    other.write_text(re.sub(r'name="', f'name="{ACTING} x', LINEAR))
    orgflowc("compile", path, "--target", "n8n", "-o", tmp_path / "w.json")
    second = {"verify": [tmp_path / "w.json"], "trace": [], "diff": [other]}[command]
    done = orgflowc(command, path, *second)
    assert done.out
    assert not ACT.search(done.out + done.err)


@pytest.mark.parametrize("option", [("--merge", "--dry-run"), ("--check",)], ids=lambda o: o[0])
def test_what_compile_prints_about_a_workflow(tmp_path: Path, option: tuple[str, ...]) -> None:
    path, workflow = tmp_path / "m.bpmn", tmp_path / "w.json"
    path.write_text(re.sub(r'name="', f'name="{ACTING} ', LINEAR))
    orgflowc("compile", path, "--target", "n8n", "-o", workflow)
    path.write_text(path.read_text().replace("Ship", "Post"))
    output = ("-o", tmp_path / "x.json") if len(option) > 1 else ()
    done = orgflowc("compile", path, "--target", "n8n", option[0], workflow, *option[1:], *output)
    assert "Post" in done.out
    assert not ACT.search(done.out + done.err)


def test_what_stays() -> None:
    assert (
        escape_controls("Müller\t一\n\u200dنم\u200c\U0001f600")
        == "Müller\t一\n\u200dنم\u200c\U0001f600"
    )
    assert escape_controls("\x1b[31m\u202e\U000e0041") == r"\x1b[31m\u202e\U000e0041"


def test_the_pages_of_the_documentation_name_tests_that_exist() -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / "docs" / "security.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/.]+\.py)`", text)
    assert named
    assert [name for name in named if not (root / name).is_file()] == []
    defined = (root / "tests/faults/test_security.py").read_text("utf-8")
    tests = re.findall(r"`(test_\w+)`", text)
    assert tests
    assert [name for name in tests if f"def {name}(" not in defined] == []


def test_the_recipes_keep_the_cache_out_of_the_checkout() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "ci.md").read_text("utf-8")
    assert "~/.cache/orgflow/check" in text
    assert "ORGFLOW_CACHE: ." not in text
    assert "paths: [.orgflow-cache]" not in text


@pytest.mark.slow
def test_the_slack_bomb(tmp_path: Path) -> None:
    """The shared input, with a tenth of its 3 GB."""
    script = Path(shared_data("faults", "deploy", "slack-bomb.py")).read_text("utf-8")
    code = script.replace("*3000)", "*300)")
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=300)
    store = tmp_path / "store"
    done = orgflowc("ingest", tmp_path / "slack.zip", "--store", store, timeout=120)
    assert "has more than 256 MB" in done.err
    assert "leads out of the export" in done.err
