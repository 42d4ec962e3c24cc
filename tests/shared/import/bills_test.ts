/** A list of subscriptions is refused with arguments for add_bill. */
import { assertEquals, assertMatch } from "@std/assert";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { presentError } from "../../../functions/mcp/present/error.ts";
import { readImport } from "../../../shared/import/read_import.ts";
import { readUpload } from "../../../shared/import/read_upload.ts";
import { en } from "../../../shared/words/en/mod.ts";

function refused(text: string) {
  const result = readImport(text);
  if (!("code" in result)) throw new Error(JSON.stringify(result));
  const { message, hint, details } = presentError(result, en);
  // deno-lint-ignore no-explicit-any -- details differ by code
  return { message, hint: hint!, bills: (details as any).bills };
}

const HEADER = "Name,Payment Cycle,Next Payment,Renewal,Category,Payment Method,Paid By,Price,Notes,URL,State,Active";
const CSV = [
  HEADER,
  "Netflix,Monthly,2026-12-01,Automatic,Fun,Card,Me,€15.99,,,Enabled,Yes",
  '"Insurance, car",Every 3 Months,2027-01-15,Automatic,Car,Card,Me,"$1,200.50",,,Enabled,Yes',
  "Paper,Fortnightly,soon,Manual,Fun,Card,Me,free,,,Enabled,Yes",
  "Gone,Monthly,2026-12-01,Automatic,Fun,Card,Me,€9.99,,,Disabled,No",
].join("\n");
const BILLS = [
  { name: "Netflix", amount: "15.99", currency: "EUR", frequency: "monthly", first_due: "2026-12-01" },
  {
    name: "Insurance, car",
    amount: "1200.5",
    price: "$1,200.50",
    frequency: "monthly",
    every: 3,
    first_due: "2027-01-15",
  },
  { name: "Paper", frequency: "weekly", every: 2 },
];

Deno.test("subscriptions of Wallos are refused with their bills listed, as CSV and as JSON", () => {
  const { message, hint, bills } = refused(CSV);
  assertEquals(bills, BILLS);
  assertMatch(message, /lists 3 subscriptions, not payments/);
  assertMatch(hint, /add_bill/);
  const [names, ...rows] = CSV.replace('"Insurance, car"', "Insurance; car").replace('"$1,200.50"', "$1200.50").split(
    "\n",
  )
    .map((line) => line.split(","));
  const subscriptions = rows.map((cells) => Object.fromEntries(names!.map((name, i) => [name, cells[i]])));
  assertEquals(
    refused(JSON.stringify({ success: true, subscriptions })).bills.map(({ name }: { name: string }) => name),
    ["Netflix", "Insurance; car", "Paper"],
  );
  // An uploaded file is text until it is parsed.
  const text = JSON.stringify({ success: true, subscriptions }, null, 10);
  assertEquals(readUpload(new TextEncoder().encode(text), "a.json"), { text, warnings: [] });
});

Deno.test("add_bill accepts the listed bill when the file has enough fields", () => {
  const addBill = TOOLS.find(({ listed }) => listed.name === "add_bill")!;
  const parsed = addBill.parse(BILLS[0], new Date("2026-11-23T12:00:00Z"));
  assertEquals(parsed.ok, true, JSON.stringify(parsed));
});

Deno.test("a long list is cut, and a malformed one contains no bills", () => {
  const many = [HEADER, ...Array(500).fill(CSV.split("\n")[1])].join("\n");
  assertEquals([refused(many).bills.length, refused(many).message], [
    100,
    "This file lists 500 subscriptions, not payments.",
  ]);
  for (const text of ['{"a":[1,null,"Next Payment"],"next_payment":1}', `{"Next Payment": ${"[".repeat(5000)}`]) {
    assertEquals(refused(text).bills, []);
  }
});
