import { assertEquals } from "@std/assert";
import { type Asker, fetchStatements, type ProviderAnswer } from "../../../shared/providers/fetch_statements.ts";

const link = (provider: string) => ({ link_id: `lnk_${provider}`, provider, account: "Ac…01", period: "2026-10" });
const provider = (key: string, answer: ProviderAnswer): [string, Asker] => [key, {
  fetchStatement: ({ linkId, account, period }) => {
    assertEquals([linkId, account, period], [`lnk_${key}`, "Ac…01", "2026-10"]);
    return Promise.resolve(answer);
  },
}];

Deno.test("fetchStatements() asks each link's own provider and answers in their order", async () => {
  const registry = new Map([
    provider("late", { outcome: "not_ready" }),
    provider("power", { outcome: "statement", amount: "84.20", currency: "EUR", dueOn: "2026-10-20" }),
  ]);
  assertEquals(await fetchStatements([link("power"), link("late"), link("unknown")], registry), [
    {
      link_id: "lnk_power",
      period: "2026-10",
      outcome: "statement",
      amount: "84.20",
      currency: "EUR",
      due_on: "2026-10-20",
    },
    { link_id: "lnk_late", period: "2026-10", outcome: "not_ready" },
    { link_id: "lnk_unknown", period: "2026-10", outcome: "error", code: "no_adapter" },
  ]);
});
