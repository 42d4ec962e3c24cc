/** @jsxImportSource hono/jsx */
/** The few pieces that several pages are made of. Each renders plain HTML that works without scripts. */
import type { Child } from "hono/jsx";
import { BROWSER_TOKEN } from "../http/browser_token.ts";
import type { PageFormat } from "../words/page_format.ts";

/** Text that somebody else chose (a client's, a person's, an organization's name): isolated, so that its direction and marks cannot rearrange the sentence around it. */
export const Name = ({ children }: { children: Child }) => <bdi>{children}</bdi>;

/** A box that stands out: `plain` to say how things are, `warning` before a risk, `failure` and `done` after an action. */
export function Notice({ kind = "plain", children }: {
  kind?: "plain" | "warning" | "failure" | "done";
  children: Child;
}) {
  return <div class={`notice ${kind}`} role={kind === "failure" ? "alert" : "status"}>{children}</div>;
}

/** Buttons side by side; `even` gives them one size, so that none is favoured by it. */
export const Buttons = ({ even, children }: { even?: boolean; children: Child }) => (
  <div class={even ? "buttons even" : "buttons"}>{children}</div>
);

/** What a form that needs no session has to hold (`readVisitorForm`). */
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
  /** Why we ask, or what it is used for: one short sentence. */
  reason?: Child;
  /** What is wrong with the value that was sent. */
  error?: string | undefined;
}

/** One input with its label, reason and error, tied together for screen readers. Other attributes go to the input. */
export function TextField({ name, label, reason, error, ...input }: FieldProps & Record<string, unknown>) {
  return (
    <Labelled {...{ name, label, reason, error }}>
      <input id={name} name={name} type="text" {...describedBy({ name, reason, error })} {...input} />
    </Labelled>
  );
}

/** Anything besides value and label is a `data-` attribute for the page's script. */
export type SelectOption = { value: string; label: string } & Record<`data-${string}`, string>;

/** One choice out of many; one has to be made when `selected` is none of them. */
export function SelectField({ name, label, reason, error, options, selected, unchosen, ...select }:
  & FieldProps
  & {
    options: readonly SelectOption[];
    selected?: string | undefined;
    /** What stands there until something is chosen. */
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
  /** Why it cannot be chosen; the choice is then shown greyed. */
  disabledReason?: Child;
}

/** A radio list; choices that cannot be made stay visible with their reason. */
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

/** Names and values in two columns, one under the other on a phone. */
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

/** One record of a list: what it is, and the one thing that can be done with it. */
export const Row = ({ children, action }: { children: Child; action?: Child }) => (
  <li class="row">
    <div>{children}</div>
    {action && <div>{action}</div>}
  </li>
);

interface InstantProps {
  at: string;
  format: PageFormat;
}

/** An instant on a person's own clock. */
export const TimeText = ({ at, timezone, format }: InstantProps & { timezone: string }) => (
  <time datetime={at}>{format.time(at, timezone)}</time>
);

/** The day of an instant. */
export const DateText = ({ at, format }: InstantProps) => <time datetime={at}>{format.date(at)}</time>;
