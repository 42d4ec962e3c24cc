/** How the texts of tools write figures: a model reads them next to the data, so they look like the data. */

const MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
const MONTH = String.raw`\b(?:${MONTHS})[a-z]*\b`;

/**
 * What is not the one way: YYYY-MM-DD and YYYY-MM, 1234.50 EUR, -5.0%. A day that comes every year has no other form.
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

/** @returns figures of a text that are written another way. @param facts what people typed, which stays as it is. */
export function oddFigures(text: string, facts: Iterable<string> = []): string[] {
  const ours = [...facts].filter(Boolean).toSorted((one, other) => other.length - one.length)
    .reduce((rest, fact) => rest.replaceAll(fact, "…"), text);
  return OTHER_WAYS.flatMap((pattern) => ours.match(pattern) ?? []);
}
