/** The site icon: the double rule of the wordmark. */

export const ICON =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0b5f4c" d="M3 2h10v3H3zm0 9h10v3H3z"/></svg>`;

/** Inline, since pages may not load anything. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`;
