/** @jsxImportSource hono/jsx */
/** Failures as pages: what happened, whether anything was changed, the one next step. Never a stack, never a code alone. */
import type { Child } from "hono/jsx";
import type { AppContext, RenderError } from "../http/app.ts";
import type { ErrorCode } from "../errors.ts";
import { type PageConfig, renderPage } from "./layout.tsx";

export interface Problem {
  title: string;
  /** What happened, in a sentence or two. */
  message: Child;
  /** Whether anything was changed by it. */
  changed: string;
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
        <p class="muted">{problem.changed}</p>
        <div class="buttons">
          <a class={problem.next.isQuiet ? "button" : "button primary"} href={problem.next.href}>
            {problem.next.label}
          </a>
        </div>
        <p class="request-id">
          Request <code>{c.get("requestId")}</code>
        </p>
      </>
    ),
  });
}

/** How a surface of pages answers errors; pass it to `createApp`. */
export function pageErrors(config: PageConfig): RenderError {
  return (error, c) => {
    const { title, message = error.message, changed, next } = WORDS[error.code];
    const support = error.code === "suspended" && config.supportUrl
      ? { label: "Contact support", href: config.supportUrl }
      : undefined;
    return renderProblem(c, {
      config,
      status: error.status,
      problem: { title, message, changed, next: support ?? next ?? sameAgain(c) },
    });
  };
}

const UNCHANGED = "Nothing was changed.";
const HOME = { label: "Go to the front page", href: "/" };

/** Every code in words; an absent `message` is the error's own, an absent `next` the same page again. */
const WORDS: Record<ErrorCode, { title: string; message?: string; changed: string; next?: Problem["next"] }> = {
  invalid_request: { title: "That did not work", changed: UNCHANGED },
  unauthorized: { title: "Please sign in", changed: UNCHANGED, next: { label: "Sign in", href: "/login" } },
  forbidden: { title: "That did not work", changed: UNCHANGED },
  suspended: {
    title: "This account is suspended",
    message:
      "You can't use it for now, and neither can the apps you connected. If you think this is a mistake, ask whoever runs this service.",
    changed: "Nothing in it was deleted or changed. When the suspension ends, you can sign in as before.",
    next: { label: "Sign in with another account", href: "/login" },
  },
  not_found: { title: "There is no such page", changed: UNCHANGED, next: HOME },
  method_not_allowed: { title: "That did not work", changed: UNCHANGED, next: HOME },
  payload_too_large: { title: "That was too much at once", changed: UNCHANGED },
  unsupported_media_type: { title: "That did not work", changed: UNCHANGED },
  rate_limited: { title: "Please wait a little", changed: UNCHANGED },
  internal: {
    title: "Something went wrong on our side",
    message: "It was nothing that you did. We have written down what happened.",
    changed: "If you were saving something, your account shows whether it was saved.",
    next: { label: "Go to your account", href: "/account" },
  },
  // Said to strangers too, and a write may have gone through although its answer never came.
  unavailable: {
    title: "We can't do that right now",
    changed: "If you were saving something, check before trying again.",
  },
};

// Forms post to the address of the page that shows them, so the same address starts again after either.
function sameAgain(c: AppContext): Problem["next"] {
  return { label: "Try again", href: c.req.path + new URL(c.req.url).search };
}
