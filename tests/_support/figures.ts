/** Checks figures in the texts of tools. A model reads them next to the data, so both must have the same form. */

const MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
const MONTH = String.raw`\b(?:${MONTHS})[a-z]*\b`;

/**
 * Matches any format except YYYY-MM-DD, YYYY-MM, 1234.50 EUR and -5.0%. Yearly days are exempt, since they have no
 * other form.
 */
const OTHER_WAYS: readonly RegExp[] = [
  new RegExp(String.raw`(?<!every (?:\d+ )?years? on )\b\d{1,2}(?:st|nd|rd|th)? ${MONTH}`, "g"),
  new RegExp(String.raw`${MONTH} \d{1,4}\b`, "g"),
  /\b\d{1,2}[./]\d{1,2}[./](?:\d{2}){1,2}\b/g,
  // Thousands, decimal commas, and minus signs other than a hyphen.
  /\b\d{1,3}[,'’\u00a0\u202f ]\d{3}\b(?![-.]\d\d-)/g,
  /\b\d+,\d{1,2}\b(?!,)/g,
  /[−–]\s?\d/g,
  /[€$£¥₹]\s?\d|\d\s?[€$£¥₹]/g,
];

/** @returns figures of a text in another format. @param facts text that people typed; it is exempt. */
export function oddFigures(text: string, facts: Iterable<string> = []): string[] {
  const ours = [...facts].filter(Boolean).toSorted((one, other) => other.length - one.length)
    .reduce((rest, fact) => rest.replaceAll(fact, "…"), text);
  return OTHER_WAYS.flatMap((pattern) => ours.match(pattern) ?? []);
}
