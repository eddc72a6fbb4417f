"""Mails as real clients write them: headers, encodings and quotes of each, bytes as they travel."""

from __future__ import annotations

import base64
import quopri

OUTLOOK = (
    b"Received: from AM0PR04MB1234.eurprd04.prod.outlook.com (2603:10a6:208::5) by\r\n"
    b" AM0PR04MB5678.eurprd04.prod.outlook.com; Mon, 2 Mar 2026 09:15:04 +0000\r\n"
    b"From: \"Doe, Jane\" <jane.doe@contoso.example>\r\n"
    b"To: =?iso-8859-1?Q?M=FCller=2C_J=F6rg?= <joerg.mueller@contoso.example>, \"Smith, Bob\"\r\n"
    b"\t<bob@contoso.example>\r\n"
    b"Subject: RE: Invoice 4711\r\n"
    b"Thread-Topic: Invoice 4711\r\n"
    b"Thread-Index: AdqR0bV6dGVzdA==\r\n"
    b"Date: Mon, 2 Mar 2026 09:15:03 +0000\r\n"
    b"Message-ID: <AM0PR04MB12345@AM0PR04MB1234.eurprd04.prod.outlook.com>\r\n"
    b"References: <first@contoso.example>\r\n"
    b"In-Reply-To: <first@contoso.example>\r\n"
    b"Content-Language: en-US\r\nX-MS-Has-Attach: yes\r\n"
    b"Content-Type: multipart/mixed; boundary=\"_004_AM0\"\r\nMIME-Version: 1.0\r\n\r\n"
    b"--_004_AM0\r\nContent-Type: multipart/alternative; boundary=\"_000_AM0\"\r\n\r\n"
    b"--_000_AM0\r\nContent-Type: text/plain; charset=\"iso-8859-1\"\r\n"
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\n"
    b"Hi J=F6rg,\r\n\r\nI have approved the invoice, the price of 5 =80 is fine.\r\n\r\n"
    b"Jane\r\n\r\n________________________________\r\n"
    b"From: J=F6rg M=FCller <joerg.mueller@contoso.example>\r\n"
    b"Sent: Monday, March 2, 2026 9:01 AM\r\nTo: Doe, Jane <jane.doe@contoso.example>\r\n"
    b"Subject: Invoice 4711\r\n\r\nPlease approve the invoice.\r\n\r\n"
    b"--_000_AM0\r\nContent-Type: text/html; charset=\"iso-8859-1\"\r\n\r\n"
    b"<html><body>other</body></html>\r\n--_000_AM0--\r\n"
    b"--_004_AM0\r\nContent-Type: application/pdf; name=\"Invoice 4711.pdf\"\r\n"
    b"Content-Disposition: attachment; filename=\"Invoice 4711.pdf\"; size=4\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n"
    b"--_004_AM0\r\nContent-Type: application/ms-tnef; name=\"winmail.dat\"\r\n"
    b"Content-Disposition: attachment; filename=\"winmail.dat\"\r\n"
    b"Content-Transfer-Encoding: base64\r\n\r\neJ8+Ig==\r\n--_004_AM0--\r\n"
)  # fmt: skip

GMAIL = (
    b"MIME-Version: 1.0\nDate: Tue, 3 Mar 2026 10:12:00 +0100\n"
    b"References: <root@mail.gmail.com> <second@mail.gmail.com>\n"
    b"In-Reply-To: <second@mail.gmail.com>\n"
    b"Message-ID: <CAExample=abc@mail.gmail.com>\n"
    b"Subject: Re: Angebot =?UTF-8?B?ZsO8ciBkaWUgS8O8Y2hl?=\n"
    b"From: =?UTF-8?Q?J=C3=BCrgen_Wei=C3=9F?= <juergen@gmail.com>\n"
    b"To: Ann <ann@example.com>\nCc: ben@example.com\n"
    b"Content-Type: multipart/alternative; boundary=\"000000000000\"\n\n"
    b"--000000000000\nContent-Type: text/plain; charset=\"UTF-8\"\n"
    b"Content-Transfer-Encoding: base64\n\n"
    + base64.encodebytes(
        "Das Angebot ist angenommen, bitte bestellt die Küche.\r\n\r\n"
        "Am Mo., 2. März 2026 um 18:00 Uhr schrieb Ann <ann@example.com>:\r\n\r\n"
        "> Hier ist das Angebot.\r\n>\r\n> Ann\r\n".encode()
    )
    + b"\n--000000000000\nContent-Type: text/html; charset=\"UTF-8\"\n\n<div>x</div>\n"
    b"--000000000000--\n"
)  # fmt: skip

APPLE = (
    b"From: Ann Apple <ann@icloud.com>\n"
    b"Content-Type: text/plain;\n\tcharset=us-ascii;\n\tformat=flowed\n"
    b"Content-Transfer-Encoding: quoted-printable\n"
    b"Mime-Version: 1.0 (Mac OS X Mail 16.0 \\(3774.400.31\\))\n"
    b"Subject: Re: Keys\nX-Apple-Base-Url: x-msg://12/\n"
    b"Date: Wed, 4 Mar 2026 08:00:00 -0500\n"
    b"In-Reply-To: <keys@example.com>\nMessage-Id: <A1B2@icloud.com>\n"
    b"To: Ben Berg <ben@example.com>\n\n"
    b"I will hand over the keys \non Friday.\n\n"
    b"> On Mar 3, 2026, at 17:00, Ben Berg <ben@example.com> wrote:\n>=20\n"
    b"> When do I get the keys?\n>=20\n> Ben\n\nSent from my iPhone\n"
)

GMAIL_HTML = (
    b"From: Carla <carla@gmail.com>\nTo: ann@example.com\nSubject: Re: Room\n"
    b"Date: Thu, 5 Mar 2026 09:00:00 +0000\nMessage-ID: <html@mail.gmail.com>\n"
    b"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
    + quopri.encodestring(
        "<html><head><style>p{color:red}</style></head><body><p>The room is booked&nbsp;– "
        "see you<br>there.</p><ul><li>Bring cups</li></ul>"
        "<div class=\"gmail_quote\"><div class=\"gmail_attr\">On Wed, Ann wrote:<br></div>"
        "<blockquote class=\"gmail_quote\">Can you book a room?</blockquote></div></body></html>"
        .encode()
    )
)  # fmt: skip

JAPANESE = (
    b"From: =?ISO-2022-JP?B?GyRCOzNFRBsoQg==?= <yamada@example.jp>\n"
    b"To: ann@example.com\nSubject: =?ISO-2022-JP?B?GyRCQ21KOBsoQg==?=\n"
    b"Date: Fri, 6 Mar 2026 18:30:00 +0900 (JST)\nMessage-ID: <jp@example.jp>\n"
    b"Content-Type: text/plain; charset=ISO-2022-JP\nContent-Transfer-Encoding: 7bit\n\n"
    + "注文を確認しました。".encode("iso2022_jp")
    + b"\n"
)

FORWARDED = (
    b"From: ann@example.com\nTo: ben@example.com\nSubject: Fwd: Complaint\n"
    b"Date: Sat, 7 Mar 2026 10:00:00 +0000\nMessage-ID: <fwd@example.com>\n"
    b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n"
    b"--B\nContent-Type: text/plain\n\nPlease answer this complaint.\n-- \nAnn Example\n"
    b"Customer service\n"
    b"--B\nContent-Type: message/rfc822\n\n"
    b"From: carl@example.net\nTo: ann@example.com\nSubject: Complaint\n"
    b"Date: Fri, 6 Mar 2026 10:00:00 +0000\nMessage-ID: <complaint@example.net>\n\n"
    b"The lamp is broken.\n--B--\n"
)

RAW_LATIN = (
    b"From: J\xf6rg <joerg@example.com>\nTo: undisclosed-recipients:;\nSubject: Gr\xfc\xdfe\n"
    b"Date: Sun, 8 Mar 2026 10:00:00\n\nSch\xf6ne Gr\xfc\xdfe\n"
)

BETWEEN = (
    b"From: ann@example.com\nTo: ben@example.com\nSubject: Re: Plan\nMessage-ID: <p@x>\n"
    b"Date: Mon, 9 Mar 2026 10:00:00 +0000\nIn-Reply-To: <plan@x>\n\n"
    b"On Mon, Mar 9, 2026 at 9:00 AM Ben <ben@example.com> wrote:\n"
    b"> Who writes the plan?\nI do.\n> And who checks it?\nCarl checks it.\n"
)

ALL = (OUTLOOK, GMAIL, APPLE, GMAIL_HTML, JAPANESE, FORWARDED, RAW_LATIN, BETWEEN)


def mbox(*mails: bytes) -> bytes:
    """An mbox file (mboxrd) of mails."""
    import re

    parts = []
    for mail in mails:
        text = mail.replace(b"\r\n", b"\n")
        text = re.sub(rb"(?m)^(>*From )", rb">\1", text)
        parts.append(
            b"From sender@example.com Mon Mar  2 09:15:03 2026\n" + text.rstrip(b"\n") + b"\n\n"
        )
    return b"".join(parts)
