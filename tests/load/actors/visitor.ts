/**
 * A new person, from the login page to the books: signs in by mail, connects an app through the consent page, uploads a
 * statement through the assistant's link, and finds it in the books.
 */
import { findForm } from "../../../local/form_browser.ts";
import { connect } from "../../../local/demo/client.ts";
import { decide } from "../../../local/demo/consent.ts";
import { signIn } from "../../../local/sign_in.ts";
import type { Traffic } from "../model/traffic.ts";
import type { World } from "../world/world.ts";

/** Statement rows that were published, by the visitor's address. */
export class Visitors {
  readonly done = new Map<string, string[]>();
  #next = 0;

  constructor(private readonly traffic: Traffic, private readonly world: World) {}

  async visit(): Promise<void> {
    const { site } = this.world;
    const number = ++this.#next;
    const email = `visitor${number}@example.com`;
    const startedAt = performance.now();
    let step = "sign-in";
    try {
      const { browser } = await signIn(site, email);
      step = "consent";
      const { client } = await connect(site.mcp_url, {
        clientName: "Visitor",
        decide: (authorizationUrl) => decide(site, { authorizationUrl, person: { email } }),
      });
      // deno-lint-ignore no-explicit-any -- answers are inspected field by field
      const call = async (name: string, args: Record<string, unknown> = {}): Promise<any> => {
        const { structuredContent } = await client.callTool({ name, arguments: args });
        return structuredContent;
      };
      step = "upload";
      const { data: { upload } } = await call("import_expenses");
      const page = await browser.open(upload.url);
      const rows = [1, 2, 3].map((row) => `Visit ${number}-${row}`);
      const day = new Date().toISOString().slice(0, 8);
      const text = [
        "Date,Description,Amount,Currency",
        ...rows.map((row, index) => `${day}01,${row},-${index + 1}.50,EUR`),
      ].join("\n");
      const read = await browser.upload(page, findForm(page, ({ fields }) => "file" in fields), {
        name: "file",
        file: new File([text], "statement.csv", { type: "text/csv" }),
      });
      if (read.status !== 200) throw new Error(`the upload was answered ${read.status}`);
      step = "import";
      const { data: { preview } } = await call("import_expenses", { import_id: upload.import_id });
      const { data } = await call("import_expenses", preview.commit_with);
      if (data.created !== rows.length) throw new Error(`${data.created} of ${rows.length} rows were published`);
      this.done.set(email, rows);
      await client.close();
      step = "sign-out";
      const account = await browser.open("/account");
      await browser.submit(account, findForm(account, ({ action }) => action.pathname === "/logout"));
    } catch (thrown) {
      // HTTP signals it by a status, JSON-RPC by a code.
      const isShed = /\b(31)?503\b/.test(String(thrown));
      if (!this.traffic.isExcused(startedAt, { isShed })) {
        this.traffic.problem(`visitor ${number} failed at ${step}: ${thrown}`);
      }
    }
  }
}
