import { assertEquals } from "@std/assert";
import { offText, type PlanState, planText } from "../../../shared/identity/plan_text.ts";

const PRO: PlanState = {
  plan: "pro",
  plan_status: "active",
  effective_plan: "pro",
  trial_ends_at: null,
  grace_ends_at: null,
  period_ends_at: null,
};

Deno.test("planText() says what the plan is and until when", () => {
  const trial = { ...PRO, plan: "team" as const, trial_ends_at: "2026-12-04T10:00:00+00:00" };
  const ended = { ...PRO, plan: "free" as const, plan_status: "canceled" as const, effective_plan: "free" as const };
  const late = { ...PRO, plan_status: "past_due" as const, grace_ends_at: "2026-12-04T10:00:00+00:00" };
  assertEquals(planText(PRO), "Pro plan");
  assertEquals(
    planText({ ...PRO, period_ends_at: "2026-12-04T10:00:00+00:00" }),
    "Pro plan, paid until 4 December 2026",
  );
  assertEquals(planText(ended), "Free plan");
  assertEquals(
    planText({ ...ended, period_ends_at: "2026-12-04T10:00:00+00:00" }),
    "Free plan; the subscription ended on 4 December 2026",
  );
  assertEquals(planText({ ...trial, effective_plan: "team" }), "Team plan, free to try until 4 December 2026");
  assertEquals(
    planText({ ...trial, effective_plan: "free" }),
    "Free plan; the Team plan trial ended on 4 December 2026",
  );
  assertEquals(planText(late), "Pro plan; a payment did not arrive, and it stops on 4 December 2026");
  assertEquals(
    planText({ ...late, effective_plan: "free" }),
    "Free plan; the Pro plan stopped on 4 December 2026, since a payment did not arrive",
  );
});

Deno.test("offText() says what the plan leaves out", () => {
  assertEquals(offText([]), null);
  assertEquals(offText(["bills:variable"]), "Off on this plan: amounts from bill providers");
  assertEquals(
    offText(["ai:connector", "reminders:email"]),
    "Off on this plan: connecting AI assistants, reminder mails",
  );
});
