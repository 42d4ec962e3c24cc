/** The harness proves itself: each planted defect is found by a short run, and named for what it is. */
import { assert } from "@std/assert";
import { print } from "./report.ts";
import { soak } from "./soak.ts";
import type { Plant } from "./world/plants.ts";

const FOUND_BY: Record<Plant, RegExp> = {
  "lost write": /should be \d+ \w+ and is absent|counts \d+ instead of \d+|answered totals/,
  "foreign row": /got a row of another one/,
  "double mail": /reminders were mailed twice/,
  "leak": /the memory of mcp grows/,
  "logged token": /a token is in the logs/,
};

for (const [plant, pattern] of Object.entries(FOUND_BY)) {
  Deno.test(`a planted ${plant} is found`, { sanitizeOps: false, sanitizeResources: false }, async () => {
    const { problems } = await soak({ seconds: 6, seed: 7, organizations: 6, rate: 30, plant });
    assert(problems.some((problem) => pattern.test(problem)), problems.join("\n") || "nothing was found");
    print(problems.find((problem) => pattern.test(problem))!.slice(0, 160));
  });
}
