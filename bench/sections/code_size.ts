/** The amount of code in the files that git tracks: lines by folder, and the files of typical changes. */
import type { Options, Row } from "../measure/row.ts";
import { HINT } from "../sql/hint.ts";

const FOLDERS = ["functions", "shared", "local", "supabase/schemas", "tests"];
/** A tool whose name is not part of another tool's name. */
const TOOL = "settle_up";

type Sources = readonly { path: string; text: string }[];

/** Keyed by the row's name. */
const COUNTS: Record<string, (sources: Sources) => { count: number; unit: Row["unit"]; detail: string }> = {
  ...Object.fromEntries(FOLDERS.map((folder) => [`code: ${folder}`, (sources: Sources) => {
    const files = below(folder, sources);
    return {
      count: total(files, /\n/g),
      unit: "lines",
      detail: `${files.length} files`,
    };
  }])),
  "code: longest SQL file": (sources) => {
    const [longest] = below("supabase/schemas", sources)
      .map(({ path, text }) => ({ path, lines: total([{ path, text }], /\n/g) }))
      .toSorted((one, other) => other.lines - one.lines);
    return { count: longest!.lines, unit: "lines", detail: longest!.path };
  },
  "code: planner hints": (sources) => ({
    count: total(below("supabase/schemas", sources), HINT),
    unit: "",
    detail: "bench/sql/planner_hints.ts shows the worth of each",
  }),
  "code: steps of tests": (sources) => ({
    count: total(below("tests", sources), /\bt\.step\(/g),
    unit: "",
    detail: "cases that --filter can't name",
  }),
  "code: product files of a tool": (sources) => {
    const files = FOLDERS.filter((folder) => folder !== "tests").flatMap((folder) => below(folder, sources))
      .filter(({ path, text }) => path.includes(TOOL) || new RegExp(`\\b${TOOL}\\b`).test(text));
    return { count: files.length, unit: "", detail: `with ${TOOL} in their name or text` };
  },
  "code: tasks": (sources) => {
    const { tasks } = JSON.parse(sources.find(({ path }) => path === "deno.json")!.text);
    return { count: Object.keys(tasks).length, unit: "", detail: "deno.json" };
  },
  "code: decisions": (sources) => ({
    count: below("docs/decisions", sources).filter(({ path }) => /\/\d/.test(path)).length,
    unit: "",
    detail: "docs/decisions",
  }),
};

export const NAMES = Object.keys(COUNTS);

export async function measureCodeSize({ only }: Options): Promise<Row[]> {
  const sources = await readSources();
  return NAMES.filter((name) => name.includes(only)).map((name) => {
    const { count, unit, detail } = COUNTS[name]!(sources);
    return { name, value: { median: count, low: count, high: count }, unit, detail, errors: 0 };
  });
}

async function readSources(): Promise<Sources> {
  const { stdout } = await new Deno.Command("git", { args: ["ls-files", "-z"] }).output();
  const paths = new TextDecoder().decode(stdout).split("\0")
    .filter((path) => /\.(?:tsx?|sql)$|^deno\.json$|^docs\/decisions\//.test(path));
  return await Promise.all(paths.map(async (path) => ({ path, text: await Deno.readTextFile(path) })));
}

const below = (folder: string, sources: Sources) => sources.filter(({ path }) => path.startsWith(`${folder}/`));

const total = (sources: Sources, pattern: RegExp) =>
  sources.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0);
