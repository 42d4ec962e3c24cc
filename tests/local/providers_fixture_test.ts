/**
 * The providers on the local port: months are final by the stack's clock, and links stay on the stack.
 * tests/shared/providers/contract_test.ts tests the adapters with them.
 */
import { assert, assertEquals } from "@std/assert";
import { movableClock } from "../../local/clock.ts";
import { functionEnvironment } from "../../local/environment.ts";
import { fixtureAmount } from "../../local/fixtures/providers/app.ts";
import { createLocalRoutes } from "../../local/local_routes.ts";
import type { Secrets } from "../../local/secrets.ts";
import { readConfig } from "../../shared/config.ts";
import { PROVIDERS } from "../../shared/providers/registry.ts";

const LOCAL = "http://127.0.0.1:54321/secret";
const INVOICES = `${LOCAL}/providers/digitalocean/v2/customers/my/invoices`;

const clock = movableClock(() => {});
const mail = { list: () => [], clear: () => {} };
const app = createLocalRoutes({ base: "/secret", siteUrl: "http://127.0.0.1:7400", mail, clock });
const ask = async (url: string, secret?: string) => {
  const headers: HeadersInit = secret ? { authorization: `Bearer ${secret}` } : {};
  const response = await app.request(url, { headers });
  return { status: response.status, body: await response.json() };
};

Deno.test("an invoice exists once its month is over by the stack's clock, and never changes", async () => {
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
  assertEquals((await ask(`${LOCAL}/providers/aws/v1`, "x")).status, 404);
  assertEquals((await ask(`${LOCAL}/providers/openai/v1/models`, "x")).status, 400);
});

Deno.test("the stack's functions use the stack's own providers, unless the environment overrides them", () => {
  const site = { siteUrl: LOCAL, supabaseUrl: LOCAL, secrets: {} as Secrets };
  const stack = {
    ...site,
    own: {},
    db: "embedded",
    localUrl: LOCAL,
    demoRates: false,
    mailboxUrl: "smtp://127.0.0.1:1",
  };
  const { providerBases } = readConfig({ PROVIDER_BASES: functionEnvironment(stack).PROVIDER_BASES }, []);
  const fixed = [...PROVIDERS.values()].filter(({ base }) => base).map(({ key }) => key);
  assertEquals(providerBases, Object.fromEntries(fixed.map((key) => [key, `${LOCAL}/providers/${key}`])));
  const own = functionEnvironment({ ...stack, own: { PROVIDER_BASES: "github=https://proxy.example" } });
  assertEquals(own.PROVIDER_BASES, "github=https://proxy.example");
});
