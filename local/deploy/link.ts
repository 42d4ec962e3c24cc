/** Links the checkout to the project, so that commands by hand go there too. It also shows whether the token may. */
import { join } from "node:path";
import type { Step } from "./step.ts";

export const link: Step = {
  title: "Link",
  async run({ cli, root, project, isDryRun }) {
    const linked = await Deno.readTextFile(join(root, "supabase/.temp/project-ref")).catch(() => "");
    if (linked.trim() === project) return "unchanged";
    const args = ["link", "--project-ref", project];
    if (isDryRun) {
      cli.show(args, "would run: $");
      return "planned";
    }
    await cli.run(args);
    return "changed";
  },
};
