/** Upgrades the books in a data folder, or leaves them as they were. */
import type { DataFolder } from "./data_folder.ts";
import { readMigrations } from "./database/migrations.ts";
import { preparationDigest } from "./database/prepare.ts";

/** The books could not be brought to this version; they are what they were before. */
export class UpgradeError extends Error {
  override readonly name = "UpgradeError";
}

/**
 * Starts what opens the database and brings it up to date. When there are books and this version would change them, they are copied first, and
 * put back when the start fails; when it is killed, the next start puts them back.
 *
 * @throws {UpgradeError} saying so in a sentence.
 */
export async function startOnBooks<Started extends { preparedAs: string }>(
  folder: DataFolder,
  start: (database: { folder: string; preparedAs?: string }) => Promise<Started>,
): Promise<Started> {
  const database = await folder.database();
  const isUpgrade = database.preparedAs !== undefined &&
    database.preparedAs !== await preparationDigest(await readMigrations());
  if (isUpgrade) {
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
    if (!isUpgrade) throw thrown;
    await folder.restore();
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new UpgradeError(
      `The upgrade failed and your books are as they were; start the version that you had before. What failed: ${reason}`,
    );
  }
}
