/** @jsxImportSource hono/jsx */
/** The form for a provider's credential: what it is, where to find it, what becomes of it. What was typed is never shown again, not even after an error. */
import type { OpenConnection } from "../../../../shared/db/provider_link_store.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import { createFormToken } from "../../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import { Buttons, Name, Notice, TextField } from "../../../../shared/pages/components.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import type { Provider } from "../../../../shared/providers/provider.ts";
import type { PageDeps } from "../../page_guards.ts";
import { connectPath, fieldName } from "./addresses.ts";
import type { Failure } from "./connect_problems.ts";
import { providerName } from "./provider_name.ts";

interface ConnectView {
  user: SignedInUser;
  opened: OpenConnection;
  billId: string;
  provider: Provider;
  failure?: Failure;
}

export async function renderConnect(
  c: AppContext,
  { config, clock, providers }: PageDeps,
  { user, opened, billId, provider, failure }: ConnectView,
): Promise<Response> {
  const { link } = opened;
  const known = link && providerName(providers, link.provider_key);
  return renderPage(c, {
    title: `Connect to ${provider.name}`,
    config,
    user,
    status: failure?.status ?? 200,
    children: (
      <>
        <h1>
          Connect <Name>{opened.bill}</Name> to {provider.name}
        </h1>
        {failure && (
          <Notice kind="failure">
            <p>{failure.message ?? "Please look at what is marked below."}</p>
            <p>Nothing was saved. What you entered is gone from here too, so please enter it once more.</p>
          </Notice>
        )}
        {!failure && (
          <p class="lead">
            At the start of every month we look up what the month before has cost, so that nobody has to type it.
          </p>
        )}
        {link && link.provider_key !== provider.key && (
          <Notice kind="warning">
            <p>
              This bill is connected to {known} (<Name>{link.account_label}</Name>). Connecting it to {provider.name}
              {" "}
              ends that, and deletes the key that we have for it.
            </p>
          </Notice>
        )}
        {link?.provider_key === provider.key && !failure && (
          <Notice>
            <p>
              {link.status === "needs_reauth"
                ? `${provider.name} no longer accepts the key that we have`
                : "Connected now"}
              : <Name>{link.account_label}</Name>. What you enter here takes its place; amounts that have come stay.
            </p>
          </Notice>
        )}
        <form method="post" action={connectPath(billId, provider.key)} class="stack" autocomplete="off">
          <input
            type="hidden"
            name="form_token"
            value={await createFormToken(config, { userId: user.id, at: clock() })}
          />
          {provider.fields.map(({ name, label, hint, isSecret, pattern }) => (
            <TextField
              name={fieldName(name)}
              label={label}
              reason={hint}
              error={failure?.problems?.[name]}
              type={isSecret ? "password" : "text"}
              required={!pattern.test("")}
              maxlength={4096}
              autocomplete="off"
              autocapitalize="none"
              spellcheck="false"
              dir="ltr"
            />
          ))}
          <Buttons>
            <button class="primary" type="submit">Try it and connect</button>
            <a class="button" href="/account">Cancel</a>
          </Buttons>
        </form>
        <section>
          <h2>What we do with it</h2>
          <ul>
            <li>We try it once, now. It is kept only if {provider.base ? provider.name : "the server"} accepts it.</li>
            <li>We use it to read what was charged, for this bill, and for nothing else.</li>
            <li>It is kept encrypted. Nobody can look at it again: not you, not other members, not your assistant.</li>
            <li>It is deleted when you remove the connection under Account.</li>
          </ul>
        </section>
        <section class="small muted">
          <p>
            The bill is in <Name>{opened.organization}</Name>, and you are signed in as <Name>{user.email}</Name>.{" "}
            <a href={connectPath(billId)}>Choose another provider</a>
          </p>
        </section>
      </>
    ),
  });
}
