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
const ADDRESS = /^[^\s@<>"]{1,64}@([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10})$/;

/** @returns undefined for a mail without exactly one address in From, because its sender is unknown. */
export async function describeMail(
  mail: Uint8Array,
  settings: InboundSettings,
): Promise<DescribedMail | undefined> {
  const fields = readMailHeader(mail);
  const { addressParser, decodeWords } = await import("postal-mime");
  const authors = valuesOf(fields, "from");
  const addresses = authors.length === 1 ? addressParser(authors[0]!.slice(0, 2000)) : [];
  const sender = addresses.length === 1 ? addresses[0]!.address?.trim().toLowerCase() ?? "" : "";
  const [, domain] = ADDRESS.exec(sender) ?? [];
  if (!domain) return undefined;
  const subject = cleanLine(decodeWords(valuesOf(fields, "subject")[0]?.slice(0, 2000) ?? ""));
  return {
    sender,
    subject: [...subject].slice(0, LONGEST_SUBJECT).join(""),
    ...judgeSender(fields, domain, settings),
  };
}
