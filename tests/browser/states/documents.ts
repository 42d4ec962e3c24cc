/** Documents: the report about an upload, and one document in each state. */
import type { ShownDocument } from "../../../shared/documents/shown.ts";
import { ublInvoice } from "../../fixtures/ubl_invoice.ts";
import { signIn } from "../../functions/auth-callback/harness.ts";
import {
  EMAIL,
  HOSTILE,
  LONG,
  ORGANIZATION_STATE,
  page,
  RIGHT_TO_LEFT,
  signedIn,
  type State,
  UNBROKEN,
} from "./state.ts";

const base: ShownDocument = {
  id: "doc_000000000001",
  name: "invoice.xml",
  type: "application/xml",
  added_on: "2026-11-20",
  added_by: EMAIL,
  state: "filed",
  read: {
    payee: "Stadtwerke",
    number: "SW-1",
    issued_on: "2026-11-12",
    due_on: "2026-11-25",
    gross: "119.00",
    currency: "EUR",
    iban: "DE89370400440532013000",
  },
  filed: { id: "bill_000000000001", name: "Electricity", due_on: "2026-11-25" },
};
const { filed: _, ...loose } = base;
const question: ShownDocument = {
  ...loose,
  state: "question",
  candidates: [
    { id: "bill_000000000001", name: "Electricity", due_on: "2026-11-25", amount: "90.00", currency: "EUR" },
    { id: "exp_000000000001", name: LONG, date: "2026-11-19" },
    { id: "bill_000000000002", name: HOSTILE, due_on: "2026-12-01", amount: "123456789.20", currency: "EUR" },
  ],
};
/** A person can choose its facts. */
const unsure: ShownDocument = {
  ...question,
  read: { payee: LONG },
  places: {
    number: [{ label: "Invoice no.", value: "SW-1" }, { label: HOSTILE, value: UNBROKEN }],
    gross: [{ label: "Total", value: "119.00", currency: "EUR" }],
    due_on: [{ label: RIGHT_TO_LEFT, value: "2026-11-25" }],
  },
};
const unread: ShownDocument = { ...loose, state: "unread", name: UNBROKEN, read: {} };
const alarming: ShownDocument = {
  ...question,
  name: HOSTILE,
  read: { ...base.read, payee: RIGHT_TO_LEFT, number: UNBROKEN },
  iban_was: "GB82WEST12345698765432",
  doubts: [{ code: "totals" }],
};
const missing: ShownDocument = {
  ...loose,
  state: "new",
  name: LONG,
  read: { payee: RIGHT_TO_LEFT, currency: "EUR", due_on: "2026-11-25" },
  places: {
    number: [{ label: "Vorgang", value: "A-77" }, { label: HOSTILE, value: UNBROKEN }],
    gross: [
      { label: "Wir buchen", value: "84.20", currency: "EUR" },
      { label: LONG, value: "123456789.20", currency: "EUR" },
    ],
    issued_on: [{ label: RIGHT_TO_LEFT, value: "2026-11-12" }],
  },
};
const remembered: ShownDocument = {
  ...base,
  read: { ...base.read, number: UNBROKEN },
  remembered: { number: "2026-10-12", gross: "2026-10-12", issued_on: "2026-10-12", due_on: "2026-10-12" },
};
/** A document in every state that the books page lists. */
export const DOCUMENTS: ShownDocument[] = [alarming, question, { ...loose, state: "new" }, unread, {
  ...loose,
  state: "new",
  read: { ...base.read, payee: LONG },
}];

const opened = (document: ShownDocument) => ({
  open_document: {
    outcome: "ok",
    state: ORGANIZATION_STATE,
    result: {
      ok: true,
      context: { organization: { id: "org_000000000001", name: "Home" } },
      data: { documents: [document], count: 1 },
    },
  },
});

const shown = (name: string, document: ShownDocument, query = ""): State =>
  signedIn(`document-${name}`, `/account/documents/${document.id}${query}`, { answers: opened(document) });

const UPLOAD = "/account/import/imp_000000000001";

/** The report, with the same result for every file. */
const taken = (name: string, result: Record<string, unknown>): State =>
  page(`documents-${name}`, async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    const form = await (await browser.get(UPLOAD)).text();
    return await browser.upload(form, new File([ublInvoice()], HOSTILE, { type: "text/xml" }));
  }, {
    answers: {
      open_upload: {
        outcome: "ok",
        state: { ...ORGANIZATION_STATE, name: LONG },
        result: {
          ok: true,
          context: { organization: { id: "org_000000000001", name: LONG } },
          data: { import: { import_id: "imp_000000000001", state: "waiting", done: 0, total: 0 } },
        },
      },
      run_page_tool: { outcome: "ok", result },
    },
  });

export const DOCUMENT_STATES: readonly State[] = [
  shown("filed", base),
  shown("question", question),
  shown("unsure", unsure),
  shown("new", { ...loose, state: "new" }),
  shown("unread", unread),
  shown("alarming", alarming),
  shown("missing", missing),
  shown("remembered", remembered),
  shown("refused", base, "?news=refused"),
  signedIn("document-unknown", "/account/documents/doc_000000000001", {
    answers: { open_document: { outcome: "unknown" } },
  }),
  taken("taken", { ok: true, data: { document: alarming } }),
  taken("no-room", { ok: false, error: { code: "document_quota" } }),
];
