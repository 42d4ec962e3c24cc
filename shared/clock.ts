/** Says what time it is. Rules and handlers take one as an argument; nothing else asks the system for the time. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
