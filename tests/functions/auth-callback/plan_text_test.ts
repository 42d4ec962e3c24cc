import { assertEquals } from "@std/assert";
import { type PlanState, planText as write } from "../../../functions/auth-callback/account/plan_text.ts";
import { LANGUAGES } from "../../../shared/words/page_words.ts";
import { localeOf } from "../../../shared/words/locale.ts";
import { pageFormat } from "../../../shared/words/page_format.ts";

const { en } = LANGUAGES;

const READING = { words: en.pages.plan, format: pageFormat("en-GB") };
const planText = (state: PlanState) => write(state, READING);
const offText = en.pages.plan.off;

const PRO: PlanState = {
  plan: "pro",
  plan_status: "active",
  effective_plan: "pro",
  trial_ends_at: null,
  is_trial: false,
  grace_ends_at: null,
  second_plan: null,
  second_grace_ends_at: null,
  period_ends_at: null,
};

Deno.test("planText() names the plan and its end", () => {
  const trial = { ...PRO, plan: "free" as const, trial_ends_at: "2026-12-04T10:00:00+00:00" };
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
  assertEquals(
    planText({ ...trial, is_trial: true, effective_plan: "team" }),
    "Team plan, free to try until 4 December 2026",
  );
  assertEquals(
    planText({ ...trial, effective_plan: "free" }),
    "Free plan; the Team plan trial ended on 4 December 2026",
  );
  assertEquals(planText(late), "Pro plan; a payment didn’t arrive, and the plan stops on 4 December 2026");
  assertEquals(
    planText({ ...late, effective_plan: "free" }),
    "Free plan; the Pro plan stopped on 4 December 2026 because a payment didn’t arrive",
  );
});

Deno.test("planText() names the paid and ended plan beside a trial", () => {
  const paid = { ...PRO, period_ends_at: "2026-12-20T10:00:00+00:00", trial_ends_at: "2026-12-04T10:00:00+00:00" };
  const trying = { ...paid, is_trial: true, effective_plan: "team" as const };
  assertEquals(
    planText(trying),
    "Pro plan, paid until 20 December 2026. Until 4 December 2026 everything in the Team plan is free to try",
  );
  assertEquals(
    planText({ ...trying, plan_status: "past_due", grace_ends_at: "2026-12-01T10:00:00+00:00" }),
    "Pro plan; a payment didn’t arrive. Until 4 December 2026 everything in the Team plan is free to try",
  );
  assertEquals(planText({ ...trying, plan: "team" }), "Team plan, paid until 20 December 2026");
  assertEquals(
    planText({ ...trying, plan: "free", plan_status: "canceled", period_ends_at: "2026-11-30T10:00:00+00:00" }),
    "Team plan, free to try until 4 December 2026; the subscription ended on 30 November 2026",
  );
  assertEquals(planText(paid), "Pro plan, paid until 20 December 2026");
  assertEquals(
    planText({ ...paid, plan: "free", plan_status: "canceled", effective_plan: "free" }),
    "Free plan; the subscription ended on 20 December 2026",
  );
});

Deno.test("planText() names a grace period that includes more than the plan or lasts longer", () => {
  const second = { second_plan: "team", second_grace_ends_at: "2026-12-06T10:00:00+00:00" } as const;
  assertEquals(
    planText({ ...PRO, ...second, effective_plan: "team" }),
    "Pro plan. The Team plan still applies until 6 December 2026, although its payment didn’t arrive",
  );
  assertEquals(planText({ ...PRO, ...second }), "Pro plan");
  assertEquals(
    planText({
      ...PRO,
      plan: "team",
      plan_status: "past_due",
      grace_ends_at: "2026-12-04T10:00:00+00:00",
      second_plan: "pro",
      second_grace_ends_at: "2026-12-06T10:00:00+00:00",
    }),
    "Pro plan; a payment didn’t arrive, and the plan stops on 6 December 2026",
  );
});

Deno.test("the plan's text lists missing features", () => {
  assertEquals(offText(["bills:variable"]), "Not included: amounts from bill providers");
  assertEquals(
    offText(["ai:connector", "reminders:email"]),
    "Not included: connecting AI assistants, reminder emails",
  );
});

Deno.test("plan dates follow the conventions of the United States and Germany", () => {
  const state = { ...PRO, period_ends_at: "2026-11-22T10:00:00+00:00" };
  const inCountry = (country: string) =>
    write(state, { ...READING, format: pageFormat(localeOf({ language: "en", country })) });
  assertEquals(inCountry("US"), "Pro plan, paid until November 22, 2026");
  assertEquals(inCountry("DE"), "Pro plan, paid until 22 November 2026");
});
