/** File names, file lengths, and that the platform's configuration lists every function. */
import type { Project } from "./project.ts";
import { eachFile, type Rule } from "./rule.ts";

const LONGEST = 300;

export const shapeRules: Rule[] = [
  eachFile("a file over 300 lines says why", {
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
  eachFile("a page says by which library it is rendered", {
    where: /\.tsx$/,
    planted: { "functions/oauth/planted.tsx": "export const page = <p>Planted</p>;" },
    violations: ({ text }) =>
      text.startsWith("/** @jsxImportSource hono/jsx */\n") ? [] : [" lacks the jsxImportSource"],
  }),
  {
    name: "config.toml lists exactly the functions there are, open to callers without a token of the platform",
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
