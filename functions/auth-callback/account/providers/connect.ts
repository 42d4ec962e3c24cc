/**
 * The page that connects a bill to its provider, with `?bill=` and `?provider=` as in the tool's `connect_url`. People
 * can enter credentials only here. A credential is tried before it is stored, and no response contains its secret
 * parts.
 */
import { type Envelope, sealCredential } from "../../../../shared/credentials/envelope.ts";
import type { ConnectionRefusal, OpenConnection } from "../../../../shared/db/provider_link_store.ts";
import { type Quota, withinLimits } from "../../../../shared/db/quota.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import { callerQuotas, quotasFor } from "../../../../shared/http/quotas.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import type { Credential, Provider } from "../../../../shared/providers/provider.ts";
import type { Registry } from "../../../../shared/providers/registry.ts";
import { type Form, type Handler, type PageDeps, signedIn, signedInForm } from "../../page_guards.ts";
import { connectedPath, fieldName } from "./addresses.ts";
import { renderChooser } from "./chooser_page.tsx";
import { renderConnect } from "./connect_page.tsx";
import { renderConnected } from "./connected_page.tsx";
import { type Failure, fieldProblems, trialFailure } from "./connect_problems.ts";
import { renderRefusal } from "./refusal_page.tsx";
import { tryCredential } from "./try_credential.ts";

export const showConnect = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const provider = providerOf(c, deps.providers);
    const opened = await open(c, deps, { user, provider, quotas: [] });
    if (opened.outcome !== "open") return await renderRefusal(c, deps, { user, refusal: opened });
    const view = { user, opened, billId: billOf(c) };
    return provider
      ? await renderConnect(c, deps, { ...view, provider })
      : await renderChooser(c, deps, { ...view, asked: c.req.query("provider") });
  });

export const postConnect = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const provider = providerOf(c, deps.providers);
    if (!provider) {
      throw new AppError("invalid_request", "unknown provider", { says: ({ unknownProvider }) => unknownProvider });
    }
    const credential = readCredential(form, provider);
    const { words } = c.get("reader");
    const problems = fieldProblems(provider, credential, words.connectProvider);
    const isComplete = Object.keys(problems).length === 0;
    const opened = await open(c, deps, { user, provider, quotas: isComplete ? await trialQuotas(c, deps, user) : [] });
    if (opened.outcome !== "open") return await renderRefusal(c, deps, { user, refusal: opened });
    const again = (failure: Failure) => {
      const typed = typedAgain(provider, credential, failure);
      return renderConnect(c, deps, { user, opened, billId: billOf(c), provider, failure, typed });
    };
    if (!isComplete) return await again({ status: 400, problems });

    const { link_id: linkId } = opened;
    const envelope = await sealCredential(deps.config.credentialsKeys, linkId, credential);
    const trial = await tryCredential(deps, { provider, linkId, envelope });
    deps.log.info("provider_tried", {
      request_id: c.get("requestId"),
      organization_id: opened.organization_id,
      outcome: trial.outcome,
    });
    if (trial.outcome !== "accepted") return await again(trialFailure(provider, trial, words.trials));
    const kept = await keep(c, deps, { user, provider, credential, linkId, envelope });
    return kept ?? c.redirect(connectedPath(billOf(c), trial), 303);
  });

/** The page after connecting. It has its own URL, so that a reload does not submit the form again. */
export const showConnected = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const opened = await open(c, deps, { user, provider: undefined, quotas: [] });
    if (opened.outcome !== "open" || opened.link?.status !== "active") return c.redirect("/account", 303);
    const isWaiting = c.req.query("amount") === "none";
    return await renderConnected(c, deps, { user, opened, link: opened.link, isWaiting });
  });

const billOf = (c: AppContext) => c.req.query("bill") ?? "";

/** Finds a provider by key, or by the name that a person gave their assistant. */
function providerOf(c: AppContext, providers: Registry): Provider | undefined {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const wanted = plain(c.req.query("provider") ?? "");
  return wanted ? [...providers.values()].find(({ key, name }) => [key, name].map(plain).includes(wanted)) : undefined;
}

/** @throws {AppError} `rate_limited` */
async function open(
  c: AppContext,
  { providerLinks, clock }: PageDeps,
  { user, provider, quotas }: { user: SignedInUser; provider: Provider | undefined; quotas: readonly Quota[] },
): Promise<OpenConnection | ConnectionRefusal> {
  const billId = billOf(c);
  // Malformed ids are not looked up; the database would reject them.
  if (!/^bill_[0-9a-z]{8,32}$/.test(billId)) return { outcome: "unknown_bill" };
  const asked = { userId: user.id, billId, providerKey: provider?.key ?? null, quotas, at: clock() };
  return withinLimits(await providerLinks.openConnection(asked));
}

const trialQuotas = async (c: AppContext, { config }: PageDeps, user: SignedInUser): Promise<Quota[]> => [
  ...await quotasFor(config, [["provider_test_person", user.id]]),
  ...await callerQuotas(config, "provider_test_ip", c),
  ...await quotasFor(config, [["provider_test_all", "everybody"]]),
];

const readCredential = (form: Form, { fields }: Provider): Credential =>
  Object.fromEntries(fields.map(({ name }) => [name, form.get(fieldName(name))]).filter(([, value]) => value));

/** Valid values of fields that are neither secret nor contain a secret, for prefilling the form again. */
function typedAgain({ fields }: Provider, credential: Credential, { problems }: Failure): Credential {
  const secrets = fields.filter(({ isSecret }) => isSecret).map(({ name }) => credential[name] ?? "").filter(Boolean);
  return Object.fromEntries(
    fields.filter(({ name, isSecret }) => !isSecret && !problems?.[name])
      .map(({ name }) => [name, credential[name] ?? ""] as const)
      .filter(([, value]) => !secrets.some((secret) => value.includes(secret))),
  );
}

/**
 * One more than the number of tabs that a person may have open for the same bill, since each tab can win the race once.
 */
const MAX_ATTEMPTS = 5;

/** @returns why the credential could not be stored. */
async function keep(
  c: AppContext,
  deps: PageDeps,
  { user, provider, credential, linkId, envelope }: {
    user: SignedInUser;
    provider: Provider;
    credential: Credential;
    linkId: string;
    envelope: Envelope;
  },
): Promise<Response | undefined> {
  const billId = billOf(c);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const answer = await deps.providerLinks.connectProvider({
      userId: user.id,
      billId,
      provider,
      linkId,
      accountLabel: provider.label(credential).slice(0, 120) || provider.name,
      envelope,
      at: deps.clock(),
    });
    if (answer.outcome === "connected") return undefined;
    if (answer.outcome !== "moved") return await renderRefusal(c, deps, { user, refusal: answer });
    const opened = await open(c, deps, { user, provider, quotas: [] });
    if (opened.outcome !== "open") return await renderRefusal(c, deps, { user, refusal: opened });
    linkId = opened.link_id;
    envelope = await sealCredential(deps.config.credentialsKeys, linkId, credential);
  }
  throw new AppError("unavailable", "the link keeps changing", {
    says: ({ connectingElsewhere }) => connectingElsewhere,
  });
}
