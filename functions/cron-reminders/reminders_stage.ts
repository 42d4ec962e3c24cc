/**
 * Creates digests, then leases, sends and settles them in batches. A killed run leaves a lease that expires, and the
 * next run sends the same batch with the same content and key.
 */
import type { ClaimedBatch, Cursor } from "../../shared/db/reminders_store.ts";
import { AppError, toAppError } from "../../shared/errors.ts";
import { describeError } from "../../shared/log.ts";
import type { Delivery, MailResult, MailTransport, OutgoingMail } from "../../shared/mail/delivery.ts";
import { createMailTransport } from "../../shared/mail/mail_transport.ts";
import type { DigestLinks } from "../../shared/reminders/content.ts";
import { composeDigest } from "../../shared/reminders/digest_mail.ts";
import { signUnsubscribing } from "../../shared/reminders/unsubscribe_token.ts";
import { createUrls } from "../../shared/urls.ts";
import { localeOf } from "../../shared/words/locale.ts";
import { wordsOf } from "../../shared/words/words.ts";
import { mailProblem } from "./mail_problems.ts";
import type { Fail, Job, Stage } from "./stage.ts";

const LONGEST_SEND_MS = 10_000;
/** After this many batches in a row without a response, the run sends no more. */
const MAX_UNANSWERED_BATCHES = 3;
/** Bills per page. A page that was too large shrinks the next one by the factor. */
const PAGE = 2000;
const PAGE_SHRINK_FACTOR = 45;
/** The share of the remaining time reserved for sending. */
const SENDING_TIME_SHARE = 0.5;

interface Sent {
  digests: number;
  reminders: number;
  [count: string]: number;
}

/**
 * @throws {AppError} `internal` when mail is not configured (digests wait then), or the error that prevented all mails
 */
export async function sendReminders(job: Job, stage: Stage, fail: Fail): Promise<Sent> {
  const failure = await collect(job, stage);
  const transport = createMailTransport(job);
  if (!transport) {
    throw new AppError("internal", "Mails cannot be sent.", { cause: new Error("MAIL_URL or MAIL_FROM is not set") });
  }
  try {
    const sent = await sendBatches(job, stage, { transport, fail });
    if (failure && sent.digests === 0) throw failure;
    if (failure) stage.problems.add(mailProblem("not_collected"));
    return sent;
  } finally {
    transport.close();
  }
}

/** @returns the error that stopped collection, if any; finished digests are still sent. */
async function collect({ store, log }: Job, { problems, at, remainingMs }: Stage): Promise<AppError | undefined> {
  let after: Cursor = null;
  let size = PAGE;
  let failure: AppError | undefined;
  // Sending has priority. Tomorrow's run collects the remaining bills if they are still within their window.
  const keptMs = remainingMs() * SENDING_TIME_SHARE;
  while (remainingMs() > keptMs) {
    try {
      const page = await store.collectReminders({ after, size, at });
      if (page.given_up > 0) problems.add({ ...mailProblem("mail_given_up"), count: page.given_up });
      after = page.next;
      if (after === null) return;
      size = Math.min(PAGE, size * 2);
    } catch (thrown) {
      // Some owners have too many bills for a page of this size: try a smaller one.
      failure = toAppError(thrown);
      log.error("page_not_collected", { code: "not_collected", error: describeError(thrown) });
      if (size === 1) break;
      size = Math.max(1, Math.floor(size / PAGE_SHRINK_FACTOR));
    }
  }
  // The time ran out before the last page, so the run must not count as complete.
  if (!failure) problems.add(mailProblem("left_for_next_run"));
  return failure;
}

async function sendBatches(
  job: Job,
  stage: Stage,
  { transport, fail }: { transport: MailTransport; fail: Fail },
): Promise<Sent> {
  const { store, clock, log } = job;
  const { problems, remainingMs } = stage;
  const sent: Sent = { digests: 0, reminders: 0 };
  let slowestMs = 0;
  let unanswered = 0;
  let keptBy: string | undefined;
  while (remainingMs() > slowestMs) {
    const batch = await store.claimReminders({ size: transport.batchSize, at: clock() });
    if (!batch) break;
    if ("set_aside" in batch) {
      problems.add({ ...mailProblem("not_described"), ref: batch.set_aside });
      continue;
    }
    const startedAt = performance.now();
    const { pause, isUnsure } = await sendBatch(job, { batch, transport, stage, sent }).catch((thrown) => {
      // The outcome was not stored, so the lease expires, and a later run sends the batch again with the same key.
      log.error("batch_not_settled", { code: "not_settled", error: describeError(thrown) });
      problems.add({ ...mailProblem("not_settled"), ref: batch.id });
      return { pause: undefined, isUnsure: true };
    });
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    unanswered = isUnsure ? unanswered + 1 : 0;
    keptBy = pause?.code ?? (isUnsure ? "mail_no_answer" : undefined);
    if (pause || unanswered === MAX_UNANSWERED_BATCHES) break;
  }
  const count = await store.countWaiting(clock());
  if (count > 0) problems.add({ ...mailProblem("left_for_next_run"), count });
  // The next run retries, but a monitor must see that no mail goes out.
  if (keptBy && count > 0 && sent.digests === 0) fail(keptBy);
  return sent;
}

async function sendBatch(
  job: Job,
  { batch, transport, stage, sent }: { batch: ClaimedBatch; transport: MailTransport; stage: Stage; sent: Sent },
): Promise<{ pause: Delivery["pause"]; isUnsure: boolean }> {
  const { store, clock } = job;
  const retryAfter = (ms: number) => new Date(clock().getTime() + ms);
  const settle = async (results: readonly MailResult[], { isLast, waitMs }: { isLast: boolean; waitMs: number }) => {
    for (const { code, id } of results) if (code) stage.problems.add({ ...mailProblem(code), ref: id });
    const answer = await store.settleReminders({ batch, results, isLast, retryAt: retryAfter(waitMs), at: clock() });
    if (answer.outcome === "lost") {
      // The batch ends with its last digest, so a lease that expires without results loses nothing.
      if (results.length > 0) stage.problems.add({ ...mailProblem("lease_lost"), ref: batch.id });
      return;
    }
    sent.digests += answer.digests;
    sent.reminders += answer.reminders;
  };

  const { mails, failed } = await compose(job, batch);
  const backoffMs = backoff(batch.attempts);
  const { results, pause } = mails.length === 0 ? { results: [], pause: undefined } : await transport.deliver(mails, {
    key: `reminders/${batch.id}`,
    timeoutMs: Math.max(1_000, Math.min(LONGEST_SEND_MS, stage.remainingMs())),
    onSettled: (result) => settle([result], { isLast: false, waitMs: backoffMs }),
  });
  await settle([...failed, ...results], { isLast: true, waitMs: Math.max(backoffMs, pause?.ms ?? 0) });
  return { pause, isUnsure: results.some(({ outcome }) => outcome === "unsure") };
}

/**
 * The mails of a batch in order. A digest that cannot be rendered fails alone; nothing else removes a digest from the
 * batch.
 */
async function compose(
  { config, log }: Job,
  batch: ClaimedBatch,
): Promise<{ mails: OutgoingMail[]; failed: MailResult[] }> {
  const mails: OutgoingMail[] = [];
  const failed: MailResult[] = [];
  const urls = createUrls(config);
  const host = new URL(config.siteUrl).hostname;
  const words = wordsOf("en");
  for (const { id, recipient_id: userId, content } of batch.digests) {
    try {
      const token = await signUnsubscribing(config.codeSecrets, { userId, sentOn: content.today });
      const links: DigestLinks = {
        account: urls.account,
        books: urls.books,
        plan: urls.plans,
        mails: urls.inboundMail,
        connect: ({ bill_id, provider_key }) =>
          `${urls.connectProvider}?${new URLSearchParams({ bill: bill_id, provider: provider_key })}`,
        unsubscribe: `${urls.unsubscribe}?t=${token}`,
      };
      const locale = localeOf({ language: words.language, country: content.country ?? undefined });
      mails.push({ id, ...await composeDigest({ id, content }, { words, locale, links, host }) });
    } catch (thrown) {
      log.error("digest_not_composed", { code: "not_composed", error: describeError(thrown) });
      failed.push({ id, outcome: "dead", code: "not_composed" });
    }
  }
  return { mails, failed };
}

/** 1, 2, 4 … minutes, at most an hour, plus up to a tenth as jitter. */
function backoff(attempts: number): number {
  const minutes = Math.min(2 ** (attempts - 1), 60);
  return minutes * 60_000 * (1 + Math.random() / 10);
}
