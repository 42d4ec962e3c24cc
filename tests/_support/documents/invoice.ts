/** Writes e-invoices in each syntax from one description; every amount is written as described, even a wrong one. */

export interface Line {
  net: string;
  rate: string;
  quantity?: string;
  price?: string;
  /** The quantity to which a price applies. */
  per?: string;
  /** UNTDID 5305; S by default. */
  category?: string;
  allowance?: string;
  charge?: string;
  period?: [from: string, to: string];
}

export interface Invoice {
  /** UNTDID 1001, or TipoDocumento. */
  type?: string;
  number: string;
  issued: string;
  due?: string[];
  currency?: string;
  /** An amount in a wrong currency. */
  lineCurrency?: string;
  seller?: string;
  taxId?: string;
  customer?: string;
  paidTo?: string;
  iban?: string;
  reference?: string;
  period?: [from: string, to: string];
  lines: Line[];
  allowances?: { amount: string; rate: string; category?: string }[];
  charges?: { amount: string; rate: string; category?: string }[];
  taxes: { rate: string; net: string; tax: string; category?: string }[];
  /** The tax a second time, in the currency of the seller's tax declaration. */
  declared?: { currency: string; tax: string };
  totals: {
    lines?: string;
    allowances?: string;
    charges?: string;
    net: string;
    tax: string;
    gross: string;
    prepaid?: string;
    rounding?: string;
    payable: string;
  };
  /** Identifier of the profile. */
  profile?: string;
  /** For FatturaPA. */
  withheld?: string;
  fund?: { amount: string; rate: string };
  isSplit?: boolean;
  payments?: [due: string, amount: string][];
  bodies?: number;
}

export const SELLER = "Example Energy Ltd";
export const TAX_ID = "DE123456788";

export const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** An element, unless it is empty. */
export const tag = (name: string, content: string | string[] | undefined, attributes = ""): string => {
  const text = Array.isArray(content) ? content.join("") : content === undefined ? "" : escape(content);
  return text === "" ? "" : `<${name}${attributes}>${text}</${name.split(" ")[0]}>`;
};
