/** @jsxImportSource hono/jsx */
/**
 * Error pages explain the failure, its effect on data, and the next step. They never show a stack trace or a bare
 * code.
 */
import type { Child } from "hono/jsx";
import type { AppContext, RenderError } from "../http/app.ts";
import type { AppError } from "../errors.ts";
import { type PageConfig, renderPage } from "./layout.tsx";
import { StateText } from "./organization_state.tsx";

export interface Problem {
  title: string;
  /** The failure, in one or two sentences. */
  message: Child;
  /** Whether anything changed; absent for failures that cannot have changed anything. */
  changed?: string | undefined;
  next: {
    label: string;
    href: string;
    /** A secondary action. */
    isQuiet?: boolean;
  };
}

/** Responds with a page about one problem. */
export function renderProblem(
  c: AppContext,
  { config, status, problem, user }: {
    config: PageConfig;
    status: number;
    problem: Problem;
    user?: { email: string } | null | undefined;
  },
): Promise<Response> {
  return renderPage(c, {
    title: problem.title,
    config,
    status,
    ...(user && { user }),
    children: (
      <>
        <h1>{problem.title}</h1>
        <p class="lead">{problem.message}</p>
        {problem.changed && <p class="muted">{problem.changed}</p>}
        <div class="buttons">
          <a class={problem.next.isQuiet ? "button" : "button primary"} href={problem.next.href}>
            {problem.next.label}
          </a>
        </div>
        <p class="request-id">
          {c.get("reader").words.frame.request} <code>{c.get("requestId")}</code>
        </p>
      </>
    ),
  });
}

/** The error renderer of page surfaces; pass it to `createApp`. */
export function pageErrors(config: PageConfig): RenderError {
  return (error, c) => {
    const reader = c.get("reader");
    const { problems, failures } = reader.words;
    const { message, changed, ...code } = problems.codes[error.code];
    const { says, unchangeable } = error.options;
    const title = unchangeable ? reader.words.organizationState.refusedTitle : code.title;
    const said = unchangeable ? <StateText {...unchangeable} reader={reader} /> : says?.(failures) ?? message;
    const problem = { title, message: said, changed, next: nextOf(c, config, error) };
    return renderProblem(c, { config, status: error.status, problem, user: c.get("signedIn") });
  };
}

function nextOf(c: AppContext, config: PageConfig, { code, options }: AppError): Problem["next"] {
  const { problems, frame } = c.get("reader").words;
  // A retry would fail again.
  if (options.unchangeable) return { label: frame.goToAccount, href: "/account", isQuiet: true };
  switch (code) {
    case "unauthorized":
      return { label: problems.signIn, href: "/login" };
    case "suspended":
      return config.supportUrl
        ? { label: problems.contactSupport, href: config.supportUrl }
        : { label: problems.signInAsAnother, href: "/login" };
    case "not_found":
    case "method_not_allowed":
      return { label: problems.goHome, href: "/" };
    case "internal":
      return { label: frame.goToAccount, href: "/account" };
    default:
      // Forms post to the URL of the page that shows them, so reloading it starts over in either case.
      return { label: problems.tryAgain, href: c.req.path + new URL(c.req.url).search };
  }
}
