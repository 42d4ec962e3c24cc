/** Reports a call's progress to the client. */
import type { Progress } from "../../shared/words/message.ts";
import type { ProgressEvent } from "./server.ts";

/** Reports only increasing progress, as the protocol requires. */
export function reportProgress(
  explain: ((reached: Progress) => string) | undefined,
  send: (event: ProgressEvent) => void,
): (reached: Progress) => void {
  let last = -1;
  return (reached) => {
    if (!(reached.progress > last)) return;
    last = reached.progress;
    send({ ...reached, ...(explain && { message: explain(reached) }) });
  };
}
