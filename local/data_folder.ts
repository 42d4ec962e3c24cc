/**
 * The folder with all data of a stack: one stack at a time, with a marker so that `--fresh` never empties a foreign
 * folder.
 *
 *     stack.lock       locked while a stack runs (PGlite itself has no lock)
 *     postgres/        PGlite's files; complete once postgres.ready exists, which names their digest
 *     postgres.before/ a copy of postgres/ while it is being upgraded
 *     secrets.json     generated once
 *     running.json     the running stack; removed when it ends
 *     demo.json        credentials to disconnect the last demo's assistant
 *     stack.log        its log, while a person looks at the terminal; restarted on each start
 */
import { join } from "node:path";
import { copyFolder } from "./copy_folder.ts";

/** The deploy command's subfolder of the default folder; unrelated to any stack. */
const DEPLOYMENTS = "deploy";
const LOCK = "stack.lock";
const MARKER = "expense-service-stack";
const READY = "postgres.ready";
const DATABASE = "postgres";
const BEFORE = "postgres.before";
/** An unfinished or obsolete copy; can be deleted. */
const SCRATCH_COPY = "postgres.scrap";
/** Matches no digest, so the next start checks the migrations. */
const RESTORED = "restored";

/** The folder cannot be used; the message contains the reason and the remedy. */
export class FolderError extends Error {
  override readonly name = "FolderError";
}

export interface DataFolder {
  path(name: string): string;
  /** The parsed file, or undefined when it does not exist. */
  readJson<Value>(name: string): Promise<Value | undefined>;
  /** Writes a file that only its owner may read. */
  writeJson(name: string, value: unknown): Promise<void>;
  /**
   * PGlite's folder. Deletes the remains of an unfinished first start, which never reached `markPrepared`. After a
   * killed upgrade, restores the copy.
   */
  database(): Promise<{ folder: string; preparedAs?: string }>;
  /** Copies the database before anything opens it. Until `markPrepared`, the copy is authoritative. */
  copyBeforeUpgrade(): Promise<void>;
  /** Restores the copy; the database must be closed. */
  restore(): Promise<void>;
  markPrepared(digest: string): Promise<void>;
  /** Removes `running.json` and unlocks the folder. */
  release(): Promise<void>;
}

/** @throws {FolderError} if another stack uses it or it contains foreign files. */
export async function openDataFolder(folder: string, { fresh }: { fresh: boolean }): Promise<DataFolder> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 }).catch((thrown) => {
    throw new FolderError(`${folder} can't be used: ${reasonOf(thrown)}. Choose another folder with --data.`);
  });
  const names = (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).filter((name) =>
    name !== DEPLOYMENTS
  );
  if (names.length > 0 && !names.includes(MARKER)) {
    throw new FolderError(`${folder} is not empty and was not made by this stack; choose another folder with --data`);
  }
  // An existing folder may be readable by others; only its owner can change that.
  if (Deno.build.os !== "windows") await Deno.chmod(folder, 0o700).catch(() => {});
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
      await remove(SCRATCH_COPY);
      await copyFolder(path(DATABASE), path(SCRATCH_COPY));
      await Deno.rename(path(SCRATCH_COPY), path(BEFORE));
    },
    restore,
    async markPrepared(digest) {
      await writeWhole(path(READY), digest);
      // After this rename, the copy no longer counts.
      await remove(SCRATCH_COPY);
      await Deno.rename(path(BEFORE), path(SCRATCH_COPY)).catch(ignoreMissing);
      await remove(SCRATCH_COPY);
    },
    async release() {
      await Deno.remove(path("running.json")).catch(ignoreMissing);
      lock.close();
    },
  };
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof Deno.errors.PermissionDenied) return "you have no right to write there";
  if (thrown instanceof Deno.errors.AlreadyExists || thrown instanceof Deno.errors.NotADirectory) {
    return "a file is in the way";
  }
  return thrown instanceof Error ? thrown.message : String(thrown);
}

async function readJson<Value>(path: string): Promise<Value | undefined> {
  const text = await Deno.readTextFile(path).catch(ignoreMissing);
  return text === undefined ? undefined : JSON.parse(text);
}

const writeJson = (path: string, value: unknown) => writeWhole(path, `${JSON.stringify(value, null, 2)}\n`);

// Renamed into place, so readers never see a partial file.
async function writeWhole(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${path}.new`, text, { mode: 0o600 });
  await Deno.rename(`${path}.new`, path);
}

function ignoreMissing(thrown: unknown): undefined {
  if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
}
