/** Identifies a secret without revealing it: its last four characters, if it is long enough. */
export const ending = (secret: string): string => secret.length >= 16 ? `…${secret.slice(-4)}` : "…";
