/** The tabs of pages that read the whole account. */
import type { Account, AccountOrganization } from "../../../shared/db/identity_store.ts";
import { pagesFor, type Tabs } from "../../../shared/pages/tabs.tsx";

export const tabsIn = (
  { organizations, plans_enabled: plans }: Account,
  { id, name, rights }: AccountOrganization,
  current: Tabs["current"],
): Tabs => ({
  id,
  name,
  organizations,
  pages: pagesFor({ writes: rights.includes("books:write"), exports: rights.includes("books:export"), plans }),
  current,
});
