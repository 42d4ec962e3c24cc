/** The secrets of a stack: generated once and stored in its folder, unless the environment sets them. */
import { Buffer } from "node:buffer";
import type { DataFolder } from "./data_folder.ts";
import type { Environment } from "../shared/config.ts";

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

const MAKE: Record<keyof Secrets, () => string> = {
  jwt_secret: () => randomHex(32),
  publishable_key: () => `sb_publishable_${randomHex(11)}_${randomHex(4)}`,
  secret_key: () => `sb_secret_${randomHex(11)}_${randomHex(4)}`,
  oauth_code_secret: () => randomHex(32),
  cron_secret: () => randomHex(32),
  front_door_secret: () => randomHex(32),
  payment_webhook_secret: () => randomHex(32),
  credentials_key: () => Buffer.from(random(32)).toString("base64"),
};

/** Lists (for rotation) are kept unchanged: comma-separated, the first one signs. */
const VARIABLES: Partial<Record<keyof Secrets, string>> = {
  oauth_code_secret: "OAUTH_CODE_SECRET",
  cron_secret: "CRON_SECRET",
  front_door_secret: "FRONT_DOOR_SECRET",
  payment_webhook_secret: "PAYMENT_WEBHOOK_SECRET",
  credentials_key: "CREDENTIALS_KEY",
};

export async function readSecrets(folder: DataFolder, env: Environment): Promise<Secrets> {
  const kept = await folder.readJson<Partial<Secrets>>("secrets.json") ?? {};
  const names = Object.keys(MAKE) as (keyof Secrets)[];
  const secrets = Object.fromEntries(names.map((name) => [name, kept[name] ?? MAKE[name]()])) as unknown as Secrets;
  if (names.some((name) => !kept[name])) await folder.writeJson("secrets.json", secrets);
  const given = names.flatMap((name) => {
    const value = VARIABLES[name] && env[VARIABLES[name]];
    return value ? [[name, value]] : [];
  });
  return { ...secrets, ...Object.fromEntries(given) };
}

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
const randomHex = (length: number) => Buffer.from(random(length)).toString("hex");
