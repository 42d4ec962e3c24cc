/** Timers that fire when a test moves the time, so that deadlines pass at once. */
import type { Timer } from "../../shared/clock.ts";

export function fakeTimer() {
  const pending = new Set<{ at: number; then: () => void }>();
  let now = 0;
  const timer: Timer = (ms, then) => {
    const one = { at: now + ms, then };
    pending.add(one);
    return () => void pending.delete(one);
  };
  return {
    timer,
    pending: () => pending.size,
    /** Fires what is due on the way, in order, and lets what it caused happen. */
    async pass(ms: number): Promise<void> {
      await settled();
      const until = now + ms;
      for (;;) {
        const due = [...pending].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        pending.delete(due);
        now = due.at;
        due.then();
        await settled();
      }
      now = until;
      await settled();
    },
  };
}

/** Once what is ready has run: a task later than any chain of promises. */
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
