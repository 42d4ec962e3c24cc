/**
 * Bundles a function at least as well as the platform's bundler: minified, without unused exports, compressed with
 * gzip. Modules that only `import()` reaches are lazy and counted separately.
 */
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { build, type Metafile, type Plugin, stop } from "esbuild";
import type { Slug } from "../../shared/routes.ts";

const ROOT = new URL("../../", import.meta.url);

export interface BundleSizes {
  /** The entry point and its static imports after gzip, in kB of 1,000 bytes. */
  staticKb: number;
  lazyKb: number;
  /** The number of modules that always load. */
  modules: number;
  /** Modules that always load, by package or folder, in kB before compression; largest first. */
  largest: { name: string; kb: number }[];
}

export async function bundleSizes(slug: Slug): Promise<BundleSizes> {
  const { outputFiles, metafile } = await bundle(`functions/${slug}/index.ts`);
  const always = alwaysLoaded(metafile, "bundle/entry.js");
  const texts = new Map(outputFiles.map(({ path, contents }) => [path.slice(ROOT.pathname.length), contents]));
  const sizeOf = (paths: string[]) =>
    gzipSync(Buffer.concat(paths.map((path) => texts.get(path)!)), { level: 9 }).length / 1000;
  const lazy = [...texts.keys()].filter((path) => !always.includes(path));
  const inputs = always.flatMap((path) => Object.entries(metafile.outputs[path]!.inputs));
  return {
    staticKb: sizeOf(always),
    lazyKb: lazy.length > 0 ? sizeOf(lazy) : 0,
    modules: inputs.length,
    largest: largestOf(inputs.map(([path, { bytesInOutput }]) => ({ path, bytes: bytesInOutput }))),
  };
}

/** @param module path from the root of the project @returns the files of its bundle, `bundle/entry.js` first */
export async function bundle(module: string) {
  const { imports } = JSON.parse(await Deno.readTextFile(new URL("import_map.json", ROOT)));
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT.pathname,
    entryPoints: { entry: module },
    outdir: "bundle",
    bundle: true,
    minify: true,
    jsx: "automatic",
    splitting: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2023",
    platform: "node",
    conditions: ["deno", "import", "module"],
    mainFields: ["module", "main"],
    legalComments: "none",
    logLevel: "error",
    plugins: [importMap(imports)],
  });
  await stop();
  return { outputFiles, metafile };
}

function alwaysLoaded({ outputs }: Metafile, entry: string): string[] {
  const reached = new Set([entry]);
  for (const path of reached) {
    for (const { path: imported, kind, external } of outputs[path]!.imports) {
      if (kind === "import-statement" && !external) reached.add(imported);
    }
  }
  return [...reached];
}

function largestOf(inputs: { path: string; bytes: number }[]): { name: string; kb: number }[] {
  const totals = new Map<string, number>();
  for (const { path, bytes } of inputs) {
    const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
    const name = inPackage ?? path.split("/").slice(0, 3).join("/");
    totals.set(name, (totals.get(name) ?? 0) + bytes);
  }
  return [...totals].map(([name, bytes]) => ({ name, kb: bytes / 1000 })).toSorted((one, other) => other.kb - one.kb);
}

/** Resolves bare names like the import map: to a package, or to a project file. */
const importMap = (imports: Record<string, string>): Plugin => ({
  name: "import-map",
  setup(build) {
    const names = Object.keys(imports).map((name) => name.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
    build.onResolve({ filter: new RegExp(`^(${names.join("|")})$`) }, ({ path, kind, pluginData }) => {
      if (pluginData === "mapped") return undefined;
      const target = imports[path]!;
      if (target.startsWith("./")) return { path: new URL(target, ROOT).pathname };
      const [, name, rest = ""] = /^npm:((?:@[^/]+\/)?[^@/]+)@[^/]+(\/.*)?$/.exec(target)!;
      return build.resolve(name! + rest, { kind, resolveDir: ROOT.pathname, pluginData: "mapped" });
    });
  },
});
