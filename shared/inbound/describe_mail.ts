/** Describes a mail's sender by its header and the mail service's verdicts. */
import { cleanLine } from "../clean_text.ts";
import type { InboundSettings } from "./inbound_url.ts";
import { readMailHeader, valuesOf } from "./mail_header.ts";
import { judgeSender, type Verdicts } from "./verdicts.ts";

export interface DescribedMail {
  /** The address in From, in lower case. */
  sender: string;
  subject: string;
  verdicts: Verdicts;
  isProven: boolean;
}

const LONGEST_SUBJECT = 200;
/** SMTP's limit (RFC 5321 §4.5.3.1.3, without the angle brackets). */
const LONGEST_ADDRESS = 254;
const ADDRESS = /^[^\s\p{C}@<>"]{1,64}@([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10})$/u;

/** @returns undefined for a mail without exactly one address in From, of at most 254 characters. */
export async function describeMail(
  mail: Uint8Array,
  settings: InboundSettings,
): Promise<DescribedMail | undefined> {
  const fields = readMailHeader(mail);
  const { addressParser, decodeWords } = await import("postal-mime");
  const authors = valuesOf(fields, "from");
  // The parser would remove some control characters, which would change the address.
  const isPlain = authors.length === 1 && authors[0]!.length <= 2000 && !/[^\P{Cc}\t]/u.test(authors[0]!);
  const addresses = isPlain ? addressParser(authors[0]!) : [];
  const sender = addresses.length === 1 ? addresses[0]!.address?.trim().toLowerCase() ?? "" : "";
  const [, domain] = ADDRESS.exec(sender) ?? [];
  if (!domain || sender.length > LONGEST_ADDRESS) return undefined;
  const subject = cleanLine(decodeWords(valuesOf(fields, "subject")[0]?.slice(0, 2000) ?? ""));
  return {
    sender,
    subject: [...subject].slice(0, LONGEST_SUBJECT).join(""),
    ...judgeSender(fields, domain, settings),
  };
}
