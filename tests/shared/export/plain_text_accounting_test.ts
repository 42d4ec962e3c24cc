/** Entries of plain-text accounting whose texts look like syntax. */
import { assertEquals } from "@std/assert";
import { HLEDGER } from "../../../shared/export/plain_text_accounting.ts";

Deno.test("an hledger entry keeps texts that look like codes, comments or further entries in its description", () => {
  const entry = HLEDGER.entry({
    ...{ id: "pay_1", date: "2026-10-15", payee: "(x) ! A | B ; tag: y", category: "Food; drinks  (out)" },
    ...{ name: "Tea\n2026-10-16 * (b) C\n    Assets:X  1 EUR", amount: "-1.234", currency: "KWD", tax: null },
  }, { uncategorized: "Uncategorized", accounts: new Map() });
  assertEquals(entry.split("\n"), [
    "2026-10-15 * (pay_1) (x) ! A B tag: y | Tea 2026-10-16 * (b) C Assets:X 1 EUR",
    "    Expenses:Food-drinks-out  -1.234 KWD",
    "    Assets:Unassigned  1.234 KWD",
    "",
    "",
  ]);
});
