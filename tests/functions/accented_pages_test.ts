/**
 * Every page in every state that the browser looks at, in a language in which every word of the catalog has accents.
 */
import { assert, assertEquals } from "@std/assert";
import { shownClientName } from "../../shared/oauth/client_name.ts";
import { en } from "../../shared/words/en/mod.ts";
import { accented, plainWords } from "../_support/accented.tsx";
import { HOSTILE, LONG, STATES, UNBROKEN } from "../browser/states.ts";

const languages = { en: accented(en) };

/** Words that stand on pages in every language, besides what their markup says is a name, a time or code. */
const FACTS = [
  // Names that people and apps chose, where there is no markup: in titles and labels.
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
  ],
  ...["The old experiment", "Claude API"],
  // Products and their makers.
  ...["Google", "OpenAI", "Anthropic", "DigitalOcean", "HTTP JSON", "Visual Studio Code"],
  // What Intl writes between our words: a country, and months of dates.
  ...["Germany", "November", "December"],
  // Currencies by their codes.
  ...["EUR"],
];

/** Addresses, hosts and schemes, which no language spells otherwise. */
const ADDRESSES = /\S+@[\w.-]+|https?:\S+|[\w-]+(?:\.[\w-]+)+(?::\d+)?|\bcursor:/g;

const unescape = (text: string) =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/**
 * What a person reads or hears of a page that is ours: not names (`bdi`), times, code, and the lists of places and
 * currencies that Intl names.
 */
function wordsOf(html: string): string {
  const ours = html
    .replace(/<(style|script|bdi|time|code)\b.*?<\/\1>/gs, " ")
    .replace(/<option value="[^"]+".*?<\/option>/gs, " ");
  const labels = [...ours.matchAll(/\s(?:aria-label|title|placeholder|alt)="([^"]*)"/g)].map(([, label]) => label);
  return unescape([ours.replace(/<[^>]*>/g, " "), ...labels].join(" "));
}

for (const state of STATES) {
  Deno.test(`${state.name} has no word that is hard-coded`, async () => {
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

Deno.test("a word beside the catalog is found, in a text and in a label", () => {
  const planted =
    '<p>Śáƒé</p><p>Hard-coded</p><a aria-label="Planted"></a><bdi>Name</bdi><option value="DE">Germany</option>';
  assertEquals(plainWords(wordsOf(planted)), ["Hard", "coded", "Planted"]);
});
