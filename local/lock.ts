/**
 * `deno task build`: writes deno.lock with the packages of `start` and all other running code. Its source is
 * tests/deno.lock, which also has the packages of the checks. `deno task` installs all of deno.lock before any task,
 * so a first start would otherwise install browsers, bundlers and the clients of suites.
 */
import { print } from "./command_line.ts";

/** Only suites and builds import these; their tasks name tests/deno.lock. */
export const TOOLS = [
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/ext-apps",
  "@types/d3-scale",
  "@types/pg",
  "axe-core",
  "esbuild",
  "gpt-tokenizer",
  "playwright-core",
];

interface Package {
  dependencies?: string[];
  optionalDependencies?: string[];
}

export interface Lock {
  specifiers: Record<string, string>;
  npm: Record<string, Package>;
}

/** The lock without some packages and their exclusive dependencies. @param without names of packages. */
export function lockWithout<L extends Lock>(lock: L, without: readonly string[]): L {
  const isKept = (specifier: string) => !without.some((name) => specifier.startsWith(`npm:${name}@`));
  const specifiers = Object.entries(lock.specifiers).filter(([specifier]) => isKept(specifier));
  const reached = new Set(specifiers.map(([specifier, version]) => `${nameOf(specifier)}@${version}`));
  for (const id of reached) {
    const { dependencies = [], optionalDependencies = [] } = lock.npm[id] ?? {};
    for (const dependency of [...dependencies, ...optionalDependencies]) {
      const needed = find(lock, dependency);
      if (needed) reached.add(needed);
    }
  }
  const npm = Object.entries(lock.npm).filter(([id]) => reached.has(id));
  return { ...lock, specifiers: Object.fromEntries(specifiers), npm: Object.fromEntries(npm) };
}

/** `npm:@types/pg@8.23.1` → `@types/pg` */
const nameOf = (specifier: string) => /^npm:(@?[^@]+)@/.exec(specifier)![1]!;

/**
 * A dependency is a name if the lock has one version of it, otherwise a longer part of the id. An alias is
 * `alias@npm:id`.
 */
function find({ npm }: Lock, dependency: string): string | undefined {
  const wanted = dependency.replace(/^.+@npm:/, "");
  if (wanted in npm) return wanted;
  const separator = wanted.lastIndexOf("@") > 0 ? "_" : "@";
  return Object.keys(npm).find((id) => id.startsWith(wanted + separator));
}

const ROOT = new URL("../", import.meta.url);

/** The expected text of deno.lock. */
export async function startLock(): Promise<string> {
  const lock: Lock = JSON.parse(await Deno.readTextFile(new URL("tests/deno.lock", ROOT)));
  return `${JSON.stringify(lockWithout(lock, TOOLS), null, 2)}\n`;
}

if (import.meta.main) {
  await Deno.writeTextFile(new URL("deno.lock", ROOT), await startLock());
  print("Wrote deno.lock");
}
