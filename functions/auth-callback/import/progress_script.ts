/**
 * Shows the progress of an upload and its processing, and continues the processing on the same page. Without scripts,
 * the same forms lead from page to page.
 */
export const PROGRESS_SCRIPT = `{
const RETRY_MS = 5000;
const PAUSE_MS = 300;
const MOST_TRIES = 12;
// Requests the progress, again if there is no answer, and finally shows the page as if the file had not arrived.
const look = (waiting, tries = 1) =>
  setTimeout(() => {
    const failed = () => waiting && tries >= MOST_TRIES ? waiting() : look(waiting, tries + 1);
    ask("GET", null, { waiting, failed });
  }, RETRY_MS);
const ask = (method, body, { sending, waiting, failed = () => look() } = {}) => {
  const request = new XMLHttpRequest();
  request.open(method, location.pathname);
  if (sending) request.upload.onprogress = ({ loaded, total }) => sending(loaded / total);
  // A front door may answer with something other than a page. 503 means that another request is working on the file, or
  // that too many are.
  request.onload = () => {
    if (request.status === 503 || !request.responseText.includes("<main")) failed();
    else show(request, waiting);
  };
  request.onerror = failed;
  request.send(body);
};
const show = ({ responseURL, responseText }, waiting) => {
  if (new URL(responseURL).pathname !== location.pathname) return location.assign(responseURL);
  // Its styles are already here and have another nonce.
  const page = new DOMParser().parseFromString(responseText.replace(/<style[^]*?<\\/style>/, ""), "text/html");
  if (waiting && page.querySelector("form[data-sending]")) return waiting();
  const [bar, next] = [document, page].map((one) => one.querySelector("progress[aria-labelledby=progress]"));
  if (bar && next) {
    bar.value = next.value;
    document.querySelector("#progress").textContent = page.querySelector("#progress").textContent;
  } else {
    const main = page.querySelector("main");
    document.title = page.title;
    document.querySelector("main").replaceWith(main);
    const heading = main.querySelector("h1");
    heading.tabIndex = -1;
    heading.focus();
  }
  setTimeout(goOn, PAUSE_MS);
};
const goOn = () => {
  const form = document.querySelector("form[data-goes-on]");
  if (!form) return;
  form.hidden = true;
  ask("POST", new URLSearchParams([...new FormData(form), ["brief", "1"]]));
};
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.sending) return;
  event.preventDefault();
  const [bar, said, button] = ["progress", "[role=status]", "button"].map((name) => form.querySelector(name));
  const failed = () => {
    bar.hidden = true;
    button.disabled = false;
    if (document.activeElement === document.body) button.focus();
    said.textContent = form.dataset.broken;
  };
  const body = new FormData(form);
  body.append("brief", "1");
  bar.hidden = false;
  button.disabled = true;
  said.textContent = form.dataset.sending;
  ask("POST", body, {
    sending(part) {
      if (part < 1) return void (bar.value = part);
      bar.removeAttribute("value");
      said.textContent = form.dataset.reading;
    },
    // The file may have arrived although no answer did.
    failed: () => look(failed),
  });
});
goOn();
}`;
