/** Files that other services read: the icons of the connector, and the proof of this domain for OpenAI. */
import { Buffer } from "node:buffer";
import type { Config } from "../../shared/config.ts";
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { ICON_FILES } from "../../shared/pages/icon_files.ts";

/** Their names contain a hash of their bytes, so their content never changes. Clients show them on their own pages. */
const ICON_HEADERS = {
  "cache-control": "public, max-age=31536000, immutable",
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff",
};

export function getIcon(c: AppContext): Response {
  const icon = ICON_FILES.find(({ name }) => name === c.req.param("name"));
  if (!icon) throw new AppError("not_found", "no such icon");
  return c.body(Buffer.from(icon.base64, "base64"), 200, { ...ICON_HEADERS, "content-type": icon.type });
}

/** Not found until the operator sets `OPENAI_APPS_CHALLENGE`. */
export const getChallenge = ({ openaiAppsChallenge: token }: Config) => (c: AppContext): Response => {
  if (!token) throw new AppError("not_found", "no domain is being verified");
  return c.text(token, 200, { "cache-control": "no-store" });
};
