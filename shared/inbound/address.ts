/** The mail addresses of organizations. */

const ADDRESS = /^in\+([0-9a-f]{20})@([a-z0-9.-]+)$/;
const MOST_RECIPIENTS = 50;

export const inboundAddress = (token: string, domain: string): string => `in+${token}@${domain}`;

/** @returns the tokens of addresses under the domain; the database decides whether an organization has them. */
export function tokensOf(recipients: readonly string[], domain: string): string[] {
  const tokens = recipients.slice(0, MOST_RECIPIENTS).flatMap((recipient) => {
    const [, token, at] = ADDRESS.exec(recipient.trim().toLowerCase().slice(0, 320)) ?? [];
    return token && at === domain ? [token] : [];
  });
  return [...new Set(tokens)];
}
