/**
 * The whole service under load with a model, at 70 % of the machine's capacity (or at --rate): every client compares
 * every answer with its own copy of the books.
 *
 *     deno task suite soak -- --minutes 10            load alone
 *     deno task suite soak -- --minutes 10 --faults   all faults, one after the other, in the last part
 *     … --faults --some 4                             some faults, chosen by the seed
 *     … --faults --only 'PostgREST'                   faults with a matching name
 *     … --server                                      as on one server (docs/self-hosting.md)
 */
import { parseArgs } from "node:util";
import { print, report } from "./report.ts";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  args: Deno.args.filter((arg) => arg !== "--"),
  options: {
    minutes: { type: "string", default: "1.5" },
    seed: { type: "string", default: String(Date.now() % 2 ** 31) },
    faults: { type: "boolean", default: false },
    plant: { type: "string" },
    server: { type: "boolean", default: false },
    only: { type: "string" },
    some: { type: "string" },
    organizations: { type: "string", default: "40" },
    rate: { type: "string" },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error("--minutes takes a number of minutes");
const result = await soak({
  seconds: minutes * 60,
  seed: Number(values.seed),
  faults: values.faults,
  plant: values.plant,
  isOneServer: values.server,
  only: values.only,
  ...(values.rate && { rate: Number(values.rate) }),
  ...(values.some && { some: Number(values.some) }),
  organizations: Number(values.organizations),
  say: print,
});
report(result);
Deno.exit(result.problems.length === 0 ? 0 : 1);
