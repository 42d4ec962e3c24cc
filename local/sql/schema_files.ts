/** The source of the database: `supabase/schemas`, in the order listed in `supabase/config.toml`. */
import { parse } from "smol-toml";

export const ROOT = new URL("../../", import.meta.url);

export interface SchemaFile {
  /** Relative to the project root. */
  path: string;
  sql: string;
}

/** @throws {Error} when a file of the folder is not listed, or a listed one does not exist. */
export async function readSchemaFiles(root: URL = ROOT): Promise<SchemaFile[]> {
  const config = parse(await Deno.readTextFile(new URL("supabase/config.toml", root)));
  const { schema_paths } = (config.db as { migrations: { schema_paths: string[] } }).migrations;
  const listed = schema_paths.map((path) => `supabase/${path.replace(/^\.\//, "")}`);
  const files = await sqlFilesIn(new URL("supabase/schemas/", root));
  const forgotten = files.map((path) => `supabase/schemas/${path}`).filter((path) => !listed.includes(path));
  if (forgotten.length > 0) {
    throw new Error(`Not in schema_paths of supabase/config.toml: ${forgotten.toSorted().join(", ")}`);
  }
  return await Promise.all(listed.map(async (path) => ({ path, sql: await Deno.readTextFile(new URL(path, root)) })));
}

/** Paths relative to the folder, including subfolders. */
async function sqlFilesIn(folder: URL): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) paths.push(...(await sqlFilesIn(new URL(`${name}/`, folder))).map((path) => `${name}/${path}`));
    else if (name.endsWith(".sql")) paths.push(name);
  }
  return paths;
}

/** The single migration that creates everything in an empty database. */
export function baselineOf(files: readonly SchemaFile[]): string {
  const parts = files.map(({ path, sql }) => `-- ${path.replace("supabase/", "")}\n\n${sql.trim()}\n`);
  return `-- Generated from supabase/schemas by \`deno task db:migration -- --baseline\`; do not edit.\n\n${
    parts.join("\n")
  }`;
}
