/** Names of the currencies in use that `Intl` does not name, by ISO 4217 code. */
export const currencies: Readonly<Record<string, string>> = {
  CLF: "Chilean Unit of Account (UF)",
  SLE: "Sierra Leonean Leone",
  UYI: "Uruguayan Peso (Indexed Units)",
  UYW: "Uruguayan Nominal Wage Index Unit",
  VED: "Venezuelan Digital Bolívar",
  XCG: "Caribbean Guilder",
  ZWG: "Zimbabwean Gold",
};
