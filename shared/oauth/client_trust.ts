/**
 * What a name is worth: whether what a self-registered client calls itself goes with where it sends people back to.
 * Anybody can register as "Claude"; only Claude's makers can receive a code at claude.ai.
 */
import type { RedirectTarget } from "./redirect_uri.ts";

interface Maker {
  name: RegExp;
  hosts: readonly string[];
  schemes?: readonly string[];
}

/** Clients that people know by name and would trust by it. */
const WELL_KNOWN: readonly Maker[] = [
  { name: /claude|anthropic/, hosts: ["claude.ai", "claude.com", "anthropic.com"] },
  { name: /chat ?gpt|open ?ai|codex/, hosts: ["chatgpt.com", "openai.com"] },
  { name: /cursor/, hosts: ["cursor.com"], schemes: ["cursor"] },
  {
    name: /visual studio|vs ?code|copilot|microsoft|github/,
    hosts: ["vscode.dev", "microsoft.com", "github.com"],
    schemes: ["vscode", "vscode-insiders"],
  },
  { name: /gemini|google/, hosts: ["google.com"] },
  { name: /perplexity/, hosts: ["perplexity.ai"] },
  { name: /mistral|le chat/, hosts: ["mistral.ai"] },
];

/** Words that say nothing about whose an app is. */
const COMMON = new Set(["app", "client", "for", "mcp", "the", "unnamed"]);

/**
 * Whether a client's name goes with its redirect target. On loopback there is nothing to compare it with: such an app is
 * as trustworthy as whatever runs on the person's computer.
 */
export function nameFitsTarget(clientName: string, target: RedirectTarget): boolean {
  if (target.kind === "loopback") return true;
  const name = clientName.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const makers = WELL_KNOWN.filter((maker) => maker.name.test(name));
  if (target.kind === "app") {
    return makers.length === 0 || makers.some(({ schemes }) => schemes?.includes(target.scheme));
  }
  const host = target.host.replace(/:\d+$/, "");
  if (makers.length > 0) {
    return makers.some(({ hosts }) => hosts.some((own) => host === own || host.endsWith(`.${own}`)));
  }
  const words = name.match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return words.some((word) => !COMMON.has(word) && host.includes(word));
}
