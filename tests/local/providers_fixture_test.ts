/**
 * `/local/providers`: the stack's clock decides which months are final, and links stay on the stack. How adapters read
 * it: tests/shared/providers/contract_test.ts.
 */
import { assert, assertEquals } from "@std/assert";
import { movableClock } from "../../local/clock.ts";
import { functionEnvironment } from "../../local/environment.ts";
import { fixtureAmount } from "../../local/fixtures/providers/app.ts";
import { createLocalRoutes } from "../../local/local_routes.ts";
import type { Secrets } from "../../local/secrets.ts";
import { readConfig } from "../../shared/config.ts";
import { PROVIDERS } from "../../shared/providers/registry.ts";

const SITE = "http://127.0.0.1:54321";
const INVOICES = `${SITE}/local/providers/digitalocean/v2/customers/my/invoices`;

const clock = movableClock(() => {});
const mail = { port: 0, list: () => [], clear: () => {}, close: () => Promise.resolve() };
const app = createLocalRoutes({ mail, clock, isHealthy: () => Promise.resolve(true) });
const ask = async (url: string, secret?: string) => {
  const headers: HeadersInit = secret ? { authorization: `Bearer ${secret}` } : {};
  const response = await app.request(url, { headers });
  return { status: response.status, body: await response.json() };
};

Deno.test("an invoice exists once its month is over by the stack's clock, and does not change", async () => {
  const periods = async () => {
    const { body } = await ask(`${INVOICES}?per_page=200`, "dop_v1_demo4f2a");
    return (body.invoices as { invoice_period: string; amount: string }[]);
  };
  clock.move(new Date("2030-04-30T23:59:00Z"));
  const april = await periods();
  assertEquals(april[0]!.invoice_period, "2030-03");
  clock.move(new Date("2030-05-01T00:01:00Z"));
  const may = await periods();
  assertEquals(may[0]!.invoice_period, "2030-04");
  const march = (invoices: typeof may) =>
    invoices.filter(({ invoice_period }) => invoice_period === "2030-03").reduce(
      (sum, one) => sum + Number(one.amount),
      0,
    );
  assertEquals(march(april).toFixed(2), march(may).toFixed(2));
  assertEquals(march(may).toFixed(2), fixtureAmount("digitalocean", { secret: "dop_v1_demo4f2a", month: "2030-03" }));
});

Deno.test("the demo bill's fetched amount is close to its usual one", () => {
  for (let month = 1; month <= 12; month++) {
    const period = `2030-${String(month).padStart(2, "0")}`;
    const amount = Number(fixtureAmount("digitalocean", { secret: "dop_v1_demo4f2a", month: period }));
    assert(amount >= 34.4 && amount <= 51.6, `${amount} in ${period}`);
  }
});

Deno.test("further pages are at the same origin as the first", async () => {
  const { body } = await ask(`${INVOICES}?per_page=200`, "dop_v1_demo-paged");
  assertEquals(body.links.pages.next, `${INVOICES}?page=2&per_page=200`);
});

Deno.test("a request without a credential, or to an unknown provider, is refused", async () => {
  assertEquals((await ask(INVOICES)).status, 401);
  assertEquals((await ask(`${SITE}/local/providers/aws/v1`, "x")).status, 404);
  assertEquals((await ask(`${SITE}/local/providers/openai/v1/models`, "x")).status, 400);
});

Deno.test("the stack's functions find every provider with a base on the stack, unless the environment overrides it", () => {
  const stack = { siteUrl: SITE, supabaseUrl: SITE, smtpPort: 1, secrets: {} as Secrets };
  const { providerBases } = readConfig({ PROVIDER_BASES: functionEnvironment({}, stack).PROVIDER_BASES }, []);
  const fixed = [...PROVIDERS.values()].filter(({ base }) => base).map(({ key }) => key);
  assertEquals(providerBases, Object.fromEntries(fixed.map((key) => [key, `${SITE}/local/providers/${key}`])));
  const own = functionEnvironment({ PROVIDER_BASES: "github=https://proxy.example" }, stack);
  assertEquals(own.PROVIDER_BASES, "github=https://proxy.example");
});
