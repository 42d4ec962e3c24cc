/** @jsxImportSource hono/jsx */
/**
 * Failures as pages: what happened, whether anything was changed, the one next step. Never a stack, never a code
 * alone.
 */
import type { Child } from "hono/jsx";
import type { AppContext, RenderError } from "../http/app.ts";
import type { AppError } from "../errors.ts";
import { type PageConfig, renderPage } from "./layout.tsx";

export interface Problem {
  title: string;
  /** What happened, in a sentence or two. */
  message: Child;
  /** Whether anything was changed by it; absent where nobody would wonder. */
  changed?: string | undefined;
  next: {
    label: string;
    href: string;
    /** A way on that we do not recommend. */
    isQuiet?: boolean;
  };
}

/** Answers with a page about one problem. */
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

/** How a surface of pages answers errors; pass it to `createApp`. */
export function pageErrors(config: PageConfig): RenderError {
  return (error, c) => {
    const { problems, failures } = c.get("reader").words;
    const { title, message, changed } = problems.codes[error.code];
    const said = error.options.says?.(failures) ?? message;
    const problem = { title, message: said, changed, next: nextOf(c, config, error) };
    return renderProblem(c, { config, status: error.status, problem });
  };
}

function nextOf(c: AppContext, config: PageConfig, { code }: AppError): Problem["next"] {
  const { problems, frame } = c.get("reader").words;
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
      // Forms post to the address of the page that shows them, so the same address starts again after either.
      return { label: problems.tryAgain, href: c.req.path + new URL(c.req.url).search };
  }
}
