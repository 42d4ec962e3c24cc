/** Rules of imports between folders. */
import type { Import, Project } from "./project.ts";
import { eachFile, type Rule } from "./rule.ts";

const describe = ({ line, specifier }: Import) => `:${line} imports ${specifier}`;

/** Folders of `shared` that do I/O; the rest are pure rules. */
const OUTWARD = /^shared\/((db|http|pages|mail)\/|net\/deno_network\.ts$)/;
/** Files that rules may import besides one another. */
const PLAIN =
  /^shared\/(amounts|clean_text|clock|config|error_codes|errors|exact_json|iso_day|log|organization_state|outcome|parse_json|roles|routes|signed_token|urls)\.ts$/;
const isRule = (path: string) => /^shared\/[^/]+\//.test(path) && !OUTWARD.test(path);

/** The deploy CLI finds local modules with a regular expression and silently omits modules that it misses. */
function isMissed({ text, kind, specifier, path }: Import): boolean {
  if (kind === "dynamic") return !/^import\(\s*["']/.test(text);
  if (!path) return false;
  return /^import\s+[\w$]+\s*,\s*\{[^}]*\n/.test(text) || // default and names over several lines
    /\{[^}]*(\/\/|\/\*)[^\n]*[{}]/.test(text.slice(0, text.lastIndexOf(specifier))) || // a brace in a comment
    /^(import|export)[{*]/.test(text); // minified
}

export const importRules: Rule[] = [
  eachFile("a function's index.ts imports only its own app and shared", {
    where: /^functions\/[^/]+\/index\.ts$/,
    planted: {
      "functions/oauth/index.ts": `import { createMcpApp } from "../mcp/app.ts";`,
      "functions/mcp/index.ts": `import { Hono } from "hono";`,
    },
    violations: ({ path, imports }) =>
      imports.filter((one) => one.path !== path.replace("index.ts", "app.ts") && !one.path?.startsWith("shared/"))
        .map(describe),
  }),
  eachFile("a function imports its own folder, shared and packages", {
    where: /^functions\//,
    planted: {
      "functions/oauth/planted.ts": `import { cors } from "../mcp/cors.ts";`,
      "functions/mcp/planted.ts": `import { movableClock } from "../../local/clock.ts";`,
    },
    violations: ({ path, imports }) => {
      const own = path.split("/").slice(0, 2).join("/") + "/";
      return imports.filter((one) => one.path && !one.path.startsWith(own) && !one.path.startsWith("shared/")).map(
        describe,
      );
    },
  }),
  eachFile("shared imports shared and packages", {
    where: /^shared\//,
    planted: { "shared/planted.ts": `export * from "../functions/mcp/cors.ts";` },
    violations: ({ imports }) => imports.filter((one) => one.path && !one.path.startsWith("shared/")).map(describe),
  }),
  eachFile("rules are pure: they import rules, plain types and packages without I/O", {
    where: /^shared\/[^/]+\//,
    planted: {
      "shared/oauth/planted.ts": `import { Hono } from "hono";`,
      "shared/billing/planted.ts": `import { createDatabase } from "../db/client.ts";`,
    },
    violations: ({ path, imports }) =>
      !isRule(path)
        ? []
        : imports.filter((one) =>
          one.path
            ? !isRule(one.path) && !PLAIN.test(one.path)
            : /^(hono(?!\/jsx$)|@supabase\/|nodemailer)/.test(one.specifier)
        ).map(describe),
  }),
  eachFile("no import cycles, not even of types", {
    where: /^(local|functions|shared)\//,
    planted: { "shared/http/transport_security.ts": `import { createApp } from "./app.ts";` },
    violations: ({ path }, project) => isInCycle(path, project) ? [" is in an import cycle"] : [],
  }),
  eachFile("only tests import tests; only local and tests import local", {
    where: /^(local|functions|shared)\//,
    planted: { "local/planted.ts": `import { startStack } from "../tests/_support/stack.ts";` },
    violations: ({ path, imports }) =>
      imports.filter((one) =>
        one.path?.startsWith("tests/") || (one.path?.startsWith("local/") && !path.startsWith("local/"))
      ).map(describe),
  }),
  eachFile("imports have a form that the deploy CLI's scanner recognizes", {
    where: /^(functions|shared)\//,
    planted: {
      "functions/mcp/planted.ts": `import answer, {\n  type Question,\n} from "./answer.ts";`,
      "functions/oauth/planted.ts": "await import(`./answer.ts`);",
      "shared/planted.ts": `import {\n  // {"error"} of RFC 6749\n  answer,\n} from "./answer.ts";`,
      "shared/http/planted.ts": `import{answer}from "./answer.ts";`,
    },
    violations: ({ imports }) => imports.filter(isMissed).map(({ line }) => `:${line} is not found by the scanner`),
  }),
  eachFile("no module is located by import.meta", {
    where: /^(functions|shared)\//,
    planted: { "shared/planted.ts": `const page = new URL("./page.html", import.meta.url);` },
    violations: ({ text }) => /\bimport\.meta\b/.test(text) ? [" uses import.meta"] : [],
  }),
  eachFile("packages are imported by their exact entry in import_map.json", {
    where: /./,
    planted: {
      "shared/planted.ts": `import { z } from "npm:zod@4";`,
      "functions/mcp/planted.ts": `import { cors } from "hono/cors/unlisted";`,
    },
    violations: ({ imports }, project) => {
      const listed = importMap(project);
      return imports.filter((one) => !one.path && !isTemplate(one) && !one.specifier.startsWith("node:"))
        .filter(({ specifier }) => !(specifier in listed)).map(describe);
    },
  }),
  eachFile("only tests import deno-std, a third party's copy of the standard library", {
    where: /^(functions|shared|local)\//,
    planted: {
      "shared/planted.ts": `import { assert } from "@std/assert";`,
      "local/planted.ts": `import { parse } from "npm:deno-std@1.4.0/toml/parse.js";`,
    },
    violations: ({ imports }, project) => {
      const listed = importMap(project);
      return imports.filter(({ specifier }) => /^npm:deno-std\b/.test(listed[specifier] ?? specifier)).map(describe);
    },
  }),
  {
    name: "import_map.json has exact versions, sorted, without folders and unused entries",
    planted: {
      "import_map.json": JSON.stringify({
        imports: {
          "zod": "npm:zod@4.6.7",
          "hono": "npm:hono@^4",
          "shared/": "./shared/",
          "left-pad": "npm:left-pad@1.3.0",
          "@std/crypto/timing-safe-equal": "./shared/std/absent.ts",
        },
      }),
    },
    violations: (project) => {
      const listed = importMap(project);
      const names = Object.keys(listed);
      const used = new Set(project.files.flatMap(({ imports, text }) => [
        ...imports.map(({ specifier }) => specifier),
        ...[...text.matchAll(/@jsxImportSource (\S+)/g)].map(([, source]) => `${source}/jsx-runtime`),
        ...[...text.matchAll(/^\/\/ @ts-types="([^"]+)"$/gm)].map(([, source]) => source!),
      ]));
      return [
        ...names.filter((name) =>
          !isOurs(listed[name]!, project) &&
          !/^npm:(@[\w-]+\/)?[\w.-]+@\d+\.\d+\.\d+(-[\w.]+)?(\/[\w./-]+)?$/.test(listed[name]!)
        )
          .map((name) => `${name} is no exact version of a package`),
        ...names.filter((name) => name.endsWith("/")).map((name) => `${name} is a folder: deploying uploads all of it`),
        ...names.filter((name) => !used.has(name)).map((name) => `${name} is not used`),
        ...(names.join() === names.toSorted().join() ? [] : ["is not sorted"]),
      ].map((problem) => `import_map.json: ${problem}`);
    },
  },
];

function isInCycle(path: string, { files }: Project): boolean {
  const importsOf = new Map(files.map((file) => [file.path, file.imports.flatMap((one) => one.path ?? [])]));
  const queue = [...importsOf.get(path)!];
  const seen = new Set(queue);
  for (const next of queue) {
    for (const further of importsOf.get(next) ?? []) if (!seen.has(further)) queue.push(further), seen.add(further);
  }
  return seen.has(path);
}

function importMap({ texts }: Project): Record<string, string> {
  return JSON.parse(texts.get("import_map.json")!).imports;
}

/** A module of ours that replaces a package. */
const isOurs = (target: string, { texts }: Project) => target.startsWith("./shared/std/") && texts.has(target.slice(2));

const isTemplate = ({ kind, text }: Import) => kind === "dynamic" && !/^import\(\s*["']/.test(text);
