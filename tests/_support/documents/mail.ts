/** Writes mails as mail programs save them. */
import { Buffer } from "node:buffer";

export interface MailPart {
  type: string;
  content: string | Uint8Array;
  name?: string;
  disposition?: "attachment" | "inline";
  id?: string;
  /** Unencoded, in base64 or in quoted-printable. */
  encoding?: "8bit" | "base64" | "quoted-printable";
}

export interface Mail {
  subject?: string;
  parts: MailPart[];
  kind?: "mixed" | "related" | "alternative";
  /** More header fields. */
  header?: string[];
}

const bytesOf = (content: string | Uint8Array) =>
  typeof content === "string" ? Buffer.from(content) : Buffer.from(content);
const letters = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

const HEAD = [
  "From: Billing <billing@energy.example>",
  "To: mira@example.com",
  "Date: Mon, 2 Nov 2026 08:00:00 +0100",
  "Message-ID: <1@energy.example>",
  "MIME-Version: 1.0",
];

function encoded(part: MailPart): string {
  const bytes = bytesOf(part.content);
  if (part.encoding === "quoted-printable") {
    return letters(bytes).replace(
      /[^\n\r -<>-~]/g,
      (letter) => `=${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
    );
  }
  const isText = typeof part.content === "string";
  return part.encoding === "8bit" || isText && !part.encoding
    ? letters(bytes)
    : bytes.toString("base64").replace(/.{76}/g, "$&\r\n");
}

function written(part: MailPart): string {
  const { type, name, disposition, id, content } = part;
  const encoding = part.encoding ?? (typeof content === "string" ? "8bit" : "base64");
  return [
    `Content-Type: ${type}${name ? `; name="${name}"` : ""}`,
    `Content-Transfer-Encoding: ${encoding}`,
    ...(disposition || name
      ? [`Content-Disposition: ${disposition ?? "attachment"}${name ? `; filename="${name}"` : ""}`]
      : []),
    ...(id ? [`Content-ID: <${id}>`] : []),
    "",
    encoded(part),
  ].join("\r\n");
}

/** A part that contains others. */
export function multipart(kind: string, parts: MailPart[]): MailPart {
  // Longer in outer parts, so each differs from its inner ones.
  const boundary = `b${parts.map(written).join("").length}`;
  const content = `${parts.map((part) => `--${boundary}\r\n${written(part)}\r\n`).join("")}--${boundary}--\r\n`;
  return { type: `multipart/${kind}; boundary=${boundary}`, content: Buffer.from(content, "latin1"), encoding: "8bit" };
}

export function writeMail({ subject = "Your invoice", parts, kind = "mixed", header = [] }: Mail): Uint8Array {
  const body = parts.length === 1 && !parts[0]!.name ? parts[0]! : multipart(kind, parts);
  const text = [...HEAD, `Subject: ${subject}`, ...header, written(body)].join("\r\n");
  return new Uint8Array(Buffer.from(text, "latin1"));
}
