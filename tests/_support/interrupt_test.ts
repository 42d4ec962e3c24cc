import { assertEquals } from "@std/assert";
import { interruptOnce } from "./interrupted_run.ts";

const HANGS = `console.log("1234"); setInterval(() => {}, 1000)`;
const RUN = `
  import { start } from "${new URL("../../bench/measure/processes.ts", import.meta.url)}";
  await start(Deno.execPath(), ["eval", ${JSON.stringify(HANGS)}]);
  // A process that never reports readiness.
  await start(Deno.execPath(), ["eval", "setInterval(() => {}, 1000)"]);
`;

Deno.test({
  name: "an interrupted run ends all processes it started, including those still starting",
  ignore: Deno.build.os !== "linux",
  async fn() {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const { code, survivors } = await interruptOnce(["eval", RUN], { processes: 2, signal });
      assertEquals([code, survivors], [130, []], signal);
    }
  },
});
