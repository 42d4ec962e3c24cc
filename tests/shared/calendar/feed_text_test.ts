/** The text of a calendar, read by another parser: its contents, and protection against hostile names. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import ICAL from "ical.js";
import { writeCalendar } from "../../../shared/calendar/feed_text.ts";
import type { CalendarFacts, DueDate } from "../../../shared/calendar/facts.ts";
import { formatOf } from "../../../shared/words/format.ts";
import { LANGUAGES } from "../../../shared/words/page_words.ts";
import { accented, plainWords } from "../../_support/accented.tsx";

const { en } = LANGUAGES;

const rent: DueDate = {
  bill_id: "bill_000000000001",
  name: "Rent",
  due_on: "2026-12-01",
  dates: 1,
  autopay: false,
  changed_at: "2026-11-03T09:30:00.123456+00:00",
};

const write = (dates: DueDate[], facts: Partial<CalendarFacts> = {}, words = en.pages.calendarFeed) =>
  writeCalendar({ organization: "Home", country: "DE", is_cut: false, dates, ...facts }, {
    words,
    format: formatOf("en-DE"),
    language: "en",
    host: "expenses.example",
  });

/** In the other parser's form. */
function read(text: string) {
  const calendar = new ICAL.Component(ICAL.parse(text));
  const events = calendar.getAllSubcomponents("vevent");
  return {
    parts: calendar.getAllSubcomponents().map(({ name }) => name),
    properties: calendar.getAllProperties().map(({ name }) => name),
    value: (name: string) => String(calendar.getFirstPropertyValue(name)),
    events: events.map((event) => ({
      properties: event.getAllProperties().map(({ name }) => name),
      uid: String(event.getFirstPropertyValue("uid")),
      summary: String(event.getFirstPropertyValue("summary")),
      stamp: String(event.getFirstPropertyValue("dtstamp")),
      start: event.getFirstPropertyValue("dtstart") as ICAL.Time,
    })),
  };
}

Deno.test("an open date is an all-day event with a stable id", () => {
  const { events, ...calendar } = read(write([rent]));
  assertEquals([calendar.value("version"), calendar.value("x-wr-calname"), calendar.value("refresh-interval")], [
    "2.0",
    "Home: bills",
    "PT4H",
  ]);
  assertEquals(calendar.value("x-published-ttl"), "PT4H");
  const [{ uid, summary, stamp, start }] = events as [typeof events[number]];
  assertEquals([uid, summary, stamp, start.isDate, start.toString()], [
    "bill_000000000001-2026-12-01@expenses.example",
    "Due: Rent",
    "2026-11-03T09:30:00Z",
    true,
    "2026-12-01",
  ]);
  const renamed = read(write([{ ...rent, name: "The rent", amount: "900.00", currency: "EUR" }])).events[0]!;
  assertEquals([renamed.uid, renamed.summary], [uid, "Due: The rent, €900.00"]);
});

Deno.test("a summary shows amount, estimate, autopay and several dates of one day", () => {
  const amount = { amount: "1450.00", currency: "EUR" };
  const summaries = read(write([
    { ...rent, ...amount },
    { ...rent, ...amount, is_estimate: true },
    { ...rent, ...amount, autopay: true },
    { ...rent, dates: 3 },
    { ...rent, amount: "1450", currency: "JPY" },
  ])).events.map(({ summary }) => summary);
  assertEquals(summaries, [
    "Due: Rent, €1,450.00",
    "Due: Rent, about €1,450.00",
    "Paid automatically: Rent, €1,450.00",
    "Due: Rent (3 times)",
    "Due: Rent, JP¥1,450",
  ]);
});

Deno.test("a truncated calendar names its last complete day", () => {
  assertEquals(
    read(write([rent], { is_cut: true })).value("x-wr-caldesc"),
    "Not everything fits: bills due after 1 December 2026 are missing for now.",
  );
  assertFalse(write([rent]).includes("CALDESC"));
  assertEquals(read(write([])).events, []);
});

const HOSTILE = [
  "Rent\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:planted",
  "Rent\nATTACH:https://evil.example",
  "Rent\rX-EVIL:1",
  "Rent\u2028END:VCALENDAR\u2029\u0085\v\f",
  "a;b,c\\d:e\\nf\\",
  '";ALTREP="https://evil.example":',
  "\u202eRent\u0000\u0007",
  "Miete für die Wohnung 🏠".repeat(5),
  "é".repeat(120),
  "🏴‍☠️".repeat(24),
  " leading and trailing ",
  "\ud800",
];

Deno.test("names can't inject lines, properties or events, and round-trip unchanged", () => {
  const plain = read(write([rent], { is_cut: true }));
  for (const name of HOSTILE) {
    const text = write([{ ...rent, name }], { organization: name, is_cut: true });
    const seen = read(text);
    assertEquals([seen.parts, seen.properties], [plain.parts, plain.properties], name);
    assertEquals(seen.events[0]!.properties, plain.events[0]!.properties, name);
    assertFalse(/^(X-EVIL|ATTACH|SUMMARY:planted)/m.test(text), name);
  }
  const back = read(write([{ ...rent, name: "a;b,c\\d:e\\nf" }], { organization: "a;b,c\\d:e\\nf" }));
  assertEquals(back.events[0]!.summary, "Due: a;b,c\\d:e\\nf");
  // The parser leaves texts of extensions unchanged.
  assertEquals(back.value("x-wr-calname"), "a\\;b\\,c\\\\d:e\\\\nf: bills");
});

Deno.test("any name: lines of at most 75 octets that end in CRLF, deterministic text, one event", () => {
  const octets = new TextEncoder();
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 120 }), (name) => {
      const text = write([{ ...rent, name }], { organization: name });
      assertEquals(text, write([{ ...rent, name }], { organization: name }));
      assert(text.endsWith("\r\n"));
      const lines = text.slice(0, -2).split("\r\n");
      assertEquals(lines.filter((line) => /[\r\n]/.test(line) || octets.encode(line).length > 75), []);
      assertEquals(read(text).parts, ["vevent"]);
    }),
    { numRuns: 300 },
  );
});

Deno.test("a day does not depend on the process's time zone", async () => {
  const script = `
    import { writeCalendar } from "${new URL("../../../shared/calendar/feed_text.ts", import.meta.url)}";
    const words = { name: (name) => name, due: (bill) => bill };
    const dates = ["2026-03-29", "2026-10-25", "2026-12-31", "2027-01-01", "2028-02-29"].map((due_on) => ({
      bill_id: "bill_1", name: "Rent", due_on, dates: 1, autopay: false, changed_at: "2026-11-03T23:30:00Z",
    }));
    console.log(writeCalendar({ organization: "Home", country: "DE", is_cut: false, dates },
      { words, format: {}, language: "en", host: "expenses.example" }));`;
  const texts = [];
  for (const TZ of ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/Sao_Paulo"]) {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--quiet", "--no-lock", "--import-map=import_map.json", script],
      cwd: new URL("../../../", import.meta.url),
      env: { TZ },
    }).output();
    texts.push(new TextDecoder().decode(stdout));
    assertEquals(
      texts.at(-1)!.match(/DTSTART;VALUE=DATE:\d+/g)?.map((line) => line.slice(-8)),
      ["20260329", "20261025", "20261231", "20270101", "20280229"],
      TZ + new TextDecoder().decode(stderr),
    );
  }
  assertEquals(new Set(texts).size, 1);
});

Deno.test("every word comes from the catalog", () => {
  const dates = [
    { ...rent, amount: "900.00", currency: "EUR", is_estimate: true },
    { ...rent, autopay: true, dates: 2 },
  ];
  const seen = read(write(dates, { is_cut: true }, accented(en).pages.calendarFeed));
  const said = [seen.value("x-wr-calname"), seen.value("x-wr-caldesc"), ...seen.events.map(({ summary }) => summary)];
  assertEquals(plainWords(said.join(" ")), ["Home", "December", "Rent", "Rent"]);
});
