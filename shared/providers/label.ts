/** How a secret is told from another one without telling it: its last four characters, when it is long enough to spare them. */
export const ending = (secret: string): string => secret.length >= 16 ? `…${secret.slice(-4)}` : "…";
