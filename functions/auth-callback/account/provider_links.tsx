/** @jsxImportSource hono/jsx */
/** Where the amounts of variable bills come from. */
import type { Account } from "../../../shared/db/identity_store.ts";
import { Name, Row } from "../../../shared/pages/components.tsx";

const LINK_STATUS = {
  pending: "waiting for its first amount",
  active: "working",
  needs_reauth: "the provider no longer accepts the credential",
  paused: "paused",
  paused_by_plan: "paused until a plan pays for it again",
} as const;

export function ProviderLinks({ links }: { links: Account["provider_links"] }) {
  if (links.length === 0) return <p>No bill provider is connected. Amounts of variable bills are entered by hand.</p>;
  return (
    <ul class="rows">
      {links.map((link) => (
        <Row>
          <h3>
            <Name>{link.bill}</Name>
          </h3>
          <p>
            {link.provider_key}, <Name>{link.account_label}</Name>: {LINK_STATUS[link.status]}
          </p>
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
    </ul>
  );
}

const monthOf = (period: string) =>
  new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" }).format(new Date(period));
