/** The tool queries its providers in parallel and a link's months in order, and leaves the others for later. */
import { assert, assertEquals } from "@std/assert";
import { createAskProviders } from "../../../functions/mcp/ask_providers.ts";
import { readConfig } from "../../../shared/config.ts";
import { sealCredential } from "../../../shared/credentials/envelope.ts";
import type { Database } from "../../../shared/db/client.ts";
import { createLog } from "../../../shared/log.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";
import type { Progress } from "../../../shared/words/message.ts";
import { fakeProvider, KEY, registryOf } from "../cron-provider-sync/harness.ts";

Deno.test("months of a link are fetched in order until an error affects the whole link", async () => {
  const links = ["lnk_00000001", "lnk_00000002"];
  const envelopes = await Promise.all(
    links.map(async (link_id) => ({ link_id, envelope: await sealCredential([KEY], link_id, { account: link_id }) })),
  );
  let reads = 0;
  const database: Database = {
    call: <Result>() => {
      reads++;
      return Promise.resolve(envelopes as Result);
    },
  };
  const asked: string[] = [];
  let running = 0;
  const provider = fakeProvider("power", async ({ credential: { account }, month }) => {
    asked.push(`${account!.at(-1)} ${month.start}`);
    assert(++running <= 2);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
    if (account === links[0] && month.start === "2026-08-01") throw new ProviderError("not_ready", "No data");
    if (account === links[1] && month.start === "2026-08-01") throw new ProviderError("rate_limited", "Slow down", 9);
    return { amount: "5.00", currency: "EUR" };
  });
  const unexpected = () => Promise.reject(new Error("unexpected fetch"));
  const ask = createAskProviders({
    config: readConfig({ SUPABASE_URL: "https://project.supabase.co", CREDENTIALS_KEY: KEY }, []),
    database,
    clock: () => new Date("2026-10-02T06:00:00Z"),
    log: createLog(() => {}),
    fetch: unexpected,
    guardedFetch: unexpected,
  }, registryOf(provider));
  const months = ["2026-09-01", "2026-08-01", "2026-07-01"].flatMap((period) =>
    links.map((link_id) => ({ link_id, provider_key: "power", period }))
  );
  const reports: string[] = [];
  const progress = ({ progress, total }: Progress) => void reports.push(`${progress}/${total}`);
  const answers = await ask(months, { progress, signal: new AbortController().signal });
  assertEquals(answers.map((answer) => answer && (answer.outcome === "failed" ? answer.code : answer.amount)), [
    ...["5.00", "5.00"],
    ...["not_ready", "rate_limited"],
    ...["5.00", null],
  ]);
  assertEquals([asked.length, reads], [5, 1]);
  // A link counts once, however many months it has.
  assertEquals(reports, ["0/2", "1/2", "2/2"]);
});
