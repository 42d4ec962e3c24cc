/** Problems in an upload that the hosted bundler would detect only after the CLI has reported success. */
import { join } from "node:path";
import type { Upload } from "./management_api.ts";

/** The API's limit for an upload is larger than this (5 MB, 2026). */
const MAX_BYTES = 1_900_000;

const SECRET_OR_TEST =
  /(^|\/)(\.env($|\.)|\.git\/|\.npmrc$|node_modules\/|local\/|tests\/|supabase\/)|\.(pem|key|sql)$|[._]test\.tsx?$/;

interface Module {
  specifier: string;
  error?: string;
  dependencies?: { specifier: string; code?: Resolution; type?: Resolution }[];
}
type Resolution = { specifier?: string; error?: string };

/** @returns one line per problem */
export async function problemsOf(upload: Upload): Promise<string[]> {
  const { slug, metadata, files } = upload;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const problems = [
    ...files.filter(({ path }) => SECRET_OR_TEST.test(path)).map(({ path }) => `${path} must not be uploaded`),
    ...(metadata.verify_jwt === false ? [] : ["verify_jwt is not false"]),
    ...(bytes < MAX_BYTES ? [] : [`${bytes} bytes are too many`]),
    ...await unresolved(upload),
  ];
  return problems.map((problem) => `${slug}: ${problem}`);
}

/** Resolves every import again, using only the uploaded files and the packages in their import map. */
async function unresolved({ folder, metadata }: Upload): Promise<string[]> {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "info",
      "--json",
      "--no-config",
      "--no-lock",
      "--no-remote",
      "--no-npm",
      `--import-map=${join(folder, metadata.import_map_path ?? "import_map.json")}`,
      join(folder, metadata.entrypoint_path!),
    ],
  }).output();
  if (!success) return [new TextDecoder().decode(stderr)];
  const { modules }: { modules: Module[] } = JSON.parse(new TextDecoder().decode(stdout));
  const root = `file://${await Deno.realPath(folder)}/`;
  return modules.flatMap(({ specifier, error, dependencies = [] }) => [
    ...(error && specifier.startsWith("file:") ? [`${specifier.replace(root, "")} was not uploaded`] : []),
    ...(specifier.startsWith("file:") && !specifier.startsWith(root) ? [`${specifier} lies outside the upload`] : []),
    ...dependencies.flatMap(({ specifier: imported, code, type }) =>
      code?.error || type?.error ? [`${specifier.replace(root, "")} cannot import ${imported}`] : []
    ),
  ]);
}
