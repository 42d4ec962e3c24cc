/** The content of a digest mail: subject, text and HTML. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { composeDigest } from "../../../shared/reminders/digest_mail.ts";
import { difference } from "../../../shared/reminders/amounts.ts";
import { nameAlone } from "../../../shared/reminders/names.ts";
import { advice } from "../../../shared/reminders/phrases.ts";
import { sectionsOf } from "../../../shared/reminders/rows.ts";
import { headlineOf, subjectOf } from "../../../shared/reminders/subject.ts";
import { formatOf } from "../../../shared/words/format.ts";
import { wordsOf } from "../../../shared/words/words.ts";
import { accented, plainWords } from "../../_support/accented_mails.ts";
import type { DigestBudget, DigestContent, DigestNotice } from "../../../shared/reminders/content.ts";
import {
  bill,
  budget,
  digest,
  EXAMPLES,
  LINKS,
  notice,
  reconnect,
  withBudgets,
  withEnd,
  withNotices,
  word,
} from "./digests.ts";

const english = wordsOf("en");
const compose = (content: ReturnType<typeof digest>, { words = english, locale = "en-US" } = {}) =>
  composeDigest({ id: "00000000-0000-4000-8000-000000000001", content }, {
    words,
    locale,
    links: LINKS,
    host: "expenses.example.com",
  });
const american = { words: english.mails.digest, format: formatOf("en-US") };

Deno.test("subjectOf() and headlineOf() name a single item and count several", () => {
  const counted = "3 bills due this week";
  const cases: [Parameters<typeof digest>[0], DigestNotice[], subject: string, headline: string][] = [
    [[bill("Rent", 3)], [], "“Rent” is due on Mon, Oct 5", "“Rent” is due on October 5."],
    [[bill("Rent", 0)], [], "“Rent” is due today", "“Rent” is due today."],
    [[bill("Rent", 95)], [], "“Rent” is due on Tue, Jan 5, 2027", "“Rent” is due on January 5, 2027."],
    [
      [bill("Electricity", -10)],
      [],
      "“Electricity” has been overdue since Sep 22",
      "“Electricity” has been overdue since September 22.",
    ],
    [[bill("x".repeat(60), 1)], [], `“${"x".repeat(39)}…” is due tomorrow`, `“${"x".repeat(39)}…” is due tomorrow.`],
    [[], [notice("trial", "Zoom", 1)], "The trial of “Zoom” ends tomorrow", "The trial of “Zoom” ends tomorrow."],
    [[], [notice("renewal", "eBay shop", 5)], "“eBay shop” renews on Wed, Oct 7", "“eBay shop” renews on October 7."],
    [[bill("Rent", 1), bill("Netflix", 2), bill("Water", 3)], [], counted, `${counted}.`],
    [[bill("Rent", 0), bill("Netflix", 0)], [], "2 bills due today", "2 bills due today."],
    [
      [bill("Rent", 0), bill("Gas", 0), bill("A", 1), bill("B", 3), bill("C", 6), bill("D", -3)],
      [],
      "2 bills due today, 3 more this week, 1 overdue",
      "2 bills due today, 3 more this week, 1 overdue.",
    ],
    [[bill("Gas", -10), bill("Rent", 1)], [], "1 bill due this week, 1 overdue", "1 bill due this week, 1 overdue."],
    [[bill("Electricity", -10), bill("Gas", -3)], [], "2 bills overdue", "2 bills overdue."],
    [
      [bill("Rent", 0), bill("Gas", -3)],
      [notice("cancel_by", "Gym", 14), notice("trial", "Zoom", 1), notice("price_rise", "Music", 4)],
      "1 bill due today, 1 overdue, 1 trial ends, 2 more below",
      "1 bill due today, 1 overdue, 1 trial ends, 2 more below.",
    ],
    [
      [bill("Rent", 20)],
      [notice("cancel_by", "Gym", 14), notice("trial", "Zoom", 1), notice("price_rise", "Music", 4)],
      "1 bill due by Oct 22, 1 trial ends, 1 last day to cancel, 1 price rise",
      "1 bill due by Oct 22, 1 trial ends, 1 last day to cancel, 1 price rise.",
    ],
  ];
  for (const [bills, notices, subject, headline] of cases) {
    const content = withNotices(digest(bills), notices);
    assertEquals([subjectOf(content, american), headlineOf(content, american)], [subject, headline]);
  }
});

Deno.test("a low balance shows its account, limit and amounts unless hidden, and lists all accounts that way", async () => {
  const mail = (name: string, more: Partial<DigestNotice> = {}) => {
    const amounts = { amount: "200.00", low: "150.00", limit: "500.00" };
    return withNotices(digest([]), [notice("low_balance", name, 9, { frequency: "once", ...amounts, ...more })]);
  };
  const [one, all] = [mail("Giro"), mail("Household", { is_total: true })];
  const line = async (content: DigestContent) => (await compose(content)).text.replaceAll(/\s+/g, " ");
  assertMatch(subjectOf(one, american), /^“Giro” is expected to fall below the limit on /);
  assertMatch(subjectOf(all, american), /^all accounts together are expected to fall below the limit on /i);
  const said = "expected to fall below the limit of €500.00: likely €200.00, possibly as low as €150.00";
  assertStringIncludes(await line(one), `is ${said}`);
  assertStringIncludes(await line(all), `all accounts together are ${said}`);
  const hidden = await line(mail("Giro", { amount: null, low: null, limit: null }));
  assertStringIncludes(hidden, "is expected to fall below the limit");
  assertFalse(hidden.includes("€"));
});

Deno.test("a budget shows spending, limit and carry-over, and the subject only that it is used up", async () => {
  const content = withBudgets(digest([bill("Rent", 3)]), [budget("Groceries", 82), budget(null, 104, { per: "year" })]);
  assertEquals(subjectOf(content, american), "1 bill due this week, 1 budget used up, 1 budget almost used up");
  const lines = async (budgets: DigestBudget[]) =>
    (await compose(withBudgets(digest([]), budgets))).text.match(/Budgets:\n(( {2}.*\n)+)/)![1]!.trimEnd().split("\n");
  const hidden = { spent: null, available: null, limit: null, carried: null };
  const carrying = { spent: "76.81", available: "68.58", limit: "400.00", carried: "-331.42" };
  assertEquals(
    await lines([
      budget("Groceries", 82),
      budget("Groceries", 82, { per: "year", is_over: true, is_partial: true }),
      budget(null, 82),
      budget("Groceries", 112, { ...carrying, carried_from: "2026-01-01" }),
      budget("Groceries", 112, carrying),
      budget("Food", 90, { spent: "90.00", available: "100.00", limit: "60.00", carried: "40.00" }),
      budget("Food", null, {
        ...carrying,
        available: "-20.00",
        carried: "-420.00",
        per: "year",
        carried_from: "2025-01-01",
      }),
      budget("Food", 82, hidden),
      budget("Food", null, { ...hidden, per: "year" }),
    ]),
    [
      "  Groceries: €412.00 of €500.00 this month (82%)",
      "  Groceries: €412.00 of €500.00 last year (82%), not counting payments without an exchange rate",
      "  All spending: €412.00 of €500.00 this month (82%)",
      "  Groceries: €76.81 of €400.00 this month; January overspent by €331.42; 112% used",
      "  Groceries: €76.81 of €400.00 this month; earlier months overspent by €331.42; 112% used",
      "  Food: €90.00 of €60.00 this month; earlier months left €40.00; 90% used",
      "  Food: €76.81 of €400.00 this year; 2025 overspent by €420.00",
      "  Food: 82% used this month",
      "  Food: used up before this year",
    ],
  );
  const alone = await compose(withBudgets(digest([]), [budget("Groceries", 100)]));
  assertEquals(alone.subject, "The month’s budget for “Groceries” is used up");
  assertStringIncludes(alone.text, "“What is left of the budget for ‘Groceries’?”");
  const many = withBudgets(digest([]), ["A", "B", "C", "D"].map((name) => budget(name, 90)));
  many.organizations[0]!.unlisted_budgets = 2;
  assertEquals(subjectOf(many, american), "4 budgets almost used up, 2 more below");
});

Deno.test("the end of a plan is the subject on its day, and follows the bills before that", async () => {
  const before = withEnd(digest([bill("Rent", 1)]), {});
  const today = withEnd(digest([]), { days: 0, on: "2026-10-02", is_day: true });
  const after = withEnd(digest([]), {
    days: -1,
    on: "2026-10-01",
    is_day: true,
    has_ended: true,
    reason: "canceled",
    may_change: false,
  });
  assertEquals([before, today, after].map((content) => [subjectOf(content, american), headlineOf(content, american)]), [
    [
      "“Rent” is due tomorrow",
      "“Rent” is due tomorrow. Reminders for “Garden Street household” will stop on October 5.",
    ],
    [
      "Reminders for “Garden Street household” will stop today",
      "Reminders for “Garden Street household” will stop today.",
    ],
    [
      "Reminders for “Garden Street household” stopped yesterday",
      "Reminders for “Garden Street household” stopped yesterday.",
    ],
  ]);
  for (
    const [content, said] of [
      [before, [
        "When the plan ends:\n  The trial ends on Monday, October 5.\n  From then on, we send no reminders, your calendar app gets no due dates, no amounts are fetched from bill providers and assistants can’t read or change anything.",
        "Choose a plan: https://expenses.example.com/organizations/org_00000000/plan",
        "Due after that:\n  VAT: Wednesday, October 7 · €4,000.00\n  Gas: Friday, October 9\n  and 2 more\n",
      ]],
      [after, [
        "The plan has ended:\n  The subscription ended on Thursday, October 1.",
        "Only the owner, anna@example.com, can choose a plan.",
      ]],
    ] as const
  ) {
    const { text, html } = await compose(content);
    const plain = html.slice(html.indexOf("<h1")).replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ").replaceAll(
      " :",
      ":",
    );
    for (const part of said) assertStringIncludes(text, part);
    for (const sentence of sectionsOf(content, american)[0]!.planEnd!.sentences) {
      for (const part of [text, plain]) assertStringIncludes(part, sentence);
    }
  }
  // The line suggests an action that nobody could take.
  assertEquals([advice(after, american), (await compose(after)).text.includes("No assistant at hand")], [null, false]);
});

Deno.test("an upcoming line shows its cost unless amounts are hidden", async () => {
  const lines = async (notices: DigestNotice[], more = {}) =>
    (await compose({ ...withNotices(digest([]), notices), ...more })).text.match(/(?<=^ {4})\S.*$/gm);
  const notices = [
    notice("trial", "Zoom", 1, { frequency: "weekly", every: 2 }),
    notice("cancel_by", "Gym", 14, { amount: "240.00" }),
    notice("cancel_by", "Domain", 14, { term_years: 2 }),
    notice("renewal", "Domain", 9, { term_years: 2 }),
    notice("renewal", "Insurance", 9, { is_contract: false }),
    notice("price_rise", "Music", 4),
  ];
  assertEquals(await lines(notices), [
    "the trial ends, then it costs €15.99 every 2 weeks",
    "last day to cancel, or it renews on January 10, 2027 for another year, which costs €240.00",
    "last day to cancel, or it renews on January 10, 2027 for another 2 years, which costs €15.99",
    "renews for another 2 years: €15.99",
    "due again after a year: €15.99",
    "the price goes from €13.99 to €15.99, up 14%",
  ]);
  const hidden = notices.map((one) => ({ ...one, amount: null, earlier_amount: null }));
  assertEquals(await lines(hidden, { hides_amounts: true }), [
    "the trial ends",
    "last day to cancel, or it renews on January 10, 2027 for another year",
    "last day to cancel, or it renews on January 10, 2027 for another 2 years",
    "renews for another 2 years",
    "due again after a year",
    "the price goes up",
  ]);
  const contract = { ends_on: "2027-01-09", amount: null };
  assertEquals(
    await lines([
      notice("cancel_by", "Gym", 14, { ...contract, term_months: 6, form: "letter" }),
      notice("cancel_by", "Phone", 14, { ...contract, term_months: 0, form: "online" }),
      notice("cancel_by", "Club", 14, { ...contract, term_months: null, form: "any" }),
      notice("trial_charged", "Zoom", -1),
      notice("trial_charged", "Zoom", -1, { is_assumed: true }),
    ]),
    [
      "last day to cancel by letter to leave on January 9, 2027, or it renews on January 10, 2027 for another 6 months",
      "last day to cancel online to leave on January 9, 2027, or it goes on",
      "last day to cancel to leave on January 9, 2027",
      "the trial ended, and it charged €15.99; it costs that a month from now on",
      "the trial ended, and it counts as charged €15.99 (no statement shows it yet); it costs that a month from now on",
    ],
  );
});

Deno.test("a subject reports that a trial became a charge only if a statement shows it", () => {
  const subject = (...notices: DigestNotice[]) => subjectOf(withNotices(digest([]), notices), american);
  const assumed = notice("trial_charged", "Zoom", -3, { is_assumed: true });
  assertEquals([
    subject(notice("trial_charged", "Zoom", -3)),
    subject(assumed),
    subject(assumed, notice("trial_charged", "Gym", -1), notice("trial_charged", "Maps", -1)),
  ], [
    "The trial of “Zoom” became a charge",
    "The trial of “Zoom” ended on Tue, Sep 29",
    "1 trial ended, 2 trials charged",
  ]);
});

Deno.test("an automatic payment without an amount has its own line, neither due nor upcoming", async () => {
  const content = withNotices(digest([]), [
    notice("awaited", "Power", -1, { amount: null }),
    notice("awaited", "Gas", -9, { amount: null }),
    notice("trial", "Zoom", 7),
  ]);
  assertEquals([subjectOf(content, american), headlineOf(content, american), advice(content, american)], [
    "1 trial ends, 2 amounts missing",
    "1 trial ends, 2 amounts missing.",
    "Tell your assistant what “Gas” cost.",
  ]);
  const { text, html } = await compose(content);
  const line = "paid automatically, not in your totals until its amount is known";
  assertStringIncludes(
    text,
    [
      ...["Waiting for an amount:", "  Power  Thursday, October 1      yesterday", `    ${line}`],
      ...["  Gas    Wednesday, September 23  9 days ago", `    ${line}`, "Coming up:", "  Zoom "],
    ].join("\n"),
  );
  assertStringIncludes(html, "Waiting for an amount");
  assertEquals(html.includes("Overdue"), false);
});

Deno.test("bills without a line of their own are counted everywhere", async () => {
  const many = digest([bill("Water", -2), bill("Gas", -1), bill("Rent", 1), bill("Netflix", 3)]);
  const content = {
    ...many,
    organizations: many.organizations.map((one) => ({
      ...one,
      unlisted: { overdue: 7, due: 12, due_until: "2026-10-08" },
    })),
  };
  assertEquals(subjectOf(content, american), "14 bills due this week, 9 overdue");
  const { text, html } = await compose(content);
  assertEquals(text.match(/^ {2}and .*$/gm), ["  and 7 more", "  and 12 more"]);
  assertEquals(html.match(/and \d+ more<\/td>/g)?.length, 2);
  const due = {
    ...content,
    organizations: content.organizations.map((one) => ({ ...one, bills: one.bills.slice(2) })),
  };
  assertEquals(
    subjectOf({
      ...due,
      organizations: due.organizations.map((one) => ({
        ...one,
        unlisted: { overdue: 0, due: 12, due_until: "2026-10-20" },
      })),
    }, american),
    "2 bills due this week, 12 more by Oct 20",
  );
});

Deno.test("a line shows when the provider's amount arrived, and its difference from usual", async () => {
  const cases: [NonNullable<Parameters<typeof word>[0]>, string][] = [
    [{ amount: "59.34", usual: "43.00" }, "from DigitalOcean on Oct 1, 38% above usual"],
    [{ amount: "30.10", usual: "43.00" }, "from DigitalOcean on Oct 1, 30% below usual"],
    [{ amount: "43.00", usual: "43.00" }, "from DigitalOcean on Oct 1, as usual"],
    [{ amount: "43.00" }, "from DigitalOcean on Oct 1"],
    [{ on: "2025-12-31", provider: "Power\r\nBcc: x" }, "from Power Bcc: x on Dec 31, 2025"],
  ];
  for (const [more, note] of cases) {
    const { text, html } = await compose(digest([bill("Cloud", 3, { earlier_amount: "12.00", fetched: word(more) })]));
    assertStringIncludes(text, `\n    ${note}`);
    assertStringIncludes(html, note);
    // One comparison is enough.
    assertEquals(text.includes("than last time"), !more.usual);
  }
  const unsure = bill("Cloud", 3, {
    amount: null,
    not_taken: word({ amount: "212.40", usual: "84.20", currency: "USD" }),
  });
  const { text, html } = await compose(digest([unsure]));
  const note = "DigitalOcean reported $212.40 on Oct 1, 152% above usual: please check";
  assertStringIncludes(text, `\n    amount not known yet; ${note}\n`);
  assertStringIncludes(html, note);
  const hidden = { ...unsure, not_taken: word({ amount: null }), fetched: word({ amount: null }) };
  assert(!/DigitalOcean/.test((await compose(digest([hidden], { hides_amounts: true }))).text));
});

Deno.test("a broken connection has a reconnect link, and its organization if the reader has several", async () => {
  const own = reconnect("Cloud hosting");
  const other = reconnect(`<b>Build</b>`, {
    organization_id: "org_00000001",
    organization: "Banyan Studio",
    provider: "GitHub",
    provider_key: "github",
  });
  const { subject, text, html } = await compose(digest([bill("Rent", 3)], { reconnect: [own, other] }));
  assertEquals(subject, "“Rent” is due on Mon, Oct 5");
  assertStringIncludes(
    text,
    "“Cloud hosting”: DigitalOcean no longer accepts our key, so we can’t fetch the amount.\n" +
      "Reconnect: https://expenses.example.com/account/providers/connect?bill=bill_00000009&provider=digitalocean\n",
  );
  assertStringIncludes(text, "“<b>Build</ b>” (“Banyan Studio”): GitHub no longer accepts our key");
  assertStringIncludes(html, "“&lt;b&gt;Build&lt;/ b&gt;” (“Banyan Studio”): GitHub no longer");
  assertStringIncludes(
    html,
    `href="https://expenses.example.com/account/providers/connect?bill=bill_00000009&amp;provider=github"`,
  );
});

Deno.test("advice() suggests only possible actions, on a future day", () => {
  const daily = bill("Breakfast rolls", 0, { is_daily: true });
  const paysItself = bill("Design suite", 1, { autopay: true });
  const unknown = { amount: null, needs_amount: true };
  const cases: [Parameters<typeof digest>[0], string][] = [
    [[bill("Rent", 3)], "Tell your assistant: “Mark ‘Rent’ paid” or “Snooze ‘Rent’ until Monday.”"],
    [
      [paysItself, bill("Rent", 3), bill("Gas", 3)],
      "Tell your assistant: “Mark ‘Gas’ paid” or “Snooze ‘Rent’ until Monday.”",
    ],
    [[daily, paysItself], "Tell your assistant: “Mark ‘Breakfast rolls’ paid.”"],
    [[bill("Rent", 0), daily], "Tell your assistant: “Mark ‘Breakfast rolls’ paid” or “Snooze ‘Rent’ until Monday.”"],
    // Not before it is due.
    [[bill("Nanny", 4)], "Tell your assistant: “Mark ‘Nanny’ paid” or “Snooze ‘Nanny’ until October 9.”"],
    [[bill("Car", 40)], "Tell your assistant: “Mark ‘Car’ paid” or “Snooze ‘Car’ until November 13.”"],
    [[bill("VAT", 1, unknown)], "Once you’ve paid “VAT”, tell your assistant how much it was."],
    [
      [bill("VAT", 0, unknown), bill("Rent", 3)],
      "Tell your assistant: “Mark ‘Rent’ paid” or “Snooze ‘VAT’ until Monday.”",
    ],
    // A hidden amount differs from an unknown one.
    [
      [bill("Rent", 3, { amount: null, needs_amount: false })],
      "Tell your assistant: “Mark ‘Rent’ paid” or “Snooze ‘Rent’ until Monday.”",
    ],
    [[paysItself], "Ask your assistant: “What is due this week?”"],
  ];
  assertEquals(
    advice(withNotices(digest([paysItself]), [notice("price_rise", "Music", 1), notice("trial", "Zoom", 7)]), american),
    "Once you’ve cancelled it, tell your assistant: “I’ve cancelled ‘Zoom’.”",
  );
  for (const [bills, words] of cases) assertEquals(advice(digest(bills), american), words);
  const on = (today: string) => advice(digest([bill("Rent", -1)], { today }), american)!.split("until ")[1];
  assertEquals(
    ["2026-10-01", "2026-10-02", "2026-10-03", "2026-10-04", "2026-10-05"].map(on),
    ["Friday.”", "Monday.”", "Monday.”", "Monday.”", "Friday.”"],
  );
});

Deno.test("a digest contains no link or instruction from names of bills, budgets or organizations", async () => {
  const hostile = "”\u202e Your account is locked. Sign in at https://evil.example/now or mail help@evil.example “";
  const content = withBudgets(
    withNotices(
      digest([bill(hostile, 0), bill(hostile, -2)], { reconnect: [reconnect(hostile, { organization: hostile })] }),
      [notice("trial", hostile, 1)],
    ),
    [budget(hostile, 100)],
  );
  content.organizations[0]!.name = hostile;
  const single = digest([bill(hostile, 1)]);
  for (const one of [content, single]) {
    const { subject, text, html } = await compose(one);
    for (const part of [subject, text, html.slice(html.indexOf("<body"))]) {
      assert(!/evil\.example|https?:\/\/evil|help@evil|\u202e/.test(part), part);
    }
    const sentences = [
      subject,
      headlineOf(one, american),
      advice(one, american)!,
      ...text.split("\n").filter((line) => line.startsWith("You’re")),
    ];
    for (const sentence of sentences) {
      const framed = sentence.replaceAll(/[“‘]’[^”]*?…?[”’]/g, "");
      assert(!framed.includes("locked"), sentence);
    }
  }
});

Deno.test("both parts state the same facts in the same order", async () => {
  for (const [name, content] of Object.entries(EXAMPLES)) {
    const { text, html } = await compose(content);
    const words = (part: string) =>
      part.replaceAll(/&amp;/g, "&").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"')
        .replaceAll("&#39;", "'");
    const plain = words(html.slice(html.indexOf("<h1")).replaceAll(/<[^>]+>/g, " ")).replaceAll(/\s+/g, " ");
    let position = 0;
    for (const { bills } of content.organizations) {
      for (const one of bills) {
        const shown = nameAlone(one.name);
        const amount = one.amount && formatOf("en-US").money(one.amount, one.currency);
        for (const fact of [shown, ...(amount ? [amount.replace("\u00a0", " ")] : [])]) {
          assert(text.replaceAll("\u00a0", " ").includes(fact), `${name}: the text lacks ${fact}`);
          const found = plain.replaceAll("\u00a0", " ").indexOf(fact, position);
          assert(found >= 0, `${name}: the HTML lacks ${fact}`);
        }
        position = Math.max(position, plain.indexOf("Overdue"));
      }
    }
    for (const { name, used } of sectionsOf(content, american).flatMap(({ budgets }) => budgets)) {
      for (const part of [text, plain.replaceAll(" : ", ": ").replaceAll(" :", ":")]) {
        assertStringIncludes(part, used);
        assertStringIncludes(part, name);
      }
    }
    for (const { notes } of sectionsOf(content, american).flatMap(({ notices }) => notices)) {
      for (const note of notes) for (const part of [text, plain]) assertStringIncludes(part, note);
    }
    for (const part of [text, html]) {
      assertStringIncludes(part, LINKS.account);
      assertStringIncludes(part, LINKS.unsubscribe);
      assertStringIncludes(part, "You’re getting this email because");
    }
  }
});

Deno.test("the text is a table: name, date, days left and amount in columns, further details below", async () => {
  const { text } = await compose(EXAMPLES.long!);
  assertStringIncludes(
    text,
    `
Overdue:
  Electricity    since September 20       2 due dates    €168.00
    estimated
  Water          Wednesday, September 30  2 days ago      €96.40
Due:
  Broadband      Friday, October 2        today           €44.99
    €2.00 more than last time, up 5%; paid automatically
  Netflix        Sunday, October 4        in 2 days       $17.99
    about €15.85; paid automatically
  Rent           Monday, October 5        in 3 days    €1,450.00
  Cloud hosting  Monday, October 5        in 3 days
    amount not known yet, last time $84.20
Total: about €1,863.24 (exchange rates of October 1)
`,
  );
});

Deno.test("a long name in the text gets its own line and does not widen the column", async () => {
  const { text } = await compose(digest([bill("Rent", 3), bill("x".repeat(25), 3)]));
  const rest = "  Monday, October 5  in 3 days  €10.00\n";
  assertStringIncludes(text, `Due:\n  Rent${rest}  ${"x".repeat(25)}\n      ${rest}`);
});

Deno.test("hidden amounts appear nowhere", async () => {
  const { subject, text, html } = await compose(EXAMPLES.hidden_amounts!);
  for (const part of [subject, text, html.slice(html.indexOf("<body"))]) {
    assert(!/[€$]|\d+\.\d\d/.test(part.replaceAll(/style="[^"]*"/g, "")), part);
  }
});

Deno.test("names are always shown as plain text", async () => {
  const { subject, text, html, headers } = await compose(EXAMPLES.hostile!);
  assert(!/[\r\n]/.test(subject + Object.values(headers).join("")));
  assert(!html.includes("<script") && !html.includes("<img") && !html.includes("\u202e"));
  assertStringIncludes(html, "&lt;script&gt;");
  assert(!/^Bcc:/m.test(text));
  // The mail loads nothing from other hosts; it only links.
  assertEquals(
    [...html.matchAll(/<[a-z][^>]*\b(?:src|background|poster|srcset)\s*=|url\(|@import|<link|<iframe|<form/gi)].map((
      [found],
    ) => found),
    [],
  );
});

Deno.test("headers allow one-click unsubscribe, and mark the mail as automatic", async () => {
  const mail = await compose(EXAMPLES.short!);
  assertEquals(mail.headers, {
    "List-Unsubscribe": "<https://expenses.example.com/email/unsubscribe?t=abc.def>",
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Auto-Submitted": "auto-generated",
  });
  assertEquals(mail.messageId, "<digest.00000000-0000-4000-8000-000000000001@expenses.example.com>");
  assertEquals(await compose(EXAMPLES.short!), mail);
});

Deno.test("the owner's country determines the format of dates and numbers", async () => {
  const { subject, text } = await compose(EXAMPLES.fetched!, { locale: "en-DE" });
  assertEquals(subject, "2 bills due this week");
  assertMatch(text, / {2}Cloud hosting +Monday, 5 October +in 3 days +US\$59\.34\n {4}about €51\.60; /);
  assertStringIncludes(text, "from DigitalOcean on 1 Oct, 38\u00a0% above usual\n");
});

Deno.test("a digest names the service and actions that need no assistant", async () => {
  const { text, html } = await compose(EXAMPLES.short!);
  assert(text.startsWith("Expenses\n\n"), text);
  assertStringIncludes(
    text,
    "No assistant at hand? Open the books: https://expenses.example.com/books?organization=org_00000000\n",
  );
  assertStringIncludes(html, ">Expenses</p>");
  assertStringIncludes(html, ">Open the books</a>");
});

Deno.test("every word of a digest comes from the catalog or the locale: all are accented in en-XA", async () => {
  for (const [name, content] of Object.entries(EXAMPLES)) {
    const { subject, text, html } = await compose(content, { words: accented(english), locale: "ru-RU" });
    const shown = html.replace(/<style>.*?<\/style>/s, "").replaceAll(/<[^>]+>/g, " ").replaceAll(/&\w+;/g, " ");
    for (const part of [subject, text, shown]) {
      assertEquals(
        plainWords(part, [
          content,
          LINKS,
          LINKS.connect(reconnect("")),
          LINKS.books(""),
          LINKS.plan(""),
          LINKS.mails(""),
          "github",
        ]),
        [],
        name,
      );
    }
  }
});

Deno.test("difference() keeps every digit", () => {
  assertEquals([
    difference("10.50", "9.75"),
    difference("9.75", "10.50"),
    difference("980", "1000"),
    difference("0.05", "0.00"),
  ], ["0.75", "-0.75", "-20", "0.05"]);
});

Deno.test("a digest counts new documents and those that need a person", async () => {
  const content = digest([bill("Rent", 3)]);
  const said = async (documents: { came: number; waiting: number } | null) => {
    content.organizations[0]!.documents = documents;
    const { text, html } = await compose(content);
    return [text, html].map((part) => /\d+ documents? came in[^.]*\./.exec(part)?.[0]);
  };
  const both = (line: string | undefined) => [line, line];
  assertEquals(await said({ came: 2, waiting: 1 }), both("2 documents came in, 1 needs your attention."));
  assertEquals(await said({ came: 1, waiting: 0 }), both("1 document came in."));
  assertEquals(await said({ came: 3, waiting: 2 }), both("3 documents came in, 2 need your attention."));
  assertEquals(await said(null), both(undefined));
});

Deno.test("a digest about only documents and mail names the required actions, with links", async () => {
  const content = digest([]);
  const say = async (more: Partial<DigestContent["organizations"][number]>) => {
    Object.assign(content.organizations[0]!, more);
    const { subject, text, html } = await compose(content);
    return { subject, text, html };
  };
  const mails = { count: 1, until: "2026-10-12" };
  const one = await say({ mails });
  assertEquals(one.subject, "1 email awaits your decision");
  for (const part of [one.text, one.html]) {
    assertStringIncludes(part, "1 email is waiting for you to accept or block it. It will be deleted on October 12.");
    assertStringIncludes(part, "https://expenses.example.com/organizations/");
  }
  const both = await say({ documents: { came: 2, waiting: 1 }, mails: { ...mails, count: 3 } });
  assertEquals(both.subject, "1 document needs your attention, 3 emails await your decision");
  assertStringIncludes(both.text, "2 documents came in, 1 needs your attention.");
  assertStringIncludes(
    both.text,
    "3 emails are waiting for you to accept or block them. The first will be deleted on October 12.",
  );
  assertStringIncludes(both.text, "Ask your assistant: “Which documents need my attention?”");
  assertFalse((await say({ mails: null, documents: null })).text.includes("mail waits"));
});

Deno.test("a digest shows balances, with amounts unless hidden", async () => {
  const content = digest([bill("Rent", 3)]);
  content.organizations[0]!.balances = [
    { owes: true, who: "ben@example.com", currency: "EUR", amount: "23.40" },
    { owes: false, who: null, currency: "JPY", amount: null },
  ];
  const { text, html } = await compose(content);
  assertMatch(
    text,
    /Shared costs:\n {2}You owe ben@example\.com: .*23[.,]40.*\n {2}A former member owes you: see your books/,
  );
  assertStringIncludes(html, "You owe ben@example.com");
});
