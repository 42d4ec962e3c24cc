import { assertEquals, assertStringIncludes } from "@std/assert";
import { createLog, describeError } from "../../shared/log.ts";

const SECRET = "S3cretPart";

/** The only line that `write` logs. */
function lineOf(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog((line) => lines.push(line)));
  assertEquals(lines.length, 1);
  return lines[0]!;
}

const SECRETS = {
  "an access token": `exp_at_${SECRET}-_x`,
  "a refresh token": `exp_rt_${SECRET}`,
  "the token of a calendar": `https://expenses.example/calendar/exp_cal_${SECRET}-_x`,
  "a key of the platform": `sb_secret_${SECRET}`,
  "a bearer value": `Bearer ${SECRET}.eyJ/+=`,
  "a code in an address": `https://expenses.example/auth/callback?code=${SECRET}`,
  "a token in an address": `https://expenses.example/?a=b&token=${SECRET}&c=d`,
  "a token hash in an address": `https://expenses.example/?token_hash=${SECRET}`,
  "a secret in an address": `https://expenses.example/?secret=${SECRET}`,
  "an unsubscribe token": `https://expenses.example/email/unsubscribe?t=${SECRET}.abc`,
};

for (const [what, secret] of Object.entries(SECRETS)) {
  Deno.test(`the log redacts ${what}, anywhere in a line`, () => {
    const places = [
      lineOf((log) => log.error("failed", { error: `before ${secret} after` })),
      lineOf((log) => log.error("failed", { error: describeError(new Error("outer", { cause: new Error(secret) })) })),
      lineOf((log) => log.info("seen", { reason: secret, route: "/kept" })),
      lineOf((log) => log.info(secret)),
    ];
    for (const line of places) {
      assertEquals(line.includes(SECRET), false, line);
      assertStringIncludes(line, "[redacted]");
      JSON.parse(line);
    }
    assertStringIncludes(places[0]!, "before ");
    assertStringIncludes(places[0]!, " after");
    assertStringIncludes(places[2]!, '"route":"/kept"');
  });
}

Deno.test("the log removes every secret from a line and nothing else", () => {
  const line = lineOf((log) => log.error("failed", { error: Object.values(SECRETS).join(" "), code: "expired" }));
  assertEquals(line.includes(SECRET), false, line);
  assertEquals(line.match(/\[redacted\]/g)?.length, Object.keys(SECRETS).length);
  const harmless = { client_id: "client_1", tool: "log_expenses", route: "/api/mcp?limit=5", count: 3 };
  const { at: _, ...rest } = JSON.parse(lineOf((log) => log.info("called", harmless)));
  assertEquals(rest, { level: "info", event: "called", ...harmless });
});

Deno.test("a thrown value is described by class, message and causes, without stack or properties", () => {
  const thrown = Object.assign(new TypeError("outer", { cause: new Error("inner") }), { detail: SECRET });
  assertEquals(describeError(thrown), "TypeError: outer <- Error: inner");
  assertEquals(describeError({ password: SECRET }), "object");
  assertEquals(describeError(new Error("x".repeat(5000))).length, 500);
});
