/** @jsxImportSource hono/jsx */
/** Components that several pages share. All render plain HTML that works without scripts. */
import type { Child } from "hono/jsx";
import { BROWSER_TOKEN } from "../http/browser_token.ts";
import type { PageFormat } from "../words/page_format.ts";

/**
 * Text that somebody else chose (the name of a client, person or organization). It is isolated, so its writing
 * direction and marks cannot rearrange the sentence around it.
 */
export const Name = ({ children }: { children: Child }) => <bdi>{children}</bdi>;

/** A highlighted box: `plain` for information, `warning` before a risk, `failure` and `done` after an action. */
export function Notice({ kind = "plain", children }: {
  kind?: "plain" | "warning" | "failure" | "done";
  children: Child;
}) {
  return <div class={`notice ${kind}`} role={kind === "failure" ? "alert" : "status"}>{children}</div>;
}

/** Buttons side by side; `even` gives them equal size, so that none stands out. */
export const Buttons = ({ even, children }: { even?: boolean; children: Child }) => (
  <div class={even ? "buttons even" : "buttons"}>{children}</div>
);

/** The button that submits a form, and a link that leaves it. */
export const Submit = ({ kind = "primary", even, leave, children }: {
  kind?: "primary" | "danger";
  even?: boolean;
  leave?: { href: string; words: Child };
  children: Child;
}) => (
  <Buttons even={even}>
    <button class={kind} type="submit">{children}</button>
    {leave && <a class="button" href={leave.href}>{leave.words}</a>}
  </Buttons>
);

/** The hidden field that forms without a session need (`readVisitorForm`). */
export const BrowserToken = ({ token }: { token: string }) => (
  <input
    type="hidden"
    name={BROWSER_TOKEN}
    value={token}
  />
);

export interface FieldProps {
  name: string;
  label: Child;
  /** Why the value is needed: one short sentence. */
  reason?: Child;
  /** The fault in the submitted value. */
  error?: string | undefined;
}

/** An input with its label, reason and error, linked for screen readers. Passes other attributes to the input. */
export function TextField({ name, label, reason, error, ...input }: FieldProps & Record<string, unknown>) {
  return (
    <Labelled {...{ name, label, reason, error }}>
      <input id={name} name={name} type="text" {...describedBy({ name, reason, error })} {...input} />
    </Labelled>
  );
}

/** Any other keys are `data-` attributes for the page's script. */
export type SelectOption = { value: string; label: string } & Record<`data-${string}`, string>;

/** A select. If `selected` isn't one of the options, the person must choose one. */
export function SelectField({ name, label, reason, error, options, selected, unchosen, ...select }:
  & FieldProps
  & {
    options: readonly SelectOption[];
    selected?: string | undefined;
    /** Placeholder until the person chooses an option. */
    unchosen: string;
  }
  & Record<string, unknown>) {
  const isChosen = options.some(({ value }) => value === selected);
  return (
    <Labelled {...{ name, label, reason, error }}>
      <select id={name} name={name} {...describedBy({ name, reason, error })} {...select}>
        {!isChosen && <option value="" selected>{unchosen}</option>}
        {options.map(({ value, label, ...data }) => (
          <option value={value} selected={value === selected} {...data}>{label}</option>
        ))}
      </select>
    </Labelled>
  );
}

function Labelled({ name, label, reason, error, children }: FieldProps & { children: Child }) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {reason && <p class="reason" id={`${name}-reason`}>{reason}</p>}
      {children}
      {error && <p class="invalid" id={`${name}-error`}>{error}</p>}
    </div>
  );
}

function describedBy({ name, reason, error }: Omit<FieldProps, "label">) {
  const ids = [reason && `${name}-reason`, error && `${name}-error`].filter(Boolean).join(" ");
  return { ...(ids && { "aria-describedby": ids }), ...(error && { "aria-invalid": "true" }) };
}

export interface Choice {
  value: string;
  title: Child;
  detail?: Child;
  /** Why it cannot be chosen; the choice is greyed out. */
  disabledReason?: Child;
}

/** A radio list; unavailable choices remain visible with their reason. */
export function RadioList({ name, legend, choices, selected }: {
  name: string;
  legend: Child;
  choices: readonly Choice[];
  selected?: string | undefined;
}) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="choices">
        {choices.map(({ value, title, detail, disabledReason }) => (
          <label class={disabledReason ? "choice off" : "choice"}>
            <input
              type="radio"
              name={name}
              value={value}
              required
              checked={value === selected}
              disabled={disabledReason !== undefined}
            />
            <span>
              <span class="title">{title}</span>
              {detail && <span class="detail">{detail}</span>}
              {disabledReason && <span class="detail">{disabledReason}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Names and values in two columns, stacked on a phone. */
export const Facts = ({ facts }: { facts: readonly (readonly [Child, Child])[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
);

/** One item of a list with its action. */
export const Row = ({ children, action }: { children: Child; action?: Child }) => (
  <li class="row">
    <div>{children}</div>
    {action && <div>{action}</div>}
  </li>
);

/** Bars share a scale that starts at zero; a net refund has no bar. */
export function Bar({ amount, most }: { amount: number; most: number }) {
  const length = most > 0 ? Math.max(0, amount) / most * 100 : 0;
  return (
    <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect width={length.toFixed(2)} height="4" />
    </svg>
  );
}

/** The mark next to a record with a document. */
export const Paperclip = ({ label }: { label: string }) => (
  <svg class="clip" viewBox="0 0 16 16" role="img" aria-label={label}>
    <title>{label}</title>
    <path d="M11 5v6a3 3 0 0 1-6 0V4a2 2 0 0 1 4 0v6.5a1 1 0 0 1-2 0V5" />
  </svg>
);

interface InstantProps {
  at: string;
  format: PageFormat;
}

/** An instant in a person's time zone. */
export const TimeText = ({ at, timezone, format }: InstantProps & { timezone: string }) => (
  <time datetime={at}>{format.time(at, timezone)}</time>
);

/** The day of an instant. */
export const DateText = ({ at, format }: InstantProps) => <time datetime={at}>{format.date(at)}</time>;
