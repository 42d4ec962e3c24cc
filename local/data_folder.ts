/**
 * The folder that a stack keeps everything in: one stack at a time, known by a marker, so that `--fresh` never empties a folder that
 * is not ours.
 *
 *     stack.lock       locked while a stack runs (PGlite takes no lock of its own)
 *     postgres/        PGlite's files; whole once postgres.ready is there, which names the digest that they were prepared as
 *     postgres.before/ while postgres/ is being upgraded: what it was
 *     secrets.json     made once
 *     running.json     the stack that runs now; removed when it ends
 *     demo.json        what disconnects the assistant of the last demo
 *     stack.log        what it logs, while a person looks at it; begun anew by each start
 */
import { join } from "node:path";

const LOCK = "stack.lock";
const MARKER = "expense-service-stack";
const READY = "postgres.ready";
const DATABASE = "postgres";
const BEFORE = "postgres.before";
/** A copy that is being made, or one that is not needed any more: nothing of worth. */
const SCRAP = "postgres.scrap";
/** Names no digest: the next start looks at the migrations. */
const RESTORED = "restored";

/** The folder cannot be used; the message says why and what to do. */
export class FolderError extends Error {
  override readonly name = "FolderError";
}

export interface DataFolder {
  path(name: string): string;
  /** The parsed file, or undefined when it is not there. */
  readJson<Value>(name: string): Promise<Value | undefined>;
  /** Writes a file that only its owner may read. */
  writeJson(name: string, value: unknown): Promise<void>;
  /**
   * Where PGlite lives. What a first start that did not get as far as `markPrepared` has left there is removed; what an upgrade that was killed
   * has left there gives way to the copy.
   */
  database(): Promise<{ folder: string; preparedAs?: string }>;
  /** Copies the database, before anything opens it. Until `markPrepared`, the copy is what counts. */
  copyBeforeUpgrade(): Promise<void>;
  /** Puts the copy back, after everything that had opened the database is gone. */
  restore(): Promise<void>;
  markPrepared(digest: string): Promise<void>;
  /** Removes `running.json` and gives the folder free. */
  release(): Promise<void>;
}

/** @throws {FolderError} when another stack uses it, or it holds something that is not ours. */
export async function openDataFolder(folder: string, { fresh }: { fresh: boolean }): Promise<DataFolder> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  if (names.length > 0 && !names.includes(MARKER)) {
    throw new FolderError(`${folder} is not empty and was not made by this stack; choose another folder with --data`);
  }
  const path = (name: string) => join(folder, name);
  await Deno.writeTextFile(path(MARKER), "The embedded stack keeps its data here; --fresh empties this folder.\n");
  const lock = await Deno.open(path(LOCK), { create: true, write: true, mode: 0o600 });
  if (!lock.tryLockSync(true)) {
    lock.close();
    const running = await readJson<{ pid: number; site_url: string }>(path("running.json"));
    throw new FolderError(
      `${folder} is in use by another stack${running ? ` (${running.site_url}, process ${running.pid})` : ""}; ` +
        `stop it first, or start this one with another --data folder`,
    );
  }
  // A stack that was killed leaves its running.json behind.
  const stale = fresh ? names.filter((name) => name !== LOCK && name !== MARKER) : ["running.json"];
  for (const name of stale) await Deno.remove(path(name), { recursive: true }).catch(ignoreMissing);

  const remove = (name: string) => Deno.remove(path(name), { recursive: true }).catch(ignoreMissing);
  const restore = async () => {
    if (!await Deno.stat(path(BEFORE)).catch(ignoreMissing)) return;
    await writeWhole(path(READY), RESTORED);
    await remove(DATABASE);
    await Deno.rename(path(BEFORE), path(DATABASE));
  };

  return {
    path,
    readJson: (name) => readJson(path(name)),
    writeJson: (name, value) => writeJson(path(name), value),
    async database() {
      await restore();
      const preparedAs = await Deno.readTextFile(path(READY)).catch(ignoreMissing);
      if (preparedAs === undefined) await remove(DATABASE);
      return { folder: path(DATABASE), preparedAs };
    },
    async copyBeforeUpgrade() {
      await remove(SCRAP);
      await copyFolder(path(DATABASE), path(SCRAP));
      await Deno.rename(path(SCRAP), path(BEFORE));
    },
    restore,
    async markPrepared(digest) {
      await writeWhole(path(READY), digest);
      // From this rename on the copy does not count.
      await remove(SCRAP);
      await Deno.rename(path(BEFORE), path(SCRAP)).catch(ignoreMissing);
      await remove(SCRAP);
    },
    async release() {
      await Deno.remove(path("running.json")).catch(ignoreMissing);
      lock.close();
    },
  };
}

async function readJson<Value>(path: string): Promise<Value | undefined> {
  const text = await Deno.readTextFile(path).catch(ignoreMissing);
  return text === undefined ? undefined : JSON.parse(text);
}

const writeJson = (path: string, value: unknown) => writeWhole(path, `${JSON.stringify(value, null, 2)}\n`);

// Renamed into place: a reader sees the old file or the new one, never half of it.
async function writeWhole(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${path}.new`, text, { mode: 0o600 });
  await Deno.rename(`${path}.new`, path);
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { mode: 0o700 });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}

function ignoreMissing(thrown: unknown): undefined {
  if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
}
