/** Two values for each field of each contract that must give different results. */
import type { Ids } from "./books.ts";
import type { Cases } from "./case.ts";
import { readCases } from "./read_cases.ts";
import { writeCases } from "./write_cases.ts";

export const casesOf = (ids: Ids): Cases => ({ ...readCases(ids), ...writeCases(ids) });
