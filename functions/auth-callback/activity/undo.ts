/** Undoes a change from its page, with the tool and rules that assistants use. */
import { AppError } from "../../../shared/errors.ts";
import { proposalPath } from "../../../shared/urls.ts";
import { publicCode } from "../../../shared/words/codes.ts";
import { isUuid, noPage } from "../page_params.ts";
import { type Handler, type PageDeps, signedInForm } from "../page_guards.ts";
import { isChange, readActivity } from "./activity.ts";
import { changePath } from "./change_path.ts";
import { type Refused, renderChange } from "./change_page.tsx";

/** Fields `organization`, `change` and `key`. Each form has its own key, so a double click undoes only once. */
export const postUndo = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const [organizationId, changeId, key] = ["organization", "change", "key"].map((name) => form.get(name) ?? "");
    if (!/^org_[0-9a-z]{1,32}$/.test(organizationId!) || !isChange(changeId)) throw noPage();
    if (!isUuid(key)) {
      throw new AppError("invalid_request", "no key", { says: ({ unknownChange }) => unknownChange });
    }
    const asked = { organizationId: organizationId!, filter: { id: changeId }, before: undefined };
    const page = await readActivity(deps, user, asked);
    const [change] = page.changes;
    if (!change) throw noPage();
    const run = await deps.tools.run({
      userId: user.id,
      organizationId: organizationId!,
      tool: "undo_change",
      arguments: { change_id: changeId, idempotency_key: key },
      at: deps.clock(),
    });
    const refuse = async (refused: Refused) => {
      const now = await readActivity(deps, user, asked);
      return await renderChange(c, deps, { user, page: now, change: now.changes[0] ?? change, news: { refused } });
    };
    if (run.outcome === "refused") return await refuse({ code: "no_plan" });
    const { result } = run;
    if (result.proposal_id) return c.redirect(proposalPath(result.proposal_id), 303);
    if (result.ok) return c.redirect(`${changePath(organizationId!, result.change_id ?? changeId)}&done=undone`, 303);
    const { code, params } = result.error!;
    return await refuse({ code: publicCode(code), rows: params?.details?.rows });
  });
