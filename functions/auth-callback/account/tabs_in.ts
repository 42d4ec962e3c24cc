/** The tabs of pages that cover the whole account. */
import type { Account, AccountOrganization } from "../../../shared/db/identity_store.ts";
import { pagesFor, type Tabs } from "../../../shared/pages/tabs.tsx";

export function tabsIn(
  { organizations, plans_enabled: plans }: Account,
  organization: AccountOrganization | undefined,
  current?: Tabs["current"],
): Tabs | undefined {
  if (!organization) return undefined;
  const { id, name, rights } = organization;
  const pages = pagesFor({ writes: rights.includes("books:write"), exports: rights.includes("books:export"), plans });
  return { id, name, organizations, pages, current };
}
