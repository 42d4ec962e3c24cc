/** Composes the mail to a person who was removed from an organization. */
import { formatOf } from "../words/format.ts";
import { localeOf } from "../words/locale.ts";
import type { Words } from "../words/words.ts";
import type { RemovalMail } from "./claimed_mail.ts";
import type { Mail } from "./send_mail.ts";
import { strangersName } from "../words/strangers_name.ts";

/** @param link the account page */
export function composeRemovalMail(
  { to, hides_amounts, removal }: RemovalMail,
  { words, link }: { words: Words; link: string },
): Mail {
  const { removal: said, proposal: { hidden } } = words.mails;
  const { money } = formatOf(localeOf({ language: words.language, country: removal.country }));
  const about = { organization: strangersName(removal.organization), by: removal.by };
  return {
    to,
    subject: said.subject(about),
    text: said.text({
      ...about,
      link,
      withdrawn: removal.withdrawn,
      balances: removal.balances.map(({ amount, currency, ...balance }) =>
        said.balance({ ...balance, amount: hides_amounts ? hidden : money(amount, currency) })
      ),
    }),
  };
}
