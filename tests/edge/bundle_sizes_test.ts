/**
 * The code that each function loads before its first response must stay small. Raise a limit here, or import lazily.
 */
import { assert } from "@std/assert";
import { bundleSizes } from "../../bench/measure/bundle.ts";
import { type Slug, SLUGS } from "../../shared/routes.ts";

/** The modules that always load: kB after minifying and gzip, and their number. */
const LIMITS: Record<Slug, { kb: number; modules: number }> = {
  "mcp": { kb: 108, modules: 141 },
  "oauth": { kb: 40, modules: 94 },
  "payment-webhook": { kb: 27, modules: 62 },
  "auth-callback": { kb: 151, modules: 242 },
  "cron-reminders": { kb: 19, modules: 43 },
  "cron-provider-sync": { kb: 19, modules: 44 },
  "inbound-mail": { kb: 31, modules: 76 },
};
/** If a bundle shrinks below this fraction of its limit, lower the limit. */
const LEAST = 0.9;

for (const slug of SLUGS) {
  Deno.test(`${slug} loads no more than its limit at startup`, async () => {
    const { staticKb, modules, largest } = await bundleSizes(slug);
    const { kb, modules: most } = LIMITS[slug];
    const parts = largest.slice(0, 8).map(({ name, kb }) => `${name} ${kb.toFixed(0)}`).join(", ");
    assert(staticKb <= kb, `${staticKb.toFixed(1)} kB, at most ${kb}; before compression: ${parts}`);
    assert(staticKb >= kb * LEAST, `${staticKb.toFixed(1)} kB: lower the limit of ${kb}`);
    assert(modules <= most, `${modules} modules, at most ${most}`);
  });
}
