/** PDF files, each with a value in another place of it. */
import { Buffer } from "node:buffer";
import { pdf } from "./documents.ts";

const half = (v: string) => [v.slice(0, 7), v.slice(7)];
const pdfOf = (objs: string[], root = "") => {
  let out = "%PDF-1.4\n";
  const at: number[] = [];
  objs.forEach((o, i) => {
    at.push(out.length);
    out += `${i + 1} 0 obj\n${o}\nendobj\n`;
  });
  const x = out.length;
  out += `xref\n0 ${objs.length + 1}\n0000000000 65535 f \n${
    at.map((a) => String(a).padStart(10, "0") + " 00000 n \n").join("")
  }trailer\n<< /Size ${objs.length + 1} /Root 1 0 R ${root} >>\nstartxref\n${x}\n%%EOF\n`;
  return Buffer.from(out, "latin1");
};
const page = (draw: string, more = "", extra: string[] = [], root = "", cat = "") =>
  pdfOf([
    `<< /Type /Catalog /Pages 2 0 R ${cat} >>`,
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> ${more} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    `<< /Length ${draw.length} >>\nstream\n${draw}\nendstream`,
    ...extra,
  ], root);
const stream = (s: string, d = "") => `<< ${d} /Length ${s.length} >>\nstream\n${s}\nendstream`;
const T = (s: string) => `BT /F1 12 Tf 72 700 Td ${s} ET`;
const hi = T("(hello) Tj");
/** A file that says the lead and the value. */
type Carrier = (l: string, v: string) => Uint8Array | string;

export const PDF_CARRIERS: Record<string, Carrier> = {
  "pdf plain": (l, v) => page(T(`(${l}${v}) Tj`)),
  "pdf compressed": (l, v) => pdf([l + v]),
  "pdf hex string": (l, v) => page(T(`<${Buffer.from(l + v).toString("hex")}> Tj`)),
  "pdf TJ kerning": (l, v) => page(T(`[(${l}${half(v)[0]}) -20 (${half(v)[1]})] TJ`)),
  "pdf each glyph": (l, v) => page(T(`[${[...(l + v)].map((c) => `(${c})`).join("-10")}] TJ`)),
  "pdf two Tj": (l, v) => page(T(`(${l}${half(v)[0]}) Tj (${half(v)[1]}) Tj`)),
  "pdf invisible": (l, v) => page(T(`3 Tr (${l}${v}) Tj`)),
  "pdf form field": (l, v) =>
    page(
      hi,
      "/Annots [6 0 R]",
      [`<< /Type /Annot /Subtype /Widget /FT /Tx /T (f) /V (${l}${v}) /Rect [0 0 100 20] >>`],
      "",
      "/AcroForm << /Fields [6 0 R] >>",
    ),
  "pdf form field without widget": (l, v) =>
    page(hi, "", [`<< /FT /Tx /T (f) /V (${l}${v}) >>`], "", "/AcroForm << /Fields [6 0 R] >>"),
  "pdf form default value": (l, v) =>
    page(
      hi,
      "/Annots [6 0 R]",
      [`<< /Type /Annot /Subtype /Widget /FT /Tx /T (f) /TU (${l}${v}) /DV (${l}${v}) /Rect [0 0 100 20] >>`],
      "",
      "/AcroForm << /Fields [6 0 R] >>",
    ),
  "pdf choice options": (l, v) =>
    page(
      hi,
      "/Annots [6 0 R]",
      [`<< /Type /Annot /Subtype /Widget /FT /Ch /Ff 131072 /T (f) /Opt [(a) (${l}${v})] /Rect [0 0 100 20] >>`],
      "",
      "/AcroForm << /Fields [6 0 R] >>",
    ),
  "pdf note": (l, v) =>
    page(hi, "/Annots [6 0 R]", [
      `<< /Type /Annot /Subtype /Text /Contents (${l}${v}) /Rect [0 0 100 20] >>`,
    ]),
  "pdf hidden note": (l, v) =>
    page(hi, "/Annots [6 0 R]", [
      `<< /Type /Annot /Subtype /Text /F 2 /Contents (${l}${v}) /Rect [0 0 100 20] >>`,
    ]),
  "pdf freetext rich": (l, v) =>
    page(hi, "/Annots [6 0 R]", [
      `<< /Type /Annot /Subtype /FreeText /RC (<body><p>${l}${v}</p></body>) /Rect [0 0 100 20] >>`,
    ]),
  "pdf form xobject": (l, v) =>
    pdfOf([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /XObject << /X 6 0 R >> /Font << /F1 4 0 R >> >> >>",
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
      stream("/X Do"),
      stream(
        T(`(${l}${v}) Tj`),
        "/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F1 4 0 R >> >>",
      ),
    ]),
  "pdf info": (l, v) => page(hi, "", [`<< /Title (${l}${v}) >>`], "/Info 6 0 R"),
  "pdf info custom": (l, v) => page(hi, "", [`<< /Customer (${l}${v}) >>`], "/Info 6 0 R"),
  "pdf XMP": (l, v) =>
    page(
      hi,
      "",
      [stream(
        `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${l}${v}</dc:title></rdf:Description></rdf:RDF></x:xmpmeta>`,
        "/Type /Metadata /Subtype /XML",
      )],
      "",
      "/Metadata 6 0 R",
    ),
  "pdf outline": (l, v) =>
    page(
      hi,
      "",
      [
        "<< /Type /Outlines /First 7 0 R /Last 7 0 R /Count 1 >>",
        `<< /Title (${l}${v}) /Parent 6 0 R /Dest [3 0 R /Fit] >>`,
      ],
      "",
      "/Outlines 6 0 R",
    ),
  "pdf javascript": (l, v) =>
    page(hi, "", [`<< /S /JavaScript /JS (var x = "${l}${v}") >>`], "", "/OpenAction 6 0 R"),
  "pdf page label": (l, v) => page(hi, "", [], "", `/PageLabels << /Nums [0 << /P (${l}${v}) >>] >>`),
  "pdf layer name": (l, v) =>
    page(
      hi,
      "",
      [`<< /Type /OCG /Name (${l}${v}) >>`],
      "",
      "/OCProperties << /OCGs [6 0 R] /D << /Order [6 0 R] >> >>",
    ),
  "pdf alt text": (l, v) =>
    page(
      hi,
      "/StructParents 0",
      ["<< /Type /StructTreeRoot /K 7 0 R >>", `<< /S /Figure /P 6 0 R /Pg 3 0 R /K 0 /Alt (${l}${v}) >>`],
      "",
      "/StructTreeRoot 6 0 R /MarkInfo << /Marked true >>",
    ),
  "pdf actual text": (l, v) => page(`/Span << /ActualText (${l}${v}) >> BDC ${hi} EMC`),
  "pdf third page": (l, v) => pdf(["a", "b", l + v]),
  "pdf white lead": (l, v) => Buffer.concat([Buffer.from("\n\n"), page(T(`(${l}${v}) Tj`))]),
  "pdf over pages": (l, v) => pdf([l + half(v)[0], half(v)[1] + " x"]),
};
