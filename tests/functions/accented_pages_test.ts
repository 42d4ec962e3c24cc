/** Every page in every state of the browser tests, in a test language that accents every catalog word. */
import { assert, assertEquals } from "@std/assert";
import { shownClientName } from "../../shared/oauth/client_name.ts";
import { LANGUAGES } from "../../shared/words/page_words.ts";
import { accented, plainWords } from "../_support/accented.tsx";
import { STATES } from "../browser/states.ts";
import { HOSTILE, LONG, UNBROKEN } from "../browser/states/state.ts";

const { en } = LANGUAGES;

const languages = { en: accented(en) };

/** Words that appear on pages in every language, besides names, times and code in markup. */
const FACTS = [
  // Names that people and apps chose, in places without markup: titles and labels.
  ...[LONG, UNBROKEN, HOSTILE].flatMap((name) => [name, shownClientName(name)]),
  ...[
    "Claude Code (expenses)",
    "Claude Code",
    "Claude",
    "Cursor",
    "OpenAI usage",
    "Vercel",
    "GitHub",
    "Droplets",
    "Electricity",
    "Home",
    "Workshop",
  ],
  ...["The old experiment", "Claude API", "Rent", "Newspaper", "Water", "Gas", "Cloud hosting"],
  // Products and their makers.
  ...["Google", "OpenAI", "Anthropic", "DigitalOcean", "Resend", "HTTP JSON", "Visual Studio Code"],
  // Words that Intl inserts: a country, and months of dates.
  ...["Germany", "September", "October", "November", "December"],
  // A kind of file.
  "PDF",
  // Currencies by code.
  ...["EUR", "XAU", "VED", "IDR", "CHF"],
];

/** URLs, hosts and schemes, the same in every language. */
const ADDRESSES = /\S+@[\w.-]+|https?:\S+|[\w-]+(?:\.[\w-]+)+(?::\d+)?|\bcursor:/g;

const unescape = (text: string) =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** Our own text on a page, without names (`bdi`), times, code, and Intl's lists of places and currencies. */
function wordsOf(html: string): string {
  const ours = html
    .replace(/<(style|script|bdi|time|code)\b.*?<\/\1>/gs, " ")
    .replace(/<option value="[^"]+".*?<\/option>/gs, " ");
  const labels = [...ours.matchAll(/\s(?:aria-label|title|placeholder|alt)="([^"]*)"/g)].map(([, label]) => label);
  return unescape([ours.replace(/<[^>]*>/g, " "), ...labels].join(" "));
}

for (const state of STATES) {
  Deno.test(`${state.name} has no hard-coded word`, async () => {
    const response = await state.show("https://expenses.example", languages);
    const html = await response.text();
    assertEquals(
      response.status,
      (await state.show("https://expenses.example")).status,
      "another page than in English",
    );
    const text = FACTS.reduce((rest, fact) => rest.replaceAll(fact, " "), wordsOf(html)).replaceAll(ADDRESSES, " ");
    assertEquals(plainWords(text), [], text);
    assert(
      /[ÁÉÍÓÚáéíóú]/.test(text) && html.includes('<html lang="en-XA">'),
      "nothing of the page is in that language",
    );
  });
}

Deno.test("a word outside the catalog is found, in a text and in a label", () => {
  const planted =
    '<p>Śáƒé</p><p>Hard-coded</p><a aria-label="Planted"></a><bdi>Name</bdi><option value="DE">Germany</option>';
  assertEquals(plainWords(wordsOf(planted)), ["Hard", "coded", "Planted"]);
});
