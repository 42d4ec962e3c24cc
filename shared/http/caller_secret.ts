/** Shared secrets of callers, including the scheduler's, sent as `Authorization: Bearer …` or `?secret=…`. */
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import type { AppContext } from "./app.ts";
import { isOneOf } from "./front_door.ts";

/** @throws {AppError} `unauthorized`, without a reason. */
export function requireCronSecret(c: AppContext, { cronSecrets }: Pick<Config, "cronSecrets">): void {
  const bearer = /^Bearer +(.+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  const given = [bearer, ...(c.req.queries("secret") ?? [])].filter((secret) => secret !== undefined);
  if (!isOneOf(given, cronSecrets)) {
    throw new AppError("unauthorized", "The scheduler's secret is missing or wrong.", {
      headers: { "www-authenticate": "Bearer" },
    });
  }
}
