/**
 * The project's test files, in groups that load shared modules only once; without groups, this loading took a quarter
 * of the time.
 */
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

/** Writes a module per group. @returns arguments for `deno test`, and the folder, which the caller removes. */
export interface Groups {
  args: string[];
  remove(): Promise<void>;
}

/**
 * Modules that load the files. Neighboring files take similar time, so each group gets files from all over the list.
 * Files with a database form groups, because a group opens one PGlite.
 * @param files paths from the project's root. @param size files per group.
 */
export async function inGroups(files: readonly string[], size: number): Promise<Groups> {
  const folder = await Deno.makeTempDir({ prefix: "expense-tests-" });
  const { database = [], other = [], alone = [] } = Object.groupBy(
    files,
    (file) => ALONE.test(file) ? "alone" : NO_DATABASE.test(file) ? "other" : "database",
  );
  const groups = [...split(database, size), ...split(other, size), ...alone.map((file) => [file])];
  const group = JSON.stringify(new URL("group.ts", import.meta.url));
  await Promise.all(groups.map((paths, at) =>
    Deno.writeTextFile(
      join(folder, `${at}_test.ts`),
      `import { loadGroup } from ${group};\nawait loadGroup(${JSON.stringify(ROOT)}, ${JSON.stringify(paths)});\n`,
    )
  ));
  return {
    args: ["--config", fileURLToPath(new URL("deno.json", ROOT)), folder],
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Loads a library into the PGlite of a group, which ends every database that began on it. */
const ALONE = /\/memory_database_test\.ts$/;
const NO_DATABASE = /^tests\/(shared\/|[a-z_]+_test\.ts$)/;

function split(files: readonly string[], size: number): string[][] {
  const count = Math.ceil(files.length / size);
  return Array.from({ length: count }, (_, group) => files.filter((_, at) => at % count === group));
}

const COLOR = String.raw`(?:\x1b\[[\d;]*m)*`;
const OF_GROUP = new RegExp(String.raw`^${COLOR}\S*/\d+_test\.ts =>${COLOR} ${COLOR}(?=tests/)`);
const OF_FAILURE = new RegExp(String.raw`^${COLOR}(tests/\S+) => (?=.*=> \./\1:\d+:\d+${COLOR}$)`);

/** The output of `deno test` without the group and without repeated paths. */
export const withoutGroup = (line: string): string => line.replace(OF_GROUP, "").replace(OF_FAILURE, "");
