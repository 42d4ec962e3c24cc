/**
 * A PGlite folder with every migration and no data. Making one takes most of a first start; it depends only on the
 * sources, so that it is made once for each version of them and then copied.
 */
import { cachedFolder } from "../cache.ts";
import { copyFolder } from "../copy_folder.ts";
import type { Migration } from "../database/migrations.ts";
import { prepareDatabase } from "../database/prepare.ts";
import { createLiteApp, type LiteSettings } from "../lite/app.ts";
import { openDatabase } from "./connection.ts";

/** The tables of the identity provider depend on none of these, and an image holds no secret. */
const SETTINGS: LiteSettings = { siteUrl: "http://127.0.0.1", jwtSecret: "x", publishableKey: "x", secretKey: "x" };

/**
 * Fills a folder that does not exist yet.
 * @param digest of the preparation, `preparationDigest`.
 * @returns false when there is no place to keep images; the caller then prepares the database in the folder itself.
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
