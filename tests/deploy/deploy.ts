/**
 * `deno task suite deploy`: the real CLI deploys to a fake management API, and each function starts from the uploaded
 * files.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { edgeDeno } from "../edge/edge_deno.ts";
import { checkFunction } from "../edge/interview.ts";
import { builtFunctions } from "../edge/questions.ts";
import { type ManagementApi, PROJECT, startManagementApi, TOKEN } from "./management_api.ts";
import { copy } from "../_support/copy.ts";
import { supabase } from "./supabase_cli.ts";
import { problemsOf } from "./upload.ts";

const ROOT = new URL("../../", import.meta.url);
const folder = await Deno.makeTempDir({ prefix: "expense-deploy-" });
const project = join(folder, "project");
for (const part of ["functions", "shared", "import_map.json", "supabase"]) {
  await copy(new URL(part, ROOT).pathname, join(project, part));
}
// Stray files in a project, which the CLI must not upload.
for (const path of [".env", "shared/.env", "functions/mcp/app_test.ts"]) {
  await Deno.writeTextFile(join(project, path), "SECRET=1\n");
}
const slugs = await builtFunctions(ROOT);
const apis: ManagementApi[] = [];

/** Deploys every function in the configuration. */
async function deploy(): Promise<ManagementApi> {
  const uploads = join(folder, `uploads-${apis.length}`);
  await Deno.mkdir(uploads);
  const api = await startManagementApi(uploads);
  apis.push(api);
  const args = ["--profile", api.profile, "functions", "deploy", "--use-api", `--remote=${PROJECT}`, "--yes"];
  const { ok, output } = await supabase(project, args, { SUPABASE_ACCESS_TOKEN: TOKEN });
  assert(ok, output);
  return api;
}

const allProblems = async (api: ManagementApi) => (await Promise.all([...api.uploads.values()].map(problemsOf))).flat();

Deno.test.afterAll(async () => {
  for (const api of apis) await api.close();
  await Deno.remove(folder, { recursive: true });
});

const api = await deploy();

Deno.test("every function is deployed, open to callers without a platform token", () => {
  assertEquals([...api.uploads.keys()].toSorted(), slugs);
  assertEquals([...api.live].toSorted(), slugs);
});

Deno.test("every module is uploaded, without secrets and tests, in few files", async () => {
  assertEquals(await allProblems(api), []);
});

const deno = await edgeDeno();
for (const slug of slugs) {
  Deno.test(`${slug} starts from the uploaded files and handles a good and a bad request`, async () => {
    await checkFunction(deno, { folder: await Deno.realPath(api.uploads.get(slug)!.folder), slug });
  });
}

const planted: { what: string; edits: Record<string, (text: string) => string>; problem: string }[] = [
  {
    what: "an import that the CLI's scanner misses",
    edits: {
      "shared/planted.ts": () => "export default 1;\nexport const two = 2;\n",
      "functions/mcp/index.ts": (text) =>
        `import planted, {\n  two,\n} from "../../shared/planted.ts";\n${text}console.error(planted, two);\n`,
    },
    problem: "mcp: shared/planted.ts was not uploaded",
  },
  {
    what: "a function without verify_jwt",
    edits: {
      "supabase/config.toml": (text) => text.replace("[functions.oauth]\nverify_jwt = false", "[functions.oauth]"),
    },
    problem: "oauth: verify_jwt is not false",
  },
  {
    what: "an import map that names a folder",
    edits: { "import_map.json": (text) => text.replace(`"imports": {`, `"imports": { "shared/": "./shared/",`) },
    problem: "mcp: shared/.env must not be uploaded",
  },
];
for (const { what, edits, problem } of planted) {
  Deno.test(`test of the test: ${what} passes the CLI silently and is found in the upload`, async () => {
    const kept = new Map<string, string>();
    for (const [path, edit] of Object.entries(edits)) {
      const text = await Deno.readTextFile(join(project, path)).catch(() => "");
      kept.set(path, text);
      await Deno.writeTextFile(join(project, path), edit(text));
    }
    const problems = await allProblems(await deploy());
    for (const [path, text] of kept) await Deno.writeTextFile(join(project, path), text);
    assert(problems.includes(problem), `${problem} is not among: ${problems.join("; ")}`);
  });
}
