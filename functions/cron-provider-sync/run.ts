/**
 * One run of the job: leases links, queries several providers in parallel and stores their responses. A provider's
 * failure affects only its own link. All state is keyed by link and month: concurrent runs share the links, and a
 * later run continues where an earlier one stopped. The run queries each link for one month first, then the further
 * months in turns.
 */
import type { RecordRun } from "../../shared/db/job_run_store.ts";
import type { ClaimedLink, Kept, LeasedMonth, LinkCounts, ProviderStore } from "../../shared/db/provider_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { type AppError, toAppError } from "../../shared/errors.ts";
import { type Problem, Problems } from "../../shared/jobs/problems.ts";
import { describeError } from "../../shared/log.ts";
import { type Ask, type AskedLink, isAboutOneMonth } from "../../shared/providers/ask.ts";
import type { Period } from "../../shared/providers/period.ts";
import { linkProblem, STAGE } from "./link_problems.ts";

export interface Job extends Pick<Deps, "clock" | "log"> {
  store: ProviderStore;
  recordRun: RecordRun;
  /** Reseals credentials with the current key and returns their number. */
  reseal(remainingMs: () => number): Promise<number>;
  ask: Ask;
}

export interface RunLimits {
  /** How long the run starts new links, from its own start. */
  workMs: number;
  /** When the run aborts the last query. */
  endMs: number;
  /** Time limit for one month of a link. */
  linkMs: number;
  /** How many links are queried in parallel. */
  concurrency: number;
  /** Milliseconds since the start of the run, for tests. */
  elapsed?: () => number;
}

/** The response has exactly these fields. */
export interface RunAnswer {
  ok: boolean;
  period: Period;
  links: number;
  synced: number;
  errors: Problem[];
}

/** Counts months by the `status` of the response. */
type Tally = Record<string, number>;

/** Delays between attempts; six seconds in total. */
const CLAIM_ATTEMPTS = 4;

/**
 * @param asked `again`: include links with a stored statement, because the provider may have corrected it.
 * @throws {AppError} `unavailable` when the database cannot be reached at all.
 */
export async function runProviderSync(
  job: Job,
  { period, again }: { period: Period; again: boolean },
  limits: RunLimits,
): Promise<RunAnswer> {
  const { store, clock, log } = job;
  const startedAt = clock();
  const elapsed = limits.elapsed ?? stopwatch();
  const problems = new Problems();
  const tally: Tally = {};
  let counts: LinkCounts = { links: 0, synced: 0, waiting: 0 };
  let failure: AppError | undefined;
  let resealed = 0;

  const count = async () => counts = await store.countLinks({ period, again, before: startedAt, at: clock() });
  /** Leased links with further months. The database knows the other links. */
  const backlog: ClaimedLink[] = [];
  let isAllClaimed = false;
  /** Retry, so that a database restart does not cost the day's only run. */
  const claimLink = async (attempt = 1): Promise<ClaimedLink | null> => {
    try {
      return await store.claimLink({ period, again, before: startedAt, at: clock() });
    } catch (thrown) {
      if (attempt === CLAIM_ATTEMPTS || toAppError(thrown).code !== "unavailable") throw thrown;
      await new Promise((resolve) => setTimeout(resolve, attempt * 1000));
      return await claimLink(attempt + 1);
    }
  };
  const nextLink = async () => {
    const link = isAllClaimed ? null : await claimLink();
    isAllClaimed ||= !link;
    return link ?? backlog.shift();
  };
  const workers = () =>
    Array.from({ length: limits.concurrency }, async () => {
      while (!failure && elapsed() < limits.workMs) {
        const link = await nextLink();
        if (!link) return;
        const deadlineMs = Math.min(limits.linkMs, limits.endMs - elapsed());
        // The database used up the remaining time. The lease expires by itself.
        if (deadlineMs <= 0) return;
        const [asked, ...later] = link.periods;
        const isOpen = await askOne(job, { ...link, period: asked }, {
          deadlineMs,
          problems,
          tally,
          isLast: later.length === 0,
          isCurrent: asked === period,
        });
        if (isOpen) backlog.push({ ...link, periods: later as ClaimedLink["periods"] });
      }
    });
  const fail = (thrown: unknown) => {
    failure ??= toAppError(thrown);
  };
  try {
    await count();
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.code === "unavailable") throw error;
    fail(error);
  }
  if (!failure) {
    // A failure here doesn't stop the sync, because the old keys still work.
    resealed = await job.reseal(() => limits.workMs / 2 - elapsed()).catch((thrown) => {
      log.error("credentials_not_resealed", { error: describeError(thrown) });
      return 0;
    });
    // Wait for all workers, even after a failure, because the others hold leases.
    await Promise.all(workers().map((worker) => worker.catch(fail)));
    await count().catch(fail);
  }

  if (failure) {
    log.error("job_stage_failed", { route: STAGE, code: failure.code, error: describeError(failure) });
    problems.add({ stage: STAGE, code: failure.code, message: "The job failed and will be tried again." });
  } else if (counts.waiting + backlog.length > 0) {
    problems.add({ ...linkProblem("left_for_next_run"), count: counts.waiting + backlog.length });
  }
  const { links, synced } = counts;
  await job.recordRun({
    period,
    stage: STAGE,
    status: failure ? "failed" : "ok",
    counts: { links, synced, ...tally, ...(resealed > 0 && { resealed }) },
    errorCode: failure?.code ?? null,
    startedAt,
    finishedAt: clock(),
  }).catch((thrown) => log.error("job_run_not_recorded", { route: STAGE, error: describeError(thrown) }));
  return { ok: !failure, period, links, synced, errors: problems.list() };
}

interface Asking {
  deadlineMs: number;
  problems: Problems;
  tally: Tally;
  /** Whether this is the link's last requested month. */
  isLast: boolean;
  /** Whether this is the run's month; earlier months may have no statement at all. */
  isCurrent: boolean;
}

/** @returns whether the lease still holds, so that another month can be queried. */
async function askOne(
  { store, ask, clock, log }: Job,
  link: AskedLink & LeasedMonth,
  { deadlineMs, problems, tally, isLast, isCurrent }: Asking,
): Promise<boolean> {
  const note = (word: string) => tally[word] = (tally[word] ?? 0) + 1;
  const blame = (code: string) => problems.add({ ...linkProblem(code), ref: link.link_id });
  const answer = await ask(link, { deadlineMs });
  const isOpen = !isLast && isAboutOneMonth(answer);
  let kept: Kept;
  try {
    kept = await store.keepAnswer(link, { answer, isLast: !isOpen, at: clock() });
  } catch (thrown) {
    // The lease expires, and a later run retries the link. The next link shows whether the database is still up.
    log.error("provider_answer_not_kept", { reason: link.link_id, error: describeError(thrown) });
    note("not_kept");
    blame("not_kept");
    return false;
  }
  if (kept.outcome === "lost") {
    note("lost");
    blame("lease_lost");
    return false;
  }
  note(kept.status);
  if (kept.code && (isCurrent || kept.code !== "not_ready")) blame(kept.code);
  return isOpen;
}

function stopwatch(): () => number {
  const startedAt = performance.now();
  return () => performance.now() - startedAt;
}
