/**
 * Judges a mail's sender by the mail service's verdicts. Senders can forge any header field, so only the fields above
 * the first hop count, which the service itself added.
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
  /** Whether the domain of From is authenticated: DMARC passed, or SPF or DKIM passed for that domain or a parent. */
  isProven: boolean;
}

/** @param from the domain of the address in From. */
export function judgeSender(fields: readonly Field[], from: string, { kind, domain }: InboundSettings): Judged {
  switch (kind) {
    case "postmark":
      return judgeSpamTests(aboveFirstHop(fields), { from, domain });
    case "mailgun":
      return judgeChecks(aboveFirstHop(fields), fields, from);
    case "resend":
      return judgeResults(resultsOfSes(fields), { from, server: "amazonses.com" });
    case "raw":
      return judgeResults(valuesOf(aboveFirstHop(fields), "authentication-results"), { from, server: domain });
  }
}

/** Judges by SpamAssassin's tests and the SPF result (RFC 7208 §9.1), which Postmark adds. */
function judgeSpamTests(fields: readonly Field[], { from, domain }: { from: string; domain: string }): Judged {
  const tests = valuesOf(fields, "x-spam-tests").join(",").split(/[,\s]+/);
  const [spf = ""] = valuesOf(fields, "received-spf");
  const has = (test: string) => tests.includes(test);
  const verdicts: Verdicts = {
    ...(/^[a-z]+/i.exec(spf) && { spf: /^[a-z]+/i.exec(spf)![0].toLowerCase().slice(0, 20) }),
    ...(has("DKIM_SIGNED") && { dkim: has("DKIM_VALID") ? "pass" : "fail" }),
  };
  const isOwn = verdicts.spf === "pass" && isAligned(envelopeOf(spf, ["inbound.postmarkapp.com", domain]), from);
  // DKIM_VALID_AU means that the domain in From signed the mail.
  return { verdicts, isProven: isOwn || has("DKIM_VALID_AU") };
}

const RECEIVER = /;\s*receiver=[^\s;@"\\]{1,200}@([^\s;@"\\]{1,255})\s*$/i;
const ENVELOPE = /[\s;]envelope-from=("?)<?[^\s;@<>"\\]{1,200}@([^\s;@<>"\\]{1,255})>?\1\s*(?:;[^@"\\]*)?$/i;

/**
 * The domain of the envelope's sender. The sender chooses the address and the name in HELO. So a name that occurs
 * twice, or an additional address other than the receiver's, makes the domain unknown.
 */
function envelopeOf(spf: string, receivers: readonly string[]): string {
  const occurs = (name: string) => spf.split(new RegExp(`\\b${name}\\s*=`, "i")).length - 1;
  if (occurs("identity") !== 1 || occurs("envelope-from") !== 1 || !/[\s;]identity=mailfrom\s*;/i.test(spf)) return "";
  const receiver = RECEIVER.exec(spf);
  const isOurs = receiver && receivers.includes(receiver[1]!.toLowerCase());
  return ENVELOPE.exec(isOurs ? spf.slice(0, receiver.index) : spf)?.[2] ?? "";
}

/** Judges by Mailgun's checks, and by the signature and sender that Mailgun checked. */
function judgeChecks(own: readonly Field[], all: readonly Field[], from: string): Judged {
  const word = (name: string) => valuesOf(own, name)[0]?.trim().toLowerCase().slice(0, 20);
  const [spf, dkim] = [word("x-mailgun-spf"), word("x-mailgun-dkim-check-result")];
  const envelope = valuesOf(own, "x-envelope-from")[0]?.replace(/[<>\s]/g, "").split("@").at(-1) ?? "";
  // Mailgun does not report which of several signatures is valid.
  const signatures = valuesOf(all, "dkim-signature");
  const signer = signatures.length === 1 ? /(?:^|;)\s*d\s*=\s*([^\s;]{1,255})/.exec(signatures[0]!)?.[1] ?? "" : "";
  return {
    verdicts: { ...spf && { spf }, ...dkim && { dkim } },
    isProven: spf === "pass" && isAligned(envelope, from) || dkim === "pass" && isAligned(signer, from),
  };
}

const SES = /\sby inbound-smtp\.[a-z0-9-]{1,40}\.amazonaws\.com\s/;

/** The first results between the traces of Amazon SES, which receives mail for Resend, and the previous hop. */
function resultsOfSes(fields: readonly Field[]): string[] {
  const [first = -1, second = fields.length] = fields.flatMap(({ name }, at) => name === "received" ? [at] : []);
  if (first < 0 || !SES.test(` ${fields[first]!.value} `)) return [];
  return valuesOf(fields.slice(first, second), "authentication-results").slice(0, 1);
}

const METHOD = /^\s*(spf|dkim|dmarc)\s*=\s*([a-z]{1,20})\b/i;

/** @returns the domain of a property that occurs once. */
function property(result: string, name: string): string {
  const found = [...result.matchAll(new RegExp(`(?:^|\\s)${name}\\s*=\\s*([^\\s;]{1,320})(?=[\\s;]|$)`, "gi"))];
  return found.length === 1 ? found[0]![1]!.split("@").at(-1)! : "";
}

/** Judges by a server's Authentication-Results (RFC 8601). */
function judgeResults(values: readonly string[], { from, server }: { from: string; server: string }): Judged {
  const verdicts: Verdicts = {};
  let isProven = false;
  // Servers copy the envelope's sender and the name in HELO into their results, and either may contain a result.
  let isDoubtful = false;
  for (const value of values) {
    const text = withoutComments(value).replace(/\sreason\s*=\s*"[^"\\]*"/gi, "");
    const [id = "", ...results] = text.split(";");
    if (id.trim().split(/\s/)[0]!.toLowerCase() !== server) continue;
    if (/["\\]|[^\t\x20-\x7e]/.test(text)) {
      isDoubtful = true;
      continue;
    }
    for (const result of results) {
      const [, method, word] = METHOD.exec(result)?.map((part) => part.toLowerCase()) ?? [];
      if (!method || !word) continue;
      const name = method as keyof Verdicts;
      // A mail may have several signatures, and a valid one is enough.
      if (name !== "dkim" && verdicts[name]) isDoubtful = true;
      if (verdicts[name] !== "pass") verdicts[name] = word;
      if (word !== "pass") continue;
      const about = { dmarc: property(result, "header\\.from"), spf: property(result, "smtp\\.mailfrom"), dkim: "" };
      about.dkim = property(result, "header\\.d") || property(result, "header\\.i");
      isProven ||= isAligned(about[name], from);
    }
  }
  return { verdicts, isProven: isProven && !isDoubtful && verdicts.dmarc !== "fail" };
}

const LONGEST_RESULTS = 10_000;

/** @returns an unusable text for a longer value and for one with an open comment, because their ends are unknown. */
function withoutComments(value: string): string {
  let depth = 0;
  let text = "";
  for (const letter of value.slice(0, LONGEST_RESULTS)) {
    if (letter === "(") depth++;
    else if (letter === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0) text += letter;
  }
  return depth === 0 && value.length <= LONGEST_RESULTS ? text : `${text}\\`;
}

/** Whether an authenticated domain equals the domain in From or is its parent. */
function isAligned(proven: string, from: string): boolean {
  const own = proven.toLowerCase();
  return own.includes(".") && (from === own || from.endsWith(`.${own}`));
}
