import { AppError } from "../errors.ts";

/** What waits is over by then, and clients that were turned away do not come back in step with one another. */
const RETRY_SECONDS = { least: 1, most: 3 };

export function overloaded(): AppError {
  const { least, most } = RETRY_SECONDS;
  const seconds = least + Math.floor(Math.random() * (most - least + 1));
  return new AppError("overloaded", "There are more requests than can be answered right now. Nothing was done.", {
    headers: { "retry-after": String(seconds) },
  });
}
