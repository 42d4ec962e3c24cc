/** Collects the problems of a job run: one counted entry per kind, without addresses or secrets. */

export interface Problem {
  stage: string;
  code: string;
  message: string;
  /** An example: the id of a bill or a digest, or a source of rates. */
  ref: string | null;
  count: number;
}

const MAX_PROBLEMS = 50;

export class Problems {
  readonly #entries = new Map<string, Problem>();

  /** @param problem.count 1 if absent */
  add({ count = 1, ref = null, ...problem }: Omit<Problem, "count" | "ref"> & Partial<Problem>): void {
    const key = `${problem.stage} ${problem.code}`;
    const known = this.#entries.get(key);
    if (known) known.count += count;
    else this.#entries.set(key, { ...problem, ref, count });
  }

  list(): Problem[] {
    return [...this.#entries.values()].slice(0, MAX_PROBLEMS);
  }
}
