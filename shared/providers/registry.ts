/** All supported providers, by key. */
import { anthropic } from "./anthropic.ts";
import { digitalocean } from "./digitalocean.ts";
import { github } from "./github.ts";
import { httpJson } from "./http_json.ts";
import { openai } from "./openai.ts";
import type { Provider } from "./provider.ts";
import { vercel } from "./vercel.ts";

export type Registry = ReadonlyMap<string, Provider>;

/** In the order of the connect page. */
export const PROVIDERS: Registry = new Map(
  [openai, anthropic, digitalocean, github, vercel, httpJson].map((provider) => [provider.key, provider]),
);
