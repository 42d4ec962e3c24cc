/** Returns the current time. Rules and handlers take a clock as an argument; nothing else reads the system time. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
