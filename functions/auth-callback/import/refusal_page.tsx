/** @jsxImportSource hono/jsx */
/** Explains why a file cannot be uploaded here, without revealing whether the import exists or who owns it. */
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import type { PageDeps } from "../page_guards.ts";
import type { UploadRefusal } from "./steps.ts";

const STATUS = { unknown: 404, refused: 403, used: 409 } as const;

export function renderRefusal(
  c: AppContext,
  { config }: PageDeps,
  { user, refusal }: { user: SignedInUser; refusal: UploadRefusal },
): Promise<Response> {
  const { uploadRefusals, frame } = c.get("reader").words;
  const next = refusal === "used"
    ? { label: uploadRefusals.seeRead, href: c.req.path }
    : { label: frame.goToAccount, href: "/account", isQuiet: true };
  return renderProblem(c, { config, user, status: STATUS[refusal], problem: { ...uploadRefusals[refusal], next } });
}
