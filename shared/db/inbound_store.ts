/** Stores incoming forwarded mail, lets one reader at a time claim it, and settles it. */
import { Buffer } from "node:buffer";
import * as z from "zod/mini";
import type { DescribedMail } from "../inbound/describe_mail.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

/** One call carries up to ten megabytes. */
const MAIL_MS = 20_000;

const ClaimedMail = z.object({
  id: z.string(),
  organization_id: z.string(),
  provider_id: z.string(),
  /** The member with whose rights the mail is read; null until its content is fetched. */
  user_id: z.nullable(z.string()),
  subject: z.string(),
  attempt: z.number(),
  parts_done: z.number(),
  /** Base64; null until it is fetched. */
  content: z.nullable(z.string()),
});
export type ClaimedMail = z.infer<typeof ClaimedMail>;

export const ANSWERS = {
  keep_inbound_mail: z.object({ kept: z.number(), postponed: z.number() }),
  fill_inbound_mail: z.unknown(),
  claim_inbound_mail: z.nullable(ClaimedMail),
  settle_inbound_mail: z.unknown(),
};

/** `more`: attachments remain; `refused`: its member may no longer write; `failed`: a later run retries. */
export type MailOutcome = "read" | "more" | "refused" | "failed";

export interface MailSettlement {
  mail: ClaimedMail;
  outcome: MailOutcome;
  partsDone: number;
  documents: readonly string[];
  refusals: readonly string[];
  at: Date;
}

const described = (mail: DescribedMail | undefined) =>
  mail && { sender: mail.sender, subject: mail.subject, verdicts: mail.verdicts, is_proven: mail.isProven };

const base64 = (raw: Uint8Array | undefined) =>
  raw ? Buffer.from(raw.buffer as ArrayBuffer, raw.byteOffset, raw.byteLength).toString("base64") : null;

/** Every method throws what `Database.call` throws. */
export function createInboundStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /**
     * @param raw undefined if a later run fetches the content.
     * @returns the numbers of organizations that stored it and of those that can store it only later.
     */
    keep: ({ tokens, providerId, mail, raw, at }: {
      tokens: readonly string[];
      providerId: string;
      mail?: DescribedMail;
      raw?: Uint8Array;
      at: Date;
    }) =>
      ask("keep_inbound_mail", {
        tokens,
        provider_id: providerId,
        mail: described(mail) ?? null,
        content: base64(raw),
        at: at.toISOString(),
      }, { deadlineMs: MAIL_MS }),

    fill: ({ id, attempt, mail, raw, at }: {
      id: string;
      attempt: number;
      mail: DescribedMail;
      raw: Uint8Array;
      at: Date;
    }) =>
      ask("fill_inbound_mail", {
        mail_id: id,
        attempt,
        mail: described(mail),
        content: base64(raw),
        at: at.toISOString(),
      }, { deadlineMs: MAIL_MS }),

    /** Claims a mail; nobody else reads it until the lease ends. */
    claim: ({ at }: { at: Date }) => ask("claim_inbound_mail", { at: at.toISOString() }, { deadlineMs: MAIL_MS }),

    settle: ({ mail, outcome, partsDone, documents, refusals, at }: MailSettlement) =>
      ask("settle_inbound_mail", {
        mail_id: mail.id,
        attempt: mail.attempt,
        parts_done: partsDone,
        outcome,
        documents,
        refusals,
        at: at.toISOString(),
      }),
  };
}
