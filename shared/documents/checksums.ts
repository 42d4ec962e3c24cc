/** Numbers with check digits: IBAN (ISO 13616), creditor references (ISO 11649) and Swiss QR references. */

/** The length of an IBAN by country. */
const LENGTHS = new Map(
  ("AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 " +
    "FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 " +
    "LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 " +
    "SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20").split(" ")
    .map((one) => [one.slice(0, 2), Number(one.slice(2))]),
);
const LONGEST = 60;

const plain = (text: string): string | undefined =>
  text.length > LONGEST ? undefined : text.replace(/[\s\u00a0]/g, "").toUpperCase();

/** ISO 7064, modulo 97, with the check digits after the country or "RF". */
function isModulo97(text: string): boolean {
  let rest = 0;
  for (const letter of text.slice(4) + text.slice(0, 4)) {
    const value = parseInt(letter, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** @returns the IBAN without spaces, if it has its country's length and a valid checksum. */
export function readIban(text: string): string | undefined {
  const iban = plain(text);
  if (!iban || !/^[A-Z]{2}\d\d[A-Z\d]+$/.test(iban) || LENGTHS.get(iban.slice(0, 2)) !== iban.length) return undefined;
  return isModulo97(iban) ? iban : undefined;
}

/** @returns the reference without spaces, if its checksum is valid. */
export function readReference(text: string): string | undefined {
  const reference = plain(text);
  if (!reference) return undefined;
  if (/^RF\d\d[A-Z\d]{1,21}$/.test(reference)) return isModulo97(reference) ? reference : undefined;
  return /^\d{27}$/.test(reference) && isModulo10(reference) ? reference : undefined;
}

const CARRIES = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5];

/** Modulo 10, recursive: the last digit checks the others. */
function isModulo10(digits: string): boolean {
  let carry = 0;
  for (const digit of digits.slice(0, -1)) carry = CARRIES[(carry + Number(digit)) % 10]!;
  return (10 - carry) % 10 === Number(digits.at(-1)) && /[1-9]/.test(digits);
}
