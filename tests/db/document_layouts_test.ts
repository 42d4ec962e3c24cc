/** Layouts that a person confirmed once supply the missing facts of later documents from the same seller. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readLines } from "../../shared/documents/text/read_text.ts";
import { typedLines } from "../../shared/documents/text/lines.ts";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";

interface Written {
  amount?: string;
  day?: string;
  number?: string;
  iban?: string;
  more?: string[];
}

const IBAN = "DE89370400440532013000";
const OTHER_IBAN = "GB82WEST12345698765432";
let files = 0;

/** An invoice whose labels nobody knows. */
const invoice = ({ amount = "84,20", day = "12.10.2026", number = "A-77", iban = IBAN, more = [] }: Written = {}) => [
  "Rechnung",
  "Kontoinhaber: Stadtwerke Neustadt GmbH",
  `IBAN: ${iban}`,
  "Grundpreis:  12,00",
  `Wir buchen:  ${amount} EUR`,
  `Vorgang:  ${number}`,
  `Abgelesen:  ${day}`,
  ...more,
];

async function add(books: Books, lines: string[]): Promise<Json> {
  const { facts, layout } = readLines(typedLines(lines.join("\n")), "pdf");
  const { document } = await books.ok("attach_document", {
    ...{ step: "keep", content: btoa(`${++files} ${lines.length}`), name: "a.pdf", type: "application/pdf" },
    facts,
    ...(layout && { layout }),
  });
  return document;
}

const say = async (books: Books, id: string, said: Json) =>
  (await books.ok("attach_document", { document_id: id, said })).document;
const SAID = { gross: "84.20", number: "A-77", issued_on: "2026-10-12" };
const read = ({ read: { gross, currency, number, issued_on } }: Json) => [gross, currency, number, issued_on];
const NOTHING = [undefined, undefined, undefined, undefined];

testBooks("a confirmed layout", {}, {
  "fills in the missing facts of the next document of its seller": async (ana) => {
    const first = await add(ana, invoice());
    assertEquals(read(first), NOTHING);
    assertEquals(read(await say(ana, first.id, SAID)), ["84.20", "EUR", "A-77", "2026-10-12"]);
    const second = await add(ana, invoice({ amount: "91,05", number: "A-78", day: "12.11.2026" }));
    assertEquals(read(second), ["91.05", "EUR", "A-78", "2026-11-12"]);
    // The day of the confirmation, in the person's time zone.
    const { today } = (await ana.call("get_context")).context;
    const told = ["gross", "number", "issued_on"].map((fact) => `${fact} (on ${today})`);
    const [listed] = (await ana.ok("list_documents", { document_id: second.id })).documents;
    for (const { remembered } of [second, listed]) {
      for (const fact of told) assertStringIncludes(remembered, fact);
    }
  },

  "names no fact whose confirmation has no day": async (ana, database) => {
    const { id } = await add(ana, invoice());
    await say(ana, id, SAID);
    await database.query("update app.documents set layout = layout #- '{confirmed,gross,at}' where id = $1", [id]);
    const next = await add(ana, invoice({ amount: "91,05", number: "A-78" }));
    assertEquals([next.read.gross, next.remembered.match(/gross|number|issued_on/g)], ["91.05", [
      "number",
      "issued_on",
    ]]);
    await database.query(
      "update app.documents set layout = layout #- '{confirmed,number,at}' #- '{confirmed,issued_on,at}' where id = $1",
      [id],
    );
    assertEquals((await add(ana, invoice({ amount: "92,05", number: "A-79" }))).remembered, undefined);
  },

  "names no facts that were read or confirmed in the document itself": async (ana) => {
    const first = await add(ana, invoice());
    assertEquals([first.remembered, (await say(ana, first.id, SAID)).remembered], [undefined, undefined]);
    const next = await add(ana, invoice({ amount: "91,05", more: ["Rechnungsnummer: B-2"] }));
    assertEquals([next.read.number, next.remembered.match(/gross|number|issued_on/g)], ["B-2", ["gross", "issued_on"]]);
  },

  "takes nothing that the document lacks": async (ana) => {
    const { id } = await add(ana, invoice());
    assertEquals(
      read(await say(ana, id, { gross: "99.99", number: "B-1", issued_on: "2026-10-13", payee: "x" })),
      NOTHING,
    );
    assertEquals(read(await add(ana, invoice())), NOTHING);
  },

  "leaves a fact empty if a label is missing, repeated, or no longer the largest amount": async (ana) => {
    const { id } = await add(ana, invoice());
    await say(ana, id, SAID);
    const amounts = [];
    for (
      const lines of [
        invoice().filter((line) => !line.startsWith("Wir buchen")),
        invoice({ more: ["Wir buchen:  91,05 EUR"] }),
        invoice({ more: ["Guthaben:  500,00 EUR"] }),
        invoice({ amount: "84.200,0" }),
      ]
    ) amounts.push((await add(ana, lines)).read.gross);
    assertEquals(amounts, [undefined, undefined, undefined, undefined]);
  },

  "serves no other seller, no changed account and no other kind": async (ana) => {
    const { id } = await add(ana, invoice());
    await say(ana, id, SAID);
    const other = invoice().map((line) => line.replace("Stadtwerke Neustadt", "Gaswerke Altdorf"));
    const amounts = [];
    for (
      const lines of [
        other,
        other.map((line) => line.replace(IBAN, OTHER_IBAN)),
        invoice({ iban: OTHER_IBAN }),
        invoice().map((line) => line === "Rechnung" ? "Gutschrift" : line),
      ]
    ) amounts.push((await add(ana, lines)).read.gross);
    assertEquals(amounts, [undefined, undefined, undefined, undefined]);
  },

  "serves no other organization and no person who may not see its document": async (ana, database) => {
    const [ben, other] = [await ana.join(), await openBooks(database)];
    const { id } = await add(ana, invoice());
    await say(ana, id, SAID);
    assertEquals(read(await add(other, invoice())), NOTHING);
    assertEquals(read(await add(ben, invoice())), NOTHING);
    await other.fails("not_found", "attach_document", { document_id: id, said: SAID });
  },

  "is forgotten when its confirmation is undone": async (ana) => {
    const { id } = await add(ana, invoice());
    const { change_id } = await ana.call("attach_document", { document_id: id, said: SAID });
    const { undone } = await ana.ok("undo_change", { change_id });
    assertEquals(undone.summary, "Recorded facts of document a.pdf");
    const [document] = (await ana.ok("list_documents", { document_id: id })).documents;
    assertEquals(read(document), NOTHING);
    assertEquals(read(await add(ana, invoice({ amount: "91,05" }))), NOTHING);
  },

  "comes from attaching a document to a paid record, and only with its largest amount": async (ana) => {
    const { results: [paid, small] } = await ana.ok("log_expenses", {
      items: [
        { name: "Power", amount: "84.20", date: "2026-10-14" },
        { name: "Base", amount: "12.00", date: "2026-10-14" },
      ],
    });
    const first = await add(ana, invoice());
    await ana.ok("attach_document", { document_id: first.id, to: small.id });
    assertEquals((await add(ana, invoice({ amount: "91,05" }))).read.gross, undefined);
    await ana.ok("attach_document", { document_id: first.id, to: paid.id });
    assertEquals((await add(ana, invoice({ amount: "92,05" }))).read.gross, "92.05");
  },

  "keeps only the labels that agree each time": async (ana) => {
    // Two labels have the amount in the first document; one by chance.
    const first = await add(ana, invoice({ more: ["Vormonat:  84,20 EUR"] }));
    await say(ana, first.id, { gross: "84.20" });
    const second = await add(ana, invoice({ amount: "91,05", more: ["Vormonat:  84,20 EUR"] }));
    assertEquals(second.read.gross, undefined);
    await say(ana, second.id, { gross: "91.05" });
    const third = await add(ana, invoice({ amount: "95,00", more: ["Vormonat:  91,05 EUR"] }));
    assertEquals(third.read.gross, "95.00");
  },

  "yields the right amount or none, however the lines of later documents are shuffled": async (ana) => {
    const { id } = await add(ana, invoice());
    await say(ana, id, { gross: "84.20" });
    let seed = 7;
    const random = (below: number) => (seed = seed * 48271 % 2147483647) % below;
    const decoys = ["Guthaben", "Vormonat", "Wir buchen", "Zu wenig", "Wir buchen ab", "Rabatt"];
    let found = 0;
    for (let round = 0; round < 60; round++) {
      const cents = 1300 + random(20000);
      const right = (cents / 100).toFixed(2);
      const lines = invoice({
        amount: right.replace(".", ","),
        more: Array.from(
          { length: random(4) },
          () => `${decoys[random(decoys.length)]}:  ${(random(30000) / 100).toFixed(2).replace(".", ",")} EUR`,
        ),
      }).filter((line) => line.startsWith("IBAN") || line.startsWith("Wir buchen:") || random(12) > 0);
      for (let at = lines.length - 1; at > 0; at--) {
        const other = random(at + 1);
        [lines[at], lines[other]] = [lines[other]!, lines[at]!];
      }
      const { read: { gross } } = await add(ana, lines);
      if (gross !== undefined) assertEquals(gross, right, lines.join("\n"));
      found += gross === undefined ? 0 : 1;
    }
    assert(found > 10, `only ${found}`);
  },

  "shows the places of missing facts on its page, but not to assistants": async (ana, database) => {
    const { id } = await add(ana, invoice());
    const page = await database.asService<Json>("open_document", {
      ...{ user_id: ana.userId, document_id: id, content: false, at: "2026-11-20T12:00:00Z" },
    });
    assertEquals(page.result.data.documents[0].places.gross, [
      { label: "Grundpreis", value: "12.00", currency: "EUR" },
      { label: "Wir buchen", value: "84.20", currency: "EUR" },
    ]);
    const { documents: [listed] } = await ana.ok("list_documents", { document_id: id });
    assertEquals("places" in listed, false);
  },
});
