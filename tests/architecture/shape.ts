/** File names, file lengths, and that the platform's configuration lists every function. */
import { tokensOf } from "../../local/sql/tokens.ts";
import type { Project } from "./project.ts";
import { eachFile, type Rule } from "./rule.ts";

const LONGEST = 300;
const CREATED = /^create (?:or replace )?(function|table|type|view) \w+\.(\w+)/gm;
/** Schemas, default rights and ids; and the version, which `deno task db:migration` writes. */
const EVERYTHING_ELSE = new Set(["foundation", "schema_version"]);

export const shapeRules: Rule[] = [
  eachFile("a file over 300 lines gives the reason", {
    where: /^(functions|shared|local)\//,
    planted: { "shared/planted.ts": "/** Long. */\n".padEnd(LONGEST + 20, "\n") },
    violations: ({ text }) =>
      text.split("\n").length > LONGEST + 1 && !/\bmore than 300 lines\b/.test(text.slice(0, 1000))
        ? [" is too long"]
        : [],
  }),
  eachFile("files are named in snake_case, functions in kebab-case", {
    where: /./,
    planted: {
      "shared/oauth/codeChallenge.ts": "",
      "functions/auth_callback/app.ts": "",
    },
    violations: ({ path }) =>
      /^functions\/[a-z-]+\//.test(path + "/") || !path.startsWith("functions/")
        ? /\/[a-z0-9_]+(\.d)?\.tsx?$/.test(path) ? [] : [" is not in snake_case"]
        : [" is not in a folder in kebab-case"],
  }),
  eachFile("a page names its JSX library", {
    where: /\.tsx$/,
    planted: { "functions/oauth/planted.tsx": "export const page = <p>Planted</p>;" },
    violations: ({ text }) =>
      text.startsWith("/** @jsxImportSource hono/jsx */\n") ? [] : [" lacks the jsxImportSource"],
  }),
  {
    name: "an SQL file is named after a function, table, type or view in it that other files use",
    planted: {
      "supabase/schemas/bills/planted.sql": "create function app.other() returns int language sql return 1;",
      "supabase/schemas/bills/last_digit.sql": "create function app.last_digit() returns int language sql return 1;\n" +
        "create table app.expenses (id text);",
      "supabase/schemas/bills/tables.sql": "create table app.lone (id text);",
    },
    violations: ({ texts }) => {
      const used = usesOf(texts);
      return [...texts].flatMap(([path, text]) => {
        const [, name] = /^supabase\/schemas\/(?:\w+\/)?(\w+)\.sql$/.exec(path) ?? [];
        if (!name || EVERYTHING_ELSE.has(name)) return [];
        const created = [...text.matchAll(CREATED)];
        if (name === "tables") {
          return created.filter(([, kind]) => kind === "table").length > 1 ? [] : [`${path} is not several tables`];
        }
        const names = created.map(([, , created]) => created!);
        const isUsed = (one: string) => [...used.get(one) ?? []].some((user) => user !== path);
        // A file with only policies, triggers or jobs creates no object that others call by name.
        if (names.length === 0 || names.includes(name) && (isUsed(name) || !names.some(isUsed))) return [];
        return [`${path} has the name of nothing that others use: ${names.join(", ")}`];
      });
    },
  },
  {
    name: "the SQL's load order has no effect: a table's own file adds its columns and revokes rights",
    planted: {
      "supabase/schemas/bills/planted.sql": "revoke update on app.expenses from service_role;",
      "supabase/schemas/bills/column.sql": "alter table app.expenses\n  add column planted text;",
    },
    violations: ({ texts }) =>
      [...texts].filter(([path]) => path.endsWith(".sql")).flatMap(([path, text]) =>
        [...text.matchAll(/^(?:revoke (?!all on function)[^;]*? on|alter table(?=[^;]*\sadd column)) (\w+\.\w+)/gm)]
          .filter(([, table]) => !text.includes(`create table ${table} (`))
          .map(([, table]) => `${path} changes ${table}`)
      ),
  },
  {
    name: "SQL names the columns of rows with more than six: in a subselect, not a row constructor",
    planted: { "supabase/schemas/bills/planted.sql": "select (1, f(2, 3), 4, 5, 6, 7, (8))::app.wide;" },
    violations: ({ texts }) =>
      [...texts].filter(([path]) => path.endsWith(".sql")).flatMap(([path, text]) => {
        const values: number[] = [];
        const words = tokensOf(text).filter(({ kind }) => kind !== "comment").map(({ text }) => text);
        return words.flatMap((word, i) => {
          if (word === "(") values.push(1);
          else if (word === "," && values.length > 0) values[values.length - 1]! += 1;
          else if (word === ")") {
            const count = values.pop()!;
            if (count > 6 && words[i + 1] === "::" && words[i + 3] === ".") return [`${path} casts ${count} values`];
          }
          return [];
        });
      }),
  },
  {
    name: "config.toml lists exactly the existing functions, open to callers without a platform token",
    planted: {
      "supabase/config.toml":
        '[functions.planted]\nverify_jwt = false\n\n[functions.mcp]\nentrypoint = "../functions/mcp/index.ts"\n',
    },
    violations: (project) => {
      const configured = functionSettings(project);
      const built = project.files.flatMap(({ path }) => /^functions\/([^/]+)\/index\.ts$/.exec(path)?.[1] ?? []);
      return [
        ...built.filter((slug) => !configured.has(slug)).map((slug) => `${slug} is missing`),
        ...[...configured.keys()].filter((slug) => !built.includes(slug)).map((slug) => `${slug} is not built`),
        ...[...configured].filter(([slug, settings]) => settings.trim() !== expectedSettings(slug))
          .map(([slug]) => `${slug} is configured otherwise`),
      ].map((problem) => `supabase/config.toml: ${problem}`);
    },
  },
];

const expectedSettings = (slug: string) =>
  `verify_jwt = false\nentrypoint = "../functions/${slug}/index.ts"\nimport_map = "../import_map.json"`;

function functionSettings({ texts }: Project): Map<string, string> {
  const sections = texts.get("supabase/config.toml")!.split(/^\[/m);
  return new Map(
    sections.flatMap((section) => {
      const [, slug, settings] = /^functions\.([\w-]+)\]\n([\s\S]*)/.exec(section) ?? [];
      return slug ? [[slug, settings!.replaceAll(/^#.*\n/gm, "")]] : [];
    }),
  );
}

/** The files that mention each word: SQL without comments, and the code that calls it. */
function usesOf(texts: Project["texts"]): Map<string, Set<string>> {
  const uses = new Map<string, Set<string>>();
  for (const [path, text] of texts) {
    if (path.startsWith("tests/")) continue;
    for (const [word] of text.replaceAll(/^\s*--.*/gm, "").matchAll(/\w+/g)) {
      uses.set(word, (uses.get(word) ?? new Set()).add(path));
    }
  }
  return uses;
}
