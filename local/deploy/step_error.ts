/** How a step ends a deployment. */

/** The message says what to do and holds no value. */
export class StepError extends Error {
  override readonly name = "StepError";
}
