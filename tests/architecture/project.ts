/** The sources in the form for the architecture rules: each file's imports and mentions, from its syntax tree. */

export interface Import {
  specifier: string;
  /** Path of one of our files, relative to the root; undefined for a package. */
  path?: string;
  /** The whole statement. */
  text: string;
  line: number;
  kind: "static" | "dynamic";
}

export interface Mention {
  /** `Deno.env`, `console.log`, `Temporal`, `new Date()`, `rpc()` … */
  name: string;
  line: number;
}

export interface SourceFile {
  path: string;
  text: string;
  imports: Import[];
  mentions: Mention[];
}

export interface Project {
  /** Every file that was read, by path. */
  texts: ReadonlyMap<string, string>;
  /** TypeScript files only. */
  files: SourceFile[];
}

const ROOT = new URL("../../", import.meta.url);
const FOLDERS = ["functions", "shared", "local", "tests", "bench", "supabase/schemas"];
const SETTINGS = ["import_map.json", "deno.json", "supabase/config.toml"];

export async function readProject(): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const read = async (path: string) => void texts.set(path, await Deno.readTextFile(new URL(path, ROOT)));
  const walk = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(folder, ROOT))) {
      const path = `${folder}/${name}`;
      if (isDirectory) {
        // Packages that benchmarks of peers install belong to others.
        if (name !== "node_modules") await walk(path);
      } else if (/\.tsx?$/.test(name) || folder.startsWith("supabase/")) await read(path);
    }
  };
  await Promise.all([...FOLDERS.map(walk), ...SETTINGS.map(read)]);
  return texts;
}

const parsed = new Map<string, SourceFile>();

export function parseProject(texts: ReadonlyMap<string, string>): Project {
  const files = [...texts].filter(([path]) => /\.tsx?$/.test(path)).map(([path, text]) => {
    const known = parsed.get(path);
    if (known?.text === text) return known;
    const file = parseFile(path, text);
    parsed.set(path, file);
    return file;
  });
  return { texts, files: files.toSorted((a, b) => a.path < b.path ? -1 : 1) };
}

/** Only within `deno test`, because no other command exposes the linter's syntax tree. */
function parseFile(path: string, text: string): SourceFile {
  const imports: Import[] = [];
  const mentions: Mention[] = [];
  const lineOf = (node: Deno.lint.Node) => text.slice(0, node.range[0]).split("\n").length;

  const create = ({ sourceCode }: Deno.lint.RuleContext): Deno.lint.LintVisitor => {
    const textOf = (node: Deno.lint.Node) => sourceCode.getText(node);
    const note = (name: string, node: Deno.lint.Node) => mentions.push({ name, line: lineOf(node) });
    const add = (node: Deno.lint.Node, specifier: string, kind: Import["kind"]) =>
      imports.push({ specifier, path: resolve(path, specifier), text: textOf(node), line: lineOf(node), kind });
    return {
      ImportDeclaration: (node) => void add(node, node.source.value, "static"),
      ExportAllDeclaration: (node) => void add(node, node.source.value, "static"),
      ExportNamedDeclaration: (node) => void (node.source && add(node, node.source.value, "static")),
      ImportExpression: (node) => {
        const isPlain = node.source.type === "Literal" && typeof node.source.value === "string";
        add(node, isPlain ? String((node.source as { value: unknown }).value) : textOf(node.source), "dynamic");
      },
      // A member expression is recorded once as a whole, and its parts when visited.
      MemberExpression: (node) => void note(textOf(node).replaceAll(/\s+/g, ""), node),
      NewExpression: (node) => void note(`new ${textOf(node.callee)}(${node.arguments.length ? "…" : ""})`, node),
      CallExpression: (node) => {
        const name = node.callee.type === "MemberExpression" ? node.callee.property : node.callee;
        if (name.type === "Identifier") note(`${name.name}()`, node);
      },
      Identifier: (node) => void note(node.name, node),
      Literal: (node) => void (typeof node.value === "string" && note(`"${node.value}"`, node)),
      TemplateElement: (node) => void note(`"${node.cooked}"`, node),
    };
  };
  Deno.lint.runPlugin({ name: "architecture", rules: { read: { create } } }, `/${path}`, text);
  return { path, text, imports, mentions };
}

function resolve(from: string, specifier: string): string | undefined {
  if (!/^\.{0,2}\//.test(specifier)) return undefined;
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}
