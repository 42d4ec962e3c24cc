/**
 * A repository with two releases: the previous one, whose database has only the frozen migrations, and this checkout.
 * Both have today's code, because the first release didn't run on one server.
 */
import { ROOT } from "../../local/sql/schema_files.ts";
import { readChecksums } from "../upgrade/checksums.ts";
import { newCheckout } from "../upgrade/checkout.ts";

export interface Releases {
  folder: string;
  /** Tags. */
  before: string;
  latest: string;
  remove(): Promise<void>;
}

export async function newReleases(): Promise<Releases> {
  const { folder, remove } = await newCheckout({});
  const { version } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const { released } = await readChecksums(ROOT);
  const migrations = `${folder}/supabase/migrations/`;
  const unreleased = new Map<string, string>();
  for await (const { name } of Deno.readDir(migrations)) {
    if (!(name in released)) unreleased.set(name, await Deno.readTextFile(migrations + name));
  }
  const releases = { folder, before: "v0.0.0-before", latest: `v${version}`, remove };
  const git = async (...args: string[]) => {
    const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    const { success, stderr } = await new Deno.Command("git", { args: [...identity, ...args], cwd: folder }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  };
  const commit = async (tag: string) => {
    await git("add", "--all", "--", ".", ":!node_modules");
    await git("commit", "--quiet", "--allow-empty", "-m", tag);
    await git("tag", tag);
  };
  await git("init", "--quiet");
  for (const name of unreleased.keys()) await Deno.remove(migrations + name);
  await commit(releases.before);
  for (const [name, sql] of unreleased) await Deno.writeTextFile(migrations + name, sql);
  await commit(releases.latest);
  return releases;
}
