/** The pages behind the links in mails: one confirms a reminder address, the other turns reminders off. */
import { signUnsubscribing } from "../../../shared/reminders/unsubscribe_token.ts";
import { formsOf, signIn } from "../../functions/auth-callback/harness.ts";
import { EMAIL, HOSTILE, LONG, page, type State, UNBROKEN } from "./state.ts";
import { home } from "./accounts.ts";

interface Unsubscribing {
  organizations?: { name: string; bills?: string[] }[];
  sentOn?: string;
  isSignedIn?: boolean;
  isOwner?: boolean;
  /** After the button was clicked. */
  isSent?: boolean;
}

/** The page behind the link in a reminder mail. */
function unsubscribing(
  name: string,
  { organizations = [{ name: "Home" }], sentOn = "2026-11-20", isSignedIn, isOwner = true, isSent }: Unsubscribing,
): State {
  return page(`unsubscribe-${name}`, async ({ pages, browser }) => {
    const visitor = isSignedIn ? (await signIn(pages, EMAIL)).browser : browser;
    const ownerId = isOwner ? pages.provider.user(EMAIL).id : crypto.randomUUID();
    const token = await signUnsubscribing(pages.config.codeSecrets, { userId: ownerId, sentOn });
    const link = `/email/unsubscribe?t=${token}`;
    return isSent ? await visitor.post(link, {}) : await visitor.get(link);
  }, {
    answers: {
      unsubscribe: { outcome: "unsubscribed" },
      read_unsubscribing: {
        email_enabled: true,
        organizations: organizations.map(({ name, bills }, n) => ({
          id: `org_0000000${n}`,
          name,
          mails: "mine",
          ...(bills && { bills: bills.map((name, m) => ({ id: `bill_0000000${m}`, name })) }),
        })),
      },
    },
  });
}

export const MAILED_LINK_STATES: readonly State[] = [
  page("reminder-link", async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    const form = formsOf(await (await browser.get("/onboarding")).text())[0]!;
    await browser.post("/onboarding", { ...form.fields, country: "DE", reminder_email: "bills@example.com" });
    return await browser.get(/\/account\/reminder-email\S+/.exec(pages.mails[0]!.text)![0]);
  }, { answers: { complete_onboarding: { outcome: "created", organization_id: home.id } } }),
  unsubscribing("one", { organizations: [{ name: HOSTILE }] }),
  unsubscribing("many", { organizations: [{ name: "Home" }, { name: LONG }, { name: UNBROKEN }] }),
  unsubscribing("owner", { isSignedIn: true, organizations: [{ name: "Home", bills: ["Rent", HOSTILE, UNBROKEN] }] }),
  unsubscribing("old", { sentOn: "2026-08-01" }),
  unsubscribing("old-other", { sentOn: "2026-08-01", isSignedIn: true, isOwner: false }),
  unsubscribing("off", { organizations: [] }),
  unsubscribing("done", { isSent: true }),
  page("stale-reminder-link", ({ browser }) => browser.get("/account/reminder-email?t=abc")),
];
