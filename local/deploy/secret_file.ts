/** A file for a value on its way to the CLI: only its owner may read it, and it is gone afterwards. */
import { join } from "node:path";

export async function withSecretFile<Result>(
  name: string,
  text: string,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  // Made for this process's owner alone (mode 0700).
  const folder = await Deno.makeTempDir({ prefix: "expense-deploy-" });
  try {
    const path = join(folder, name);
    await Deno.writeTextFile(path, text, { mode: 0o600 });
    return await work(path);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
