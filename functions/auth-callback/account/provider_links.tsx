/** @jsxImportSource hono/jsx */
/** Where the amounts of variable bills come from: how each connection is, and what its owner can do with it. */
import type { Child } from "hono/jsx";
import type { Account, AccountProviderLink } from "../../../shared/db/identity_store.ts";
import { Name, Row } from "../../../shared/pages/components.tsx";
import type { Registry } from "../../../shared/providers/registry.ts";
import { connectPath, removePath } from "./providers/addresses.ts";
import { providerName } from "./providers/provider_name.ts";

interface ProviderLinksView {
  links: Account["provider_links"];
  connectable: Account["connectable_bills"];
  providers: Registry;
  /** The hidden input that ties a form to the person. */
  token: Child;
}

export function ProviderLinks({ links, connectable, providers, token }: ProviderLinksView) {
  if (links.length === 0 && connectable.length === 0) {
    return (
      <p>
        No bill provider is connected. A bill that costs something else every time can have its amount looked up: tell
        your assistant to add it as a variable bill, and connect it here.
      </p>
    );
  }
  return (
    <ul class="rows">
      {links.map((link) => (
        <Row action={link.role === "owner" && <Actions link={link} token={token} />}>
          <h3>
            <Name>{link.bill}</Name>
          </h3>
          <p>
            {providerName(providers, link.provider_key)}, <Name>{link.account_label}</Name>: {statusOf(link)}
          </p>
          {link.status === "needs_reauth" && !link.bill_is_over && link.bill_is_variable && (
            <p class="invalid">
              {providerName(providers, link.provider_key)} no longer accepts our key, so no amounts come.{" "}
              {link.role === "owner" ? "Connect it again." : "The owner has to connect it again."}
            </p>
          )}
          <p class="muted small">
            <Name>{link.organization}</Name>
            {link.last_success_period && (
              <>
                {" · last amount for "}
                <time datetime={link.last_success_period.slice(0, 7)}>{monthOf(link.last_success_period)}</time>
              </>
            )}
          </p>
        </Row>
      ))}
      {connectable.map(({ id, name, organization }) => (
        <Row action={<a href={connectPath(id)} aria-label={`Connect ${name}`}>Connect</a>}>
          <h3>
            <Name>{name}</Name>
          </h3>
          <p>Not connected: its amount is entered by hand.</p>
          <p class="muted small">
            <Name>{organization}</Name>
          </p>
        </Row>
      ))}
    </ul>
  );
}

const LINK_STATUS = {
  pending: "waiting for its first amount",
  active: "working",
  needs_reauth: "not working",
  paused: "paused",
  paused_by_plan: "paused until a plan pays for it again",
} as const;

const statusOf = ({ status, bill_is_over, bill_is_variable }: AccountProviderLink) =>
  bill_is_over
    ? "the bill is over, so nothing is looked up"
    : bill_is_variable
    ? LINK_STATUS[status]
    : "the bill has a fixed amount now, so nothing is looked up";

function Actions({ link, token }: { link: AccountProviderLink; token: Child }) {
  const { id, bill, bill_id, bill_is_over, bill_is_variable, provider_key, status } = link;
  const change = status === "paused" ? "resume" : "pause";
  return (
    <div class="actions">
      {!bill_is_over && bill_is_variable && status !== "paused_by_plan" && (
        <>
          {status === "needs_reauth"
            ? <a href={connectPath(bill_id, provider_key)} aria-label={`Connect ${bill} again`}>Connect again</a>
            : <a href={connectPath(bill_id, provider_key)} aria-label={`New key for ${bill}`}>New key</a>}
          <form method="post" action="/account">
            {token}
            <input type="hidden" name="action" value={`${change}_link`} />
            <input type="hidden" name="link_id" value={id} />
            <button class="link" type="submit" aria-label={`${change === "pause" ? "Pause" : "Resume"} ${bill}`}>
              {change === "pause" ? "Pause" : "Resume"}
            </button>
          </form>
        </>
      )}
      <a class="quiet danger" href={removePath(id)} aria-label={`Remove the provider of ${bill}`}>Remove</a>
    </div>
  );
}

const monthOf = (period: string) =>
  new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" }).format(new Date(period));
