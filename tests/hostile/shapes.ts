/** Text shapes, of any length, that are known to slow down some parser or exhaust its stack. */

export type Shape = (length: number) => string;

/** A repeated piece. */
const run = (piece: string): Shape => (length) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

/** A run that almost matches, then fails. */
const mismatch = (piece: string, last: string, first = ""): Shape => (length) =>
  first + run(piece)(Math.max(length - first.length - last.length, 0)) + last;

/** Nested to this depth, and closed again. */
const nested = (open: string, close: string, core = ""): Shape => (length) => {
  const depth = Math.max(Math.floor((length - core.length) / (open.length + close.length)), 0);
  return open.repeat(depth) + core + close.repeat(depth);
};

/** Text as one value of a JSON document. */
const inJson = (shape: Shape): Shape => (length) => JSON.stringify({ a: shape(Math.max(length - 8, 0)) });

export const SHAPES: Readonly<Record<string, Shape>> = {
  "one letter": run("a"),
  "letters, then none": mismatch("a", "!"),
  "digits": run("1"),
  "digits, then a letter": mismatch("1", "x"),
  "digits with points": mismatch("1.", "x"),
  "digits with commas": mismatch("1,", "-x"),
  "points": mismatch(".", "1x"),
  "signs": run("-+"),
  "spaces": run(" "),
  "spaces between two letters": mismatch(" ", "x", "x"),
  "tabs and spaces": mismatch("\t ", "x", "x"),
  "lines": run("a\n"),
  "line feeds": run("\n"),
  "carriage returns": run("\r"),
  "ends of lines, mixed": run("\r\n\n\r\r\n"),
  "quotation marks": run('"'),
  "stray quotation marks": mismatch('"x', ' ",\n', "date,amount,name\n"),
  "stray quotation marks and spaces": (length) => `"${run('"x')(length / 2)}${run(" ")(length / 2)},\n`,
  "quotation marks apart": run('" '),
  "an endless quoted cell": mismatch("a,b\n", "", '"'),
  "an endless quoted cell of doubled marks": mismatch('""', "", '"a'),
  "commas": run(","),
  "two thousand empty columns": run(`${",".repeat(2000)}\n`),
  "semicolons and bars": run(";|\t,"),
  "short cells": run("a,b\n"),
  "days": run("2026-10-01,1.5,x\n"),
  "near days": mismatch("2026-10-0", "x"),
  "near months": mismatch("1 de Mai ", "!"),
  "brackets": run("["),
  "round brackets": mismatch("(", "x"),
  "brackets in pairs": run("(a)[b]"),
  "nested lists": nested("[", "]"),
  "nested objects": nested('{"a":', "}", "1"),
  "nested lists in an object": (length) => `{"a":${nested("[", "]")(length - 8)}}`,
  "many members": (length) => `{${Array.from({ length: length / 12 }, (_, i) => `"k${i}":1`).join()}}`,
  "many numbers": (length) => `[${run("0,")(length - 3)}0]`,
  "many objects": (length) => `[${run("{},")(Math.floor((length - 4) / 3) * 3)}{}]`,
  "a long number": (length) => `{"a":${run("1")(length - 6)}}`,
  "a long number with an exponent": (length) => `{"a":1e${run("9")(length - 8)}}`,
  "a long text in JSON": inJson(run("a")),
  "escapes in JSON": inJson(run('\\"\n')),
  "backslashes": run("\\"),
  "deep XML": nested("<a>", "</a>"),
  "unclosed XML": run("<a>"),
  "many attributes": (length) =>
    `<a ${Array.from({ length: length / 10 }, (_, i) => `a${i}="1"`).join(" ").slice(0, length - 6)}/>`,
  "a long attribute": mismatch("a", '"/>', '<a b="'),
  "comments": run("<!--"),
  "a long comment": mismatch("- ", "-->", "<a><!--"),
  "CDATA": run("<![CDATA["),
  "instructions": run("<?a "),
  "entities": mismatch("&amp;", "</a>", "<a>"),
  "a document type": mismatch('<!ENTITY a "&a;">', "]><a/>", "<!DOCTYPE a ["),
  "many elements": mismatch("<a/>", "</b>", "<b>"),
  "near addresses": mismatch("a@", "."),
  "a long near address": mismatch("a.", "@", "a@"),
  "labels": mismatch("a.", "-"),
  "hyphens": mismatch("a-", "."),
  "slashes": run("/"),
  "colons": mismatch("1:", "x"),
  "double colons": run("::"),
  "a near URL": mismatch("a.", " ", "https://"),
  "URLs": run("https://a@b:1/?"),
  "parameters": run("a=1&"),
  "different parameters": (length) => Array.from({ length: length / 8 }, (_, i) => `a${i}=1`).join("&"),
  "percent signs": run("%"),
  "escaped letters": run("%C3%A4"),
  "plus signs": run("a+"),
  "cookies": run("a=b; "),
  "media ranges": run("application/*;q=0.1,"),
  "languages": run("de-AT,"),
  "near ages": run("max-age="),
  "near statuses": mismatch("5.1.", "x"),
  "near tokens": run("exp_at_"),
  "dots between letters": run("a.b"),
  "chunks": (length) => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${run("1\r\na\r\n")(length)}0\r\n\r\n`,
  "many headers": (length) => `HTTP/1.1 200 OK\r\n${run("a: b\r\n")(Math.min(length, 16_000))}\r\n`,
  "a long header": (length) => `HTTP/1.1 200 OK\r\na:${run(" \t")(Math.min(length, 16_000))}b\r\n\r\n`,
  "combining marks": run("a\u0300\u0316"),
  "one pile of marks": mismatch("\u0300\u0316", "", "a"),
  "letters that stand for many": run("ﷺ"),
  "digits of other scripts": run("٣１"),
  "enclosed digits": mismatch("⒛", "x"),
  "lone surrogates": run("\ud800"),
  "surrogates": run("😀"),
  "joined emoji": run("👩\u200d"),
  "marks of direction": run("\u202e\u2066"),
  "lost letters": run("abc\ufffd,"),
  "lost first letters": run("\ufffdab\ufffdc"),
  "many lost letters": mismatch("\ufffd", "z", "abc"),
  "zeros": run("a\0"),
  "wrong encoding": run("Ã¤"),
  "letters that look wrongly decoded but aren't": mismatch("Ã¤", "語"),
};
