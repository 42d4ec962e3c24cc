/** The project's test files, and groups of them that load what they have in common once: it took a quarter of the time. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../", import.meta.url);

/** @param folder such as `tests/db/`; @param without folders below it. @returns paths from the project's root, sorted. */
export async function testsBelow(folder: string, without: readonly string[] = []): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
    const path = `${folder}${name}`;
    if (isDirectory && !without.includes(`${path}/`)) found.push(...await testsBelow(`${path}/`, without));
    else if (/_test\.tsx?$/.test(name)) found.push(path);
  }
  return found.toSorted();
}

/** For `deno test`, a group a module: arguments that name them, and their folder, which the caller removes. */
export interface Groups {
  args: string[];
  remove(): Promise<void>;
}

/**
 * Modules that import the files. What is beside each other is spread, since it takes about as long.
 * @param files paths from the project's root. @param size files a group; each group opens the databases of its files at
 * its start, and keeps them to its end.
 */
export async function inGroups(files: readonly string[], size: number): Promise<Groups> {
  const folder = await Deno.makeTempDir({ prefix: "expense-tests-" });
  const count = Math.ceil(files.length / size);
  for (let group = 0; group < count; group++) {
    const chosen = files.filter((_, at) => at % count === group);
    const imports = chosen.map((file) => `import "${new URL(file, ROOT)}";\n`);
    await Deno.writeTextFile(join(folder, `${group}_test.ts`), imports.join(""));
  }
  return {
    args: ["--config", fileURLToPath(new URL("deno.json", ROOT)), folder],
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}
