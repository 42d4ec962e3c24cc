/**
 * What a mail service found out about the sender of a mail. Senders can write any field themselves, so only fields that
 * the service itself added count, which are told by their place.
 */
import { aboveFirstHop, type Field, valuesOf } from "./mail_header.ts";
import type { InboundSettings } from "./inbound_url.ts";

export interface Verdicts {
  spf?: string;
  dkim?: string;
  dmarc?: string;
}

export interface Judged {
  verdicts: Verdicts;
  /** Whether the domain of From is proven: DMARC passed, or SPF or DKIM for that very domain. */
  isProven: boolean;
}

/** @param from the domain of the address in From. */
export function judgeSender(fields: readonly Field[], from: string, { kind, domain }: InboundSettings): Judged {
  switch (kind) {
    case "postmark":
      return judgeSpamTests(aboveFirstHop(fields), from);
    case "mailgun":
      return judgeChecks(aboveFirstHop(fields), fields, from);
    case "resend":
      return judgeResults(resultsOfSes(fields), { from, server: "amazonses.com" });
    case "raw":
      return judgeResults(valuesOf(aboveFirstHop(fields), "authentication-results"), { from, server: domain });
  }
}

/** SpamAssassin's tests, and the result of SPF (RFC 7208 §9.1), as Postmark adds them. */
function judgeSpamTests(fields: readonly Field[], from: string): Judged {
  const tests = valuesOf(fields, "x-spam-tests").join(",").split(/[,\s]+/);
  const [spf = ""] = valuesOf(fields, "received-spf");
  const has = (test: string) => tests.includes(test);
  const verdicts: Verdicts = {
    ...(/^[a-z]+/i.exec(spf) && { spf: /^[a-z]+/i.exec(spf)![0].toLowerCase().slice(0, 20) }),
    ...(has("DKIM_SIGNED") && { dkim: has("DKIM_VALID") ? "pass" : "fail" }),
  };
  const [, envelope = ""] = /envelope-from="?<?[^\s;@<>"]{1,200}@([^\s;<>"]{1,255})/i.exec(spf) ?? [];
  const isOwn = verdicts.spf === "pass" && /identity=mailfrom\b/i.test(spf) && isAligned(envelope, from);
  // DKIM_VALID_AU: signed by the domain of the author in From.
  return { verdicts, isProven: isOwn || has("DKIM_VALID_AU") };
}

/** Mailgun's checks, and the signature and the sender that they are about. */
function judgeChecks(own: readonly Field[], all: readonly Field[], from: string): Judged {
  const word = (name: string) => valuesOf(own, name)[0]?.trim().toLowerCase().slice(0, 20);
  const [spf, dkim] = [word("x-mailgun-spf"), word("x-mailgun-dkim-check-result")];
  const envelope = valuesOf(own, "x-envelope-from")[0]?.replace(/[<>\s]/g, "").split("@").at(-1) ?? "";
  // Of several signatures, nobody says which one is good.
  const signatures = valuesOf(all, "dkim-signature");
  const signer = signatures.length === 1 ? /(?:^|;)\s*d\s*=\s*([^\s;]{1,255})/.exec(signatures[0]!)?.[1] ?? "" : "";
  return {
    verdicts: { ...spf && { spf }, ...dkim && { dkim } },
    isProven: spf === "pass" && isAligned(envelope, from) || dkim === "pass" && isAligned(signer, from),
  };
}

const SES = /\sby inbound-smtp\.[a-z0-9-]{1,40}\.amazonaws\.com\s/;

/** The first results below the trace of Amazon SES, which receives for Resend, and above that of the hop before. */
function resultsOfSes(fields: readonly Field[]): string[] {
  const [first = -1, second = fields.length] = fields.flatMap(({ name }, at) => name === "received" ? [at] : []);
  if (first < 0 || !SES.test(` ${fields[first]!.value} `)) return [];
  return valuesOf(fields.slice(first, second), "authentication-results").slice(0, 1);
}

const METHOD = /^\s*(spf|dkim|dmarc)\s*=\s*([a-z]{1,20})\b/i;
const property = (result: string, name: string) =>
  new RegExp(`\\b${name}\\s*=\\s*"?@?([^\\s;"]{1,320})`, "i").exec(result)?.[1]?.split("@").at(-1) ?? "";

/** Authentication-Results (RFC 8601) of a server. */
function judgeResults(values: readonly string[], { from, server }: { from: string; server: string }): Judged {
  const verdicts: Verdicts = {};
  let isProven = false;
  for (const value of values) {
    const [id = "", ...results] = withoutComments(value).split(";");
    if (id.trim().split(/\s/)[0]!.toLowerCase() !== server) continue;
    for (const result of results) {
      const [, method, word] = METHOD.exec(result)?.map((part) => part.toLowerCase()) ?? [];
      if (!method || !word) continue;
      const name = method as keyof Verdicts;
      // One of several signatures is enough.
      if (verdicts[name] !== "pass") verdicts[name] = word;
      if (word !== "pass") continue;
      const about = { dmarc: property(result, "header\\.from"), spf: property(result, "smtp\\.mailfrom"), dkim: "" };
      about.dkim = property(result, "header\\.d") || property(result, "header\\.i");
      isProven ||= isAligned(about[name], from);
    }
  }
  return { verdicts, isProven: isProven && verdicts.dmarc !== "fail" };
}

function withoutComments(value: string): string {
  let depth = 0;
  let text = "";
  for (const letter of value.slice(0, 10_000)) {
    if (letter === "(") depth++;
    else if (letter === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0) text += letter;
  }
  return text;
}

/** Whether a proven domain speaks for the domain in From: it is the same, or above it. */
function isAligned(proven: string, from: string): boolean {
  const own = proven.toLowerCase();
  return own.includes(".") && (from === own || from.endsWith(`.${own}`));
}
