/** The activity page: every change of an organization, reads by its apps, and account events. */
import type { ActivityFilter, ActivityPage } from "../../../shared/db/activity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { isDay } from "../../../shared/iso_day.ts";
import { isUuid, noPage } from "../page_params.ts";
import { type Handler, type PageDeps, signedIn } from "../page_guards.ts";
import { renderActivity } from "./activity_page.tsx";
import { renderChange } from "./change_page.tsx";

/** With `change` in the query: the page of one change with its effects and the Undo button. */
export const showActivity = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const asked = readQuery(c);
    const page = await readActivity(deps, user, asked);
    const [change] = page.changes;
    if (asked.filter.id === undefined) return await renderActivity(c, deps, { user, page, filter: asked.filter });
    if (!change) throw noPage();
    return await renderChange(c, deps, { user, page, change, news: { done: c.req.query("done") } });
  });

export interface Asked {
  organizationId: string | undefined;
  filter: ActivityFilter;
  before: string | undefined;
}

/** @throws {AppError} `not_found` for another person's organization; `invalid_request` before onboarding. */
export async function readActivity(
  { activity, clock }: PageDeps,
  user: SignedInUser,
  asked: Asked,
): Promise<ActivityPage> {
  const page = await activity.read({ userId: user.id, ...asked, at: clock() });
  if (page.outcome === "unknown") throw noPage();
  return page;
}

/** Longer than any name in the books. */
const LONGEST_TEXT = 120;

/** Reads the query and ignores invalid parts. */
function readQuery(c: AppContext): Asked {
  const query = (name: string, isMeant: (value: string) => boolean) => {
    const value = c.req.query(name)?.trim() ?? "";
    return /^[^\p{Cc}]+$/u.test(value) && value.length <= LONGEST_TEXT && isMeant(value) ? value : undefined;
  };
  const matching = (pattern: RegExp) => (value: string) => pattern.test(value);
  const organization = c.req.query("organization");
  if (organization !== undefined && !/^org_[0-9a-z]{1,32}$/.test(organization)) throw noPage();
  const change = c.req.query("change");
  if (change !== undefined && !isChange(change)) throw noPage();
  return {
    organizationId: organization,
    before: query("before", matching(/^\d{1,18}$/)),
    filter: Object.fromEntries(
      Object.entries({
        id: change,
        by: query("by", isUuid),
        app: query("app", () => true),
        tool: query("tool", matching(/^[a-z_]{1,40}$/)),
        from: query("from", isDay),
        to: query("to", isDay),
        query: query("q", () => true),
      }).filter(([, value]) => value !== undefined),
    ),
  };
}

export const isChange = (id: string | undefined): id is string => /^chg_[0-9a-z]{1,32}$/.test(id ?? "");
