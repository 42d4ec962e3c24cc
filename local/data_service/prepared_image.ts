/**
 * A PGlite folder with every migration and no data. Its creation takes most of a first start, so it happens once per
 * version of the sources, and later starts copy the folder.
 */
import { cachedFolder } from "../cache.ts";
import { copyFolder } from "../copy_folder.ts";
import type { Migration } from "../database/migrations.ts";
import { prepareDatabase } from "../database/prepare.ts";
import { createLiteApp, type LiteSettings } from "../lite/app.ts";
import { openDatabase } from "./connection.ts";

/** Placeholders: the identity provider's tables don't depend on the secrets, and an image must not contain secrets. */
const SETTINGS: LiteSettings = { siteUrl: "http://127.0.0.1", jwtSecret: "x", publishableKey: "x", secretKey: "x" };

/**
 * Creates and fills a folder.
 * @param digest of the preparation, `preparationDigest`.
 * @returns false when images can't be stored; the caller then prepares the database in the folder itself.
 * @throws {MigrationError}
 */
export async function copyPreparedImage(
  folder: string,
  digest: string,
  migrations: readonly Migration[],
): Promise<boolean> {
  try {
    const image = await cachedFolder(`image-${digest.slice(0, 16)}`, async (path) => {
      const { database, connection, close } = await openDatabase({ folder: path });
      const createAuthTables = () => createLiteApp(connection, SETTINGS).ensureSystemSchema();
      await prepareDatabase(database, { createAuthTables, migrations }).finally(close);
    });
    await copyFolder(image, folder);
    return true;
  } catch (thrown) {
    const isReadOnly = thrown instanceof Deno.errors.PermissionDenied ||
      (thrown as { code?: string }).code === "EROFS";
    if (!isReadOnly) throw thrown;
    return false;
  }
}
