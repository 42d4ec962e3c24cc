/** Programs from npm packages that are no part of the project, each on the Node it asks for. */

const NODE = "node@22";

export interface NpmTool {
  /** A command that is ready to be spawned. */
  command(args: string[], options?: Deno.CommandOptions): Deno.Command;
}

/**
 * Makes a package's program available; npx keeps it for the next time.
 * @param spec package and exact version; @param bin name of the program in it.
 */
export async function npmTool(spec: string, bin: string): Promise<NpmTool> {
  const { code, stdout, stderr } = await new Deno.Command("npx", {
    args: ["--yes", "--package", NODE, "--package", spec, "--call", `command -v node && command -v ${bin}`],
    stdin: "null",
  }).output();
  if (code !== 0) throw new Error(`npx could not install ${spec}: ${new TextDecoder().decode(stderr)}`);
  const [node, script] = new TextDecoder().decode(stdout).trim().split("\n");
  return { command: (args, options) => new Deno.Command(node!, { ...options, args: [script!, ...args] }) };
}
