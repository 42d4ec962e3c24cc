/** Continues an unfinished import: reads its file, stages and matches its rows, then shows the preview. */
import type { FollowUp } from "../../../../shared/connector/tool.ts";
import type { RefusalFacts } from "../../../../shared/words/message.ts";
import { workThrough } from "../../../../shared/import/import_work.ts";

/** Clients give up after a minute or less. */
const WORKS_FOR_MS = 20_000;

/** Keeps the file of an import that waits for an answer, so that the answer needs only the import's id. */
const withImport = ({ params, ...error }: RefusalFacts, importId: string): RefusalFacts => ({
  ...error,
  params: { ...params, details: { ...params?.details, import_id: importId } },
});

export const workOn: FollowUp = async (first, { callTool, clock, progress, signal }, sent) => {
  const { import_id: importId, state } = (first.data?.import ?? {}) as { import_id: string; state?: string };
  if (!first.ok || (state !== "reading" && state !== "matching")) return undefined;
  const work = await workThrough((args) => callTool("import_expenses", args), {
    importId,
    clock,
    deadline: new Date(clock().getTime() + WORKS_FOR_MS),
    signal,
    onProgress: ({ done, total }) => progress?.({ progress: done, total }),
  });
  if ("problem" in work) return { ok: false, error: withImport(work.problem, importId) };
  if (work.state === "under_way") {
    const { phase, done, total } = work;
    return { ...first, data: { import: { import_id: importId, state: phase, done, total } } };
  }
  // The database already stores the answers, and the expected totals belonged to another preview.
  const { on_duplicate } = sent;
  return await callTool("import_expenses", { import_id: importId, ...(on_duplicate ? { on_duplicate } : {}) });
};
