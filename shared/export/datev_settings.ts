/** The accounts of a DATEV export, which a person sets once per organization (`identity.organizations.datev`). */
import * as z from "zod/mini";

/** The key of the account for payments without a category. */
export const NO_CATEGORY = "none";

/** The rates that can have a tax key, as percentages. */
export const TAX_RATES = ["19", "7"] as const;
export type TaxRate = typeof TAX_RATES[number];

/** All accounts have four digits, as in the standard charts of accounts. */
export const ACCOUNT = /^\d{4}$/;

export const DatevSettings = z.object({
  /** The number of the tax adviser (Beraternummer). */
  consultant: z.number(),
  /** The number that the tax adviser gave the organization (Mandantennummer). */
  client: z.number(),
  chart: z.enum(["03", "04"]),
  /** The first month of the financial year. */
  year_starts: z.number(),
  /** The bank or cash account that all payments are booked against. */
  paid_from: z.string(),
  /** Receives payments whose category has no account; without it, they are omitted. */
  clearing: z.optional(z.string()),
  /** Whether the import locks the bookings of closed months (Festschreibung). */
  locks: z.optional(z.boolean()),
  /** The tax key (BU-Schlüssel) of each rate. */
  tax_keys: z.record(z.string(), z.string()),
  /** The expense account of each category by its id, or `NO_CATEGORY`. */
  accounts: z.record(z.string(), z.string()),
});
export type DatevSettings = z.infer<typeof DatevSettings>;

/** The categories without their own account; an organization need not use them all. */
export const withoutAccount = <Category extends { id: string }>(
  { accounts }: Pick<DatevSettings, "accounts">,
  categories: readonly Category[],
): Category[] => categories.filter(({ id }) => !Object.hasOwn(accounts, id));
