/** A connector with one slow tool, which waits for providers that respond on the test's command. */
import { sealCredential } from "../../../shared/credentials/envelope.ts";
import { fakeProvider, KEY, registryOf } from "../cron-provider-sync/harness.ts";
import { ENVELOPE, type Json, startConnector } from "./harness.ts";

/** A call of the slow tool. */
export const SYNC = { name: "sync_bill_amounts", arguments: { bill_ids: ["bill_000000000001"] } };

interface Options {
  links: number;
  /** The number of months to fetch for each link. */
  months?: number;
  /** Unusual results or errors of the database. */
  first?: () => unknown;
  credentials?: () => unknown;
  second?: () => unknown;
  /** Makes the call the first of an hour. The function runs when the use is recorded. */
  firstUse?: () => void;
}

/** Starts with providers that never respond. */
export async function startSync({ links, months = 1, first, credentials, second, firstUse }: Options) {
  const ids = Array.from({ length: links }, (_, index) => `lnk_${index + 1}`);
  const gates = new Map(ids.map((id) => [id, Promise.withResolvers<void>()]));
  const stored = Promise.withResolvers<Json>();
  let asked = 0;
  let onAsked = () => {};
  const provider = fakeProvider("power", async ({ credential }) => {
    asked++;
    onAsked();
    await gates.get(credential.account!)!.promise;
    return { amount: "5.00", currency: "EUR" };
  });
  const envelopes = await Promise.all(
    ids.map(async (link_id) => ({ link_id, envelope: await sealCredential([KEY], link_id, { account: link_id }) })),
  );
  const pending = ids.flatMap((link_id) =>
    Array.from({ length: months }, (_, month) => ({
      link_id,
      provider_key: "power",
      lease_token: "lease",
      period: `2026-0${9 - month}-01`,
    }))
  );
  const begin = () => ({
    outcome: "ok",
    result: { ...ENVELOPE, data: { bills: [], pending } },
    ...(firstUse && { first_use_in_hour: true }),
  });
  const store = () => ({ outcome: "ok", result: { ...ENVELOPE, data: { bills: [] } } });
  const connector = startConnector(
    {
      call_tool: ({ tool, arguments: args }) => {
        if (tool === "sync_bill_amounts") return (first ?? begin)();
        stored.resolve(args);
        return (second ?? store)();
      },
      read_provider_credentials: credentials ?? (() => envelopes),
      record_use: () => firstUse!(),
    },
    { credentialsKeys: [KEY], providerBases: {} },
    { registry: registryOf(provider) },
  );
  return {
    ...connector,
    /** Database calls since the last reading. */
    rounds: () => connector.calls.splice(0).map(({ name, args }) => `${name} ${args.tool ?? ""}`.trim()),
    /** Lets a link's provider respond, for all its months. */
    answer: (link: number) => gates.get(`lnk_${link}`)!.resolve(),
    /** Resolves when providers have received this many queries. */
    async asked(times: number) {
      while (asked < times) await new Promise<void>((resolve) => onAsked = resolve);
    },
    askedMonths: () => asked,
    /** The arguments of the second call, once it arrives. */
    stored: () => stored.promise,
  };
}

/** The messages of an event stream on arrival. */
export function readEvents(response: Response) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  async function next(): Promise<Json> {
    while (true) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        const data = /^data: ([^\n]*)/m.exec(event)?.[1];
        if (data !== undefined) return JSON.parse(data);
        continue;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += value;
    }
  }
  return {
    /** Undefined at the end. */
    next,
    async *all() {
      for (let event = await next(); event !== undefined; event = await next()) yield event;
    },
    cancel: () => reader.cancel(),
  };
}
