/** What a client is told of a call's progress. */
import type { Progress } from "../../shared/words/message.ts";
import type { ProgressEvent } from "./server.ts";

/** Passes on only what increases, as the protocol demands. */
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
