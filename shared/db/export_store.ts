/** The export page's database calls, read as the signed-in person (`public.read_export`). */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import { OrganizationState } from "../organization_state.ts";
import { BookPage } from "../export/books_archive.ts";
import type { FILES, Part } from "../export/books.ts";
import type { Period } from "../export/period.ts";
import { DatevSettings } from "../export/datev_settings.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

interface Reader {
  userId: string;
  organizationId: string;
  at: Date;
}

export const OpenedExport = either(
  outcome(["ok"], {
    organization: z.object({
      name: z.string(),
      today: z.string(),
      /** The last day of the closed months; null while all are open. */
      closed_through: z.optional(z.nullable(z.string())),
      /** The previous version's database lacks these three. */
      base_currency: z.optional(z.string()),
      datev: z.optional(z.nullable(DatevSettings)),
      may_change: z.optional(z.boolean()),
      state: OrganizationState,
    }),
  }),
  outcome(["refused", "unknown"]),
);
export type OpenedExport = z.infer<typeof OpenedExport>;

export const ANSWERS = {
  open_export: OpenedExport,
  read_export: either(outcome(["ok"], { page: BookPage }), outcome(["refused"])),
};

export type ExportStore = ReturnType<typeof createExportStore>;

/** Every method throws what `Database.call` throws. */
export function createExportStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /** Whether the person may export. With `wanted`, the audit trail records the export. */
    open: ({ userId, organizationId, wanted, at }: Reader & { wanted?: "everything" | "payments" }) =>
      ask("open_export", { user_id: userId, organization_id: organizationId, wanted: wanted ?? null, at }),

    /** A page of one part; `refused` when the person has lost the right. */
    readPage: (
      { userId, organizationId, part, after, period, at }: Reader & {
        part: Part | typeof FILES;
        after: unknown;
        period?: Period;
      },
    ) =>
      ask("read_export", {
        user_id: userId,
        organization_id: organizationId,
        part,
        after: after ?? null,
        from_on: period?.from ?? null,
        to_on: period?.to ?? null,
        at,
      }),
  };
}
