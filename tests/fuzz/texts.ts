/** Hostile text that has tripped up parsers, databases, templates, shells or logs. */
import fc from "fast-check";

const SHAPES = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "\u202eevil",
  "e\u0301".repeat(200),
  "null",
  "-1",
  "9".repeat(400),
  "1e309",
  "NaN",
  "2026-02-30",
  "'; drop table app.expenses; --",
  "%_\\",
  "(a+)+$",
  "<script>alert(1)</script>",
  "</title><img src=x onerror=alert(1)>",
  "{{constructor.constructor('return 1')()}}",
  "${jndi:ldap://127.0.0.1/a}",
  "../../../../etc/passwd",
  "http://169.254.169.254/latest/meta-data/",
  "//evil.example/%2f..",
  "javascript:alert(1)",
  "a\r\nSet-Cookie: session=evil",
  '=HYPERLINK("http://evil.example")',
  '"x'.repeat(4000) + " ".repeat(4000) + ",",
  `date,amount,name\n"${'"x'.repeat(20_000)}${" ".repeat(20_000)},\n`,
  `date,amount,name\n${",".repeat(2000)}\n`,
  "\r\r\n\n\r".repeat(2000),
  "[".repeat(20_000),
  "&a;".repeat(2000),
];

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...SHAPES) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 60 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
);

/** Mostly valid, to reach the code behind the first check too. */
export const mostly = <Value>(right: fc.Arbitrary<Value>): fc.Arbitrary<Value | string> =>
  fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: hostileText });
