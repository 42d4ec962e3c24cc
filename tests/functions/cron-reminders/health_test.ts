/** The health endpoints for monitors and the selfcheck: job health and a test mail. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { FRONT_DOOR_HEADER } from "../../../shared/routes.ts";
import { asDatabase, createJob, PREVIOUS_SECRET, SECRET } from "./harness.ts";

const database = await sharedDatabase();

const NOW = new Date("2026-11-20T12:00:00Z");
const FRONT_DOOR = "the-secret-of-the-front-door-in-this-test";
const bearer = { authorization: `Bearer ${SECRET}` };

interface Sent {
  to: [string];
  subject: string;
  text: string;
}

function createMonitor(answer: () => Response = () => Response.json({ data: [{ id: "1" }] })) {
  const sent: Sent[] = [];
  const job = createJob({
    database: asDatabase(database),
    now: () => NOW,
    env: { FRONT_DOOR_SECRET: FRONT_DOOR },
    fetch: (_input, init) => {
      sent.push(...JSON.parse(String(init?.body)));
      return Promise.resolve(answer());
    },
  });
  return { ...job, sent };
}

async function health(headers: Record<string, string> = {}) {
  const response = await createMonitor().request("/api/health/jobs", { headers: { ...bearer, ...headers } });
  return { status: response.status, cached: response.headers.get("cache-control"), ...await response.json() };
}

Deno.test("without the scheduler's secret nothing is reported or sent", async () => {
  const monitor = createMonitor();
  for (const authorization of ["", "Bearer nonsense", `Bearer ${SECRET}x`]) {
    const asked = [
      await monitor.request("/api/health/jobs", { headers: { authorization } }),
      await monitor.request("/api/health/mail", { method: "POST", headers: { authorization }, body: '{"to":"a@b.c"}' }),
    ];
    for (const response of asked) {
      assertEquals(response.status, 401);
      assert(!(await response.text()).includes("vault"));
    }
  }
  assertEquals(monitor.sent, []);
});

Deno.test("a vault with another secret is reported with 503 for monitors", async () => {
  await database.query("select jobs.fill_vault('https://project.supabase.co', 'another-secret')");
  const answer = await health();
  assertEquals([answer.status, answer.ok, answer.vault], [503, false, ["vault_cron_secret"]]);
  assertEquals(answer.cached, "no-store");
});

Deno.test("a filled vault with any accepted secret is healthy", async () => {
  for (const secret of [SECRET, PREVIOUS_SECRET]) {
    await database.query("select jobs.fill_vault('https://project.supabase.co', $1)", [secret]);
    const answer = await health();
    assertEquals([answer.status, answer.ok, answer.vault], [200, true, []]);
    assertEquals(answer.clock, NOW.toISOString());
    assert(!JSON.stringify(answer).includes(secret));
  }
});

Deno.test("the response reports whether the request passed the front door, bypassed it or had a wrong secret", async () => {
  assertEquals((await health()).front_door, "no_secret");
  assertEquals((await health({ [FRONT_DOOR_HEADER]: FRONT_DOOR })).front_door, "ok");
  assertEquals((await health({ [FRONT_DOOR_HEADER]: `${FRONT_DOOR}x` })).front_door, "wrong_secret");
});

const post = (monitor: ReturnType<typeof createMonitor>, body: string) =>
  monitor.request("/api/health/mail", { method: "POST", headers: bearer, body });

Deno.test("a test mail goes to the requested address and contains the response's mark", async () => {
  const monitor = createMonitor();
  const response = await post(monitor, JSON.stringify({ to: "mira@example.com", subject: "buy now", text: "spam" }));
  const { ok, mark } = await response.json();
  assertEquals([response.status, ok], [200, true]);
  assertMatch(mark, /^[0-9a-f]{16}$/);
  assertEquals(monitor.sent.map(({ to, subject }) => [to, subject]), [[
    ["mira@example.com"],
    "Expenses can send email",
  ]]);
  assert(monitor.sent[0]!.text.includes(mark) && !monitor.sent[0]!.text.includes("spam"));
});

Deno.test("an invalid address is rejected before anything is sent", async () => {
  const monitor = createMonitor();
  for (
    const body of [
      "",
      "null",
      "[]",
      "{}",
      '{"to":1}',
      '{"to":"mira"}',
      '{"to":"a@b.c,d@e.f"}',
      '{"to":"a@b\\r\\nBcc:x"}',
    ]
  ) {
    assertEquals((await post(monitor, body)).status, 400, body);
  }
  assertEquals((await post(monitor, `{"to":"${"a".repeat(2000)}@b.c"}`)).status, 413);
  assertEquals(monitor.sent, []);
});

Deno.test("a rejected test mail is reported, without the service's response", async () => {
  const monitor = createMonitor(() => Response.json({ message: "API key re_Key_1 is invalid" }, { status: 401 }));
  const response = await post(monitor, '{"to":"mira@example.com"}');
  assertEquals(response.status, 503);
  assert(!(await response.text()).includes("re_Key_1"));
});
