/** What a digest mail says, in its subject, its text and its HTML. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { composeDigest } from "../../../shared/reminders/digest_mail.ts";
import { advice } from "../../../shared/reminders/phrases.ts";
import { sentenceOf, subjectOf } from "../../../shared/reminders/subject.ts";
import { difference, money, oneLine } from "../../../shared/reminders/words.ts";
import { bill, digest, EXAMPLES, LINKS, reconnect, word } from "./digests.ts";

const compose = (content: ReturnType<typeof digest>) =>
  composeDigest({ id: "00000000-0000-4000-8000-000000000001", content }, {
    links: LINKS,
    host: "expenses.example.com",
  });

Deno.test("subjectOf() names what falls due, without amounts", () => {
  const cases: [Parameters<typeof digest>[0], string][] = [
    [[bill("Rent", 3)], "Rent is due Monday 5 Oct"],
    [[bill("Rent", 0)], "Rent is due today"],
    [[bill("Rent", 1)], "Rent is due tomorrow"],
    [[bill("Rent", 95)], "Rent is due Tuesday 5 Jan 2027"],
    [[bill("Rent", 1), bill("Netflix", 2), bill("Water", 3)], "3 bills due by Mon 5 Oct: Rent, Netflix, +1"],
    [[bill("Rent", 0), bill("Netflix", 0)], "2 bills due today: Netflix, Rent"],
    [
      [bill("Electricity", -10, { due_on: "2026-09-22" }), bill("Rent", 1)],
      "Overdue: Electricity (since 22 Sep), +1 more",
    ],
    [[bill("x".repeat(60), 3)], `${"x".repeat(39)}… is due Monday 5 Oct`],
  ];
  for (const [bills, subject] of cases) assertEquals(subjectOf(digest(bills)), subject);
});

Deno.test("sentenceOf() is what a person needs to know", () => {
  const cases: [Parameters<typeof digest>[0], string][] = [
    [[bill("Rent", 3), bill("Netflix", 5)], "Rent is due on Monday, Netflix on Wednesday."],
    [[bill("Rent", 3), bill("Netflix", 3)], "Netflix and Rent are due on Monday."],
    [[bill("Rent", 0), bill("Netflix", 1), bill("Car", 20)], "Rent is due today, Netflix tomorrow, Car on 22 October."],
    [[bill("Water", -2), bill("Rent", 3)], "Water is overdue since 30 September. Rent is due on Monday."],
    [[bill("Water", -2), bill("Gas", -9), bill("Rent", 1)], "Gas and Water are overdue. Rent is due tomorrow."],
    [
      [bill("Rent", -2)],
      "Rent is overdue since 30 September.",
    ],
    [
      [0, 1, 2, 3, 4].map((days) => bill(`Bill ${days}`, days)),
      "Bill 0 is due today, Bill 1 tomorrow, Bill 2 on Sunday, 2 more by 6 October.",
    ],
  ];
  for (const [bills, sentence] of cases) assertEquals(sentenceOf(digest(bills)), sentence);
});

Deno.test("what has no line is counted everywhere", async () => {
  const many = digest([bill("Water", -2), bill("Gas", -1), bill("Rent", 1), bill("Netflix", 3)]);
  const content = {
    ...many,
    organizations: many.organizations.map((one) => ({
      ...one,
      unlisted: { overdue: 7, due: 12, due_until: "2026-10-08" },
    })),
  };
  assertEquals(subjectOf(content), "Overdue: Water (since 30 Sep), +22 more");
  assertEquals(
    sentenceOf(content),
    "Water, Gas and 7 more are overdue. Rent is due tomorrow, Netflix on Monday, 12 more by 8 October.",
  );
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
      organizations: due.organizations.map((one) => ({ ...one, unlisted: { ...one.unlisted, overdue: 0 } })),
    }),
    "14 bills due by Thu 8 Oct: Rent, Netflix, +12",
  );
});

Deno.test("a line says what the provider said: when, and how far from usual", async () => {
  const cases: [NonNullable<Parameters<typeof word>[0]>, string][] = [
    [{ amount: "59.34", usual: "43.00" }, "fetched 1 Oct from DigitalOcean, 38 % above usual"],
    [{ amount: "30.10", usual: "43.00" }, "fetched 1 Oct from DigitalOcean, 30 % below usual"],
    [{ amount: "43.00", usual: "43.00" }, "fetched 1 Oct from DigitalOcean, as usual"],
    [{ amount: "43.00" }, "fetched 1 Oct from DigitalOcean"],
    [{ on: "2025-12-31", provider: "Power\r\nBcc: x" }, "fetched 31 Dec 2025 from Power Bcc: x"],
  ];
  for (const [more, note] of cases) {
    const { text, html } = await compose(digest([bill("Cloud", 3, { earlier_amount: "12.00", fetched: word(more) })]));
    assertStringIncludes(text, `(${note}`);
    assertStringIncludes(html, note);
    // One comparison is enough.
    assertEquals(text.includes("than last time"), !more.usual);
  }
  const unsure = bill("Cloud", 3, {
    amount: null,
    not_taken: word({ amount: "212.40", usual: "84.20", currency: "USD" }),
  });
  const { text, html } = await compose(digest([unsure]));
  const note = "DigitalOcean said $212.40 on 1 Oct, 152 % above usual: please check";
  assertStringIncludes(text, `(amount not known yet; ${note})`);
  assertStringIncludes(html, note);
  const hidden = { ...unsure, not_taken: word({ amount: null }), fetched: word({ amount: null }) };
  assert(!/DigitalOcean/.test((await compose(digest([hidden], { hides_amounts: true }))).text));
});

Deno.test("what has to be connected again is said with the link to do it, and with its organization where there are several", async () => {
  const own = reconnect("Cloud hosting");
  const other = reconnect(`<b>Build</b>`, {
    organization_id: "org_00000001",
    organization: "Banyan Studio",
    provider: "GitHub",
    provider_key: "github",
  });
  const { subject, text, html } = await compose(digest([bill("Rent", 3)], { reconnect: [own, other] }));
  assertEquals(subject, "Rent is due Monday 5 Oct");
  assertStringIncludes(
    text,
    "Cloud hosting: DigitalOcean no longer accepts our key, so its amount cannot be fetched.\n" +
      "Reconnect: https://expenses.example.com/account/providers/connect?bill=bill_00000009&provider=digitalocean\n",
  );
  assertStringIncludes(text, "<b>Build</b> of Banyan Studio: GitHub no longer accepts our key");
  assertStringIncludes(html, "&lt;b&gt;Build&lt;/b&gt; of Banyan Studio: GitHub no longer");
  assertStringIncludes(
    html,
    `href="https://expenses.example.com/account/providers/connect?bill=bill_00000009&amp;provider=github"`,
  );
});

Deno.test("advice() is to do what can be done, on a day that is still to come", () => {
  const daily = bill("Breakfast rolls", 0, { is_daily: true });
  const paysItself = bill("Design suite", 1, { autopay: true });
  const cases: [Parameters<typeof digest>[0], string][] = [
    [[bill("Rent", 3)], "Tell your assistant: “mark Rent paid” or “snooze Rent until Monday”."],
    [
      [paysItself, bill("Rent", 3), bill("Gas", 4)],
      "Tell your assistant: “mark Rent paid” or “snooze Gas until Monday”.",
    ],
    [[daily, paysItself], "Tell your assistant: “mark Breakfast rolls paid”."],
    [[daily, bill("Rent", 3)], "Tell your assistant: “mark Breakfast rolls paid” or “snooze Rent until Monday”."],
    [[bill("Rent", 0), daily], "Tell your assistant: “mark Breakfast rolls paid” or “snooze Rent until Monday”."],
    [[paysItself], "Ask your assistant: “what is due this week?”"],
  ];
  for (const [bills, words] of cases) assertEquals(advice(digest(bills)), words);
  const on = (today: string) => advice(digest([bill("Rent", 3)], { today })).split("until ")[1];
  assertEquals(
    ["2026-10-01", "2026-10-02", "2026-10-03", "2026-10-04", "2026-10-05"].map(on),
    ["Friday”.", "Monday”.", "Monday”.", "Friday”.", "Friday”."],
  );
});

Deno.test("both parts say the same facts in the same order", async () => {
  for (const [name, content] of Object.entries(EXAMPLES)) {
    const { text, html } = await compose(content);
    const words = (part: string) =>
      part.replaceAll(/&amp;/g, "&").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"')
        .replaceAll("&#39;", "'");
    const plain = words(html.slice(html.indexOf("<h1")).replaceAll(/<[^>]+>/g, " ")).replaceAll(/\s+/g, " ");
    let position = 0;
    for (const { bills } of content.organizations) {
      for (const one of bills) {
        const shown = oneLine(one.name);
        const amount = one.amount && money(one.amount, one.currency);
        for (const fact of [shown, ...(amount ? [amount.replace("\u00a0", " ")] : [])]) {
          assert(text.replaceAll("\u00a0", " ").includes(fact), `${name}: the text lacks ${fact}`);
          const found = plain.replaceAll("\u00a0", " ").indexOf(fact, position);
          assert(found >= 0, `${name}: the HTML lacks ${fact}`);
        }
        position = Math.max(position, plain.indexOf("Overdue"));
      }
    }
    for (const part of [text, html]) {
      assertStringIncludes(part, LINKS.settings);
      assertStringIncludes(part, LINKS.unsubscribe);
      assertStringIncludes(part, "You get this mail because");
    }
  }
});

Deno.test("a line of the text tells name, day, distance, amount and what else is known", async () => {
  const { text } = await compose(EXAMPLES.long!);
  for (
    const line of [
      "  Electricity, since 20 September, 2 due dates: €168.00 (estimated)",
      "  Water, Wednesday 30 September, 2 days ago: €96.40",
      "  Broadband, Friday 2 October, today: €44.99 (€2.00 more than last time, up 5 %; paid automatically)",
      "  Netflix, Sunday 4 October, in 2 days: $17.99 (about €15.85; paid automatically)",
      "  Rent, Monday 5 October, in 3 days: €1,450.00",
      "  Cloud hosting, Monday 5 October, in 3 days (amount not known yet, last time $84.20)",
      "In all €1,863.24 (exchange rates of 1 October).",
    ]
  ) assertStringIncludes(text, `${line}\n`);
});

Deno.test("who hides amounts sees none anywhere", async () => {
  const { subject, text, html } = await compose(EXAMPLES.hidden_amounts!);
  for (const part of [subject, text, html.slice(html.indexOf("<body"))]) {
    assert(!/[€$]|\d+\.\d\d/.test(part.replaceAll(/style="[^"]*"/g, "")), part);
  }
});

Deno.test("names can be nothing but names", async () => {
  const { subject, text, html, headers } = await compose(EXAMPLES.hostile!);
  assert(!/[\r\n]/.test(subject + Object.values(headers).join("")));
  assert(!html.includes("<script") && !html.includes("<img") && !html.includes("\u202e"));
  assertStringIncludes(html, "&lt;script&gt;");
  assert(!/^Bcc:/m.test(text));
  // Nothing is loaded from anywhere: links only.
  assertEquals(
    [...html.matchAll(/<[a-z][^>]*\b(?:src|background|poster|srcset)\s*=|url\(|@import|<link|<iframe|<form/gi)].map((
      [found],
    ) => found),
    [],
  );
});

Deno.test("headers let a mail program unsubscribe by itself, and machines keep still", async () => {
  const mail = await compose(EXAMPLES.short!);
  assertEquals(mail.headers, {
    "List-Unsubscribe": "<https://expenses.example.com/email/unsubscribe?t=abc.def>",
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Auto-Submitted": "auto-generated",
  });
  assertEquals(mail.messageId, "<digest.00000000-0000-4000-8000-000000000001@expenses.example.com>");
  assertEquals(await compose(EXAMPLES.short!), mail);
});

Deno.test("money() and difference() keep every digit", () => {
  assertEquals(
    [["1450.00", "EUR"], ["980", "JPY"], ["1.234", "KWD"], ["12.50", "AFN"], ["9007199254740993.11", "EUR"]].map((
      [amount, currency],
    ) => money(amount!, currency!)),
    ["€1,450.00", "¥980", "KWD\u00a01.234", "AFN\u00a012.50", "€9,007,199,254,740,993.11"],
  );
  assertEquals([
    difference("10.50", "9.75"),
    difference("9.75", "10.50"),
    difference("980", "1000"),
    difference("0.05", "0.00"),
  ], ["0.75", "-0.75", "-20", "0.05"]);
});
