import { assertEquals, assertRejects } from "@std/assert";
import { FolderError, openDataFolder } from "../../local/data_folder.ts";

const modeOf = async (path: string) => (await Deno.stat(path)).mode! & 0o777;

Deno.test("openDataFolder() makes a folder private, except another user's", async () => {
  const parent = await Deno.makeTempDir();
  const open = async (name: string) => {
    const folder = await openDataFolder(`${parent}/${name}`, { fresh: false });
    await folder.release();
    return await modeOf(`${parent}/${name}`);
  };
  try {
    assertEquals(await open("new"), 0o700);
    await Deno.chmod(`${parent}/new`, 0o755);
    assertEquals(await open("new"), 0o700);
    await Deno.mkdir(`${parent}/empty/deploy`, { recursive: true, mode: 0o755 });
    assertEquals(await open("empty"), 0o700);
    await Deno.mkdir(`${parent}/foreign`, { mode: 0o755 });
    await Deno.writeTextFile(`${parent}/foreign/letter.txt`, "not ours");
    await assertRejects(() => open("foreign"), FolderError, "is not empty");
    assertEquals(await modeOf(`${parent}/foreign`), 0o755);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
});
