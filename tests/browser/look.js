// Checks every page in a real browser: it must be readable, reachable by keyboard and nowhere too wide. JavaScript,
// because it runs inside the page, whose types are not ours.

/** Every fault in words; empty without any. */
export function faultsOf() {
  const faults = [];
  const { documentElement: root } = document;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll("body *")].find((element) =>
      element.getBoundingClientRect().right > root.clientWidth + 1
    );
    faults.push(`wider than the window: ${wide?.tagName} ${wide?.className}`);
  }
  if (!document.title || !root.lang) faults.push("no title or language");
  if (document.querySelectorAll("h1").length !== 1) faults.push("not exactly one h1");
  for (
    const foreign of document.querySelectorAll(
      "script:not([nonce]), img, iframe, [style]:not([style='']), [onclick], [onerror]",
    )
  ) {
    faults.push(`not ours: ${foreign.outerHTML.slice(0, 80)}`);
  }

  const parse = (text) => {
    const [r = 0, g = 0, b = 0, a = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
    return [r, g, b, a];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((channel) => {
      const c = channel / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const backgroundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color[3] > 0) return color;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1];
  };
  const isShown = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && getComputedStyle(element).visibility === "visible";
  };

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const parent = text.parentElement;
    if (!text.textContent?.trim() || !isShown(parent) || parent.closest("option, script, style, :disabled")) continue;
    const ratio = contrast(parse(getComputedStyle(parent).color), backgroundOf(parent));
    if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${text.textContent.slice(0, 40)}`);
  }

  for (
    const control of document.querySelectorAll(
      "input:not([type=hidden]), select, button, a.button, summary, header a:not(.skip)",
    )
  ) {
    if (!isShown(control) || control.matches(":disabled")) continue;
    const name = control.getAttribute("aria-label") ??
      (control.labels?.[0] ?? control).textContent?.trim();
    if (!name) faults.push(`no name: ${control.outerHTML.slice(0, 80)}`);
    const box = (control.closest("label") ?? control).getBoundingClientRect();
    if (Math.min(box.width, box.height) < 24) faults.push(`smaller than 24 px: ${name}`);
    const style = getComputedStyle(control);
    if (control.matches("input:not([type=radio], [type=checkbox]), select, button:not(.link)")) {
      const ratio = contrast(parse(style.borderTopColor), backgroundOf(control.parentElement));
      if (ratio < 3) faults.push(`edge contrast ${ratio.toFixed(2)}: ${name}`);
    }
  }
  // Links and buttons that touch on a line, and texts that touch the list above them.
  const controls = [...document.querySelectorAll("a[href], button, summary")].filter(isShown);
  for (const [place, control] of controls.slice(1).entries()) {
    const before = controls[place];
    const one = [...before.getClientRects()].at(-1);
    const [other] = control.getClientRects();
    const isOnOneLine = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4;
    if (isOnOneLine && Math.abs(other.left - one.right) < 4) {
      faults.push(`no space: ${before.textContent.trim()}|${control.textContent.trim()}`);
    }
  }
  for (const list of document.querySelectorAll("main .rows")) {
    const next = list.nextElementSibling;
    if (!next || !isShown(next) || list.childElementCount === 0) continue;
    const gap = next.getBoundingClientRect().top - list.getBoundingClientRect().bottom;
    if (gap < 8) faults.push(`${gap} px below a list: ${next.textContent.trim().slice(0, 40)}`);
  }
  // Amounts of one list end at one edge.
  for (const list of document.querySelectorAll("ul, ol")) {
    const amounts = [...list.querySelectorAll(":scope > li > .amount")].filter(isShown);
    const edges = new Set(amounts.map((amount) => Math.round(amount.getBoundingClientRect().right)));
    if (edges.size > 1) faults.push(`amounts end at ${[...edges]} px: ${list.textContent.trim().slice(0, 40)}`);
  }
  for (const id of new Set([...document.querySelectorAll("[id]")].map(({ id }) => id))) {
    if (document.querySelectorAll(`#${CSS.escape(id)}`).length > 1) faults.push(`id ${id} twice`);
  }
  for (const element of document.querySelectorAll("[aria-describedby]")) {
    for (const id of element.getAttribute("aria-describedby").split(" ")) {
      if (!document.getElementById(id)) faults.push(`described by nothing: ${id}`);
    }
  }
  return faults;
}

/** The focused element and whether its focus is visible; null when the focus has returned to the document. */
export function focused() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const index = [...document.querySelectorAll("*")].indexOf(element);
  return {
    what: `${index} ${element.tagName} ${(element.textContent || element.id).trim().slice(0, 30)}`,
    isVisible: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && box.width > 1 && box.left >= 0,
  };
}

/** Clears the focus, so that the next Tab goes to the first element of the page. */
export function startAtTop() {
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
}
