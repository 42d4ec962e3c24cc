/** Decimals of each currency (ISO 4217), the same as `app.currencies`; a test compares them. */

const OTHER_THAN_TWO: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};

const DECIMALS = new Map(
  Object.entries(OTHER_THAN_TWO).flatMap(([decimals, codes]) =>
    codes.split(" ").map((code) => [code, Number(decimals)] as const)
  ),
);

/** @param currency ISO 4217, upper case. */
export const decimalsOf = (currency: string): number => DECIMALS.get(currency) ?? 2;
