/** Links that upload a file, like those of `import_expenses`, and files to send. */
import type { Json } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { accountTest, onboarded, type Owner, runTool } from "./account_harness.ts";
import type { Browser, Pages } from "./harness.ts";

/** Runs the test with a signed-in person who has books. */
export const uploadTest = (name: string, run: (t: UploadTest) => Promise<void>) =>
  accountTest(name, async (pages, database) => {
    await run({ pages, database, mira: await onboarded(pages, database) });
  });

export interface UploadTest {
  pages: Pages;
  database: TestDatabase;
  mira: Owner;
}

/** A step of the person's import, as their assistant calls it. */
export const runStep = (test: Omit<UploadTest, "mira">, person: Owner, args: Json): Promise<Json> =>
  runTool(test, person, "import_expenses", args);

/** The path of a new link. */
export async function linkFor(test: Omit<UploadTest, "mira">, person: Owner): Promise<string> {
  const { data } = await runStep(test, person, { step: "start" });
  return `/account/import/${data.upload.import_id}`;
}

export const idIn = (path: string) => path.split("/").at(-1)!;

/** Opens the link, chooses the file and sends it. */
export async function send(browser: Browser, path: string, file: File | undefined): Promise<Response> {
  return await browser.upload(await (await browser.get(path)).text(), file);
}

export const STATEMENT = [
  "Date,Description,Amount,Balance,Currency",
  "2026-10-01,LIDL SAGT DANKE 4411,-23.80,976.20,EUR",
  "2026-10-02,Stadtwerke,-54.90,921.30,EUR",
  "2026-10-15,Salary,2500.00,3421.30,EUR",
].join("\r\n");

export const csv = (text = STATEMENT, name = "october.csv") => new File([text], name, { type: "text/csv" });

/** @param rows of a year, each with another amount */
export const longStatement = (rows: number) =>
  [
    "Date,Name,Amount,Currency",
    ...Array.from({ length: rows }, (_, n) => {
      const day = new Date(Date.UTC(2025, 0, 1 + n % 365)).toISOString().slice(0, 10);
      return `${day},Shop number ${n % 997},-${(n % 900) + 1}.${String(n % 100).padStart(2, "0")},EUR`;
    }),
  ].join("\n");
