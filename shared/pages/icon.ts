/** The site icon: the double rule of the wordmark. */

/** On a square of 16. */
export const RULES = [{ x: 3, y: 2, width: 10, height: 3 }, { x: 3, y: 11, width: 10, height: 3 }];

const PATH = RULES.map(({ x, y, width, height }) => `M${x} ${y}h${width}v${height}H${x}z`).join("");

export const iconSvg = (color: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="${color}" d="${PATH}"/></svg>`;

export const ICON = iconSvg("#0b5f4c");

/** Inline, since pages may not load anything. */
export const ICON_URL = `data:image/svg+xml,${encodeURIComponent(ICON)}`;
