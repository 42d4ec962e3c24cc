import { assertEquals, assertRejects } from "@std/assert";
import { pageLoader } from "../../../functions/auth-callback/page_loader.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { Handler, OpenPageDeps } from "../../../functions/auth-callback/page_guards.ts";

const context = {} as AppContext;

/** A page whose module loads only after this many failures. */
function loadedAfter(failures: number) {
  const count = { loads: 0, handlers: 0 };
  const load = () => {
    if (++count.loads <= failures) return Promise.reject(new TypeError("Module not found"));
    const showPage = (): Handler => {
      count.handlers++;
      return () => Promise.resolve(new Response("page"));
    };
    return Promise.resolve({ showPage });
  };
  return {
    show: pageLoader({ config: { knownApps: [] as const } } as unknown as OpenPageDeps, new Map())(load)("showPage"),
    count,
  };
}

Deno.test("a page is loaded once, at its first request", async () => {
  const { show, count } = loadedAfter(0);
  assertEquals(count.loads, 0);
  const answers = await Promise.all([show(context), show(context)]);
  answers.push(await show(context));
  assertEquals(await Promise.all(answers.map((answer) => answer.text())), ["page", "page", "page"]);
  assertEquals(count, { loads: 1, handlers: 1 });
});

Deno.test("a page that failed to load is loaded again at the next request", async () => {
  const { show, count } = loadedAfter(1);
  await assertRejects(() => show(context), TypeError, "Module not found");
  assertEquals(await (await show(context)).text(), "page");
  assertEquals(count, { loads: 2, handlers: 1 });
});
