/** The limits on reading one PDF, because a small file can require gigabytes of memory or years of work. */

export type PdfProblem = "encrypted" | "active" | "complex" | "long" | "broken";

/** Why a PDF is refused as a whole. */
export class PdfRefused extends Error {
  constructor(readonly problem: PdfProblem) {
    super(problem);
  }
}

/** An invoice of 60 pages uses a tenth of each limit. */
export const MOST_PAGES = 200;
const MOST_STEPS = 1_000_000;
const MOST_DECODED_BYTES = 24 * 1024 * 1024;

/** Shared by all parts of one PDF. Every loop over the file's data charges its iterations to the budget. */
export class Budget {
  #steps = MOST_STEPS;
  #bytes = MOST_DECODED_BYTES;

  /** @throws {PdfRefused} when the work exceeds the limit */
  spend(steps = 1): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new PdfRefused("complex");
  }

  /** @throws {PdfRefused} when the streams are too large. */
  unpack(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw new PdfRefused("complex");
  }
}
