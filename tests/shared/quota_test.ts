import { assertEquals, assertThrows } from "@std/assert";
import { withinLimits } from "../../shared/db/quota.ts";
import { AppError } from "../../shared/errors.ts";
import { failures } from "../../shared/words/en/pages/problems.ts";

Deno.test("withinLimits() reports the wait to programs and people, and returns other answers unchanged", () => {
  for (const [seconds, said] of [[40, "40 seconds"], [700, "12 minutes"]] as const) {
    const thrown = assertThrows(() => withinLimits({ outcome: "limited", retry_after: seconds }), AppError);
    assertEquals([thrown.status, thrown.options.headers], [429, { "retry-after": String(seconds) }]);
    assertEquals(thrown.options.says!(failures), `Too many requests. Try again in ${said}.`);
  }
  assertEquals(withinLimits({ outcome: "open" }), { outcome: "open" });
});
