/** What is built is committed, so that a deployment needs no build; this keeps it what its sources say. */
import { assert } from "@std/assert";
import { buildChart, CHART_MODULE } from "../../local/build_chart.ts";

Deno.test({
  name: "the chart's module is what its sources build",
  // The builder is a process of its own, which outlives the test.
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => assert(await Deno.readTextFile(CHART_MODULE) === await buildChart(), "run deno task build:chart"),
});
