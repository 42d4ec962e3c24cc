/** @jsxImportSource hono/jsx */
/** A document's facts and record, and the form that assigns it to a record. */
import type { Child } from "hono/jsx";
import type { ShownDocument } from "../../../shared/documents/shown.ts";
import { Buttons, DateText, Facts, Name, Notice } from "../../../shared/pages/components.tsx";
import { documentPath } from "../../../shared/urls.ts";
import { findWords } from "../../../shared/words/codes.ts";
import type { Reader } from "../../../shared/words/reader.ts";

interface Part {
  document: ShownDocument;
  reader: Reader;
}

/** A changed account comes first, because it may be fraud. */
export function Alerts(
  { document: { iban_was: was, read, doubts = [], record, copy_of: copied }, reader: { words, format } }: Part,
) {
  const { documents } = words;
  return (
    <>
      {was && (
        <div class="notice failure" role="alert">
          <p>
            {words.documents.ibanChanged(
              read.payee && <Name>{read.payee}</Name>,
              <Name>{read.iban}</Name>,
              <Name>{was}</Name>,
            )}
          </p>
        </div>
      )}
      {doubts.map(({ code, params }) => (
        <Notice kind="warning">
          <p>{findWords(words.documents.doubts, code, () => words.documents.doubtful)(params ?? {})}</p>
        </Notice>
      ))}
      {record?.status === "deleted" && (
        <Notice kind="warning">
          <p>{documents.recordDeleted}</p>
        </Notice>
      )}
      {record?.differs && record.amount && record.currency && (
        <Notice kind="warning">
          <p>{documents.differs(format.money(record.amount, record.currency))}</p>
        </Notice>
      )}
      {copied && (
        <p>
          {documents.copyOf(
            <a href={documentPath(copied.id)}>
              <Name>{copied.name}</Name>
            </a>,
          )}
        </p>
      )}
    </>
  );
}

export function ReadFacts(
  { document: { read, remembered = {}, filed, state }, reader: { words: { documents: words }, format } }: Part,
) {
  const amount = read.payable ?? read.gross;
  /** Adds a note if the value stood beside a label that a person confirmed. */
  const noted = (field: typeof FACTS[number], value: Child) =>
    value && remembered[field]
      ? (
        <>
          {value} <small>{words.remembered(<DateText at={remembered[field]} format={format} />)}</small>
        </>
      )
      : value;
  const facts: (readonly [Child, Child])[] = [
    [words.payee, read.payee && <Name>{read.payee}</Name>],
    [words.number, noted("number", read.number && <Name>{read.number}</Name>)],
    [words.amount, noted("gross", amount && read.currency && format.money(amount, read.currency))],
    [words.issuedOn, noted("issued_on", read.issued_on && <DateText at={read.issued_on} format={format} />)],
    [words.dueOn, noted("due_on", read.due_on && <DateText at={read.due_on} format={format} />)],
    [
      words.belongsTo,
      filed
        ? (
          <>
            <Name>{filed.name}</Name>
            {filed.due_on && <>{" · "}{words.due(<DateText at={filed.due_on} format={format} />)}</>}
          </>
        )
        : words.states[state],
    ],
  ];
  return <Facts facts={facts.filter(([, value]) => value)} />;
}

/** The missing facts, in the order of the page. */
export const FACTS = ["number", "gross", "issued_on", "due_on"] as const;

/** Lets a person choose the missing facts. @param token of the form */
export function Missing({ document: { id, places }, reader, token }: Part & { token: string }) {
  const { words: { documents: words }, format } = reader;
  const labels = { number: words.number, gross: words.amount, issued_on: words.issuedOn, due_on: words.dueOn };
  const missing = FACTS.filter((field) => places?.[field]);
  if (missing.length === 0) return null;
  return (
    <form method="post" action={documentPath(id)} class="stack">
      <input type="hidden" name="form_token" value={token} />
      <p>{words.missing.lead}</p>
      {missing.map((field) => (
        <div class="field">
          <label for={field}>{labels[field]}</label>
          <select id={field} name={field}>
            <option value="">{words.missing.none}</option>
            {places![field]!.map(({ label, value, currency }) => (
              <option value={value}>
                {label}: {currency ? format.money(value, currency) : field.endsWith("_on") ? format.date(value) : value}
              </option>
            ))}
          </select>
        </div>
      ))}
      <Buttons>
        <button type="submit">{words.missing.save}</button>
      </Buttons>
    </form>
  );
}

/** @param token of the form */
export function Choose({ document: { id, state, candidates = [] }, reader, token }: Part & { token: string }) {
  const { words: { documents: words }, format } = reader;
  if (state === "new" || state === "unread") return null;
  return (
    <form
      method="post"
      action={documentPath(id)}
      class="stack"
      aria-label={state === "question" ? words.question : undefined}
    >
      <input type="hidden" name="form_token" value={token} />
      {state === "question" && <p>{words.question}</p>}
      <Buttons>
        {candidates.map(({ id: to, name, due_on: due, date, amount, currency }) => (
          <button type="submit" name="to" value={due ? `${to}:${due}` : to}>
            <Name>{name}</Name>
            {(due ?? date) && (
              <>
                {" · "}
                <DateText at={(due ?? date)!} format={format} />
              </>
            )}
            {amount && currency && ` · ${format.money(amount, currency)}`}
          </button>
        ))}
        {state === "question" && <button type="submit" name="to" value="none">{words.noneOfThese}</button>}
        {state === "filed" && <button type="submit" name="to" value="none">{words.takeOff}</button>}
      </Buttons>
    </form>
  );
}
