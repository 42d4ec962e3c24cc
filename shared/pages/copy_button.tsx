/** @jsxImportSource hono/jsx */
/** A text to copy. The button needs scripts; without them, one click selects the whole text. */

interface CopyView {
  text: string;
  words: { copy: string; copied: string };
}

export const CopyText = ({ text, words }: CopyView) => (
  <div class="copying">
    <code class="copy">{text}</code>
    <button type="button" hidden data-copy={text} data-copied={words.copied} aria-live="polite">{words.copy}</button>
  </div>
);

/** The script of every page with a {@link CopyText}. */
export const COPY_SCRIPT = `{
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
}`;
