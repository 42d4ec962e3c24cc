/** @jsxImportSource hono/jsx */
/**
 * The form for a provider's credential: its purpose, its source and its use. A secret is never shown again, not even
 * after an error.
 */
import type { OpenConnection } from "../../../../shared/db/provider_link_store.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import { createFormToken } from "../../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import { Name, Notice, Submit, TextField } from "../../../../shared/pages/components.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../../shared/pages/tabs.tsx";
import type { Credential, Provider } from "../../../../shared/providers/provider.ts";
import type { PageDeps } from "../../page_guards.ts";
import { connectPath, fieldName } from "./addresses.ts";
import type { Failure } from "./connect_problems.ts";
import { providerName } from "./provider_name.ts";

/** An example request to a user's own server, and its response (shared/providers/http_json.ts). */
const EXAMPLE = `GET https://costs.example/month?period_start=2026-09-01&period_end=2026-10-01
Authorization: Bearer …

{"amount": "123.45", "currency": "EUR", "final": true}`;

interface ConnectView {
  user: SignedInUser;
  opened: OpenConnection;
  billId: string;
  provider: Provider;
  failure?: Failure;
  /** Fields that keep their value after an error, by name. */
  typed?: Credential;
}

export async function renderConnect(
  c: AppContext,
  { config, clock, providers }: PageDeps,
  { user, opened, billId, provider, failure, typed }: ConnectView,
): Promise<Response> {
  const { link } = opened;
  const { connectProvider: words, credentials } = c.get("reader").words;
  return renderPage(c, {
    title: words.title(provider.name),
    config,
    user,
    tabs: tabsOf(opened.organization_id, opened.state),
    status: failure?.status ?? 200,
    children: (
      <>
        <h1>{words.heading(<Name>{opened.bill}</Name>, provider.name)}</h1>
        {failure && (
          <Notice kind="failure">
            <p>{failure.message ?? words.lookBelow}</p>
            <p>{words.nothingSaved}</p>
          </Notice>
        )}
        {!failure && <p class="lead">{words.lead}</p>}
        {link && link.provider_key !== provider.key && (
          <Notice kind="warning">
            <p>
              {words.replaces(
                providerName(providers, link.provider_key),
                <Name>{link.account_label}</Name>,
                provider.name,
              )}
            </p>
          </Notice>
        )}
        {link?.provider_key === provider.key && !failure && (
          <Notice>
            <p>
              {link.status === "needs_reauth"
                ? words.keyRefused(provider.name, <Name>{link.account_label}</Name>)
                : words.connectedNow(<Name>{link.account_label}</Name>)}
            </p>
          </Notice>
        )}
        <form method="post" action={connectPath(billId, provider.key)} class="stack" autocomplete="off">
          <input
            type="hidden"
            name="form_token"
            value={await createFormToken(config, { userId: user.id, at: clock() })}
          />
          {provider.fields.map(({ name, words, isSecret, pattern }) => (
            <TextField
              name={fieldName(name)}
              label={words(credentials).label}
              reason={words(credentials).hint}
              error={failure?.problems?.[name]}
              value={typed?.[name]}
              type={isSecret ? "password" : "text"}
              required={!pattern.test("")}
              maxlength={4096}
              autocomplete="off"
              autocapitalize="none"
              spellcheck="false"
              dir="ltr"
            />
          ))}
          <Submit leave={{ href: "/account", words: words.cancel }}>{words.submit}</Submit>
        </form>
        {!provider.base && (
          <section>
            <h2>{words.example}</h2>
            <p>{words.exampleLead}</p>
            <pre>
              <code class="copy">{EXAMPLE}</code>
            </pre>
          </section>
        )}
        <section>
          <h2>{words.whatWeDo}</h2>
          <ul>
            <li>{provider.base ? words.weTry(provider.name) : words.weTryServer}</li>
            <li>{words.weUse}</li>
            <li>{words.weKeep}</li>
            <li>{words.weDelete}</li>
          </ul>
        </section>
        <section class="small muted">
          <p>
            {words.whose(<Name>{opened.organization}</Name>, <Name>{user.email}</Name>)}{" "}
            <a href={connectPath(billId)}>{words.chooseAnother}</a>
          </p>
        </section>
      </>
    ),
  });
}
