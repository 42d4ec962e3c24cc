/** Starts a function on Deno 2.1.4 from a folder, sends its requests, and stops it. */
import { assert, assertEquals } from "@std/assert";
import type { Slug } from "../../shared/routes.ts";
import type { EdgeDeno } from "./edge_deno.ts";
import { environmentOf, fakeDatabase, QUESTIONS } from "./questions.ts";

const BOOT = new URL("boot.ts", import.meta.url).pathname;

/**
 * @param folder with only `functions`, `shared` and `import_map.json`
 * @throws {AssertionError} when a response differs from the expected one, with the function's log
 */
export async function checkFunction(deno: EdgeDeno, { folder, slug }: { folder: string; slug: Slug }): Promise<void> {
  const questions = await QUESTIONS[slug]?.();
  if (!questions) throw new Error(`No requests for ${slug}: add them to tests/edge/questions.ts`);
  const database = fakeDatabase();
  const child = deno.start(
    folder,
    [
      "run",
      "--no-lock",
      "--no-prompt",
      `--import-map=${folder}/import_map.json`,
      "--allow-net",
      "--allow-env",
      "--allow-read",
      BOOT,
      `file://${folder}/functions/${slug}/index.ts`,
    ],
    environmentOf(database.url),
  );
  let log = "";
  const logged = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) log += text;
  })();
  try {
    const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const { value: port } = await output.read();
    await output.cancel();
    if (!port) {
      await logged;
      throw new Error(`${slug} did not start:\n${log}`);
    }
    for (const { path, init, status, says } of questions) {
      const response = await fetch(`http://127.0.0.1:${port.trim()}${path}`, { ...init, redirect: "manual" });
      const body = await response.text();
      assertEquals(response.status, status, `${init?.method ?? "GET"} ${path}: ${body}\n${log}`);
      assert(body.includes(says), `${path} does not contain ${says}: ${body}`);
    }
  } finally {
    try {
      child.kill();
    } catch {
      // The process has already exited.
    }
    await child.status;
    await logged;
    await database.close();
  }
}
