/** @jsxImportSource hono/jsx */
/** The upload form. Browsers accept files dropped on its input, so only the progress needs a script. */
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import { Name, Notice, Submit } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { RefusalFacts } from "../../../shared/words/message.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import type { PageDeps } from "../page_guards.ts";
import { PROGRESS_SCRIPT } from "./progress_script.ts";
import type { Found } from "./steps.ts";

/**
 * Types that the file dialog offers. Phones grey out unlisted media types, and QIF, OFX and MT940 files have arbitrary
 * ones, so the list includes untyped bytes.
 */
const ACCEPT = [
  ...[".csv", ".tsv", ".txt", ".xlsx", ".ofx", ".qfx", ".qif", ".sta", ".mt940", ".940", ".xml"],
  ...[
    ".eml",
    "message/rfc822",
    ".pdf",
    ".jpg",
    ".jpeg",
    ".png",
    ".heic",
    "application/pdf",
    "image/jpeg",
    "image/png",
    "image/heic",
  ],
  ...["text/*", "application/csv", "application/vnd.ms-excel", "application/xml", "application/octet-stream"],
  ...["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/x-ofx", "application/x-qif"],
].join(",");

export async function renderUpload(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, organization, tabs, failure }: Found & { failure?: RefusalFacts },
): Promise<Response> {
  const { upload: words, uploadFailures } = c.get("reader").words;
  const formToken = await createFormToken(config, { userId: user.id, at: clock() });
  return renderPage(c, {
    title: words.title,
    config,
    user,
    tabs,
    script: PROGRESS_SCRIPT,
    asks: true,
    status: failure ? 400 : 200,
    children: (
      <>
        <h1>{words.title}</h1>
        {failure
          ? (
            <Notice kind="failure">
              <p>{reasonOf(failure, uploadFailures)}</p>
              <p>{uploadFailures.chooseAnother}</p>
            </Notice>
          )
          : <p class="lead">{words.lead(<Name>{organization.name}</Name>)}</p>}
        <form
          method="post"
          action={c.req.path}
          enctype="multipart/form-data"
          class="stack"
          data-sending={words.sending}
          data-reading={words.reading}
          data-broken={words.broken}
        >
          <input type="hidden" name="form_token" value={formToken} />
          <div class="field">
            <label for="file">{words.label}</label>
            <p class="reason" id="file-reason">{words.how}</p>
            <input
              class="drop"
              id="file"
              name="file"
              type="file"
              accept={ACCEPT}
              multiple
              required
              aria-describedby="file-reason file-takes"
            />
          </div>
          <div>
            <p id="sent" role="status"></p>
            <progress value="0" max="1" aria-labelledby="sent" hidden />
          </div>
          <Submit>{words.submit}</Submit>
        </form>
        <section class="small muted">
          <ul id="file-takes">
            <li>{words.formats}</li>
            <li>{words.documents}</li>
            <li>{words.sizes}</li>
            <li>{words.kept}</li>
          </ul>
        </section>
      </>
    ),
  });
}

type Reasons = Record<string, ((params: RefusalFacts["params"]) => { message: string }) | undefined>;

/** Error texts of the assistant without their hints, which concern its call. */
function reasonOf({ code, params = {} }: RefusalFacts, words: PageWords["uploadFailures"]): string {
  if (code === "no_file") return words.noFile;
  return (words.reasons as object as Reasons)[code]?.(params).message ?? words.unreadable;
}
