/** Returns the current time. Rules and handlers take a clock as an argument; nothing else reads the system time. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();

/** Calls `then` once, after a delay in milliseconds. @returns a function that cancels it */
export type Timer = (ms: number, then: () => void) => () => void;

export const systemTimer: Timer = (ms, then) => {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
};
