/** Files of many kinds, each with a value in another place of it. */
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { docx, pdf, zip } from "./documents.ts";
import { PDF_CARRIERS } from "./pdf_carriers.ts";

const b64 = (x: Uint8Array | string) => Buffer.from(x as string).toString("base64");
const half = (v: string) => [v.slice(0, 7), v.slice(7)];
const qp = (v: string) => [...v].map((c) => "=" + c.charCodeAt(0).toString(16).toUpperCase()).join("");
const wt = (s: string) => `<w:r><w:t xml:space="preserve">${s}</w:t></w:r>`;
const xlsx = (sheet: string, more = {}) =>
  zip({
    "[Content_Types].xml": "<Types/>",
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData><row r="1">${sheet}</row></sheetData></worksheet>`,
    ...more,
  });
const pptx = (slide: string, more = {}) =>
  zip({ "[Content_Types].xml": "<Types/>", "ppt/slides/slide1.xml": `<p:sld>${slide}</p:sld>`, ...more });
const W = (m: Record<string, string | Uint8Array>) => docx([["hello"]], m);
const mail = (h: string, b: string) =>
  `From: a <ops>\r\nSubject: hi\r\nMIME-Version: 1.0\r\n${h}\r\n\r\n${b}\r\n`;
const u32 = (s: string) => {
  const b = Buffer.alloc(4 + s.length * 4);
  b.writeUInt32LE(0xfeff, 0);
  [...s].forEach((c, i) => b.writeUInt32LE(c.codePointAt(0)!, 4 + 4 * i));
  return b;
};
const u7 = (s: string) =>
  [...s].map((c) =>
    /[A-Za-z0-9@. ]/.test(c)
      ? c
      : `+${Buffer.from(c, "utf16le").swap16().toString("base64").replace(/=/g, "")}-`
  ).join("");
const u7all = (s: string) => `+${Buffer.from(s, "utf16le").swap16().toString("base64").replace(/=/g, "")}-`;
/** A file that says the lead and the value. */
type Carrier = (l: string, v: string) => Uint8Array | string;
const wrap76 = (s: string | Uint8Array) => b64(s).replace(/.{76}/g, "$&\r\n");
const pad = "Lorem ipsum dolor sit amet consectetur. ".repeat(6);
export const CARRIERS: Record<string, Carrier> = {
  ...PDF_CARRIERS,
  "docx body": (l, v) => docx([[l + v]]),
  "docx runs": (l, v) => docx([[l, ...v]]),
  "docx header": (l, v) => W({ "word/header1.xml": `<w:hdr><w:p>${wt(l + v)}</w:p></w:hdr>` }),
  "docx footer runs": (l, v) =>
    W({ "word/footer1.xml": `<w:ftr><w:p>${wt(l)}${half(v).map(wt).join("")}</w:p></w:ftr>` }),
  "docx footnote": (l, v) =>
    W({
      "word/footnotes.xml": `<w:footnotes><w:footnote><w:p>${wt(l + v)}</w:p></w:footnote></w:footnotes>`,
    }),
  "docx comment": (l, v) =>
    W({
      "word/comments.xml": `<w:comments><w:comment w:author="x"><w:p>${
        wt(l + v)
      }</w:p></w:comment></w:comments>`,
    }),
  "docx deleted": (l, v) =>
    W({ "word/document2.xml": `<w:p><w:del><w:r><w:delText>${l}${v}</w:delText></w:r></w:del></w:p>` }),
  "docx deleted cuts": (l, v) =>
    W({
      "word/document2.xml": `<w:p>${
        wt(l + half(v)[0])
      }<w:del><w:r><w:delText>9 old </w:delText></w:r></w:del><w:ins>${wt(half(v)[1])}</w:ins></w:p>`,
    }),
  "docx proof error cuts": (l, v) =>
    W({
      "word/document2.xml": `<w:p>${
        wt(l + half(v)[0])
      }<w:proofErr w:type="spellStart"/><w:bookmarkStart w:id="0" w:name="_GoBack"/><w:bookmarkEnd w:id="0"/>${
        wt(half(v)[1])
      }</w:p>`,
    }),
  "docx pretty printed runs": (l, v) =>
    W({ "word/document2.xml": `<w:p>\n ${wt(l + half(v)[0])}\n ${wt(half(v)[1])}\n</w:p>` }),
  "docx instr": (l, v) =>
    W({ "word/document2.xml": `<w:p><w:r><w:instrText>HYPERLINK "${l}${v}"</w:instrText></w:r></w:p>` }),
  "docx instr attr": (l, v) =>
    W({ "word/document2.xml": `<w:p><w:fldSimple w:instr="QUOTE ${l}${v}">${wt("x")}</w:fldSimple></w:p>` }),
  "docx alt": (l, v) =>
    W({ "word/document2.xml": `<w:p><wp:docPr id="1" name="P" descr="${l}${v}"/></w:p>` }),
  "docx props": (l, v) =>
    W({ "docProps/core.xml": `<cp:coreProperties><dc:title>${l}${v}</dc:title></cp:coreProperties>` }),
  "docx custom props": (l, v) =>
    W({
      "docProps/custom.xml":
        `<Properties><property name="x"><vt:lpwstr>${l}${v}</vt:lpwstr></property></Properties>`,
    }),
  "docx custom xml": (l, v) => W({ "customXml/item1.xml": `<customer><note>${l}${v}</note></customer>` }),
  "docx custom xml attr": (l, v) => W({ "customXml/item1.xml": `<customer note="${l}${v}"/>` }),
  "docx docvar": (l, v) =>
    W({
      "word/settings.xml":
        `<w:settings><w:docVars><w:docVar w:name="x" w:val="${l}${v}"/></w:docVars></w:settings>`,
    }),
  "docx sdt": (l, v) =>
    W({
      "word/document2.xml": `<w:sdt><w:sdtPr><w:alias w:val="${l}${v}"/><w:placeholder/></w:sdtPr></w:sdt>`,
    }),
  "docx dropdown": (l, v) =>
    W({
      "word/document2.xml":
        `<w:sdt><w:dropDownList><w:listItem w:displayText="${l}${v}" w:value="1"/></w:dropDownList></w:sdt>`,
    }),
  "docx style name": (l, v) =>
    W({ "word/styles.xml": `<w:styles><w:style><w:name w:val="${l}${v}"/></w:style></w:styles>` }),
  "docx utf16 part": (l, v) =>
    docx([["x"]], {
      "word/document2.xml": Buffer.from(
        `\ufeff<?xml version="1.0" encoding="UTF-16"?><w:p>${wt(l)}${half(v).map(wt).join("")}</w:p>`,
        "utf16le",
      ),
    }),
  "docx entities": (l, v) => docx([[l + [...v].map((c) => `&#x${c.charCodeAt(0).toString(16)};`).join("")]]),
  "docx xml comment": (l, v) => W({ "word/document2.xml": `<w:p><!-- ${l}${v} --></w:p>` }),
  "docx glossary": (l, v) => W({ "word/glossary/document.xml": `<w:p>${wt(l + v)}</w:p>` }),
  "docx math": (l, v) =>
    W({
      "word/document2.xml": `<m:oMath><m:r><m:t>${l}${half(v)[0]}</m:t></m:r><m:r><m:t>${
        half(v)[1]
      }</m:t></m:r></m:oMath>`,
    }),
  "docx embedded xlsx": (l, v) =>
    docx([["x"]], { "word/embeddings/a.xlsx": xlsx(`<c r="A1" t="inlineStr"><is><t>${l}${v}</t></is></c>`) }),
  "docx altchunk": (l, v) =>
    W({
      "word/afchunk.mht": mail(
        "Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable",
        `<p>${qp(l + v)}</p>`,
      ),
    }),
  "xlsx shared": (l, v) =>
    xlsx('<c r="A1" t="s"><v>0</v></c>', { "xl/sharedStrings.xml": `<sst><si><t>${l}${v}</t></si></sst>` }),
  "xlsx shared runs": (l, v) =>
    xlsx('<c r="A1" t="s"><v>0</v></c>', {
      "xl/sharedStrings.xml": `<sst><si><r><t>${l}</t></r>${
        half(v).map((x) => `<r><t>${x}</t></r>`).join("")
      }</si></sst>`,
    }),
  "xlsx shared unused": (l, v) =>
    xlsx('<c r="A1"><v>0</v></c>', { "xl/sharedStrings.xml": `<sst><si><t>${l}${v}</t></si></sst>` }),
  "xlsx inline": (l, v) =>
    xlsx(`<c r="A1" t="inlineStr"><is><t>${l}</t></is></c><c r="B1" t="inlineStr"><is><t>${v}</t></is></c>`),
  "xlsx cell": (l, v) =>
    xlsx(/^\d+$/.test(v) ? `<c r="A1"><v>${v}</v></c>` : `<c r="A1" t="str"><v>${l}${v}</v></c>`),
  "xlsx cell style": (l, v) =>
    xlsx(
      /^\d+$/.test(v)
        ? `<c r="A1" s="3" t="n"><v>4.539578763621486E+15</v></c>`
        : `<c r="A1" t="str"><v>${l}${v}</v></c>`,
    ),
  "xlsx single quoted": (l, v) =>
    xlsx(`<c r='A1' t='s'><v>0</v></c>`, { "xl/sharedStrings.xml": `<sst><si><t>${l}${v}</t></si></sst>` }),
  "xlsx sheet name": (l, v) =>
    xlsx("", {
      "xl/workbook.xml":
        `<workbook><sheets><sheet name="${l}${v}"/></sheets><definedNames><definedName name="x">"z"</definedName></definedNames></workbook>`,
    }),
  "xlsx defined name": (l, v) =>
    xlsx("", {
      "xl/workbook.xml":
        `<workbook><definedNames><definedName name="x">"${l}${v}"</definedName></definedNames></workbook>`,
    }),
  "xlsx comment": (l, v) =>
    xlsx("", {
      "xl/comments1.xml":
        `<comments><commentList><comment ref="A1"><text><r><t>${l}</t></r><r><t>${v}</t></r></text></comment></commentList></comments>`,
    }),
  "xlsx header": (l, v) =>
    zip({
      "xl/worksheets/sheet1.xml":
        `<worksheet><sheetData/><headerFooter><oddHeader>&amp;L${l}${v}</oddHeader></headerFooter></worksheet>`,
    }),
  "xlsx validation": (l, v) =>
    zip({
      "xl/worksheets/sheet1.xml":
        `<worksheet><sheetData/><dataValidations><dataValidation prompt="${l}${v}" error="x"><formula1>"a,b"</formula1></dataValidation></dataValidations></worksheet>`,
    }),
  "xlsx validation list": (l, v) =>
    zip({
      "xl/worksheets/sheet1.xml":
        `<worksheet><sheetData/><dataValidations><dataValidation><formula1>"a,${l}${v}"</formula1></dataValidation></dataValidations></worksheet>`,
    }),
  "xlsx hyperlink tooltip": (l, v) =>
    zip({
      "xl/worksheets/sheet1.xml":
        `<worksheet><sheetData/><hyperlinks><hyperlink ref="A1" tooltip="${l}${v}"/></hyperlinks></worksheet>`,
    }),
  "xlsx table column": (l, v) =>
    xlsx("", {
      "xl/tables/table1.xml": `<table><tableColumns><tableColumn name="${l}${v}"/></tableColumns></table>`,
    }),
  "xlsx pivot cache": (l, v) =>
    xlsx("", {
      "xl/pivotCache/pivotCacheDefinition1.xml": `<x><sharedItems><s v="${l}${v}"/></sharedItems></x>`,
    }),
  "xlsx pivot number": (_, v) =>
    xlsx("", { "xl/pivotCache/pivotCacheRecords1.xml": `<x><r><s v="${v}"/></r></x>` }),
  "xlsx number format": (l, v) =>
    xlsx("", {
      "xl/styles.xml":
        `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="&quot;${l}${v}&quot;"/></numFmts></styleSheet>`,
    }),
  "xlsx chart": (l, v) =>
    xlsx("", { "xl/charts/chart1.xml": `<c:chart><a:t>${l}</a:t><a:t>${v}</a:t></c:chart>` }),
  "xlsx strict sheet elsewhere": (l, v) =>
    zip({
      "[Content_Types].xml": "<Types/>",
      "xl/worksheets/sub/s.xml":
        `<worksheet><sheetData><row><c t="inlineStr"><is><t>${l}${v}</t></is></c></row></sheetData></worksheet>`,
    }),
  "xlsx connection": (l, v) =>
    xlsx("", {
      "xl/connections.xml":
        `<connections><connection><dbPr connection="Provider=x; ${l}${v}" command="select"/></connection></connections>`,
    }),
  "pptx body runs": (l, v) =>
    pptx(`<a:p><a:r><a:t>${l}</a:t></a:r>${half(v).map((x) => `<a:r><a:t>${x}</a:t></a:r>`).join("")}</a:p>`),
  "pptx notes": (l, v) =>
    pptx("", { "ppt/notesSlides/notesSlide1.xml": `<a:p><a:r><a:t>${l}${v}</a:t></a:r></a:p>` }),
  "pptx master": (l, v) =>
    pptx("", { "ppt/slideMasters/slideMaster1.xml": `<a:p><a:r><a:t>${l}${v}</a:t></a:r></a:p>` }),
  "pptx layout": (l, v) =>
    pptx("", { "ppt/slideLayouts/slideLayout1.xml": `<a:p><a:r><a:t>${l}${v}</a:t></a:r></a:p>` }),
  "pptx notes master": (l, v) =>
    pptx("", { "ppt/notesMasters/notesMaster1.xml": `<a:p><a:r><a:t>${l}${v}</a:t></a:r></a:p>` }),
  "pptx comment": (l, v) =>
    pptx("", { "ppt/comments/comment1.xml": `<p:cmLst><p:cm><p:text>${l}${v}</p:text></p:cm></p:cmLst>` }),
  "pptx alt": (l, v) => pptx(`<p:cNvPr id="1" name="P" descr="${l}${v}"/>`),
  "pptx tags": (l, v) =>
    pptx("", { "ppt/tags/tag1.xml": `<p:tagLst><p:tag name="X" val="${l}${v}"/></p:tagLst>` }),
  "odt": (l, v) =>
    zip({
      mimetype: "x",
      "content.xml": `<text:p>${l}<text:span>${half(v)[0]}</text:span><text:span>${
        half(v)[1]
      }</text:span></text:p>`,
    }),
  "ods value": (l, v) =>
    zip({
      mimetype: "x",
      "content.xml":
        `<table:table-row><table:table-cell office:value-type="x" office:value="${v}" office:string-value="${l}${v}"/></table:table-row>`,
    }),
  "odt header": (l, v) =>
    zip({
      mimetype: "x",
      "content.xml": "<x/>",
      "styles.xml": `<style:header><text:p>${l}${v}</text:p></style:header>`,
    }),
  "odt meta": (l, v) =>
    zip({
      mimetype: "x",
      "content.xml": "<x/>",
      "meta.xml": `<meta:user-defined meta:name="a">${l}${v}</meta:user-defined>`,
    }),
  "rtf plain": (l, v) => `{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 ${l}${v}\\par}`,
  "rtf hex": (l, v) =>
    `{\\rtf1\\ansi ${l}${[...v].map((c) => `\\'${c.charCodeAt(0).toString(16)}`).join("")}\\par}`,
  "rtf hex some": (l, v) =>
    `{\\rtf1\\ansi ${l}${
      [...v].map((c, i) => i % 3 == 1 ? `\\'${c.charCodeAt(0).toString(16)}` : c).join("")
    }\\par}`,
  "rtf u": (l, v) => `{\\rtf1\\ansi\\uc1 ${l}${[...v].map((c) => `\\u${c.charCodeAt(0)}?`).join("")}\\par}`,
  "rtf u0": (l, v) => `{\\rtf1\\ansi\\uc0 ${l}${[...v].map((c) => `\\u${c.charCodeAt(0)} `).join("")}\\par}`,
  "rtf groups": (l, v) => `{\\rtf1\\ansi ${l}${half(v).map((x) => `{\\b\\f0 ${x}}`).join("")}\\par}`,
  "rtf groups lines": (l, v) =>
    `{\\rtf1\\ansi {\\rtlch\\fcs1 \\af0 ${l}}\r\n${
      half(v).map((x) => `{\\rtlch\\fcs1 \\af31507 \\ltrch\\fcs0 \\insrsid1234567 ${x}}`).join("\r\n")
    }\\par}`,
  "rtf info": (l, v) => `{\\rtf1\\ansi{\\info{\\title ${l}${v}}} hi\\par}`,
  "rtf deleted cut": (l, v) => `{\\rtf1\\ansi ${l}${half(v)[0]}\r\n${half(v)[1]}\\par}`,
  "eml plain": (l, v) => mail("Content-Type: text/plain", l + v),
  "eml qp": (l, v) =>
    mail("Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable", qp(l + v)),
  "eml qp soft": (l, v) =>
    mail(
      "Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable",
      `${l}${half(v)[0]}=\r\n${half(v)[1]}`,
    ),
  "eml base64": (l, v) => mail("Content-Type: text/plain\r\nContent-Transfer-Encoding: base64", b64(l + v)),
  "eml base64 long": (l, v) =>
    mail("Content-Type: text/plain\r\nContent-Transfer-Encoding: base64", wrap76(pad + l + v + "\r\n" + pad)),
  "eml base64 utf16": (l, v) =>
    mail(
      "Content-Type: text/plain; charset=utf-16le\r\nContent-Transfer-Encoding: base64",
      Buffer.from(l + v, "utf16le").toString("base64"),
    ),
  "eml subject b": (l, v) => `Subject: =?utf-8?B?${b64(l + v)}?=\r\n\r\nx`,
  "eml subject b two": (l, v) => {
    const s = l + v;
    const k = s.length - 8;
    return `Subject: =?utf-8?B?${b64(s.slice(0, k))}?=\r\n =?utf-8?B?${b64(s.slice(k))}?=\r\n\r\nx`;
  },
  "eml subject q": (l, v) => `Subject: =?iso-8859-1?Q?${qp(l + v)}?=\r\n\r\nx`,
  "eml subject q two": (l, v) =>
    `Subject: =?utf-8?Q?${l.replaceAll(" ", "_")}${half(v)[0]}?=\r\n =?utf-8?Q?${half(v)[1]}?=\r\n\r\nx`,
  "eml nested": (l, v) =>
    mail(
      "Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64",
      wrap76(mail("Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable", qp(l + v))),
    ),
  "eml nested b64 b64": (l, v) =>
    mail(
      "Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64",
      wrap76(mail("Content-Type: text/plain\r\nContent-Transfer-Encoding: base64", wrap76(pad + l + v))),
    ),
  "eml html": (l, v) => mail("Content-Type: text/html", `<p>${l}<b>${half(v)[0]}</b>${half(v)[1]}</p>`),
  "eml html base64": (l, v) =>
    mail(
      "Content-Type: text/html\r\nContent-Transfer-Encoding: base64",
      wrap76(`<html><body>${pad}<p>${l}<b>${half(v)[0]}</b>${half(v)[1]}</p></body></html>`),
    ),
  "eml folded header": (l, v) => `X-Note: ${l}\r\n ${v}\r\n\r\nx`,
  "eml attachment pdf": (l, v) =>
    mail(
      "Content-Type: multipart/mixed; boundary=bb",
      `--bb\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${
        wrap76(Buffer.from(pdf([l + v])))
      }\r\n--bb--`,
    ),
  "eml attachment docx": (l, v) =>
    mail(
      "Content-Type: multipart/mixed; boundary=bb",
      `--bb\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n${
        wrap76(Buffer.from(docx([[l + v]])))
      }\r\n--bb--`,
    ),
  "eml filename 2231": (l, v) =>
    mail(
      `Content-Disposition: attachment; filename*=utf-8''${
        [...(l + v)].map((c) => "%" + c.charCodeAt(0).toString(16)).join("")
      }`,
      "x",
    ),
  "zip in zip": (l, v) => zip({ "a.zip": zip({ "a.txt": l + v }) }),
  "docx in zip": (l, v) => zip({ "a.docx": docx([[l, ...v]]) }),
  "pdf in zip": (l, v) => zip({ "a.pdf": pdf([l + v]) }),
  "gz in zip": (l, v) => zip({ "a.gz": gzipSync(l + v) }),
  "zip in gz": (l, v) => gzipSync(zip({ "a.txt": l + v })),
  "pdf in gz": (l, v) => gzipSync(pdf([l + v])),
  "eml in zip": (l, v) => zip({ "a.eml": mail("Content-Transfer-Encoding: base64", wrap76(l + v)) }),
  "html in zip": (l, v) => zip({ "a.html": `<p>${l}<b>${half(v)[0]}</b>${half(v)[1]}</p>` }),
  "html attr in zip": (l, v) => zip({ "a.html": `<p data-x="${l}${v}">x</p>` }),
  "html script in zip": (l, v) => zip({ "a.html": `<script>if (a<b) x="${l}${v}"</script><p>a` }),
  "html comment in zip": (l, v) => zip({ "a.html": `<p><!-- ${l}${v} -->x</p>` }),
  "zip comment": (l, v) => {
    const z = Buffer.from(zip({ "a.txt": "x" }));
    const c = Buffer.from(l + v);
    z.writeUInt16LE(c.length, z.length - 2);
    return Buffer.concat([z, c]);
  },
  "zip file name": (l, v) => zip({ [`${l}${v}.txt`]: "x" }),
  "zip folder name": (l, v) => zip({ [`${l}${v}/`]: "" }),
  "zip image name": (l, v) => zip({ [`${l}${v}.xml`]: "<x/>" }),
  "zip font name": (l, v) => zip({ "a.css": l + v }),
  "gzip": (l, v) => gzipSync(l + v),
  "gzip members": (l, v) => Buffer.concat([gzipSync("hello"), gzipSync(l + v)]),
  "csv utf16le": (l, v) => Buffer.from(`\ufeffa,b\r\n${l},${v}\r\n`, "utf16le"),
  "csv utf16le no bom": (l, v) => Buffer.from(`a,b\r\n${l},${v}\r\n`, "utf16le"),
  "tsv utf16be": (l, v) => Buffer.from(`\ufeffa\tb\r\n${l}\t${v}\r\n`, "utf16le").swap16(),
  "tsv utf16be no bom": (l, v) => Buffer.from(`a\tb\r\n${l}\t${v}\r\n`, "utf16le").swap16(),
  "csv utf32": (l, v) => u32(`a,b\n${l},${v}\n`),
  "csv utf32be": (l, v) => Buffer.from(u32(`a,b\n${l},${v}\n`)).swap32(),
  "csv utf7": (l, v) => u7(`a,b\n${l},${v}\n`),
  "csv utf7 all": (l, v) => u7all(`a,b\n${l},${v}\n`),
  "html tags inside": (l, v) => `<html><body><p>${l}<b>${half(v)[0]}</b>${half(v)[1]}</p></body></html>`,
  "html each": (l, v) =>
    `<html><body><p>${l}${[...v].map((c) => `<span class="g">${c}</span>`).join("")}</p></body></html>`,
  "html comment": (l, v) => `<html><!-- ${l}${v} --></html>`,
  "html comment inside": (l, v) => `<html><p>${l}${half(v).join("<!-- x -->")}</p></html>`,
  "html attr": (l, v) => `<html><p title="${l}${v}" data-x='1'>x</p></html>`,
  "html script": (l, v) => `<html><script>var x="${l}${v}";</script></html>`,
  "html entities": (l, v) => `<html><p>${l}${[...v].map((c) => `&#${c.charCodeAt(0)};`).join("")}</p></html>`,
  "html wbr": (l, v) => `<html><p>${l}${half(v).join("<wbr>")}</p></html>`,
  "html data url": (l, v) =>
    `<html><iframe src="data:text/html;base64,${b64(`<p>${l}${v}</p>`)}"></iframe></html>`,
};
