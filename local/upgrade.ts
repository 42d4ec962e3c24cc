/** Upgrades the database in a data folder, or leaves it unchanged. */
import type { DataFolder } from "./data_folder.ts";
import { readMigrations } from "./database/migrations.ts";
import { preparationDigest } from "./database/prepare.ts";

/** The database could not be upgraded; it is unchanged. */
export class UpgradeError extends Error {
  override readonly name = "UpgradeError";
}

/**
 * Opens the database and upgrades it. Before this version changes an existing database, it copies it, and restores the
 * copy if the start fails. After a killed process, the next start restores the copy.
 *
 * @throws {UpgradeError} with a readable message.
 */
export async function startOnBooks<Started extends { preparedAs: string }>(
  folder: DataFolder,
  start: (database: { folder: string; preparedAs?: string }) => Promise<Started>,
  onProgress: (line: string) => void,
): Promise<Started> {
  const database = await folder.database();
  const isUpgrade = database.preparedAs !== undefined &&
    database.preparedAs !== await preparationDigest(await readMigrations());
  if (database.preparedAs === undefined) onProgress("Creating the database. The first one takes about 10 seconds.");
  if (isUpgrade) {
    onProgress("Copying your books, then upgrading them.");
    await folder.copyBeforeUpgrade().catch((thrown) => {
      throw new UpgradeError(
        `The books could not be copied before their upgrade, and are as they were: ${thrown.message}`,
      );
    });
  }
  try {
    const started = await start(database);
    await folder.markPrepared(started.preparedAs);
    return started;
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    if (!isUpgrade) {
      // PGlite's message when PostgreSQL ends. Only PostgreSQL's console output contains the cause.
      if (database.preparedAs === undefined || !reason.startsWith("Aborted(")) throw thrown;
      throw new UpgradeError(
        `The database in ${
          folder.path(".")
        } can't be opened: its files seem damaged. Put a copy of the folder in its ` +
          "place, or start with --fresh, which deletes all data.",
      );
    }
    await folder.restore();
    throw new UpgradeError(
      `The upgrade failed and your books are as they were; start the version that you had before. What failed: ${reason}`,
    );
  }
}
