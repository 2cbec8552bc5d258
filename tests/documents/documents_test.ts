import { assert, assertEquals } from "@std/assert";
import { gzipSync } from "node:zlib";
import { documentKind } from "../../src/documents/kind.ts";
import { openDocuments } from "../../src/documents/mod.ts";
import { docx, pdf, zip } from "../support/documents.ts";

const CARD = "4539 5787 6362 1486";
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, ...new Array(300).keys()]);

async function read(bytes: Uint8Array<ArrayBuffer>, limitMs = 60_000) {
  const documents = openDocuments({ limitMs });
  try {
    return await documents.read(documentKind(bytes)!, bytes);
  } finally {
    documents.close();
  }
}

const READ: [name: string, bytes: Uint8Array<ArrayBuffer>, says: string[], whole: boolean][] = [
  ["a PDF", pdf([`Card ${CARD}`, "second page"]), [`Card ${CARD}`, "second page"], true],
  ["a PDF whose streams are not packed", pdf([`Card ${CARD}`], { packed: false }), [CARD], true],
  ["a PDF with a page that is a picture", pdf([`Card ${CARD}`, ""]), [CARD], false],
  [
    "a DOCX whose runs cut words, with its links and properties",
    docx([["Card 4539 57", "87 6362", " 1486"], ["a&amp;b", "&#64;c"]], {
      "word/_rels/document.xml.rels":
        '<Relationships><Relationship Target="mailto:ann@corp.example"/></Relationships>',
      "docProps/core.xml": "<p><dc:creator>bob@corp.example</dc:creator></p>",
      "word/footnotes.xml": "<w:p><w:r><w:t>note</w:t><w:tab/><w:t>two</w:t></w:r></w:p>",
    }),
    [`Card ${CARD}\n`, "a&b@c", "mailto:ann@corp.example", "bob@corp.example", "note two"],
    true,
  ],
  ["a DOCX with an image", docx([[CARD]], { "word/media/image1.png": PNG }), [CARD], false],
  [
    "an XLSX with shared strings, inline strings, formulas and long numbers",
    zip({
      "xl/worksheets/sheet1.xml":
        '<sheetData><row r="1"><c r="A1" t="s"><v>1</v></c><c r="B1"><v>4.539578763621486E15</v></c></row>' +
        '<row r="2"><c r="A2" t="inlineStr"><is><t>in</t><t>line</t></is></c><c r="B2" t="str"><f>A1&amp;"x"</f><v>made</v></c></row></sheetData>',
      "xl/sharedStrings.xml": "<sst><si><t>no</t></si><si><r><t>ye</t></r><r><t>s</t></r></si></sst>",
    }),
    ['yes\t4539578763621486\t\ninline\tmade A1&"x"'],
    true,
  ],
  [
    "a PPTX",
    zip({
      "ppt/slides/slide1.xml":
        "<p:sld><a:p><a:r><a:t>IBAN DE89 </a:t></a:r><a:r><a:t>3704</a:t></a:r></a:p></p:sld>",
    }),
    ["IBAN DE89 3704\n"],
    true,
  ],
  [
    "an OpenDocument text",
    zip({
      "content.xml":
        "<office:text><text:p>Card<text:s/>4539<text:span> 5787</text:span></text:p></office:text>",
    }),
    ["Card 4539 5787\n"],
    true,
  ],
  [
    "an XLSX without its empty cells",
    zip({
      "xl/worksheets/sheet1.xml":
        '<sheetData><row r="1"><c r="A1"><v>1</v></c><c r="D1"><v>4</v></c><c r="E1" s="1"/><c r="F1"><v>6</v></c></row></sheetData>',
    }),
    ["\n1\t\t\t4\t\t6\t\n"],
    true,
  ],
  [
    "tables of a DOCX",
    zip({
      "word/document.xml": `<w:tbl>${
        [["Name", "Tel."], ["Jo", "030 901820"], ["Al", ""]].map((row) =>
          `<w:tr>${
            row.map((said) =>
              `<w:tc><w:tcPr><w:tcW w:w="0"/></w:tcPr><w:p><w:r><w:t>${said}</w:t></w:r></w:p></w:tc>`
            )
              .join("")
          }</w:tr>`
        ).join("")
      }</w:tbl><w:tbl><w:tr><w:tc><w:p>a</w:p><w:p>b</w:p></w:tc><w:tc><w:p>c</w:p></w:tc></w:tr></w:tbl>`,
    }),
    ["\n\nName\tTel.\t\nJo\t030 901820\t\nAl\t\t\n", "\na\n", "\nb\n", "\nc\t\n"],
    true,
  ],
  [
    "tables of a PPTX and of HTML, also within each other",
    zip({
      "ppt/slides/slide1.xml":
        "<a:tbl><a:tr><a:tc><a:p><a:t>a</a:t></a:p></a:tc><a:tc><a:p><a:t>b</a:t></a:p></a:tc></a:tr></a:tbl>",
      "a.html":
        "<html><table>\n <tr><td>c</td> <td>d\n <tr>\n <td>e<td><table><tr><td>f</td><td>g</td></tr></table></td></tr>\n</table>",
      "b.html": "<!DOCTYPE html><tr><td>h</td><td>i</td></tr><div>j</div><td>k</td>l",
    }),
    ["\n\na\tb\t\n", "\n\nc\t d\t\ne\t\t\n\nf\tg\t\n", "h\ti\t\n\nj\nk\tl"],
    true,
  ],
  [
    "an OpenDocument sheet",
    zip({
      "content.xml":
        '<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2"/><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>',
    }),
    ["\n\na\t\t\tb\t\n"],
    true,
  ],
  [
    "a PDF with columns, and words that are placed one by one",
    pdf(["x"], {
      stream:
        "BT /F1 12 Tf 72 700 Td (Tel.) Tj 80 0 Td (030) Tj 24 0 Td (901820) Tj -104 -14 Td (next) Tj ET",
    }),
    ["Tel.\t030 901820\nnext"],
    true,
  ],
  ["an archive of plain files", zip({ "a/b.csv": `x,${CARD}`, "c.bin": PNG }), [CARD, "c.bin"], false],
  ["a packed text", Uint8Array.from(gzipSync(`x ${CARD}`)), [CARD], true],
];
for (const [name, bytes, says, whole] of READ) {
  Deno.test(`the text of ${name} is read`, async () => {
    const got = (await read(bytes))!;
    for (const text of says) assert(got.text.includes(text), JSON.stringify(got.text));
    assertEquals(got.whole, whole);
  });
}

const parts = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}.txt`, i === count - 1 ? CARD : "x"]));

Deno.test("an archive of 5,000 parts is read whole", async () => {
  const got = (await read(zip(parts(5000))))!;
  assertEquals([got.text.includes(CARD), got.whole], [true, true]);
});

const LOCKED = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 " +
  `/O <${"41".repeat(32)}> /U <${"42".repeat(32)}> >> /ID [<00112233><00112233>]`;
const good = docx([[CARD]]);
const UNREADABLE: [name: string, bytes: Uint8Array<ArrayBuffer>][] = [
  ["an encrypted PDF", pdf([CARD], { trailer: LOCKED })],
  ["a PDF that unfolds to more than may be read", pdf(["x"], { stream: " ".repeat(80_000_000) })],
  ["half a PDF's head", Uint8Array.from(new TextEncoder().encode("%PDF-1.7\n1 0 obj"))],
  ["an encrypted archive", zip({ "word/document.xml": CARD }, { encrypted: true })],
  ["half an archive", good.slice(0, good.length / 2)],
  ["an archive that unfolds to more than may be read", docx([[" ".repeat(80_000_000)]])],
  [
    "an archive that unfolds to more than it says",
    docx([["x"]], {
      "word/a.xml": zip({ "a": " ".repeat(80_000_000) }, { claimedSize: 10 }).slice(0, 0),
      "word/b.xml": " ".repeat(80_000_000),
    }),
  ],
  ["an archive of more parts than are read", zip(parts(5001))],
  ["packed text that unfolds to more than may be read", Uint8Array.from(gzipSync(" ".repeat(80_000_000)))],
];
for (const [name, bytes] of UNREADABLE) {
  Deno.test(`${name} is not read`, async () => assertEquals(await read(bytes), null));
}

Deno.test("sizes that an archive claims do not hide what follows", async () => {
  const got = await read(
    zip({ "word/document.xml": `<w:p>${"x".repeat(5000)} ${CARD}</w:p>` }, { claimedSize: 10 }),
  );
  assert(got!.text.includes(CARD));
});

Deno.test("a document that takes too long is given up, and the next one is read", async () => {
  const documents = openDocuments({ limitMs: 1 });
  const first = documents.read("pdf", pdf(["x"]));
  const second = documents.read("pdf", pdf(["x"]));
  assertEquals([await first, await second], [null, null]);
  documents.close();
  assertEquals(await documents.read("pdf", pdf(["x"])), null);
});

/** A PDF with so many texts behind names in its objects. */
function named(count: number): Uint8Array<ArrayBuffer> {
  const page = Array.from(pdf(["words"]), (byte) => String.fromCharCode(byte)).join("");
  const objects = Array.from({ length: count }, (_, i) => `% /Note (${i} of the notes)\n`).join("");
  return Uint8Array.from(page.replace("%%EOF", `${objects}%%EOF`), (c) => c.charCodeAt(0));
}

const FILLER = " ".repeat(40_000_000);
const deep = (levels: number): Uint8Array<ArrayBuffer> =>
  levels === 0 ? zip({ "a.txt": CARD }) : zip({ "a.zip": deep(levels - 1) });
const PARTLY: [name: string, bytes: Uint8Array<ArrayBuffer>, found: boolean][] = [
  ["archives in archives, four deep", deep(3), true],
  ["archives in archives, deeper than is read", deep(9), false],
  ["a PDF with more named texts than are read", named(5100), false],
  ["a packed bomb in an archive", zip({ "a.gz": gzipSync(FILLER + FILLER), "b.txt": CARD }), true],
  [
    "many archives that each unfold far",
    zip(Object.fromEntries(["a", "b", "c"].map((n) => [n, zip({ n: FILLER })]))),
    false,
  ],
];
Deno.test("the named texts of a PDF are read, thousands of them", async () => {
  const got = (await read(named(4000)))!;
  assert(got.text.includes("3999 of the notes"));
  assertEquals(got.whole, true);
});

for (const [name, bytes, found] of PARTLY) {
  Deno.test(`of ${name} what is left out is told`, async () => {
    const got = (await read(bytes))!;
    assert(got.text.length <= 8_100_000);
    assertEquals(got.text.includes(CARD), found);
    if (!name.endsWith("four deep")) assertEquals(got.whole, false);
  });
}
