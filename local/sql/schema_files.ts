/** The source of the database: `supabase/schemas`, in an order that PostgreSQL can run. */
import { inLoadOrder, type SchemaFile } from "./load_order.ts";

export type { SchemaFile };
export const ROOT = new URL("../../", import.meta.url);

/** @throws {Error} if two files need each other. */
export async function readSchemaFiles(root: URL = ROOT): Promise<SchemaFile[]> {
  const paths = (await sqlFilesIn(new URL("supabase/schemas/", root))).map((path) => `supabase/schemas/${path}`);
  return inLoadOrder(
    await Promise.all(paths.map(async (path) => ({ path, sql: await Deno.readTextFile(new URL(path, root)) }))),
  );
}

/** `supabase/config.toml` with the files in their order, which the Supabase CLI reads there. */
export function listSchemaFiles(config: string, files: readonly SchemaFile[]): string {
  const lines = files.map(({ path }) => `  "${path.replace("supabase/", "./")}",\n`);
  return config.replace(/^schema_paths = \[[^\]]*\]/m, `schema_paths = [\n${lines.join("")}]`);
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

/** The single migration that creates the whole schema in an empty database. */
export function baselineOf(files: readonly SchemaFile[]): string {
  const parts = files.map(({ path, sql }) => `-- ${path.replace("supabase/", "")}\n\n${sql.trim()}\n`);
  return `-- Generated from supabase/schemas by \`deno task db:migration -- --baseline\`; do not edit.\n\n${
    parts.join("\n")
  }`;
}
