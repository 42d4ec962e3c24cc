/** Finds test files that import a database. The others need no second run on PostgreSQL. */
import { dirname, join } from "node:path";
import { testsBelow } from "../_support/test_files.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Modules that open a database on the server, or start a stack on one. */
const OPENING = /^tests\/_support\/(database|new_database|stack)\.ts$/;
const IMPORTS = /^(?:import|export)\s(?!type\s)[^;]*?\sfrom\s+"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm;

/** @returns the test files below these folders that reach one, sorted */
export async function reachingDatabase(folders: string[]): Promise<string[]> {
  const files = (await Promise.all(folders.map((folder) => testsBelow(folder)))).flat();
  const reaching = await Promise.all(files.map(reaches));
  return files.filter((_, index) => reaching[index]).toSorted();
}

async function reaches(file: string): Promise<boolean> {
  const seen = new Set<string>();
  const queue = [file];
  for (let path = queue.pop(); path; path = queue.pop()) {
    if (OPENING.test(path)) return true;
    // Only tests open databases.
    if (seen.has(path) || !/^tests\/.*\.tsx?$/.test(path)) continue;
    seen.add(path);
    queue.push(...await importsOf(path));
  }
  return false;
}

const imports = new Map<string, Promise<string[]>>();
function importsOf(path: string): Promise<string[]> {
  if (!imports.has(path)) imports.set(path, readImports(path));
  return imports.get(path)!;
}
async function readImports(path: string): Promise<string[]> {
  const text = await Deno.readTextFile(join(ROOT, path));
  return [...text.matchAll(IMPORTS)].map(([, one, dynamic]) => join(dirname(path), (one ?? dynamic)!));
}
