/** The categories in the form of DATEV accounts, with the person's access. */
import { NO_CATEGORY } from "../../../shared/export/datev_settings.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { notAllowed } from "../members/asked.ts";
import type { PageDeps } from "../page_guards.ts";

export interface DatevCategory {
  id: string;
  name: string;
  isArchived: boolean;
}

/** Sorted by name, then archived ones, then payments without a category. */
export async function listCategories(
  c: AppContext,
  { exports, clock }: PageDeps,
  { user, organizationId }: { user: SignedInUser; organizationId: string },
): Promise<DatevCategory[]> {
  const { words, format } = c.get("reader");
  const answer = await exports.readPage({
    userId: user.id,
    organizationId,
    part: "categories",
    after: null,
    at: clock(),
  });
  if (answer.outcome !== "ok") throw notAllowed();
  const categories = answer.page.rows.map(({ id, name, archived_at: archived }) => ({
    id: String(id),
    name: archived ? words.datev.archived(String(name)) : String(name),
    isArchived: Boolean(archived),
  }));
  return [
    ...categories.sort((one, other) =>
      Number(one.isArchived) - Number(other.isArchived) || format.compare(one.name, other.name)
    ),
    { id: NO_CATEGORY, name: words.fileLabels.uncategorized, isArchived: false },
  ];
}

export const isUsed = ({ isArchived }: DatevCategory): boolean => !isArchived;
