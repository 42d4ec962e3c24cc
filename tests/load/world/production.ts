/** `deno task start -- --production`, as a module that boot.ts can start. */
import { startProduction } from "../../../local/production.ts";

await startProduction({ port: 0, schedules: true }, (error) => {
  throw error;
});
