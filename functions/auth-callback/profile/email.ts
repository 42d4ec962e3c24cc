/** E-mail addresses. Whether one is real, only a mail that arrives can tell. */

/** RFC 5321 §4.5.3.1 allows no longer one. */
const LONGEST = 254;

/** Whether a text can be an address. */
export const isEmail = (text: string): boolean =>
  text.length <= LONGEST && /^[^\s@<>",;:\\]+@[^\s@<>",;:\\]+\.[^\s@<>",;:\\.]+$/.test(text);

/** Where reminders should go: the sign-in address when nothing, or that address in another spelling, was given. */
export function reminderAddress(given: string | undefined, signInAddress: string): string {
  return given && given.toLowerCase() !== signInAddress.toLowerCase() ? given : signInAddress;
}
