/** Compares the settings of Supabase Auth with this checkout's. The platform shows them only with a token. */
import { type Check, type Line, note, wrong } from "./check.ts";

const FIXED_BY = "deno task deploy sets it";

/** The first matching entry gives the line for a setting. */
const KINDS: readonly { is: RegExp; says: string }[] = [
  { is: /^auth\.site_url$/, says: "Site URL is another address, so that links in mails lead elsewhere" },
  { is: /^auth\.additional_redirect_urls$/, says: "the redirect list allows other addresses" },
  {
    is: /^auth\.email\.smtp\.enabled$/,
    says:
      "there is no mail server of its own: two mails an hour, and only to members of the organization that owns the " +
      "project (others get email_address_not_authorized)",
  },
  { is: /^auth\.email\.smtp\./, says: "the mail server is another one" },
  { is: /^auth\.(rate_limit\.|email\.max_frequency)/, says: "the limits on mails and sign-ins are other ones" },
  { is: /^auth\.email\.template\./, says: "the mails are not ours, so that their links don't work in another browser" },
  {
    is: /^auth\.email\.(otp_|enable_|double_confirm|enabled)/,
    says: "the rules for codes and confirmations are other ones",
  },
  { is: /^auth\.hook\./, says: "the hook that refuses password sessions is not on" },
  { is: /^auth\.external\./, says: "the services to sign in with are other ones" },
  { is: /^api\./, says: "the API exposes other schemas" },
  { is: /./, says: "other settings differ" },
];

export const signInSettings: Check = async function* (site) {
  if (!site.signInDifferences) {
    yield note("The settings of Supabase Auth weren't checked: name the project with --project");
    return;
  }
  yield* judgeSettings(await site.signInDifferences());
};

export function* judgeSettings(differences: readonly string[]): Iterable<Line> {
  const left = new Set(differences);
  for (const { is, says } of KINDS) {
    const own = [...left].filter((path) => is.test(path));
    if (own.length === 0) continue;
    for (const path of own) left.delete(path);
    yield wrong(`Sign-in: ${says} (${own.join(", ")}); ${FIXED_BY}`);
    // Without a server its other settings don't matter.
    if (own.includes("auth.email.smtp.enabled")) {
      for (const path of left) if (path.startsWith("auth.email.smtp.")) left.delete(path);
    }
  }
}
