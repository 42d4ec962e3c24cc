/** Asks the providers of several links at once, each by its own adapter. */

/** What a provider says of one account and month. */
export type ProviderAnswer =
  | { outcome: "statement"; amount: string; currency: string; dueOn?: string }
  | { outcome: "not_ready" | "auth_error" }
  | { outcome: "error"; code: string };

/** Asks one provider; must not throw. */
export interface Asker {
  fetchStatement(request: { linkId: string; account: string; period: string }): Promise<ProviderAnswer>;
}

/** A link that may be asked now, as `app.sync_bill_amounts` lists it. */
export interface PendingLink {
  link_id: string;
  provider: string;
  account: string;
  period: string;
}

/** What became of it, as `app.store_bill_amounts` takes it. */
export type FetchResult =
  & { link_id: string; period: string }
  & (
    | { outcome: "statement"; amount: string; currency: string; due_on?: string }
    | { outcome: "not_ready" | "auth_error" }
    | { outcome: "error"; code: string }
  );

/** In the order of `links`; never throws: a provider that cannot be asked is an answer like any other. */
export function fetchStatements(
  links: readonly PendingLink[],
  registry: ReadonlyMap<string, Asker>,
): Promise<FetchResult[]> {
  return Promise.all(links.map(async ({ link_id, provider, account, period }) => {
    const adapter = registry.get(provider);
    const answer: ProviderAnswer = adapter
      ? await adapter.fetchStatement({ linkId: link_id, account, period })
      : { outcome: "error", code: "no_adapter" };
    return { link_id, period, ...onTheWire(answer) };
  }));
}

function onTheWire(answer: ProviderAnswer) {
  if (answer.outcome !== "statement") return answer;
  const { dueOn, ...statement } = answer;
  return { ...statement, ...(dueOn && { due_on: dueOn }) };
}
