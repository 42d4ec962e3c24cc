/** The shipped page of the chart is small and contains no external URLs. */
import { assert, assertEquals } from "@std/assert";
import { CHART_PAGE } from "../../../functions/mcp/chart/page.ts";

Deno.test("the chart's page has less than 60 kB compressed and loads nothing", async () => {
  const gzip = new Blob([CHART_PAGE]).stream().pipeThrough(new CompressionStream("gzip"));
  const { byteLength } = await new Response(gzip).arrayBuffer();
  assert(byteLength < 60_000, `${byteLength} bytes`);
  assertEquals(new Set(CHART_PAGE.match(/https?:\/\/[^\s"'`)]+/g)), new Set(["http://www.w3.org/2000/svg"]));
  assertEquals(
    /<(link|img|iframe)\b|\bsrc=|@import|\bfetch\(|XMLHttpRequest|WebSocket|innerHTML/.test(CHART_PAGE),
    false,
  );
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(CHART_PAGE)![1]!;
  assertEquals(policy.split("; ").map((part) => part.replace(/'sha256-[\w+/=]+'/, "hash")), [
    "default-src 'none'",
    "script-src hash",
    "style-src hash",
  ]);
});
