/** Build output is committed, so a deployment needs no build; this test checks that it matches its sources. */
import { assert } from "@std/assert";
import { buildChart, CHART_MODULE } from "../../local/build_chart.ts";

Deno.test({
  name: "the chart's module matches its sources",
  // The builder is a separate process that outlives the test.
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => assert(await Deno.readTextFile(CHART_MODULE) === await buildChart(), "run deno task build"),
});
