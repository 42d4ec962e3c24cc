import { assertEquals } from "@std/assert";
import { MUTANTS } from "./mutants.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test("each planted bug fits exactly one place in its file, and its tests exist", async () => {
  for (const { bug, file, from, tests } of MUTANTS) {
    assertEquals((await Deno.readTextFile(new URL(file, ROOT))).split(from).length, 2, `${bug}: ${file}`);
    for (const test of tests) await Deno.stat(new URL(test, ROOT));
  }
});
