/** The pages that connect a bill to a provider: the choice, the form, and refusals. */
import type { ConnectionRefusal, OpenConnection } from "../../../shared/db/provider_link_store.ts";
import { signIn } from "../../functions/auth-callback/harness.ts";
import {
  EMAIL,
  HOSTILE,
  LONG,
  ORGANIZATION_STATE,
  page,
  RIGHT_TO_LEFT,
  signedIn,
  type State,
  UNBROKEN,
} from "./state.ts";
import { home } from "./accounts.ts";

export const opened: OpenConnection = {
  outcome: "open",
  bill: "Cloud hosting",
  organization: "Home",
  organization_id: home.id,
  owner_email: EMAIL,
  state: ORGANIZATION_STATE,
  link: null,
  link_id: "lnk_000000000001",
};
const connectPath = (provider = "") =>
  `/account/providers/connect?bill=bill_000000000001${provider && `&provider=${provider}`}`;

/** The connect page of a provider, for a bill as the database returns it. */
const connecting = (
  name: string,
  provider: string,
  connection: Partial<OpenConnection> | ConnectionRefusal = {},
): State =>
  signedIn(`connect-${name}`, connectPath(provider), { answers: { open_connection: { ...opened, ...connection } } });

/** The same page after the provider gave this response to a submitted credential. */
const tried = (name: string, status: number, key: string): State =>
  page(`connect-${name}`, async ({ pages }) => {
    pages.ask.answer = () => new Response(null, { status });
    const { browser } = await signIn(pages, EMAIL);
    const form = await (await browser.get(connectPath("digitalocean"))).text();
    return await browser.submit(form, "credential_token", { credential_token: key });
  }, { answers: { open_connection: opened } });

export const CONNECTING_STATES: readonly State[] = [
  connecting("choose", ""),
  connecting("choose-unknown", "hetzner", {
    link: { provider_key: "openai", account_label: "Organization …3f9a", status: "active" },
  }),
  connecting("choose-awkward", encodeURIComponent(HOSTILE), { bill: UNBROKEN, organization: LONG }),
  connecting("empty", "digitalocean"),
  connecting("two-fields", "http_json"),
  connecting("again", "digitalocean", {
    link: { provider_key: "digitalocean", account_label: "Team …4f2a", status: "needs_reauth" },
  }),
  connecting("instead", "github", {
    link: { provider_key: "digitalocean", account_label: "Team …4f2a", status: "active" },
  }),
  connecting("awkward", "openai", {
    bill: HOSTILE,
    organization: RIGHT_TO_LEFT,
    link: { provider_key: "openai", account_label: UNBROKEN, status: "paused" },
  }),
  tried("refused", 401, "dop_v1_0123456789abcdef"),
  tried("malformed", 200, "short"),
  tried("down", 502, "dop_v1_0123456789abcdef"),
  signedIn("connect-done", "/account/providers/connected?bill=bill_000000000001&amount=none", {
    answers: {
      open_connection: {
        ...opened,
        link: { provider_key: "digitalocean", account_label: "Team …4f2a", status: "active" },
      },
    },
  }),
  connecting("not-owner", "digitalocean", { ...opened, outcome: "not_owner", owner_email: "noor@example.com" }),
  connecting("no-plan", "digitalocean", { ...opened, outcome: "feature_not_in_plan" }),
  connecting("same-every-time", "digitalocean", { ...opened, outcome: "not_variable" }),
  connecting("unknown-bill", "digitalocean", { outcome: "unknown_bill" }),
];
