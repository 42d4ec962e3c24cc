/** Timers that fire when a test moves the time, so deadlines pass immediately. */
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
    /** Fires due timers in order and runs their consequences. */
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

/** Resolves after all pending promise chains. */
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
