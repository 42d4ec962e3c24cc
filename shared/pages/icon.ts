/** The site icon: the double rule of the wordmark. */

export const iconSvg = (color: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="${color}" d="M3 2h10v3H3zM3 11h10v3H3z"/></svg>`;

export const ICON = iconSvg("#0b5f4c");

/** Inline, since pages may not load other files. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`;
