/**
 * The secret in the address of a person's calendar. The person sees it once; the database stores only its SHA-256
 * (`hashToken`).
 */

// Secret scanners and our own log recognize the token by this prefix.
const PREFIX = "exp_cal_";
const FILE = /^(exp_cal_[A-Za-z0-9_-]{43})\.ics$/;

/** @param secret 256 random bits, base64url. */
export const calendarToken = (secret: string): string => `${PREFIX}${secret}`;

/** The file name in a calendar's address, after `/calendar/`. */
export const calendarFile = (token: string): string => `${token}.ics`;

/** The token in a file name; undefined if it is not in our format. */
export const tokenOfFile = (file: string): string | undefined => FILE.exec(file)?.[1];
