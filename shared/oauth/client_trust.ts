/**
 * What a name is worth: whether what a self-registered client calls itself goes with where it sends people back to.
 * Anybody can register as "Claude"; only Claude's makers can receive a code at claude.ai.
 */
import type { RedirectTarget } from "./redirect_uri.ts";

interface Maker {
  /** Words of its apps' names, each written together. */
  names: readonly string[];
  hosts: readonly string[];
  schemes?: readonly string[];
}

/** Clients that people know by name and would trust by it. */
const WELL_KNOWN: readonly Maker[] = [
  { names: ["claude", "anthropic"], hosts: ["claude.ai", "claude.com", "anthropic.com"] },
  { names: ["chatgpt", "openai", "codex"], hosts: ["chatgpt.com", "openai.com"] },
  { names: ["cursor"], hosts: ["cursor.com"], schemes: ["cursor"] },
  {
    names: ["visualstudio", "vscode", "copilot", "microsoft", "github"],
    hosts: ["vscode.dev", "microsoft.com", "github.com"],
    schemes: ["vscode", "vscode-insiders"],
  },
  { names: ["gemini", "google"], hosts: ["google.com"] },
  { names: ["perplexity"], hosts: ["perplexity.ai"] },
  { names: ["mistral", "lechat"], hosts: ["mistral.ai"] },
];

/** Letters and digits that are drawn alike, by the one that stands for them here. After UTS 39, as far as names of makers can be written with them. */
const ALIKE: Readonly<Record<string, string>> = {
  ...spread("a", "а@αɑ4"),
  ...spread("b", "ьв8"),
  ...spread("c", "сϲᴄ"),
  ...spread("d", "ԁɗ"),
  ...spread("e", "еёεҽ3"),
  ...spread("g", "ɡ9"),
  ...spread("h", "һհн"),
  ...spread("j", "јϳ"),
  ...spread("k", "кκ"),
  ...spread("l", "1|!iıіӏιǀ"),
  ...spread("m", "мṃ"),
  ...spread("n", "пηռ"),
  ...spread("o", "0оοσօ"),
  ...spread("p", "рρ"),
  ...spread("r", "гʀ"),
  ...spread("s", "5$ѕꜱ"),
  ...spread("t", "т7τ"),
  ...spread("u", "υսц"),
  ...spread("v", "ѵν"),
  ...spread("w", "ԝωѡ"),
  ...spread("x", "хχ"),
  ...spread("y", "уγү"),
};

/** Words that say nothing about whose an app is. */
const COMMON = new Set(["app", "client", "for", "mcp", "the", "unnamed"]);
const DOMAIN = /[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/gu;
/** Below these of a country a name is registered one level deeper: `example.co.uk`. */
const SECOND_LEVEL = new Set(["ac", "co", "com", "edu", "gov", "net", "ne", "or", "org"]);

/**
 * Whether a client's name goes with its redirect target. On loopback there is nothing to compare it with: such an app is
 * as trustworthy as whatever runs on the person's computer.
 */
export function nameFitsTarget(clientName: string, target: RedirectTarget): boolean {
  if (target.kind === "loopback") return true;
  const name = clientName.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("。", ".");
  const domains = name.match(DOMAIN) ?? [];
  const shape = shapeOf(name);
  const makers = WELL_KNOWN.filter(({ names }) => names.some((own) => shape.includes(shapeOf(own))));
  if (target.kind === "app") {
    if (makers.length > 0) return makers.some(({ schemes }) => schemes?.includes(target.scheme));
    return domains.length === 0;
  }
  const host = target.host.replace(/:\d+$/, "");
  if (domains.some((domain) => !isWithin(host, domain))) return false;
  if (makers.length > 0) return makers.some(({ hosts }) => hosts.some((own) => isWithin(host, own)));
  return isWrittenIn(name, registeredLabel(host));
}

/** Whether the host is one where only the makers of a well-known client can receive anything. */
export const isWellKnownHost = (host: string): boolean =>
  WELL_KNOWN.some(({ hosts }) => hosts.some((own) => isWithin(host, own)));

const isWithin = (host: string, domain: string) => host === domain || host.endsWith(`.${domain}`);

/** The letters alone, those that are drawn alike made one. */
function shapeOf(text: string): string {
  return [...text].map((character) => ALIKE[character] ?? character).join("")
    .replace(/[^\p{L}\p{N}]+/gu, "").replaceAll("rn", "m").replaceAll("vv", "w");
}

function spread(letter: string, alike: string): Record<string, string> {
  return Object.fromEntries([...alike].map((character) => [character, letter]));
}

/** The part of a host that somebody chose and registered. Where many share one (`somebody.github.io`), the one who shares it. */
function registeredLabel(host: string): string {
  const labels = host.split(".");
  const isDeeper = labels.length > 2 && labels.at(-1)!.length === 2 && SECOND_LEVEL.has(labels.at(-2)!);
  return (labels.at(isDeeper ? -3 : -2) ?? "").replaceAll("-", "");
}

/** Whether words of the name that stand together, and say something, are the label. */
function isWrittenIn(name: string, label: string): boolean {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.some((_, from) => {
    for (let to = from + 1; to <= words.length; to++) {
      const run = words.slice(from, to);
      if (run.join("") === label) return label.length >= 3 && run.some((word) => !COMMON.has(word));
      if (run.join("").length > label.length) break;
    }
    return false;
  });
}
