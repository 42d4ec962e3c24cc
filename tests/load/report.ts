/** The report of a run: volume, latency, memory growth, events and errors. */
import { latencyTable } from "./measure/latency.ts";
import { memoryTable } from "./measure/memory.ts";
import type { SoakResult } from "./soak.ts";

const MOST = 40;

export const print = (line: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

export function report({ options, rates, heldBack, kinds, outcomes, memory, problems, stalls }: SoakResult): void {
  const perSecond = rates.map((rate) => rate.toFixed(0)).join(", ");
  print(`seed ${options.seed}: ${Math.round(options.seconds)} s with ${perSecond} actions of clients a second`);
  if (heldBack > 0) print(`${heldBack} more were left out while the machine held less`);
  for (const line of latencyTable(kinds)) print(line);
  print(
    [...outcomes].filter(([outcome]) => !/ 20\d$/.test(outcome)).map(([what, count]) => `${what}: ${count}`).join(", "),
  );
  for (const line of memoryTable(memory)) print(line);
  for (const stall of stalls) print(`LONG ${stall}`);
  for (const problem of problems.slice(0, MOST)) print(`PROBLEM ${problem}`);
  print(problems.length === 0 ? "Nothing was lost, doubled or shown to others." : `${problems.length} problems`);
}
