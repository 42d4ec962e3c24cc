/** @jsxImportSource hono/jsx */
/** Words of the page about forwarded mail. */
import type { Child } from "hono/jsx";
import { refusals as attaching } from "../attach_document.ts";
import { documentRefusals } from "../documents.ts";

interface Reasons {
  [code: string]: ((params: never) => string) | undefined;
}

const refused = documentRefusals;

export const inbound = {
  title: "Mail",
  heading: (organization: Child) => <>Mail to {organization}</>,
  link: "Forward bills by mail",
  lead: "Forward invoices and receipts to this address. Each attachment becomes a document. Nothing is paid.",
  noAddress: "This organization has no address for mail yet.",
  makeAddress: "Create an address",
  copy: "Copy",
  copied: "Copied",
  rotate: "Replace the address",
  rotateReason: "The old address then receives no more mail.",
  done: {
    rotate: "The address was replaced. Mail to the old one is dropped.",
    accept: "Accepted. The mail is read within a few minutes.",
    block: "Blocked. The mail is deleted.",
    forget: "Removed. Mail from that address waits again.",
    gone: "That mail is no longer waiting.",
  },
  waiting: "Waiting for you",
  waitingReason:
    "Members’ mail is read immediately if its sender is verified. Other mail waits 14 days and is then deleted.",
  nothingWaits: "No mail is waiting.",
  noSubject: "(no subject)",
  notFetched: "A mail could not be fetched",
  received: (day: Child, kilobytes: string) => <>{day} · {kilobytes} kB</>,
  proven: "The sender is verified",
  unproven: "The sender’s address could be forged",
  posesAsMember: "We couldn’t verify that this member sent it. Accept this mail only if you know that it is theirs.",
  verdicts: (verdicts: Child) => <>Checks: {verdicts}</>,
  accept: "Accept the sender",
  acceptOne: "Accept this mail",
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
    accepted: "To be read",
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
    document_quota: () => attaching.document_quota().message,
    mail_quota: () => "100 mails waited to be read, so this one was not stored. Forward it again later.",
    not_fetched: () => "The mail service did not hand it over for days. Forward it again, or upload the file.",
    gave_up: () => "Reading it failed several times. Upload the file instead.",
  } as Reasons,
};
