/**
 * `deno task suite conformance`: the official suite against its own stack; exits with status 1 on an unexpected
 * failure.
 */
import { freePort } from "../_support/free_port.ts";
import { npmTool } from "../_support/npm_tool.ts";
import { startStack } from "../_support/stack.ts";
import { connectFor, follow, newPerson } from "../e2e/person.ts";
import { startBearerProxy } from "./bearer_proxy.ts";
import { AUTHORIZATION_SCENARIOS, type Scenario, SERVER_SCENARIOS, SUITE } from "./scenarios.ts";

interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  errorMessage?: string;
}

const print = (text: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));

const suite = await npmTool(SUITE, "conformance");
const stack = await startStack({ args: ["--no-demo"] });
const results = await Deno.makeTempDir({ prefix: "conformance-" });
let failures = 0;

try {
  const person = await newPerson(stack, "conformance@example.com");
  const { client, tokens } = await connectFor(person, stack.mcp_url);
  await client.close();
  const proxy = startBearerProxy(stack.mcp_url, tokens().access_token);
  for (const scenario of SERVER_SCENARIOS) {
    failures += report(scenario, await run(["server", "--url", proxy.url, "--scenario", scenario.name]));
  }
  await proxy.close();

  const port = freePort();
  const args = [
    ...["authorization", "--url", stack.site_url, "--resource", stack.mcp_url],
    ...["--client-id", await register(`http://127.0.0.1:${port}/callback`), "--port", String(port)],
  ];
  // One run for both, because the second scenario reads the first one's document.
  const checks = await run(args, async (authorizationUrl) => {
    await follow(await person.decide(authorizationUrl));
  });
  for (const scenario of AUTHORIZATION_SCENARIOS) {
    failures += report(scenario, checks.filter(({ id }) => scenario.name.startsWith(id)));
  }
} finally {
  await stack.stop();
  await Deno.remove(results, { recursive: true });
}
print(failures === 0 ? "\nEverything that applies passes." : `\n${failures} checks failed.`);
Deno.exit(failures === 0 ? 0 : 1);

/** Runs the suite and reads its results; `onAuthorization` receives the request that a person must open. */
async function run(args: string[], onAuthorization?: (url: string) => Promise<void>): Promise<Check[]> {
  const folder = await Deno.makeTempDir({ dir: results });
  const { stdout } = await suite.run([...args, "--output-dir", folder], { onAuthorization });
  const checks: Check[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    checks.push(...JSON.parse(await Deno.readTextFile(`${folder}/${name}/checks.json`)));
  }
  if (checks.length === 0) throw new Error(`The suite checked nothing:\n${stdout}`);
  return checks;
}

/** Prints one line per scenario and returns the number of checks with an unexpected result. */
function report({ name, needFixtureTools = [] }: Scenario, checks: Check[]): number {
  const failed = checks.filter(({ status }) => status === "FAILURE");
  const unexpected = failed.filter(({ id }) => !needFixtureTools.includes(id));
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  const untested = needFixtureTools.length > 0 ? `, ${needFixtureTools.length} need the suite's fixture tools` : "";
  const isWhole = passed > 0 && unexpected.length === 0 && failed.length === needFixtureTools.length;
  print(`${isWhole ? "ok  " : "FAIL"} ${name}: ${passed} passed${untested}`);
  for (const { id, errorMessage } of unexpected) print(`       ${id}: ${errorMessage}`);
  return isWhole ? 0 : Math.max(1, unexpected.length);
}

async function register(redirectUri: string): Promise<string> {
  const response = await fetch(`${stack.site_url}/api/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Conformance suite", redirect_uris: [redirectUri] }),
  });
  return (await response.json()).client_id;
}
