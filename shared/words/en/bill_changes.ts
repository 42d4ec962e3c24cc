/** Summaries of `add_bill` and `update_bill` in the list of recent changes. */
import { DATA_FORMAT, type EffectFormat } from "../effect_format.ts";
import type { Money } from "../message.ts";
import { fieldNames } from "./fields.ts";
import { type Schedule, schedule } from "./schedule.ts";

interface Named {
  name: string;
}

interface Dated extends Named {
  due_on: string;
}

interface Updated extends Named {
  status?: "active" | "paused" | "cancelled" | "ended";
  fields?: string[];
  from?: string;
  occurrence?: { action: string; due_on: string; until?: string } & Partial<Money>;
  paused_until?: string;
  is_disconnected?: true;
}

const STATUS = { active: "Resumed", paused: "Paused", cancelled: "Cancelled", ended: "Ended" };

export const changes = {
  add_bill: (
    { name, schedule: days, amount, currency }: Named & Partial<Money> & { schedule: Schedule },
    format: EffectFormat = DATA_FORMAT,
  ): string => `Added ${name}: ${amount ? `${format.money(amount, currency!)} ` : ""}${schedule(days)}`,
  update_bill: (
    { name, status, fields, from, occurrence, paused_until, is_disconnected }: Updated,
    format: EffectFormat = DATA_FORMAT,
  ): string =>
    [
      status && `${STATUS[status]} ${name}`,
      fields &&
      `Changed ${name}: ${fieldNames(fields)}${from ? ` from ${format.date(from)} on` : ""}`,
      occurrence && changeOfDate(name, occurrence, format),
      paused_until && `Paused ${name} until ${format.date(paused_until)}`,
      is_disconnected && `Disconnected ${name} from its provider`,
    ].filter(Boolean).join("; ") || `Changed nothing about ${name}`,
  autopay: (
    { name, due_on, is_estimate, linked_on, apart_on, amount, currency }: Dated & Money & {
      is_estimate?: boolean;
      linked_on?: string;
      apart_on?: string;
    },
    { date, money: write }: EffectFormat = DATA_FORMAT,
  ): string =>
    `${name} paid automatically on ${date(due_on)}: ${write(amount, currency)}${is_estimate ? ", an estimate" : ""}${
      linked_on ? `, linked with the expense of ${date(linked_on)}` : ""
    }${apart_on ? `, beside the equal expense of ${date(apart_on)}` : ""}`,
};

function changeOfDate(
  name: string,
  { action, due_on: dueOn, until, amount, currency }: NonNullable<Updated["occurrence"]>,
  { date, money: write }: EffectFormat,
): string {
  const due_on = date(dueOn);
  switch (action) {
    case "skip":
      return `Skipped ${name} due ${due_on}`;
    case "snooze":
      return `Snoozed ${name} due ${due_on} until ${date(until!)}`;
    case "set_amount":
      return `Set ${name} due ${due_on} to ${write(amount!, currency!)}`;
    default:
      return `Reopened ${name} due ${due_on}`;
  }
}
