/// <reference lib="dom" />
/** Creates elements with text content only, so that user text cannot become markup. */

type Content = Node | string | undefined | false;

/** @param attributes `class`, `dir`, ARIA and the like; undefined ones are skipped. */
export function html(
  name: string,
  attributes: Record<string, string | undefined> = {},
  ...content: Content[]
): HTMLElement {
  return fill(document.createElement(name), attributes, content);
}

export function svg(
  name: string,
  attributes: Record<string, string | number | undefined> = {},
  ...content: Content[]
): SVGElement {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, content);
}

function fill<E extends Element>(
  element: E,
  attributes: Record<string, string | number | undefined>,
  content: Content[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...content.filter((part): part is Node | string => part !== undefined && part !== false));
  return element;
}
