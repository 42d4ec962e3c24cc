/** The secrets of a stack: generated once and stored in its folder, unless the environment sets them. */
import type { Environment } from "../shared/config.ts";
import type { DataFolder } from "./data_folder.ts";
import { GENERATED, randomHex } from "./deploy/settings.ts";

export interface Secrets {
  /** HS256 secret of the access tokens. */
  jwt_secret: string;
  publishable_key: string;
  secret_key: string;
  oauth_code_secret: string;
  cron_secret: string;
  front_door_secret: string;
  payment_webhook_secret: string;
  /** 32 bytes in base64. */
  credentials_key: string;
}

const MAKE: Readonly<Record<string, () => string>> = {
  jwt_secret: () => randomHex(32),
  publishable_key: () => `sb_publishable_${randomHex(11)}_${randomHex(4)}`,
  secret_key: () => `sb_secret_${randomHex(11)}_${randomHex(4)}`,
  ...Object.fromEntries(Object.entries(GENERATED).map(([name, make]) => [name.toLowerCase(), make])),
};

/** Lists from the environment (for rotation) remain unchanged: comma-separated, the first one signs. */
export async function readSecrets(folder: DataFolder, env: Environment): Promise<Secrets> {
  const kept = await folder.readJson<Record<string, string>>("secrets.json") ?? {};
  const secrets = Object.fromEntries(Object.entries(MAKE).map(([name, make]) => [name, kept[name] ?? make()]));
  if (Object.keys(MAKE).some((name) => !kept[name])) await folder.writeJson("secrets.json", secrets);
  const given = Object.keys(GENERATED).flatMap((name) => env[name] ? [[name.toLowerCase(), env[name]]] : []);
  return { ...secrets, ...Object.fromEntries(given) };
}
