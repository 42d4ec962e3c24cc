import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { withoutGroup } from "./test_files.ts";

const FILES = {
  "tests/a_test.ts": `
    let before = 0;
    Deno.test.beforeEach(() => { before++; });
    Deno.test.afterAll(() => console.log("a ends after " + before));
    Deno.test("first", () => {});
    Deno.test("second fails", () => { throw new Error("as planned"); });`,
  "tests/b_test.ts": `
    Deno.test("third", () => console.log("b begins"));
    Deno.test({ name: "fourth", fn() {} });`,
};

Deno.test("test names of a group start with the file's name, and hooks apply only to their own file", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.mkdir(join(folder, "tests"));
  for (const [path, text] of Object.entries(FILES)) await Deno.writeTextFile(join(folder, path), text);
  const root = pathToFileURL(`${folder}/`);
  const load = `import { loadGroup } from "${new URL("group.ts", import.meta.url)}";
    await loadGroup("${root}", ${JSON.stringify(Object.keys(FILES))});`;
  await Deno.writeTextFile(join(folder, "0_test.ts"), load);
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "--no-check", "-A", "--parallel", "0_test.ts"],
    cwd: folder,
    env: { NO_COLOR: "1" },
  }).output();
  await Deno.remove(folder, { recursive: true });
  const lines = new TextDecoder().decode(stdout).split("\n").map(withoutGroup);
  const text = lines.join("\n");
  assert(!success);
  const at = (line: string) => lines.findIndex((one) => one.startsWith(line));
  assertEquals([at("a ends after 2") > 0, at("b begins") > at("a ends after 2")], [true, true], text);
  assertStringIncludes(text, "tests/b_test.ts => fourth ... ok");
  assertEquals(lines.filter((line) => line === "second fails => ./tests/a_test.ts:6:10").length, 2, text);
  assertStringIncludes(text, "3 passed | 1 failed");
});
