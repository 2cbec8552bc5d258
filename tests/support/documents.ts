/** Small documents of the kinds that are read, made by hand. */
import { Buffer } from "node:buffer";
import { crc32, deflateRawSync, deflateSync } from "node:zlib";

export interface ZipOptions {
  /** Sets the bit that says that parts are encrypted. */
  encrypted?: boolean;
  /** What the directory says of each part's size, in place of the truth. */
  claimedSize?: number;
}

/** A ZIP archive, each part deflated. */
export function zip(
  parts: Record<string, string | Uint8Array>,
  options: ZipOptions = {},
): Uint8Array<ArrayBuffer> {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(parts)) {
    const raw = Buffer.from(content as string);
    const packed = deflateRawSync(raw);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(options.encrypted ? 1 : 0, 2);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc32(raw), 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(options.claimedSize ?? raw.length, 18);
    head.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = [Buffer.from("PK\x03\x04"), head, Buffer.from(name), packed];
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x00"), head, tail, Buffer.from(name));
    pieces.push(...local);
    at += local.reduce((sum, piece) => sum + piece.length, 0);
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(Object.keys(parts).length, 8);
  end.writeUInt16LE(Object.keys(parts).length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(at, 16);
  return Uint8Array.from(Buffer.concat([...pieces, entries, end]));
}

/** A PDF of one page a text; an empty one is a page without letters. */
export function pdf(
  pages: readonly string[],
  { trailer = "", packed = true, stream = "" } = {},
): Uint8Array<ArrayBuffer> {
  const objects: Buffer[] = [];
  const add = (body: string | Buffer) => objects.push(Buffer.from(body as string)) + 2;
  const font = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  const kids = pages.map((text) => {
    const drawn = stream || (text === "" ? "" : `BT /F1 12 Tf 72 700 Td (${text}) Tj ET`);
    const data = packed ? deflateSync(Buffer.from(drawn)) : Buffer.from(drawn);
    const filter = packed ? "/Filter /FlateDecode " : "";
    const content = add(Buffer.concat([
      Buffer.from(`<< ${filter}/Length ${data.length} >>\nstream\n`),
      data,
      Buffer.from("\nendstream"),
    ]));
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${content} 0 R /Resources << /Font << /F1 ${font} 0 R >> >> >>`,
    );
  });
  const heads = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from(`<< /Type /Pages /Kids [${kids.map((n) => `${n} 0 R`).join(" ")}] /Count ${kids.length} >>`),
  ];
  const pieces = [Buffer.from("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "latin1")];
  const places: number[] = [];
  let length = pieces[0].length;
  [...heads, ...objects].forEach((body, i) => {
    places.push(length);
    const piece = Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), body, Buffer.from("\nendobj\n")]);
    pieces.push(piece);
    length += piece.length;
  });
  const rows = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  pieces.push(Buffer.from(
    `xref\n0 ${places.length + 1}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${
      places.length + 1
    } /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF\n`,
  ));
  return Uint8Array.from(Buffer.concat(pieces));
}

/** A word processor's file: each paragraph a list of runs, which end anywhere. */
export function docx(
  paragraphs: readonly (readonly string[])[],
  more: Record<string, string | Uint8Array> = {},
) {
  const body = paragraphs.map((runs) =>
    `<w:p>${
      runs.map((run) => `<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">${run}</w:t></w:r>`).join("")
    }</w:p>`
  ).join("");
  return zip({
    "[Content_Types].xml": "<Types/>",
    "word/document.xml": `<?xml version="1.0"?><w:document><w:body>${body}</w:body></w:document>`,
    ...more,
  });
}
