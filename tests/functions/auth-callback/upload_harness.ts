/** Links to upload a file, like those of `import_expenses`, and files to send. */
import type { TestDatabase } from "../../_support/database.ts";
import { accountTest, onboarded } from "./account_harness.ts";
import type { Browser, Pages } from "./harness.ts";

export interface Uploader {
  id: string;
  browser: Browser;
  organizationId: string;
}

/** Runs the test with a signed-in person who has books. */
export const uploadTest = (name: string, run: (t: UploadTest) => Promise<void>) =>
  accountTest(name, async (pages, database) => {
    await run({ pages, database, mira: await uploader(pages, database, "mira@example.com") });
  });

export interface UploadTest {
  pages: Pages;
  database: TestDatabase;
  mira: Uploader;
}

export async function uploader(pages: Pages, database: TestDatabase, email: string): Promise<Uploader> {
  const person = await onboarded(pages, database, email);
  const [organization] = await database.query<{ id: string }>(
    "select id from identity.organizations where owner_id = $1",
    [person.id],
  );
  return { ...person, organizationId: organization!.id };
}

/** A step of the person's import, like their assistant's calls. */
export async function runStep(
  { pages, database }: Omit<UploadTest, "mira">,
  { id, organizationId }: Uploader,
  args: Record<string, unknown>,
  // deno-lint-ignore no-explicit-any -- results are inspected field by field
): Promise<any> {
  const { result } = await database.asService<{ result: unknown }>("run_page_tool", {
    tool: "import_expenses",
    user_id: id,
    organization_id: organizationId,
    arguments: args,
    at: pages.clock.now.toISOString(),
  });
  return result;
}

/** The path of a new link. */
export async function linkFor(test: Omit<UploadTest, "mira">, person: Uploader): Promise<string> {
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
