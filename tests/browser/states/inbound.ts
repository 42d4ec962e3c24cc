/** The page of an organization's mail: before the first address, with decisions to make, and after them. */
import type { Inbound } from "../../../shared/db/inbound_page_store.ts";
import {
  EMAIL,
  HOSTILE,
  LONG,
  LONG_ADDRESS,
  ORGANIZATION_STATE,
  RIGHT_TO_LEFT,
  signedIn,
  type State,
} from "./state.ts";

const ID = "org_home00000000";
const mail: Inbound["mails"][number] = {
  id: "mail_000000000001",
  state: "waiting",
  sender: "billing@power.example",
  subject: "Your invoice for November",
  size: 84_000,
  received_at: "2026-11-19T10:00:00Z",
  is_proven: true,
  verdicts: { spf: "pass", dkim: "pass" },
  is_members: false,
  documents: [],
  refusals: [],
};
const empty: Inbound = {
  outcome: "ok",
  id: ID,
  state: ORGANIZATION_STATE,
  country: "DE",
  token: null,
  senders: [],
  mails: [],
};
const full: Inbound = {
  ...empty,
  token: "0123456789abcdef0123",
  senders: [
    { address: "billing@power.example", is_accepted: true, decided_by: EMAIL },
    { address: LONG_ADDRESS, is_accepted: false, decided_by: null },
  ],
  mails: [
    mail,
    { ...mail, sender: EMAIL, subject: HOSTILE, is_proven: false, is_members: true, verdicts: {} },
    { ...mail, sender: LONG_ADDRESS, subject: LONG, is_proven: false },
    { ...mail, subject: RIGHT_TO_LEFT, state: "read", documents: ["doc_000000000001", "doc_000000000002"] },
    { ...mail, subject: "", state: "failed", refusals: ["document_quota", "invalid_argument.document_winmail"] },
    { ...mail, state: "accepted" },
    { ...mail, sender: "", subject: "", state: "failed", refusals: ["not_fetched"] },
  ],
};
const shown = (name: string, read_inbound: Inbound, query = "") =>
  signedIn(name, `/organizations/${ID}/mail${query}`, { answers: { read_inbound } });

export const INBOUND_STATES: readonly State[] = [
  shown("mail-empty", empty),
  shown("mail", full, "?done=accept"),
];
