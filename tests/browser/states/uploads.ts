/** The upload page: waiting for a file, progress, preview and errors. */
import type { OpenImport, Preview } from "../../../functions/auth-callback/import/steps.ts";
import { LEFT_OUT } from "../../../shared/import/statement.ts";
import { signIn } from "../../functions/auth-callback/harness.ts";
import {
  EMAIL,
  HOSTILE,
  LONG,
  LONG_ADDRESS,
  ORGANIZATION_STATE,
  page,
  RIGHT_TO_LEFT,
  signedIn,
  type State,
  UNBROKEN,
} from "./state.ts";

const PATH = "/account/import/imp_000000000001";
const waiting: OpenImport = {
  import_id: "imp_000000000001",
  state: "waiting",
  done: 0,
  total: 0,
};
const read: Preview = {
  rows_ok: 212,
  rows_bad_count: 0,
  duplicates_count: 0,
  left_out: [{ kind: "own_transfer", count: 3 }, { kind: "income", count: 1 }],
  questions: [],
  totals: { EUR: "1845.20" },
  period: { from: "2026-10-01", to: "2026-10-31" },
  sample: [
    { date: "2026-10-01", name: "LIDL SAGT DANKE 4411", amount: "23.80", currency: "EUR" },
    {
      date: "2026-10-02",
      name: "Ticket Berlin",
      payee: "Deutsche Bahn",
      amount: "49.00",
      currency: "EUR",
      is_refund: true,
    },
    { date: "2026-10-02", name: "Rent", amount: "1200.00", currency: "EUR" },
  ],
};
const awkward: Preview = {
  rows_ok: 49_812,
  rows_bad_count: 188,
  duplicates_count: 1,
  left_out: LEFT_OUT.map((kind, n) => ({ kind, count: n * 1000 + 1 })),
  pays: [{ name: LONG, amount: "55.08", currency: "EUR" }, { name: HOSTILE, amount: "9.00", currency: "EUR" }],
  corrects: [{ name: "Electricity", was: "84.00", amount: "79.02", currency: "EUR" }],
  removes: [{ name: UNBROKEN, amount: "600.00", currency: "EUR" }],
  questions: [{}, {}],
  totals: { EUR: "123456789.20", JPY: "98000000", USD: "-12.00" },
  period: { from: "2019-01-01", to: "2026-11-19" },
  sample: [LONG, UNBROKEN, HOSTILE, RIGHT_TO_LEFT, "Coffee"].map((name) => ({
    date: "2019-01-01",
    name,
    amount: "123456789.20",
    currency: "EUR",
  })),
};

const answers = (opened: Partial<OpenImport>, preview?: Preview, name = "Home") => ({
  open_upload: {
    outcome: "ok",
    state: { ...ORGANIZATION_STATE, name },
    result: {
      ok: true,
      context: { organization: { id: "org_000000000001", name } },
      data: { import: { ...waiting, ...opened } },
    },
  },
  run_page_tool: { outcome: "ok", result: { ok: true, data: { preview } } },
});

const uploading = (name: string, ...shown: Parameters<typeof answers>): State =>
  signedIn(`upload-${name}`, PATH, { answers: answers(...shown) });

/** The page after a file was sent. */
const sent = (name: string, file: File | undefined, opened: Partial<OpenImport> = {}): State =>
  page(`upload-${name}`, async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    const form = await (await browser.get(PATH)).text();
    return await browser.upload(form, file);
  }, { answers: answers(opened) });

const account = { name: "Visa 1234" };

export const UPLOAD_STATES: readonly State[] = [
  uploading("waiting", {}),
  uploading("waiting-awkward", {}, undefined, LONG),
  uploading("under-way", { state: "reading", done: 24_000, total: 100_000, name: "2026.csv", account }),
  uploading("asks-first", { state: "reading" }),
  uploading("read", { state: "ready", name: "October 2026.csv", account }, read),
  uploading("read-questions", { state: "ready", name: "October 2026.csv", account }, {
    ...read,
    left_out: [],
    questions: [{}, {}],
    rows_bad_count: 1,
    duplicates_count: 12,
  }),
  uploading(
    "read-awkward",
    { state: "ready", name: HOSTILE, account: { name: LONG } },
    awkward,
    UNBROKEN,
  ),
  uploading("committed", { state: "committed", name: "October 2026.csv", account }),
  sent("no-file", undefined),
  sent("pdf", new File(["%PDF-1.7"], "statement.pdf", { type: "application/pdf" })),
  signedIn("upload-unknown", PATH, { answers: { open_upload: { outcome: "unknown" } } }),
  signedIn("upload-refused", PATH, { answers: { open_upload: { outcome: "refused" } } }),
  signedIn("upload-without-plan", PATH, {
    answers: {
      open_upload: {
        outcome: "no_changes",
        id: "org_home00000000",
        state: { ...ORGANIZATION_STATE, name: LONG, owner: LONG_ADDRESS, is_owner: false, takes_changes: false },
      },
    },
  }),
  page("upload-used", async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    return await browser.send(PATH, new FormData());
  }, { answers: answers({ state: "ready" }) }),
];
