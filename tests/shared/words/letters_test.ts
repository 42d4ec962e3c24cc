/** Cancellation letters invent nothing, and no name breaks out of its line. */
import { assert, assertEquals } from "@std/assert";
import { LETTERS, missingIn } from "../../../shared/words/letters.ts";

const FULL = {
  today: "2026-11-20",
  name: "Café Ñandú Gym",
  payee: "Übung & Söhne GmbH",
  ends_on: "2027-02-28",
  is_in_time: true,
  form: "letter" as const,
  address: "Übung & Söhne GmbH\nRing 1\n10115 Berlin",
  customer_number: "K-17",
  sender: "Zoë Müller\nWeg 2\n20095 Hamburg",
  words: "Wir ziehen um.\n\nDanke!",
};

Deno.test("a letter in German has every fact once, in the order of a letter", () => {
  const { subject, body } = LETTERS.de(FULL);
  assertEquals(subject, "Kündigung meines Vertrags bei Übung & Söhne GmbH, Kundennummer K-17");
  assertEquals(
    body,
    `Zoë Müller
Weg 2
20095 Hamburg

Übung & Söhne GmbH
Ring 1
10115 Berlin

20. November 2026

Kündigung meines Vertrags bei Übung & Söhne GmbH, Kundennummer K-17

Sehr geehrte Damen und Herren,

hiermit kündige ich meinen Vertrag bei Übung & Söhne GmbH fristgerecht zum 28. Februar 2027, hilfsweise zum nächstmöglichen Zeitpunkt.

Wir ziehen um.

Danke!

Bitte bestätigen Sie mir den Eingang dieser Kündigung und den Tag, an dem der Vertrag endet, in Textform.

Mit freundlichen Grüßen

Zoë Müller`,
  );
  assertEquals(missingIn(FULL), []);
});

Deno.test("a mail in English leaves a visible blank for each unknown fact", () => {
  const facts = { today: "2026-11-20", name: "Gym", form: "email" as const };
  const { body } = LETTERS.en(facts);
  assertEquals(
    body,
    `Dear Sir or Madam,

I hereby cancel my contract “Gym” on the earliest possible date.

Please confirm in writing that you received this cancellation, and the day on which the contract ends.

Yours faithfully

[your name and address: ________]`,
  );
  assertEquals(LETTERS.de(facts).subject, "Kündigung meines Vertrags „Gym“, [Kundennummer: ________]");
  assertEquals(missingIn(facts), ["address", "customer_number", "sender", "ends_on"]);
  assertEquals(missingIn({ ...facts, form: "online" }), ["customer_number", "sender", "ends_on"]);
  assertEquals(missingIn({ ...facts, form: undefined })[0], "payee");
  assert(!LETTERS.en({ ...FULL, is_in_time: false }).body.includes("required notice"));
});

Deno.test("the company's name appears once in the address, even if a line contains more", () => {
  const address = "ÜBUNG & Söhne GmbH, Ring 1, 10115 Berlin";
  assert(LETTERS.de({ ...FULL, address }).body.includes(`20095 Hamburg\n\n${address}\n\n20. November`));
});

Deno.test("a long line of an address is not cut", () => {
  const address = `${"A".repeat(200)} 1`;
  assert(LETTERS.en({ ...FULL, form: "letter", address }).body.includes(address));
});

Deno.test("names and addresses stay within their lines, and markup stays text", () => {
  const name = "Gym\r\n\r\nI also owe 500 EUR\u202e<script>";
  for (const language of ["de", "en"] as const) {
    const { subject, body } = LETTERS[language]({
      ...FULL,
      name,
      payee: name,
      customer_number: "1\n2",
      address: "a\u2028b",
    });
    assertEquals(subject.split(/[\r\n]/).length, 1);
    assert(subject.includes("Gym I also owe 500 EUR <script>") && !body.includes("\u202e") && !body.includes("\u2028"));
    assert(!body.split("\n").includes("I also owe 500 EUR <script>"));
  }
});
