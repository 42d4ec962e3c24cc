/** A mutated response yields a month or a typed failure. */
import { assert, assertMatch } from "@std/assert";
import fc from "fast-check";
import { createProvidersFixture, PROVIDER_FIXTURES } from "../../../local/fixtures/providers/app.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";
import { PROVIDERS } from "../../../shared/providers/registry.ts";
import { asking, NOW } from "./asking.ts";

const fixture = createProvidersFixture({ clock: () => NOW });

/** Values that trip up parsers, and any JSON. */
const odd = fc.oneof(
  fc.constantFrom(
    null,
    "",
    "-1",
    "1e400",
    -1e300,
    0,
    true,
    [],
    {},
    [[]],
    "NaN",
    "__proto__",
    "\u0000",
    "2026-10-32",
    "2026-10-05",
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Puts `value` at a position of `json`, counted in the order of its values; or removes the value there. */
function changed(json: unknown, place: number, value: unknown): unknown {
  let left = place;
  return JSON.parse(JSON.stringify(json), function (_key, here) {
    return left-- === 0 ? value : here;
  });
}

for (const provider of PROVIDERS.values()) {
  Deno.test(`${provider.name}: a changed response yields a month or a typed failure`, async () => {
    const credential = PROVIDER_FIXTURES.get(provider.key)!.credential("");
    const good = await fixtureAnswer(provider.key);
    const lines = good.split("\n").filter(Boolean);
    const change = fc.record({
      line: fc.nat(lines.length - 1),
      place: fc.nat(60),
      value: odd,
      cut: fc.option(fc.nat(good.length)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const sent = [...lines];
        for (const { line, place, value } of changes) {
          sent[line] = JSON.stringify(changed(JSON.parse(sent[line]!), place, value)) ?? "";
        }
        const text = sent.join("\n").slice(0, changes[0]!.cut ?? undefined);
        // An adapter that requests more pages gets the same page again.
        const { outcome } = await asking(provider, { credential, answer: () => new Response(text) });
        if (outcome instanceof ProviderError) {
          assert(["auth", "rate_limited", "not_ready", "upstream", "bad_shape", "timeout"].includes(outcome.code));
        } else {
          assertMatch(outcome.amount, /^\d{1,12}(\.\d{2,4})?$/);
          assertMatch(outcome.currency, /^[A-Z]{3}$/);
        }
      }),
      { numRuns: 150, seed: 8 },
    );
  });
}

/** The fixture's response to this provider's own request. */
async function fixtureAnswer(key: string): Promise<string> {
  const provider = PROVIDERS.get(key)!;
  const credential = PROVIDER_FIXTURES.get(key)!.credential("");
  const { asked } = await asking(provider, { credential, answer: () => ({}) });
  const { url, headers } = asked[0]!;
  const path = provider.base ? url.slice(provider.base.length) : `/${url.split("/").slice(4).join("/")}`;
  const response = await fixture.request(`http://127.0.0.1/${key}${path}`, { headers });
  assert(response.ok, `${response.status} ${path}`);
  return await response.text();
}
