/** Fits text of a file into what an answer or a field holds. */

export const shorten = (text: string, length: number) =>
  text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text;

export const oneLine = (text: string) => /[^\S ]| {2}/.test(text) ? text.replace(/\s+/g, " ").trim() : text.trim();
