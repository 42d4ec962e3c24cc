/** Checks that documents are short and that their paths, links and headings exist. */
import { assertEquals } from "@std/assert";
import { dirname, join } from "node:path";

const ROOT = new URL("../", import.meta.url);
const MAX_LINES = 150;
const MAX_COLUMNS = 120;
/** Files that operators create. */
const NOT_OURS = ["supabase/functions/.env", "supabase/.env"];

const FOLDER = /^(functions|shared|supabase|local|tests|bench|docs|\.ci)\//;
const PATH = /^[\w.<>-]+(\/[\w.<>-]+)*\/?$/;
const BARE = /^([\w.-]+\.(tsx?|sql|json|md|css|html|toml|example)|[\w-]+\/)$/;
/** Folders outside the project. */
const SKIPPED = /^(node_modules|\.git|\.local)$/;

/** Every file and folder of the project, from its root; folders end in a slash. */
async function readTree(folder = ""): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(new URL(folder || ".", ROOT)));
  const paths = entries.filter(({ name }) => !SKIPPED.test(name)).map(async ({ name, isDirectory }) =>
    isDirectory ? [`${folder}${name}/`, ...await readTree(`${folder}${name}/`)] : [`${folder}${name}`]
  );
  return (await Promise.all(paths)).flat();
}

const tree = await readTree();
const documents = tree.filter((path) =>
  /^(README|CONTRIBUTING|SECURITY|CHANGELOG)\.md$|^docs\/.*\.md$|\/README\.md$/.test(path)
);
const read = (path: string) => Deno.readTextFile(new URL(path, ROOT));

/** Whether a path exists; `<name>` stands for any name. */
function exists(path: string): boolean {
  const pattern = path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/<[\w-]+>/g, "[^/]+");
  return tree.some((one) => new RegExp(`^${pattern}/?$`).test(one));
}

/**
 * Missing paths in backticks. A bare name belongs to a folder that its line names, to the document's folder, or to the
 * root.
 */
function brokenPaths(document: string, text: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const names = [...line.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    const folders = names.filter((name) => FOLDER.test(name) && name.endsWith("/"));
    const places = [...folders, join(dirname(document), "/"), ""].map((place) => place.replace(/^\.\//, ""));
    return names.filter((name) => {
      if (NOT_OURS.includes(name)) return false;
      if (FOLDER.test(name) && PATH.test(name)) return !exists(name);
      return BARE.test(name) && !places.some((place) => exists(place + name));
    }).map((name) => `${document}:${index + 1} ${name}`);
  });
}

/** GitHub's anchor of a heading. */
const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(/[^\w\s-]/g, "").trim().replaceAll(" ", "-");
const anchorsIn = (text: string) => [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));

/** Links to missing files or headings. */
async function brokenLinks(document: string, text: string): Promise<string[]> {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)].map(([, link, image]) => link ?? image!);
  const broken = await Promise.all(
    links.filter((link) => !/^[a-z]+:/.test(link)).map(async (link) => {
      const [file, anchor] = link.split("#") as [string, string?];
      const path = file ? join(dirname(document), file) : document;
      if (!exists(path)) return [link];
      if (anchor === undefined) return [];
      return anchorsIn(path === document ? text : await read(path)).includes(anchor) ? [] : [link];
    }),
  );
  return broken.flat().map((link) => `${document} ${link}`);
}

Deno.test("the README has at most 150 lines of 120 columns", async () => {
  const lines = (await read("README.md")).trimEnd().split("\n");
  assertEquals(lines.slice(MAX_LINES), []);
  // A URL can't be wrapped.
  assertEquals(lines.filter((line) => line.length > MAX_COLUMNS && !/^\[\w+\]: /.test(line)), []);
});

Deno.test("every path and every link in the documents exists", async () => {
  const texts = await Promise.all(documents.map(async (path) => [path, await read(path)] as const));
  assertEquals(texts.flatMap(([path, text]) => brokenPaths(path, text)), []);
  assertEquals((await Promise.all(texts.map(([path, text]) => brokenLinks(path, text)))).flat(), []);
});

Deno.test("every decision is in the index, with a date, a context, a decision and a cost", async () => {
  const index = await read("docs/decisions/README.md");
  const files = tree.filter((path) => /^docs\/decisions\/\d{3}-[a-z0-9-]+\.md$/.test(path));
  const kept = tree.filter((path) => path.startsWith("docs/decisions/") && /[^/]$/.test(path) && !/README/.test(path));
  assertEquals(files, kept);
  const form = /^# .+\n\nDate: \d{4}-\d{2}-\d{2}\n\n## Context\n\n[^#]+\n\n## Decision\n\n[^#]+\n\n## Cost\n\n[^#]+\n$/;
  for (const file of files) {
    const text = await read(file);
    assertEquals([file, form.test(text)], [file, true]);
    const name = file.split("/").at(-1)!;
    const [, title] = /^# (.+)$/m.exec(text)!;
    assertEquals([file, index.includes(`- [${name.slice(0, 3)}](${name}): ${title}\n`)], [file, true]);
  }
});

Deno.test("test of the test: it finds a missing path, name, link and heading", async () => {
  const planted =
    "In `shared/planted.ts`, in `shared/db/`: `client.ts`, `planted.ts`, `planted/`, in `functions/<slug>/app.ts`.\n" +
    "In [one](planted.md), [two](README.md#planted), [three](README.md#try-it).\n";
  const missing = ["shared/planted.ts", "planted.ts", "planted/"];
  assertEquals(brokenPaths("README.md", planted), missing.map((name) => `README.md:1 ${name}`));
  assertEquals(await brokenLinks("SECURITY.md", planted), ["SECURITY.md planted.md", "SECURITY.md README.md#planted"]);
});
