/** @jsxImportSource hono/jsx */
/** The provider connections of variable bills: their state and the owner's actions. */
import type { Child } from "hono/jsx";
import type { Account, AccountProviderLink } from "../../../shared/db/identity_store.ts";
import { Name, Row } from "../../../shared/pages/components.tsx";
import type { Registry } from "../../../shared/providers/registry.ts";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import { connectPath, removePath } from "./providers/addresses.ts";
import { providerName } from "./providers/provider_name.ts";

interface ProviderLinksView {
  links: Account["provider_links"];
  connectable: Account["connectable_bills"];
  providers: Registry;
  /** The hidden input that ties a form to the person. */
  token: Child;
  words: LinkWords;
  format: PageFormat;
}

type LinkWords = PageWords["providerLinks"];

export function ProviderLinks({ links, connectable, providers, token, words, format }: ProviderLinksView) {
  if (links.length === 0 && connectable.length === 0) return <p>{words.none}</p>;
  return (
    <ul class="rows">
      {links.map((link) => (
        <Row action={link.role === "owner" && <Actions link={link} token={token} words={words} />}>
          <h3>
            <Name>{link.bill}</Name>
          </h3>
          <p>
            {words.state(
              providerName(providers, link.provider_key),
              <Name>{link.account_label}</Name>,
              statusOf(link, words),
            )}
          </p>
          {link.status === "needs_reauth" && !link.bill_is_over && link.bill_is_variable && (
            <p class="invalid">
              {words[link.role === "owner" ? "keyRefused" : "keyRefusedOwner"](
                providerName(providers, link.provider_key),
              )}
            </p>
          )}
          <p class="muted small">
            <Name>{link.organization}</Name>
            {link.last_success_period && (
              <>
                {" · "}
                {words.lastAmount(
                  <time datetime={link.last_success_period.slice(0, 7)}>
                    {format.month(link.last_success_period)}
                  </time>,
                )}
              </>
            )}
          </p>
        </Row>
      ))}
      {connectable.map(({ id, name, organization }) => (
        <Row action={<a href={connectPath(id)} aria-label={words.connectBill(name)}>{words.connect}</a>}>
          <h3>
            <Name>{name}</Name>
          </h3>
          <p>{words.notConnected}</p>
          <p class="muted small">
            <Name>{organization}</Name>
          </p>
        </Row>
      ))}
    </ul>
  );
}

const statusOf = ({ status, bill_is_over, bill_is_variable }: AccountProviderLink, words: LinkWords): string =>
  bill_is_over ? words.billIsOver : bill_is_variable ? words.status[status] : words.billIsFixed;

function Actions({ link, token, words }: { link: AccountProviderLink; token: Child; words: LinkWords }) {
  const { id, bill, bill_id, bill_is_over, bill_is_variable, provider_key, status } = link;
  const change = status === "paused"
    ? { action: "resume_link", label: words.resume, ofBill: words.resumeBill(bill) }
    : { action: "pause_link", label: words.pause, ofBill: words.pauseBill(bill) };
  const connect = status === "needs_reauth"
    ? { label: words.connectAgain, ofBill: words.connectBillAgain(bill) }
    : { label: words.newKey, ofBill: words.newKeyFor(bill) };
  return (
    <div class="actions">
      {!bill_is_over && bill_is_variable && status !== "paused_by_plan" && (
        <>
          <a href={connectPath(bill_id, provider_key)} aria-label={connect.ofBill}>{connect.label}</a>
          <form method="post" action="/account">
            {token}
            <input type="hidden" name="action" value={change.action} />
            <input type="hidden" name="link_id" value={id} />
            <button class="link" type="submit" aria-label={change.ofBill}>{change.label}</button>
          </form>
        </>
      )}
      <a class="quiet danger" href={removePath(id)} aria-label={words.removeFrom(bill)}>{words.remove}</a>
    </div>
  );
}
