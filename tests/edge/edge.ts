/** `deno task suite edge`: types, unit tests and each function on the Deno version of the platform's edge runtime. */
import { assert } from "@std/assert";
import { copy } from "../_support/copy.ts";
import { edgeDeno } from "./edge_deno.ts";
import { checkFunction } from "./interview.ts";
import { builtFunctions } from "./questions.ts";

const ROOT = new URL("../../", import.meta.url);
const FLAGS = ["--no-lock", "--import-map=import_map.json"];

const deno = await edgeDeno();
const folder = await Deno.makeTempDir({ prefix: "expense-edge-" });
for (const part of ["functions", "shared", "local", "supabase", "tests", "import_map.json"]) {
  await copy(new URL(part, ROOT).pathname, `${folder}/${part}`);
}
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));

Deno.test("functions and shared have no type errors on Deno 2.1.4", async () => {
  const files = await sources("functions", "shared");
  const { ok, output } = await deno.run(folder, ["check", "--quiet", ...FLAGS, ...files]);
  assert(ok, output);
});

Deno.test("test of the test: globals that Deno 2.1.4 lacks are found", async () => {
  const planted = `${folder}/shared/planted.ts`;
  await Deno.writeTextFile(planted, `export const bytes = Uint8Array.fromBase64("AA==");\n`);
  const checked = await deno.run(folder, ["check", "--quiet", ...FLAGS, planted]);
  assert(!checked.ok && checked.output.includes("fromBase64"), checked.output);
  // Deno 2.1.4 has types for it but no value, so the module fails at run time, and in the architecture test.
  await Deno.writeTextFile(planted, "export const today = Temporal.Now.plainDateISO();\n");
  const ran = await deno.run(folder, ["run", "--quiet", ...FLAGS, planted]);
  assert(!ran.ok && ran.output.includes("Temporal is not defined"), ran.output);
  await Deno.remove(planted);
});

Deno.test("unit tests pass on Deno 2.1.4", async () => {
  const files = await sources("tests/shared", "tests/functions");
  const pure = await pureOf(files.filter((path) => /_test\.tsx?$/.test(path)).map((path) => `${folder}/${path}`));
  assert(pure.length > 10, `only ${pure.length} test files need no database`);
  const { ok, output } = await deno.run(folder, [
    "test",
    "--quiet",
    "--no-check",
    "-A",
    ...FLAGS,
    "tests/edge/unit_tests.ts",
    "--",
    ...pure,
  ]);
  assert(ok && Number(/(\d+) passed/.exec(output)?.[1]) > 100, output);
});

for (const slug of await builtFunctions(ROOT)) {
  Deno.test(`${slug} starts on Deno 2.1.4 and handles a good and a bad request`, () =>
    checkFunction(deno, { folder, slug }));
}

interface Module {
  specifier: string;
  dependencies?: { code?: { specifier?: string } }[];
}

/** Tests that open no database, start no stack and build nothing, because those need a newer Deno. */
async function pureOf(paths: string[]): Promise<string[]> {
  const all = `${folder}/all.ts`;
  await Deno.writeTextFile(all, paths.map((path) => `import "file://${path}";\n`).join(""));
  const { output } = await deno.run(folder, ["info", "--json", "--quiet", ...FLAGS, all]);
  const { modules }: { modules: Module[] } = JSON.parse(output.slice(output.indexOf("{")));
  const dependencies = new Map(modules.map(({ specifier, dependencies = [] }) => [specifier, dependencies]));
  return paths.filter((path) => {
    const reached = new Set([`file://${path}`]);
    for (const specifier of reached) {
      for (const { code } of dependencies.get(specifier) ?? []) if (code?.specifier) reached.add(code.specifier);
    }
    return ![...reached].some((specifier) =>
      /\/(tests\/_support\/(database|stack)|local\/(database|data_service)|esbuild)/.test(specifier)
    );
  });
}

async function sources(...parts: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const part of parts) {
    for await (const { name, isDirectory } of Deno.readDir(`${folder}/${part}`)) {
      if (isDirectory) found.push(...await sources(`${part}/${name}`));
      else if (/\.tsx?$/.test(name)) found.push(`${part}/${name}`);
    }
  }
  return found.toSorted();
}
