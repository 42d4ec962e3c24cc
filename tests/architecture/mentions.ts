/**
 * The places that may mention the environment, the console, the clock, the database, and globals that the edge runtime
 * lacks.
 */
import { eachFile, onlyIn, type Rule } from "./rule.ts";

/** PostgreSQL's own timeouts and the load measurements need the real clock. */
const MEASURED = /^tests\/(pg|load)\/|^tests\/(_support\/machine|fuzz\/fuzz|readme\/fresh_folder)\.ts$/;
const DEPLOYED = /^(functions|shared)\//;
const OUTWARD = /^shared\/((db|http|pages|mail)\/|net\/deno_network\.ts$|credentials\/nonce\.ts$|[^/]+$)/;

export const mentionRules: Rule[] = [
  onlyIn("only the wiring of functions reads the environment", {
    mention: /^Deno\.env/,
    places: /^shared\/(config|production_deps)\.ts$/,
    where: DEPLOYED,
    planted: { "functions/oauth/planted.ts": `const secret = Deno.env.get("OAUTH_CODE_SECRET");` },
  }),
  onlyIn("only the log writes to the console", {
    mention: /^console\b/,
    places: /^shared\/log\.ts$/,
    where: DEPLOYED,
    planted: { "shared/oauth/planted.ts": `console.error("here");` },
  }),
  onlyIn("only a function's index.ts calls Deno.serve", {
    mention: /^Deno\.serve/,
    places: /^functions\/[^/]+\/index\.ts$/,
    where: DEPLOYED,
    planted: { "functions/mcp/app.ts": `Deno.serve(() => new Response());` },
  }),
  onlyIn("only shared/db calls the database", {
    mention: /^rpc\(\)$/,
    places: /^shared\/db\//,
    where: DEPLOYED,
    planted: { "functions/mcp/planted.ts": `await client.rpc("call_tool", {});` },
  }),
  onlyIn("SQL stays in the database", {
    mention: /^"\s*(select\s.+\sfrom\s|insert into\s|update\s+\S+\s+set\s|delete from\s)/is,
    places: /^$/,
    where: DEPLOYED,
    planted: { "functions/mcp/planted.ts": "const sql = `select id\n from app.expenses`;" },
  }),
  onlyIn("all texts of the connector come from the catalog", {
    mention: /^"[^"]*\b[a-z’']+ [a-z’']+ [a-z’']+\b/i,
    // The contracts describe their fields (decision 069); host.ts responds in JSON-RPC's terms.
    places: /^functions\/mcp\/(tools\/\w+\/contract|chart\/page|chart\/view\/host)\.ts$/,
    where: /^functions\/mcp\//,
    planted: {
      "functions/mcp/planted.ts": `const message = "This message is too long.";`,
      "functions/mcp/chart/view/planted.ts": "const text = `Not part of it: ${left}`;",
    },
  }),
  onlyIn("only the clock and the log read the system time", {
    mention: /^(Date\.now|new Date\(\))$/,
    places: /^shared\/(clock|log)\.ts$/,
    where: DEPLOYED,
    planted: {
      "functions/oauth/planted.ts": `const at = new Date();`,
      "shared/oauth/planted.ts": `const at = Date.now();`,
    },
  }),
  onlyIn("no test measures durations by the clock", {
    mention: /^performance\.now$/,
    places: MEASURED,
    where: /^tests\//,
    planted: { "tests/db/planted_test.ts": `assert(performance.now() - startedAt < 5000);` },
  }),
  eachFile("rules take clock, random and fetch as arguments", {
    where: DEPLOYED,
    planted: {
      "shared/oauth/planted.ts": `const id = crypto.randomUUID();`,
      "shared/billing/planted.ts": `const n = Math.random();`,
      "shared/reminders/planted.ts": `await Deno.readTextFile("names.txt");`,
    },
    violations: ({ path, mentions }) =>
      !path.startsWith("shared/") || OUTWARD.test(path)
        ? []
        : mentions.filter(({ name }) =>
          /^(crypto\.(randomUUID|getRandomValues)|Math\.random|Deno|setTimeout\(\)|globalThis)$/.test(name)
        )
          .map(({ name, line }) => `:${line} mentions ${name}`),
  }),
  onlyIn("no globals that Deno 2.1 lacks", {
    mention:
      /^(Temporal|RegExp\.escape|Uint8Array\.from(Base64|Hex)|to(Base64|Hex)\(\)|Error\.isError|Math\.sumPrecise)$/,
    places: /^$/,
    where: DEPLOYED,
    planted: {
      "shared/planted.ts": `export const today = Temporal.Now.plainDateISO();`,
      "functions/oauth/planted.ts": `const bytes = Uint8Array.fromBase64("AA==");`,
    },
  }),
];
