/** @jsxImportSource hono/jsx */
/** Words of the page about forwarded mail. */
import type { Child } from "hono/jsx";
import { documentRefusals } from "../documents.ts";
import { noRoom } from "./documents.tsx";

interface Reasons {
  [code: string]: ((params: never) => string) | undefined;
}

const refused = documentRefusals;

export const inbound = {
  title: "Mail",
  heading: (organization: Child) => <>Mail to {organization}</>,
  link: "Forward bills by mail",
  lead: "Forward invoices and receipts to this address. Each attachment becomes a document. Nothing is paid.",
  noAddress:
    "Create an address to forward invoices and receipts to. Each attachment becomes a document. Nothing is paid.",
  makeAddress: "Create an address",
  copy: "Copy",
  copied: "Copied",
  rotate: "Replace the address",
  rotateReason: "The old address will stop receiving mail.",
  done: {
    rotate: "This is the new address. Mail to an earlier one is dropped.",
    accept: "Accepted. The email will be read within a few minutes.",
    block: "Blocked. The email was deleted.",
    forget: "Removed. Mail from that address waits again.",
    gone: "That email is no longer waiting.",
  },
  waiting: "Waiting for you",
  waitingReason:
    "Members’ mail is read immediately if its sender is verified. Other mail waits 14 days and is then deleted.",
  nothingWaits: "No mail is waiting.",
  noSubject: "(no subject)",
  notFetched: "An email couldn’t be fetched",
  received: (day: Child, kilobytes: string) => <>{day} · {kilobytes} kB</>,
  proven: "The sender is verified",
  unproven: "The sender’s address could be forged",
  posesAsMember: "We couldn’t verify that this member sent it. Accept this email only if you know that it’s theirs.",
  verdicts: (verdicts: Child) => <>Checks: {verdicts}</>,
  accept: "Accept the sender",
  acceptOne: "Accept this email",
  block: "Block",
  discard: "Delete",
  /** The accessible name of a button. */
  labelOf: (label: string, sender: string): string => `${label}: ${sender}`,
  senders: "Senders",
  accepted: (by: Child | null) => (by ? <>Accepted by {by}</> : <>Accepted</>),
  blocked: (by: Child | null) => (by ? <>Blocked by {by}</> : <>Blocked</>),
  forget: "Forget",
  forgetSender: (sender: string) => `Forget ${sender}`,
  newest: "In the last 14 days",
  states: {
    arrived: "Arriving",
    waiting: "Waiting",
    accepted: "Waiting to be read",
    read: "Read",
    failed: "Not read",
  },
  openDocument: (place: number) => `Document ${place}`,
  notKept: "Part of it couldn’t be stored.",
  /** The reason why something was not stored, by code. */
  refusals: {
    ...refused,
    "invalid_argument.document_too_large": () => refused["invalid_argument.document_too_large"]({ most_mb: 10 }),
    "invalid_argument.document_pdf_long": () => refused["invalid_argument.document_pdf_long"]({ most: 200 }),
    "invalid_argument.document_mail_complex": () => refused["invalid_argument.document_mail_complex"]({ most: 20 }),
    document_quota: () => noRoom,
    mail_quota: () => "100 emails were waiting to be read, so this one wasn’t stored. Forward it again later.",
    not_fetched: () => "The mail service didn’t deliver it for days. Forward it again, or upload the file.",
    gave_up: () => "Reading it failed several times. Upload the file instead.",
  } as Reasons,
};
