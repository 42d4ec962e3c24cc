/** `deno task operate site`: serves the site in front of `supabase start`. */
import { readCommandLine, taskCommand } from "../command_line.ts";

readCommandLine({}, taskCommand("operate site"));
Deno.env.set("FUNCTIONS_URL", "http://127.0.0.1:54321/functions/v1");
const { default: frontDoor } = await import("../front_door/serve.ts");
Deno.serve({ hostname: "127.0.0.1", port: 8000 }, frontDoor.fetch);
