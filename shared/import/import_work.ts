/**
 * Turns a file's text into a preview in short calls: stores and reads it, then stages and matches its rows page by
 * page. It can stop after any call, and another request continues from the state in the database.
 */
import type { Clock } from "../clock.ts";
import type { FactEnvelope } from "../connector/result.ts";
import type { Arguments } from "../connector/tool.ts";
import type { RefusalFacts, Said } from "../words/message.ts";
import { countRows, describeAsked, describeRead, latestDay, pagesOf, readFile } from "./import_pages.ts";
import { currencyInName } from "./formats/csv_account.ts";
import type { ImportProblem, Mapping, ReadImport } from "./read_import.ts";

/** Runs one step of `app.import_expenses`. */
export type Step = (args: Arguments) => Promise<FactEnvelope>;

/** Staging a row and matching it count as one each. */
export interface Progress {
  done: number;
  total: number;
  phase: "reading" | "matching";
}

export interface FileToKeep {
  text: string;
  /** Of the file, in one line. */
  name?: string;
  /** The link's import; without it, the work creates one. */
  importId?: string;
  /** Name or id of the account; without it, the file determines the account. */
  account?: string;
  defaultCurrency?: string;
  /** The caller's mapping and answers. */
  mapping?: Mapping;
  /** Findings from before the file was read, such as lost letters. */
  warnings?: Said[];
  /** The encoding of the file's bytes, if unusual. */
  encoding?: string;
}

/** The stored state of an import, as its steps return it. */
export interface ImportState {
  import_id: string;
  state: "waiting" | "reading" | "matching" | "ready" | "committed";
  /** How often the file was read. An answer to a question may require another reading. */
  revision: number;
  staged_through: number;
  done: number;
  total: number;
  /** Only for reading: the text, the mapping, and the layout learned from the account. */
  file?: string;
  mapping?: Mapping;
  learned?: Mapping;
  /** The currency of lines without one. */
  home?: string;
}

export interface Kept {
  state: ImportState;
  /** The result of reading, unless the account's learned layout requires another reading. */
  read?: ReadImport;
}

export type Problem = { problem: RefusalFacts };

/** Reads a file and stores it, even if its rows become spending only after an answer. */
export async function keepFile(step: Step, file: FileToKeep, clock: Clock): Promise<Kept | Problem> {
  const { text, name, importId, account, defaultCurrency, mapping = {}, warnings, encoding } = file;
  const currency = defaultCurrency ?? currencyInName(name ?? "");
  const read = readFile(text, mapping, latestDay(clock()), { home: currency });
  const isRead = !("code" in read);
  const described = isRead ? describeRead(read, warnings) : describeAsked(read, warnings);
  if (!described) return { problem: read as ImportProblem };
  const { ok, data, error } = await step({
    ...{ step: "keep", file: text, row_count: isRead ? countRows(read) : 0, mapping },
    read: { ...described, ...(name && { name }), ...(encoding && { encoding }) },
    ...(importId && { import_id: importId }),
    ...(account && { account }),
    ...(currency && { default_currency: currency }),
  });
  if (!ok) return { problem: error! };
  const state = data!.import as ImportState;
  return { state, ...(isRead && state.revision === 1 && { read }) };
}

export interface Work {
  importId: string;
  /** The deadline, checked between two calls. */
  deadline: Date;
  clock: Clock;
  /** Aborted when the caller has disconnected: work stops after the current call. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** The file that was just stored, which saves reading it again. */
  kept?: Kept | undefined;
}

export type WorkResult = { state: "waiting" | "ready" | "committed" } | (Progress & { state: "under_way" }) | Problem;

/** Works on an import until it is ready or the deadline passes; continues where an earlier call stopped. */
export async function workThrough(step: Step, { importId, clock, deadline, ...work }: Work): Promise<WorkResult> {
  let progress: Progress = { done: 0, total: 0, phase: "reading" };
  const report = (next: Progress) => work.onProgress?.(progress = next);
  const isOver = () => clock() >= deadline || work.signal?.aborted;
  const run = async (args: Arguments): Promise<ImportState> => {
    const { ok, data, error } = await step({ import_id: importId, ...args });
    if (!ok) throw new StepRefused(error!);
    return data!.import as ImportState;
  };
  /** Stages pages until all are staged, the deadline has passed, or another call has continued the work. */
  const stage = async (file: ReadImport, start: ImportState): Promise<ImportState> => {
    const rows = countRows(file);
    let state = start;
    for (const { count, ...page } of pagesOf(file, start.staged_through)) {
      const after = state.staged_through;
      state = await run({
        ...{ step: "stage", ...page, after, revision: start.revision },
        ...(after === 0 && { read: describeRead(file), row_count: rows }),
      });
      if (state.revision !== start.revision || state.staged_through !== page.through) break;
      report({ done: count, total: 2 * rows, phase: "reading" });
      if (isOver()) break;
    }
    return state;
  };
  try {
    let state = work.kept?.state ?? await run({ step: "load" });
    let { read } = work.kept ?? {};
    for (;;) {
      if (state.state !== "reading" && state.state !== "matching") return { state: state.state };
      if (isOver()) return { ...progress, state: "under_way" };
      if (state.state === "matching") {
        state = await run({ step: "match" });
        report({ done: state.done, total: state.total, phase: "matching" });
        continue;
      }
      if (!read && state.file === undefined) state = await run({ step: "load" });
      const file = read ?? readFile(state.file!, state.mapping ?? {}, latestDay(clock()), state);
      read = undefined;
      if ("code" in file) return { problem: file };
      state = await stage(file, state);
    }
  } catch (thrown) {
    if (thrown instanceof StepRefused) return { problem: thrown.refusal };
    throw thrown;
  }
}

/** The database refused to continue the work. */
class StepRefused extends Error {
  constructor(readonly refusal: RefusalFacts) {
    super(refusal.code);
  }
}
