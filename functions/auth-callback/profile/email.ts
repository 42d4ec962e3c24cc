/** Email addresses. Only a delivered mail proves that an address exists. */

/** The maximum of RFC 5321 §4.5.3.1. */
const MAX_LENGTH = 254;

/** Whether a text can be an address. */
export const isEmail = (text: string): boolean =>
  text.length <= MAX_LENGTH && /^[^\s@<>",;:\\]+@[^\s@<>",;:\\]+\.[^\s@<>",;:\\.]+$/.test(text);

/** The reminder address; the sign-in address if the field is empty or differs only in spelling. */
export function reminderAddress(given: string | undefined, signInAddress: string): string {
  return given && given.toLowerCase() !== signInAddress.toLowerCase() ? given : signInAddress;
}
