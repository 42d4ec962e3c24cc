/** Shortens a file's text for an answer or a field. */

/** The beginning of a text. It never splits a surrogate pair, because PostgreSQL rejects half of one. */
export const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, /[\ud800-\udbff]/.test(text[length - 1]!) ? length - 1 : length);

export const shorten = (text: string, length: number) => text.length > length ? `${cut(text, length - 1)}…` : text;

export const oneLine = (text: string) => /[^\S ]| {2}/.test(text) ? text.replace(/\s+/g, " ").trim() : text.trim();
