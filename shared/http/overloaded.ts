import { AppError } from "../errors.ts";

/** The queue is empty by then. The jitter spreads the retries of refused clients. */
const RETRY_SECONDS = { least: 1, most: 3 };

export function overloaded(): AppError {
  const { least, most } = RETRY_SECONDS;
  const seconds = least + Math.floor(Math.random() * (most - least + 1));
  return new AppError("overloaded", "There are more requests than can be answered right now. Nothing was done.", {
    headers: { "retry-after": String(seconds) },
  });
}
