/**
 * Runs programs from npm packages outside the project, on the required Node version and without the user's settings.
 */

const NODE = "node@22";

export interface NpmTool {
  /** Paths of Node and the program, for callers that spawn them. */
  node: string;
  script: string;
  /**
   * Runs the program until it exits.
   * @param onAuthorization receives the authorization request that the program asks a person to open.
   */
  run(
    args: string[],
    options?: { env?: Record<string, string>; onAuthorization?: (url: string) => Promise<unknown> },
  ): Promise<{ code: number; stdout: string; stderr: string }>;
}

/**
 * Installs a package's program, which npx caches.
 * @param spec package and exact version; @param bin name of its program.
 */
export async function npmTool(spec: string, bin: string): Promise<NpmTool> {
  const { code, stdout, stderr } = await new Deno.Command("npx", {
    args: ["--yes", "--package", NODE, "--package", spec, "--call", `command -v node && command -v ${bin}`],
    stdin: "null",
  }).output();
  if (code !== 0) throw new Error(`npx could not install ${spec}: ${new TextDecoder().decode(stderr)}`);
  const [node, script] = new TextDecoder().decode(stdout).trim().split("\n") as [string, string];
  return {
    node,
    script,
    async run(args, { env, onAuthorization = () => Promise.resolve() } = {}) {
      const child = new Deno.Command(node, {
        args: [script, ...args],
        env,
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const watch = watchForAuthorization(onAuthorization);
      const [stdout, stderr, { code }] = await Promise.all([
        collect(child.stdout, watch),
        collect(child.stderr, watch),
        child.status,
      ]);
      return { code, stdout, stderr };
    },
  };
}

/** Reads output and acts on the first authorization request, once its line is complete. */
export function watchForAuthorization(act: (url: string) => Promise<unknown>): (output: string) => Promise<void> {
  let isDone = false;
  return async (output) => {
    const url = /https?:\/\/\S+code_challenge=\S+(?=\s)/.exec(output)?.[0];
    if (!url || isDone) return;
    isDone = true;
    await act(url);
  };
}

async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  watch: (output: string) => Promise<void>,
): Promise<string> {
  let output = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    output += text;
    await watch(output);
  }
  return output;
}
