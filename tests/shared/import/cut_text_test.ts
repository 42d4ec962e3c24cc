/** Text of a file that exceeds a field is cut after a whole character, in every format. */
import { assert, assertEquals } from "@std/assert";
import { readImport } from "../../../shared/import/read_import.ts";
import { cut, shorten } from "../../../shared/import/shorten.ts";

const mt940 = (line: string, purpose: string) =>
  `:20:START\n:25:12345678/0001\n:28C:1/1\n:60F:C261101EUR100,00\n${line}\n:86:${purpose}\n:62F:C261102EUR90,00\n-`;

/** A file of each format with a long text in every place. */
const FILES: Record<string, (text: string) => string> = {
  csv: (text) => `Date,Name,Note,Amount\n2026-11-02,${text},${text},-10.00\n`,
  "csv with a preamble": (text) => `Account: ${text}\n\nDate;Name;Amount\n2026-11-02;${text};-10.00\n`,
  "csv with a strange direction": (text) => `Date,Name,Amount,Debit/Credit\n2026-11-02,Tea,10.00,${text}\n`,
  mt940: (text) => mt940(":61:2611021102D10,00NTRFNONREF", `?00${text}?20${text}?32${text}`),
  "mt940 with a broken line": (text) => mt940(`:61:${text}`, text),
  ofx: (text) =>
    `<OFX><STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20261102<TRNAMT>-10.00<NAME>${text}<MEMO>${text}</STMTTRN></OFX>`,
  qif: (text) => `!Type:Bank\nD11/02/2026\nT-10.00\nP${text}\nM${text}\n^\n`,
};

Deno.test("cutting a long text of a file splits no character", () => {
  for (const [format, write] of Object.entries(FILES)) {
    for (let before = 0; before < 60; before++) {
      for (const characters of [20, 60, 250, 2500]) {
        const read = readImport(write("a".repeat(before) + "😀".repeat(characters)), { negative_is_expense: true });
        const json = JSON.stringify(read);
        assert(!/\\ud[89a-f]/.test(json), `${format}, ${before} before ${characters}: ${json.slice(0, 200)}`);
      }
    }
  }
});

Deno.test("cut() and shorten() keep texts that fit", () => {
  assertEquals(["ab😀", "ab😀c", "ab😀cd"].map((text) => cut(text, 4)), ["ab😀", "ab😀", "ab😀"]);
  assertEquals([2, 3, 4, 5].map((length) => cut("ab😀c", length)), ["ab", "ab", "ab😀", "ab😀c"]);
  assertEquals(shorten("ab😀cd", 4), "ab…");
  assertEquals(shorten("ab😀", 4), "ab😀");
});
