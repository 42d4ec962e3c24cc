/** The documents in an accountant's folder and their index. */
import { assertEquals } from "@std/assert";
import { accountantFolder } from "../../../shared/export/accountant_folder.ts";
import { FILES } from "../../../shared/export/books.ts";
import { readCsv } from "../../_support/unzip.ts";

const payment = (id: string, date: string, ids: string[]) => ({
  id,
  date,
  name: "Power",
  amount: "10.00",
  currency: "EUR",
  document_ids: ids,
});

Deno.test("a document of several payments is one file, and the index names it for each payment", async () => {
  const rows = [
    payment("pay_1", "2026-10-01", ["doc_1", "doc_2"]),
    payment("pay_2", "2026-10-01", ["doc_1"]),
    payment("pay_3", "2026-10-02", ["doc_2", "doc_gone", "doc_1"]),
  ];
  const asked: unknown[] = [];
  const members = accountantFolder({
    first: { rows, next: null, latest_change: null },
    readPage: (part, after) => {
      assertEquals(part, FILES);
      asked.push(after);
      const found = ["doc_1", "doc_2"].filter((id) => id > String(after)).slice(0, 1);
      const page = found.map((id) => ({ id, name: "a/b.pdf", content: btoa(id) }));
      return Promise.resolve({ rows: page, next: null, latest_change: null });
    },
    uncategorized: "Uncategorized",
  });
  const files: [string, string][] = [];
  for await (const { name, parts } of members) {
    let text = "";
    for await (const part of parts) text += typeof part === "string" ? part : new TextDecoder().decode(part);
    files.push([name, text]);
  }
  const [one, two] = ["documents/2026-10-01-doc_1-a_b.pdf", "documents/2026-10-01-doc_2-a_b.pdf"];
  assertEquals(files.slice(3, -1), [[one, "doc_1"], [two, "doc_2"]]);
  const [, ...index] = readCsv(files.at(-1)![1]);
  assertEquals(index.map((row) => [row[0], row[6]]), [
    [one, "pay_1"],
    [two, "pay_1"],
    [one, "pay_2"],
    [two, "pay_3"],
    [one, "pay_3"],
  ]);
  assertEquals(asked.length, 3, "each document is read once");
});
