/** Decodes an e-mail message: encoded words in its headers, quoted-printable and base64 in its parts. */
import { Buffer } from "node:buffer";

export interface MailPart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

export interface Mail {
  /** Header lines, unfolded and decoded. */
  readonly headers: string;
  readonly parts: readonly MailPart[];
}

const WORDS = /=\?([\w-]{2,30})(?:\*[\w-]*)?\?([BQ])\?([^?\s]*)\?=(?:\s+(?==\?))?/gi;
/** The header lines of a part, up to the empty line after them. */
const HEAD = /(?:^|\n)((?:[A-Za-z][\w-]{1,60}:[^\n]*\n(?:[ \t][^\n]*\n)*)+)\r?\n/g;

/** The headers of all parts of a mail, with their encoded words decoded, and the bodies of the parts. */
export function readMail(mail: string): Mail {
  const heads = Array.from(mail.matchAll(HEAD), (match) => ({
    head: match[1].replace(/\r?\n[ \t]+/g, " "),
    start: match.index + match[0].length,
    at: match.index,
  }));
  const parts = heads.map(({ head, start }, i): MailPart => {
    const body = mail.slice(start, heads[i + 1]?.at ?? mail.length).replace(/\r?\n--[^\n]*\s*$/, "");
    const encoding = /^content-transfer-encoding:\s*"?([\w-]+)/im.exec(head)?.[1].toLowerCase();
    const bytes = encoding === "base64"
      ? Buffer.from(body, "base64")
      : encoding === "quoted-printable"
      ? quoted(body)
      : Buffer.from(body);
    return {
      bytes: Uint8Array.from(bytes),
      type: /^content-type:\s*([^\n]*)/im.exec(head)?.[1] ?? "",
    };
  });
  const headers = heads.map(({ head }) => {
    const folded = head.replace(/\?=\s+=\?/g, "?==?");
    return folded.replace(WORDS, (_, charset: string, kind: string, word: string) => {
      const bytes = /b/i.test(kind) ? Buffer.from(word, "base64") : quoted(word.replaceAll("_", " "));
      try {
        return new TextDecoder(charset).decode(bytes);
      } catch {
        return bytes.toString("latin1");
      }
    });
  }).join("\n");
  return { headers, parts };
}

function quoted(text: string): Buffer {
  const joined = Buffer.from(text.replace(/=[ \t]*\r?\n/g, ""));
  return Buffer.from(
    joined.toString("latin1").replace(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
    "latin1",
  );
}
