/** The functions: uploaded when their source changed since the last time, or when what runs isn't what was uploaded. */
import { join } from "node:path";
import { createHash } from "node:crypto";
import type { Deployment, Step } from "./step.ts";

interface Deployed {
  /** Digest of everything that is uploaded. */
  source: string;
  /** The platform's versions of the functions, by slug. */
  versions: Record<string, number>;
}

export const functions: Step = {
  title: "Functions",
  async run(deployment) {
    const { cli, folder, project, isDryRun, root } = deployment;
    const record = join(folder, "functions.json");
    const source = await digest(root);
    const last: Deployed | undefined = JSON.parse(await Deno.readTextFile(record).catch(() => "null")) ?? undefined;
    const running = await versionsOf(deployment);
    if (last?.source === source && JSON.stringify(last.versions) === JSON.stringify(running)) return "unchanged";
    // The platform bundles; Docker isn't needed.
    const args = ["functions", "deploy", "--use-api", `--remote=${project}`, "--yes"];
    if (isDryRun) {
      cli.show(args, "would run: $");
      return "planned";
    }
    await cli.run(args);
    const deployed: Deployed = { source, versions: await versionsOf(deployment) };
    await Deno.writeTextFile(record, JSON.stringify(deployed));
    return "changed";
  },
};

async function versionsOf({ cli, project }: Deployment): Promise<Record<string, number>> {
  const { answer } = await cli.run(["functions", "list", `--remote=${project}`]);
  const { functions } = answer as { functions: { slug: string; version: number }[] };
  return Object.fromEntries(
    functions.map(({ slug, version }) => [slug, version] as const).toSorted(([one], [other]) => one < other ? -1 : 1),
  );
}

async function digest(root: string): Promise<string> {
  const hash = createHash("sha256");
  for (const part of ["functions", "import_map.json", "shared", "supabase/config.toml"]) {
    await add(join(root, part), part);
  }
  return hash.digest("hex");

  async function add(path: string, name: string): Promise<void> {
    const { isDirectory } = await Deno.stat(path);
    if (!isDirectory) {
      hash.update(`${name}\0`).update(await Deno.readFile(path)).update("\0");
      return;
    }
    const names = await Array.fromAsync(Deno.readDir(path), (entry) => entry.name);
    for (const entry of names.toSorted()) await add(join(path, entry), `${name}/${entry}`);
  }
}
