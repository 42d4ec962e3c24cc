/** The DATEV accounts of an organization, `/organizations/<id>/export/datev`. The export uses them. */
import type { DatevSettings } from "../../../shared/export/datev_settings.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { datevPath, proposalPath } from "../../../shared/urls.ts";
import { booksBusy } from "../approvals/policy.ts";
import { notAllowed } from "../members/asked.ts";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { readDatev, type TypedDatev, typedOf } from "./datev_form.ts";
import { listCategories } from "./datev_categories.ts";
import { renderDatev } from "./datev_page.tsx";
import { openExport } from "./export.ts";
import { type Exporting, renderExportRefusal } from "./export_page.tsx";

export const showDatev = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const opened = await openExport(c, deps, { user });
    return "refusal" in opened
      ? await renderExportRefusal(c, deps, { user, refusal: opened.refusal })
      : await show(c, deps, opened);
  });

/** Fields as in `readDatev`. Only people who may change the organization's settings can save them. */
export const postDatev = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const opened = await openExport(c, deps, { user });
    if ("refusal" in opened) return await renderExportRefusal(c, deps, { user, refusal: opened.refusal });
    if (!opened.organization.may_change) throw notAllowed();
    const categories = await listCategories(c, deps, opened);
    const read = readDatev(form, {
      categories: categories.map(({ id }) => id),
      before: opened.organization.datev ?? null,
      words: c.get("reader").words.datev.problems,
    });
    if ("typed" in read) return await show(c, deps, { ...opened, typed: read.typed });
    return await save(c, deps, { user, organizationId: opened.organizationId, settings: read.settings });
  });

async function save(
  c: AppContext,
  deps: PageDeps,
  { user, organizationId, settings }: { user: SignedInUser; organizationId: string; settings: DatevSettings },
): Promise<Response> {
  const answer = await deps.tools.run({
    userId: user.id,
    organizationId,
    tool: "update_settings",
    arguments: { datev: settings },
    at: deps.clock(),
  });
  if (answer.outcome === "refused") throw notAllowed();
  const { ok, error } = answer.result;
  if (ok) return c.redirect(`${datevPath(organizationId)}?done=saved`, 303);
  const proposal = error?.code === "awaiting_approval" ? error.params?.details?.proposal_id : undefined;
  if (proposal) return c.redirect(proposalPath(proposal), 303);
  if (error?.code === "busy") throw booksBusy();
  throw notAllowed();
}

async function show(
  c: AppContext,
  deps: PageDeps,
  { typed, ...exporting }: Exporting & { typed?: TypedDatev },
): Promise<Response> {
  return await renderDatev(c, deps, {
    ...exporting,
    categories: await listCategories(c, deps, exporting),
    typed: typed ?? typedOf(exporting.organization.datev ?? null),
    isSaved: c.req.query("done") === "saved",
  });
}
