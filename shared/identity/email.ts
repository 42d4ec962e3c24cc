/** Whether a text can be an e-mail address. Whether it is one, only a mail that arrives can tell. */

/** RFC 5321 §4.5.3.1 allows no longer one. */
const LONGEST = 254;

export const isEmail = (text: string): boolean =>
  text.length <= LONGEST && /^[^\s@<>",;:\\]+@[^\s@<>",;:\\]+\.[^\s@<>",;:\\.]+$/.test(text);
