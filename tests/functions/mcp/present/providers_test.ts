/** Texts about providers and about bills worth reviewing. */
import { assertEquals } from "@std/assert";
import { presentData } from "../../../../functions/mcp/present/data.ts";
import type { Json } from "../../../_support/books.ts";
import { en } from "../../../../shared/words/en/mod.ts";
import { assertNothingMissing } from "../../../_support/books.ts";

const params = { name: "Power", provider: "City Utility", month: "2026-10", status: "paused", due_on: "2026-11-25" };

Deno.test("sync_bill_amounts reports each outcome", () => {
  const texts: Record<keyof typeof en.outcomes, string> = {
    taken: "Power due 2026-11-25 is 84.20 EUR.",
    corrected: "Power due 2026-11-25 was 84.20 EUR, not the estimated 80.00; the payment is corrected.",
    same_amount: "Power now has the same amount every time.",
    not_due: "Power is not due in 2026-10.",
    question:
      "City Utility reports 84.20 EUR for Power due 2026-11-25, which is far from the usual 40.00 EUR. It was not applied; " +
      "if it is right, set the amount of that date with update_bill.",
    set_by_hand: "The amount of Power was set by hand and stays as it is.",
    unchanged: "The amount of Power is unchanged.",
    not_ready: "City Utility has no statement for 2026-10 yet.",
    auth: "The owner has to reconnect Power to City Utility: update_bill with provider connect gives the link.",
    rate_limited: "City Utility asked us to wait. Try again later.",
    no_adapter: "Amounts cannot be fetched from City Utility; enter the amount of Power by hand.",
    failed: "The amount of Power could not be fetched from City Utility. Try again in an hour.",
    not_connected: "Power is not connected to a provider: update_bill with provider connect gives a link.",
    connection_not_ready: "The connection of Power to City Utility is not ready. The account page says why.",
    bill_inactive: "Power is paused, so nothing is fetched from City Utility.",
    same_amount_not_asked: "Power has the same amount every time, so nothing is fetched from City Utility.",
    being_asked: "The amount of Power is being fetched from City Utility right now.",
    asked_lately: "The amount of Power was last requested less than an hour ago. Try again later.",
    not_asked_yet: "The amount of Power was not fetched from City Utility this time. Call again for the rest.",
    connection_changed: "The connection of Power changed while its amount was being fetched. Try again.",
  };
  for (const [code, text] of Object.entries(texts)) {
    // The row has its own status; the sentence has the bill's.
    const row = {
      bill_id: "bill_1",
      status: "failed",
      old: "80.00",
      new: "84.20",
      currency: "EUR",
      usual: "40.00",
      due_on: "2026-11-25",
    };
    const said = { code, params: { ...params, ...(code === "question" && { reason: "unusual" }) } };
    assertEquals(presentData("store_bill_amounts", { bills: [{ ...row, said }] }, en), { bills: [{ ...row, text }] });
  }
});

Deno.test("a question names the reason why an amount was not accepted, and the next step", () => {
  const asked = { ...params, amount: "84.20", currency: "EUR", usual: "40.00", period: "2026-12" };
  const says = "City Utility reports 84.20 EUR for Power due 2026-11-25, which";
  const byHand = "It was not applied; if it is right, set the amount of that date with update_bill.";
  const texts: Record<NonNullable<Parameters<typeof en.outcomes.question>[0]["reason"]>, string> = {
    unusual: `${says} is far from the usual 40.00 EUR. ${byHand}`,
    other_currency: `${says} is in another currency than the bill. ${byHand}`,
    nothing_to_pay:
      `${says} leaves nothing to pay. It was not applied; if it is right, skip that date with update_bill.`,
    skipped: `${says} was skipped. If it is to be paid after all, reopen that date with update_bill.`,
    paid: `${says} is already paid. The payment stays as it is.`,
    other: `${says} could not be applied at the time. ${byHand}`,
  };
  for (const [reason, text] of Object.entries(texts)) {
    assertEquals(en.outcomes.question({ ...asked, reason: reason as keyof typeof texts }), text);
  }
  // December's statement is due in January.
  assertEquals(
    en.outcomes.question(asked),
    `${says} could not be applied at the time. sync_bill_amounts with period "2027-01" applies it now.`,
  );
});

const monthly = { frequency: "monthly", every: 1, anchor_on: "2026-11-01", month_days: [1] };
const EMPTY = Object.fromEntries(Object.keys(en.findings).map((section) => [section, []]));

/** Findings and their sentences by section. A section without an example does not compile. */
const FINDINGS: Record<keyof typeof en.findings, [finding: Json, text: string][]> = {
  overdue: [
    [{ name: "Rent", due_on: "2026-12-01", dates: 1, currency: "EUR" }, "Rent has been overdue since 2026-12-01."],
    [
      { name: "Rent", due_on: "2026-12-01", dates: 2, amount: "160.00", currency: "EUR" },
      "Rent has been overdue since 2026-12-01 (2 dates): 160.00 EUR.",
    ],
  ],
  price_rises: [
    [
      {
        name: "Netflix",
        old: "12.99",
        new: "15.99",
        currency: "EUR",
        change_percent: 23.1,
        since: "2026-11-01",
        more_a_year: "36.00",
        recorded: "12.99",
      },
      "Netflix has cost 15.99 EUR since 2026-11-01, up from 12.99 EUR (+23.1%), which is 36.00 EUR more a year. The bill " +
      "still says 12.99 EUR; update_bill sets the new amount.",
    ],
    [
      {
        name: "Netflix",
        old: "10.00",
        new: "11.00",
        currency: "EUR",
        change_percent: 10,
        since: "2027-01-01",
        more_a_year: "12.00",
        upcoming: true,
      },
      "Netflix will cost 11.00 EUR from 2027-01-01, up from 10.00 EUR (+10.0%), which is 12.00 EUR more a year.",
    ],
  ],
  unusual_amounts: [[
    { name: "Power", due_on: "2026-12-01", amount: "20.00", usual: "84.20", currency: "EUR", change_percent: -76.2 },
    "Power due 2026-12-01 is 20.00 EUR, usually about 84.20 EUR (-76.2%).",
  ]],
  possible_duplicates: [
    [
      { name: "Streaming", other_name: "Netflix", amount: "10.00", currency: "EUR", schedule: monthly },
      "Streaming and Netflix look like the same bill: 10.00 EUR, every month on the 1st.",
    ],
    [
      {
        name: "netflix",
        other_name: "Netflix",
        amount: "12.00",
        other_amount: "10.00",
        currency: "EUR",
        schedule: monthly,
      },
      "netflix exists twice: 12.00 EUR and 10.00 EUR, every month on the 1st.",
    ],
    [
      { name: "Power", other_name: "Power", currency: "EUR", schedule: monthly },
      "Power exists twice, every month on the 1st.",
    ],
  ],
  double_charges: [[
    { name: "Gym", amount: "29.90", currency: "EUR", first_on: "2026-11-15", second_on: "2026-11-24" },
    "29.90 EUR was paid twice where Gym is due once: on 2026-11-15 and on 2026-11-24. If both are one payment, merge them with " +
    "update_expenses.",
  ]],
  trials_ending: [
    [
      { name: "Zoom", trial_ends_on: "2026-11-25", amount: "10.00", currency: "EUR", schedule: monthly },
      "The trial of Zoom ends on 2026-11-25; after that it costs 10.00 EUR every month on the 1st.",
    ],
    [
      { name: "Zoom", trial_ends_on: "2026-11-25", currency: "EUR", schedule: monthly },
      "The trial of Zoom ends on 2026-11-25.",
    ],
  ],
  trials_charged: [[
    {
      name: "Zoom",
      trial_ends_on: "2026-11-25",
      charged_on: "2026-11-26",
      amount: "10.00",
      currency: "EUR",
      schedule: monthly,
    },
    "The trial of Zoom ended on 2026-11-25, and it charged 10.00 EUR on 2026-11-26, as it will every month on the " +
    "1st. To cancel it, draft_cancellation writes the letter.",
  ]],
  charged_after_end: [[
    {
      name: "Gym",
      ended_on: "2026-08-31",
      confirmed_on: "2026-07-02",
      charges: 2,
      last_on: "2026-10-01",
      amount: "29.90",
      currency: "EUR",
    },
    "A charge like Gym came after its confirmed end: 29.90 EUR on 2026-10-01 (2 charges), though it ended on 2026-08-31 " +
    "(confirmed on 2026-07-02). A final bill for the time before may be right; otherwise ask for a refund. If the " +
    "contract continues after all, set the bill active again with update_bill.",
  ]],
  savings: [
    [
      {
        name: "Gym",
        ended_on: "2026-08-31",
        payments: 3,
        unproven: 1,
        since: "2026-09-01",
        amount: "12.99",
        saved: "38.97",
        currency: "EUR",
        account: "Giro",
        statements_to: "2026-11-20",
      },
      "3 payments of 12.99 EUR for Gym have not been charged since 2026-09-01: 38.97 EUR saved, according to the statements of " +
      "Giro up to 2026-11-20. No statement of Giro covers 1 date yet.",
    ],
    [
      { name: "Gym", ended_on: "2026-08-31", payments: 0, unproven: 3, amount: "12.99", currency: "EUR" },
      "Gym ended on 2026-08-31. Nothing is proven yet: no statement shows the account that paid it, so 3 dates can't be " +
      "checked.",
    ],
  ],
  cancel_by: [[
    { name: "Gym", renews_on: "2026-12-24", cancel_by: "2026-12-19" },
    "Gym renews on 2026-12-24; to end it, cancel by 2026-12-19.",
  ]],
  recurring_charges: [
    [
      {
        name: "Netflix",
        amount: "12.99",
        currency: "EUR",
        frequency: "monthly",
        every: 1,
        charges: 3,
        first_on: "2026-09-03",
        last_on: "2026-11-03",
        next_on: "2026-12-03",
      },
      "Netflix charged 12.99 EUR every month (3 times from 2026-09-03 to 2026-11-03), and no bill covers it. The next charge is likely around 2026-12-03. If it is a bill, add it with add_bill; if not, update_settings with payee_rules and no_bill stops this question.",
    ],
    [
      {
        name: "Power",
        amount: "80.10",
        lowest: "61.20",
        highest: "80.10",
        currency: "EUR",
        frequency: "monthly",
        every: 2,
        charges: 3,
        first_on: "2026-07-03",
        last_on: "2026-11-03",
        next_on: "2027-01-03",
      },
      "Power charged between 61.20 EUR and 80.10 EUR, last 80.10 EUR, every 2 months (3 times from 2026-07-03 to 2026-11-03), and no bill covers it. The next charge is likely around 2027-01-03. If it is a bill, add it with add_bill; if not, update_settings with payee_rules and no_bill stops this question.",
    ],
  ],
  stopped_charges: [[
    { name: "Netflix", due_on: "2026-10-03", account: "Checking", statements_to: "2026-10-31" },
    "Netflix was due on 2026-10-03, but the statements of Checking to 2026-10-31 have no such charge. If it was cancelled, update_bill with set.status cancelled and apply_from 2026-10-03 ends it; if it was paid another way, mark_bill_paid records it.",
  ]],
  provider_attention: [
    ...([
      [
        "needs_reauth",
        "The owner has to reconnect Power to City Utility: update_bill with provider connect gives the link.",
      ],
      [
        "paused_by_plan",
        "The connection of Power to City Utility is paused: the plan does not include fetching amounts. Until it does, set them with update_bill.",
      ],
      ["paused", "The connection of Power to City Utility is paused. The owner can resume it on the account page."],
      ["failed", "The amount of Power could not be fetched from City Utility. sync_bill_amounts tries again."],
    ] as const).map(([kind, text]): [Json, string] => [{ name: "Power", provider: "City Utility", kind }, text]),
    [
      { name: "Power", provider: "City Utility", kind: "amount_missing", missing_period: "2026-10" },
      "The amount of Power is missing: City Utility has no statement for 2026-10. Set it with update_bill once it is known.",
    ],
    [
      {
        name: "Power",
        provider: "City Utility",
        kind: "needs_review",
        needs_review: { due_on: "2026-11-25", amount: "84.20", currency: "EUR", period: "2026-10", reason: "paid" },
      },
      "City Utility reports 84.20 EUR for Power due 2026-11-25, which is already paid. The payment stays as it is.",
    ],
  ],
};

for (const [section, cases] of Object.entries(FINDINGS)) {
  Deno.test(`review_bills has a sentence for ${section}, and keeps the facts`, () => {
    for (const [finding, text] of cases) {
      const data = presentData("review_bills", { ...EMPTY, [section]: [finding] }, en);
      assertNothingMissing(data);
      const { schedule: _, missing_period: __, needs_review, ...facts } = finding;
      const { period: ___, ...question } = needs_review ?? {};
      assertEquals(data[section], [{ ...facts, ...(needs_review && { needs_review: question }), text }]);
    }
  });
}
