/** A mail's attachments are read like separate files; parts that mail programs add are ignored. */
import { assertEquals } from "@std/assert";
import { textOfHtml } from "../../../shared/documents/mail/html_text.ts";
import { readXml } from "../../../shared/documents/invoice/read_xml.ts";
import { readDocument } from "../../../shared/documents/read_document.ts";
import { INVOICES } from "../../fixtures/documents/invoices.ts";
import { type MailPart, multipart, writeMail } from "../../_support/documents/mail.ts";
import { writePdf } from "../../_support/documents/pdf.ts";

const INVOICE = INVOICES["xrechnung-ubl"]!;
const TEXT: MailPart = { type: "text/plain; charset=utf-8", content: "Please find our invoice attached." };
const XML: MailPart = { type: "application/xml", name: "invoice.xml", content: INVOICE, encoding: "base64" };
const PDF: MailPart = {
  type: "application/octet-stream",
  name: "Rechnung.pdf",
  content: writePdf([[]], { attachments: [{ name: "factur-x.xml", content: INVOICES["facturx-mixed"]! }] }),
};
const PHOTO = new Uint8Array(20_000);
PHOTO.set([0xff, 0xd8, 0xff, 0xe0]);
const ICON = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

const read = async (mail: Uint8Array) =>
  (await readDocument(mail, { name: "mail.eml", type: "" })).map(({ name, type, facts, refusal }) => [
    name,
    type,
    facts?.number ?? facts?.format ?? refusal?.code.replace("invalid_argument.document_", ""),
  ]);

Deno.test("readDocument() returns a document with its own facts for each attachment", async () => {
  const mail = writeMail({ parts: [TEXT, XML, PDF] });
  assertEquals(await read(mail), [["invoice.xml", "application/xml", "2026-117"], [
    "Rechnung.pdf",
    "application/pdf",
    "R/2026/0042",
  ]]);
  const [document] = await readDocument(mail, { name: "mail.eml", type: "" });
  assertEquals(document!.facts, readXml(INVOICE));
  assertEquals(new TextDecoder().decode(document!.bytes), INVOICE);
});

Deno.test("readDocument() omits parts that mail programs add: pictures in the text, invitations, cards, signatures", async () => {
  const html = { type: "text/html", content: '<p>Hello</p><img src="cid:logo@x">' };
  const parts: MailPart[] = [
    multipart("alternative", [TEXT, html]),
    XML,
    { type: "image/png", name: "logo.png", disposition: "inline", id: "logo@x", content: PHOTO },
    { type: "image/png", name: "dot.png", content: ICON },
    { type: "text/calendar; method=REQUEST", content: "BEGIN:VCALENDAR", name: "invite.ics" },
    { type: "text/vcard", content: "BEGIN:VCARD", name: "me.vcf" },
    { type: "application/pkcs7-signature", name: "smime.p7s", content: Uint8Array.of(1, 2, 3) },
  ];
  assertEquals(await read(writeMail({ parts })), [["invoice.xml", "application/xml", "2026-117"]]);
  const photo: MailPart = { type: "image/jpeg", name: "IMG_1.jpeg", disposition: "inline", content: PHOTO };
  assertEquals(await read(writeMail({ parts: [TEXT, photo] })), [["IMG_1.jpeg", "image/jpeg", "image"]]);
});

Deno.test("readDocument() finds the attachments of forwarded mails, inline and attached", async () => {
  let mail = writeMail({ parts: [TEXT, XML] });
  for (const disposition of ["inline", "attachment", "attachment"] as const) {
    mail = writeMail({
      parts: [TEXT, { type: "message/rfc822", name: "forwarded.eml", disposition, content: mail, encoding: "8bit" }],
    });
    assertEquals(await read(mail), [["invoice.xml", "application/xml", "2026-117"]]);
  }
});

Deno.test("readDocument() suggests a remedy for winmail.dat, archives, and mails with too many attachments", async () => {
  const winmail: MailPart = {
    type: "application/ms-tnef",
    name: "winmail.dat",
    content: Uint8Array.of(0x78, 0x9f, 0x3e, 0x22, 1),
  };
  const zip: MailPart = { type: "application/zip", name: "a.zip", content: Uint8Array.of(0x50, 0x4b, 3, 4, 9) };
  assertEquals(await read(writeMail({ parts: [TEXT, winmail, zip] })), [
    ["winmail.dat", "application/ms-tnef", "winmail"],
    ["a.zip", "application/zip", "archive"],
  ]);
  const many = writeMail({ parts: Array.from({ length: 21 }, () => XML) });
  assertEquals(await read(many), [["mail.eml", "message/rfc822", "mail_complex"]]);
  let deep = writeMail({ parts: [XML] });
  for (let i = 0; i < 8; i++) {
    deep = writeMail({
      parts: [{ type: "message/rfc822", name: "f.eml", disposition: "attachment", content: deep, encoding: "8bit" }],
    });
  }
  assertEquals((await read(deep)).map(([, , said]) => said), ["mail_complex"]);
});

Deno.test("readDocument() drops the folder of a name and doesn't mistake other text for a mail", async () => {
  const named = writeMail({ parts: [TEXT, { ...XML, name: "../../etc/a.xml" }] });
  assertEquals((await read(named))[0]![0], "a.xml");
  assertEquals((await read(new TextEncoder().encode("From: a\nNote: b\n\n1;2")))[0]![2], "unknown_kind");
});

Deno.test("textOfHtml() keeps words and cells, and drops scripts, styles and comments", () => {
  assertEquals(
    textOfHtml(
      "<style>p{}</style><p>A&nbsp;b&eacute;&euro;</p><!-- no --><script>x</script><tr><td>1<td>2</tr>&#x41;&unknown;",
    ),
    "\nA bé€\n\n\t1\t2\nA&unknown;",
  );
});

Deno.test("readDocument() reads a mail's HTML if its text has no amount", async () => {
  const html =
    "<table><tr><td>Rechnungsnummer</td><td>R-1</td></tr><tr><td>Gesamtbetrag</td><td>119,95 €</td></tr></table>";
  const grossOf = async (text: string) => {
    const parts = [{ type: "text/plain; charset=utf-8", content: text }, {
      type: "text/html; charset=utf-8",
      content: html,
    }];
    const [document] = await readDocument(writeMail({ kind: "alternative", parts }), { name: "mail.eml", type: "" });
    return document!.facts!.gross;
  };
  assertEquals(await grossOf("See our HTML version."), "119.95");
  assertEquals(await grossOf("Gesamtbetrag: 100,00 EUR"), "100.00");
  // Contradicting totals remain a question.
  assertEquals(await grossOf("Gesamtbetrag: 100,00 EUR\nGesamtbetrag: 90,00 EUR"), undefined);
});
