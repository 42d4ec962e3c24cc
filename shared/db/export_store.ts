/** The export page's database calls, read as the signed-in person (`public.read_export`). */
import type { OrganizationState } from "../organization_state.ts";
import type { BookPage } from "../export/books_archive.ts";
import type { Part } from "../export/books.ts";
import type { Period } from "../export/period.ts";
import { expectAnswer, hasOutcome } from "./answer.ts";
import type { Database } from "./client.ts";

interface Reader {
  userId: string;
  organizationId: string;
  at: Date;
}

export type OpenedExport =
  | { outcome: "ok"; organization: { name: string; today: string; state: OrganizationState } }
  /** `unknown` without an active membership, `refused` without the right. */
  | { outcome: "refused" | "unknown" };

export interface ExportStore {
  /**
   * Whether the person may export; with `wanted`, that they do goes to the audit trail.
   * @throws what `Database.call` throws, and `unavailable` on a malformed answer.
   */
  open(reader: Reader & { wanted?: "everything" | "payments" }): Promise<OpenedExport>;
  /** A page of one part; `refused` when they may not any more. Throws the same. */
  readPage(
    page: Reader & { part: Part; after: unknown; period?: Period },
  ): Promise<{ outcome: "ok"; page: BookPage } | { outcome: "refused" }>;
}

export const createExportStore = (database: Database): ExportStore => ({
  async open({ userId, organizationId, wanted, at }) {
    const answer = await database.call("open_export", {
      user_id: userId,
      organization_id: organizationId,
      wanted: wanted ?? null,
      at: at.toISOString(),
    });
    return expectAnswer<OpenedExport>("open_export", answer, hasOutcome("ok", "refused", "unknown"));
  },
  async readPage({ userId, organizationId, part, after, period, at }) {
    const answer = await database.call("read_export", {
      user_id: userId,
      organization_id: organizationId,
      part,
      after: after ?? null,
      from_on: period?.from ?? null,
      to_on: period?.to ?? null,
      at: at.toISOString(),
    });
    return expectAnswer<{ outcome: "ok"; page: BookPage } | { outcome: "refused" }>(
      "read_export",
      answer,
      hasOutcome("ok", "refused"),
    );
  },
});
