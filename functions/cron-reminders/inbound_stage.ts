/**
 * Reads forwarded mail, one attachment after another until the run's time is used up. Each run leases a mail and
 * stores its progress at the end. After a killed run, the next one reads the same attachments again; documents with
 * the same content are stored once.
 */
import { Buffer } from "node:buffer";
import { createDocumentStore } from "../../shared/db/document_store.ts";
import { type ClaimedMail, createInboundStore, type MailOutcome } from "../../shared/db/inbound_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { type Attach, keepRead } from "../../shared/documents/keep_read.ts";
import { readMailPart } from "../../shared/documents/read_document.ts";
import { describeError } from "../../shared/log.ts";
import type { Fail, Stage } from "./stage.ts";

type ReadingDeps = Pick<Deps, "config" | "database" | "clock" | "log" | "guardedFetch">;

/** Time for reading. The platform allows two seconds of processor time, and parsing the mail takes part of it. */
const READING_MS = 700;
/** The member behind the mail may no longer add documents. */
class Refused extends Error {}

interface Counts {
  mails: number;
  documents: number;
  failed: number;
  [count: string]: number;
}

/** @throws as the database calls do. */
export async function readInboundMail(
  deps: ReadingDeps,
  { remainingMs }: Stage,
  { elapsed, fail }: { elapsed: () => number; fail: Fail },
): Promise<Counts> {
  const store = createInboundStore(deps.database);
  const counts: Counts = { mails: 0, documents: 0, failed: 0 };
  const until = elapsed() + READING_MS;
  const hasTime = () => remainingMs() > 0 && elapsed() < until;
  do {
    const mail = await store.claim({ at: deps.clock() });
    if (!mail) break;
    if (mail.content === null) {
      if (await fetchArrived(deps, mail)) continue;
      counts.failed++;
      fail("not_fetched");
      continue;
    }
    const result = await readMail(deps, mail, hasTime);
    await store.settle({ mail, ...result, at: deps.clock() });
    counts.mails += Number(result.outcome === "read");
    counts.failed += Number(result.outcome === "failed");
    counts.documents += result.documents.length;
  } while (hasTime());
  return counts;
}

/** Fetches the content of an arrived mail; a later round reads it. @returns false if a later run must retry. */
async function fetchArrived(deps: ReadingDeps, mail: ClaimedMail): Promise<boolean> {
  const { config: { inbound }, database, clock, log } = deps;
  const store = createInboundStore(database);
  const settle = (outcome: MailOutcome) =>
    store.settle({ mail, outcome, partsDone: mail.parts_done, documents: [], refusals: [], at: clock() });
  try {
    if (inbound?.kind !== "resend") throw new Error("INBOUND_URL names another mail service than before");
    const { fetchMail } = await import("../../shared/inbound/fetch_mail.ts");
    const { describeMail } = await import("../../shared/inbound/describe_mail.ts");
    const raw = await fetchMail(deps.guardedFetch, { providerId: mail.provider_id, apiKey: inbound.user });
    const described = raw && await describeMail(raw, inbound);
    if (described) await store.fill({ id: mail.id, attempt: mail.attempt, mail: described, raw, at: clock() });
    // A mail without a sender, or one that is too large, appears nowhere.
    else await settle("read");
    return true;
  } catch (thrown) {
    log.error("mail_not_fetched", { code: "not_fetched", error: describeError(thrown) });
    await settle("failed");
    return false;
  }
}

interface Result {
  outcome: MailOutcome;
  partsDone: number;
  documents: string[];
  refusals: string[];
}

async function readMail({ database, clock, log }: ReadingDeps, mail: ClaimedMail, hasTime: () => boolean) {
  const documentStore = createDocumentStore(database);
  const attach: Attach = async (args) => {
    const answer = await documentStore.attach({
      userId: mail.user_id!,
      organizationId: mail.organization_id,
      arguments: args,
      at: clock(),
    });
    if (answer.outcome !== "ok") throw new Refused();
    // Another write held the organization's lock too long. The next attempt finds the documents that are already stored.
    if (answer.result.error?.code === "busy") throw new Error("busy");
    return answer.result;
  };
  const result: Result = { outcome: "more", partsDone: mail.parts_done, documents: [], refusals: [] };
  try {
    const bytes = new Uint8Array(Buffer.from(mail.content!, "base64"));
    do {
      const part = await readMailPart(bytes, { name: `${mail.subject || "mail"}.eml`, at: result.partsDone });
      for (const document of part.documents) {
        const taken = await keepRead(attach, document);
        if ("document" in taken) result.documents.push(taken.document.id);
        else result.refusals.push(taken.refusal.code);
      }
      result.partsDone++;
      result.outcome = part.hasMore ? "more" : "read";
    } while (result.outcome === "more" && hasTime());
  } catch (thrown) {
    if (thrown instanceof Refused) return { ...result, outcome: "refused" as const };
    log.error("mail_not_read", { code: "not_read", error: describeError(thrown) });
    return { ...result, outcome: "failed" as const };
  }
  return result;
}
