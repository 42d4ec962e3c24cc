/** The page of an organization's incoming mail: its address, its senders, and mail that waits for a decision. */
import { createInboundPageStore, INBOUND_ACTIONS } from "../../../shared/db/inbound_page_store.ts";
import { AppError } from "../../../shared/errors.ts";
import { organizationPath } from "../../../shared/urls.ts";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { noPage, organizationOf } from "../page_params.ts";
import { renderInbound } from "./inbound_page.tsx";

const TARGET = /^(?:mail_[0-9a-z]{8,32}|[^\s@]{1,64}@[^\s@]{1,255}|)$/;

export const showInbound = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { config, database, clock } = deps;
    if (!config.inbound) throw noPage();
    const inbound = await createInboundPageStore(database).read({
      userId: user.id,
      organizationId: organizationOf(c),
      at: clock(),
    });
    if (inbound.outcome !== "ok") throw noPage();
    return await renderInbound(c, deps, { user, inbound, domain: config.inbound.domain, done: c.req.query("done") });
  });

/** Form fields `action` (`InboundAction`) and `target`: a mail's id; for `forget`, a sender's address. */
export const postInbound = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    if (!deps.config.inbound) throw noPage();
    const action = INBOUND_ACTIONS.find((one) => one === form.get("action"));
    const target = form.get("target") ?? "";
    if (!action || !TARGET.test(target)) {
      throw new AppError("invalid_request", "unknown action", { says: ({ unknownChange }) => unknownChange });
    }
    const organizationId = organizationOf(c);
    const { outcome } = await createInboundPageStore(deps.database).change({
      userId: user.id,
      organizationId,
      action,
      target,
      at: deps.clock(),
    });
    if (outcome === "unknown") throw noPage();
    return c.redirect(`${organizationPath(organizationId, "mail")}?done=${outcome === "gone" ? "gone" : action}`, 303);
  });
