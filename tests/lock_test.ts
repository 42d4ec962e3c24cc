/** A first start installs only deno.lock, which lacks the packages of suites and builds. */
import { assertEquals } from "@std/assert";
import { type Lock, lockWithout, startLock, TOOLS } from "../local/lock.ts";

const read = (path: string) => Deno.readTextFile(new URL(`../${path}`, import.meta.url));
/** Besides the tools: dependencies that a package declares but never loads (package.json replaces them). */
const UNUSED = ["@sentry/node", "@sentry/core", "@opentelemetry/instrumentation"];

Deno.test("deno.lock is tests/deno.lock without the tools of suites and builds; if not: deno task build", async () => {
  assertEquals(await read("deno.lock"), await startLock());
});

Deno.test("a start installs no development tool", async () => {
  const { npm }: Lock = JSON.parse(await read("deno.lock"));
  const names = Object.keys(npm).map((id) => /^@?[^@]+/.exec(id)![0]);
  assertEquals(names.filter((name) => [...TOOLS, ...UNUSED].includes(name)), []);
});

Deno.test("lockWithout() keeps dependencies of other packages, in each notation of a lock file", () => {
  const lock: Lock = {
    specifiers: { "npm:@a/tool@1.0.0": "1.0.0_peer@2.0.0", "npm:app@1.0.0": "1.0.0" },
    npm: {
      "@a/tool@1.0.0_peer@2.0.0": { dependencies: ["shared", "alone"] },
      "alone@1.0.0": {},
      "app@1.0.0": { dependencies: ["shared", "two@2.0.0", "gone@npm:tslib@2.8.1"], optionalDependencies: ["else"] },
      "peer@2.0.0": {},
      "shared@1.0.0_peer@2.0.0": { dependencies: ["peer"] },
      "tslib@2.8.1": {},
      "two@1.0.0": {},
      "two@2.0.0_peer@2.0.0": {},
    },
  };
  const { specifiers, npm } = lockWithout(lock, ["@a/tool"]);
  assertEquals(Object.keys(specifiers), ["npm:app@1.0.0"]);
  assertEquals(Object.keys(npm), [
    "app@1.0.0",
    "peer@2.0.0",
    "shared@1.0.0_peer@2.0.0",
    "tslib@2.8.1",
    "two@2.0.0_peer@2.0.0",
  ]);
});
