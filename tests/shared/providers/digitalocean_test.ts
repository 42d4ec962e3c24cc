/** Requests to DigitalOcean, and the parsing of its responses, which follow its reference's example. */
import { assertEquals } from "@std/assert";
import { digitalocean } from "../../../shared/providers/digitalocean.ts";
import { asking, said } from "./asking.ts";

const credential = { token: "dop_v1_0123456789abcdef" };
const API = "https://api.digitalocean.com/v2/customers/my/invoices";

const invoice = (invoice_period: unknown, amount: unknown) => ({
  invoice_uuid: "22737513-0ea7-4206-8ceb-98a575af7681",
  invoice_id: "12345678",
  amount,
  invoice_period,
});
const page = (invoices: unknown[], next?: string) => ({
  invoices,
  invoice_preview: {
    invoice_uuid: "1afe95e6-0958-4eb0-8d9a-9c5060d3ef03",
    amount: "34.56",
    invoice_period: "2026-10",
    updated_at: "2026-11-01T06:31:50Z",
  },
  links: { pages: next ? { next, last: next } : {} },
  meta: { total: 70 },
});
const answering = (...pages: unknown[]) =>
  asking(digitalocean, { credential, answer: (_asked, index) => pages[index] });

Deno.test("digitalocean requests the invoices and picks the month's", async () => {
  const { asked, outcome } = await answering(page([invoice("2026-10", "12.34"), invoice("2026-09", "99.00")]));
  assertEquals(asked.map(({ url, headers }) => [url, headers.authorization]), [
    [`${API}?per_page=200`, `Bearer ${credential.token}`],
  ]);
  assertEquals(outcome, { amount: "12.34", currency: "USD", pages: 1 });
});

Deno.test("digitalocean adds up several invoices of a month, including credits, and follows its pages", async () => {
  const { asked, outcome } = await answering(
    page([invoice("2026-11", "1.00"), invoice("2026-10", "12.34")], `${API}?page=2&per_page=2`),
    page([invoice("2026-10", "0.70"), invoice("2026-10", "-3.04")]),
  );
  assertEquals(asked[1]!.url, `${API}?page=2&per_page=2`);
  assertEquals(outcome, { amount: "10.00", currency: "USD", pages: 2 });
});

Deno.test("digitalocean does not use a preview as an invoice", async () => {
  assertEquals(said(await answering(page([invoice("2026-09", "99.00")]))), "not_ready");
  assertEquals(said(await answering(page([]))), "not_ready");
  assertEquals(said(await answering({ invoices: [], meta: { total: 0 } })), "not_ready");
});

Deno.test("digitalocean does not follow a link to another origin", async () => {
  for (
    const next of [
      "https://attacker.example/v2/customers/my/invoices?page=2",
      "https://api.digitalocean.com.attacker.example/v2",
      "http://api.digitalocean.com/v2/customers/my/invoices?page=2",
      "https://api.digitalocean.com:8443/v2/customers/my/invoices?page=2",
      "https://api.digitalocean.com@attacker.example/",
      "https://user:pass@api.digitalocean.com/v2/customers/my/invoices?page=2",
      "next",
      "file:///etc/passwd",
    ]
  ) {
    const found = await answering(page([invoice("2026-10", "12.34")], next), page([]));
    assertEquals([said(found), found.asked.length], ["bad_shape", 1], next);
  }
  // Two slashes start a path here, not another host.
  const { asked } = await answering(page([], "//attacker.example/v2"), page([]));
  assertEquals(asked.map(({ url }) => new URL(url).host), ["api.digitalocean.com", "api.digitalocean.com"]);
});

Deno.test("digitalocean stops when pages loop or do not end", async () => {
  const circle = await asking(digitalocean, { credential, answer: () => page([], `${API}?per_page=200&page=2`) });
  assertEquals([said(circle), circle.asked.length], ["bad_shape", 2]);
  const endless = await asking(digitalocean, {
    credential,
    answer: (_asked, index) => page([], `${API}?page=${index + 2}`),
  });
  assertEquals([said(endless), endless.asked.length], ["bad_shape", 50]);
});

Deno.test("digitalocean refuses undocumented responses", async () => {
  for (
    const answer of [
      {},
      { invoices: null },
      page([invoice("2026-10", null)]),
      page([invoice("2026-10", "12.34 USD")]),
      page([invoice(null, "1")]),
      { ...page([invoice("2026-10", "1")]), links: { pages: { next: {} } } },
    ]
  ) {
    assertEquals(said(await answering(answer)), "bad_shape", JSON.stringify(answer));
  }
});
