/** Ways to carry a value past a scanner, each with what must be found and where. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { ALL_ENTITY_NAMES, DEFAULT_TYPES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { overlaps } from "../../src/dlp/overlaps.ts";
import { detector } from "../../src/dlp/scan.ts";

const CARD = "4539578763621486";
const everything = detector(resolveEntityTypes(ALL_ENTITY_NAMES).types);

/** Texts with the card between « and » where its place matters. */
const CARRIERS: Record<string, readonly string[]> = {
  "glued to names, letters and words": [
    `card_«${CARD}».pdf`,
    `ID«${CARD}»`,
    `%B«${CARD}»^DOE/JOHN^2512101`,
    `;«${CARD}»=25121010000012345678?`,
    `a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s-t-u-«${CARD}»`,
    `the-quick-brown-fox-jumps-over-the-lazy-dog-and-more-words-go-here-«${CARD}»`,
    `user_card_no_«${CARD}»_x`,
    `Total«${CARD}»and`,
    "Total«4539 5787 6362 1486»and more",
    "blocks «4539-5787-6362-1486»Capital",
    `$«${CARD}»`,
    `«${CARD}»%`,
  ],
  "over lines that say so": [
    "Dear all, «45395787\n63621486» thanks",
    "n = «45395787\\\n63621486» ok",
    "n = «45395787\\\r\n    63621486» ok",
    "> «45395787\n> 63621486» ok",
  ],
  "under the name of their column": [
    `name,card,city\nJo,«${CARD}»,Bonn\n`,
    `| Name | Card no. |\n| --- | --- |\n| Jo | «4539 5787 6362 1486» |\n`,
  ],
  "in bytes of UTF-8 that are escapes": [
    `«${Array.from(CARD, (digit) => `\\xef\\xbc\\x${(0x90 + Number(digit)).toString(16)}`).join("")}»`,
  ],
  "as tables write numbers": [
    `«${CARD}».0`,
    `-«${CARD}»`,
    `«${CARD}»|12|27|123`,
    `«${CARD}»:12:27:123`,
    "«4539\t5787\t6362\t1486»",
    "«4539  5787  6362  1486»",
    "card:\n«4539\n5787\n6362\n1486»\nthanks",
    `${Array.from({ length: 30 }, (_, i) => i).join("\n")}\ncard «45395787\n63621486» ok`,
  ],
  "with other signs between its groups": [
    "«4539,5787,6362,1486»",
    "«4539_5787_6362_1486»",
    "«4539*5787*6362*1486»",
    "«4539 - 5787 - 6362 - 1486»",
    `«${[...CARD].join(" ")}»`,
    `"«${["4539", "5787", "6362", "1486"].join('" + "')}»"`,
  ],
  "disguised": [
    `«${[...CARD].map((c) => `${c}\ufe0f\u20e3`).join("")}»`,
    "«4539\x015787\x0163621486»",
    "«4539&shy;5787&#8203;63621486»",
    "«&amp;#52;539578763621486»",
    "«٤٥٣٩٥٧٨٧٦٣٦٢١٤٨٦»",
    `«${[...CARD].join("\u{e0041}")}»`,
    `«${[...CARD].map((digit) => String.fromCodePoint(0xe0000 + digit.charCodeAt(0))).join("")}»`,
  ],
};

for (const [how, carriers] of Object.entries(CARRIERS)) {
  Deno.test(`scan() finds a card ${how}`, () => {
    for (const carrier of carriers) {
      const text = carrier.replace(/[«»]/g, "");
      const start = carrier.indexOf("«");
      const end = carrier.indexOf("»") - 1;
      const card = everything.scan(text).find((one) => one.entityType === "CREDIT_CARD");
      assert(card !== undefined, carrier);
      assertEquals([Math.max(card!.start, start), card!.end], [start, end], carrier);
    }
  });
}

Deno.test("scan() finds numbers whose groups any dash joins, alone or beside soft hyphens", () => {
  const numbers = { CREDIT_CARD: "4539-5787-6362-1486", US_SSN: "ssn 536-90-4399", ES_NIF: "54362315-K" };
  const dashes = Array.from({ length: 0x10000 }, (_, i) => String.fromCharCode(i)).filter((c) =>
    /[\p{Pd}\u2212\u2043\u02d7\u30fc\u2500\u2501\u2796\u2053\u23af]/u.test(c)
  );
  for (const dash of [...dashes, "\u{10ead}"]) {
    for (const [type, number] of Object.entries(numbers)) {
      for (const by of [dash, `\u00ad${dash}`, `${dash}\u200b`]) {
        const text = `see ${number.replaceAll("-", by)} ok`;
        assert(everything.scan(text).some((one) => one.entityType === type), JSON.stringify(text));
      }
    }
  }
});

Deno.test("scan() finds a card in packed runs of any length and any beginning", () => {
  const says = `card ${CARD} `;
  const long = (n: number) => "lorem ipsum ".repeat(n) + says + "dolor ".repeat(n);
  const runs = [
    gzipSync(says).toString("base64"),
    Buffer.from(says, "utf16le").toString("base64"),
    ...[10, 100, 1000, 5000].flatMap((n) =>
      ["", "x", "xy", "see: "].map((lead) => lead + Buffer.from(long(n)).toString("base64"))
    ),
    Buffer.from(long(3000)).toString("hex"),
  ];
  for (const run of runs) {
    assert(everything.scan(run).some((one) => one.entityType === "CREDIT_CARD"), run.slice(0, 40));
  }
});

Deno.test("scan() finds a card in base64 whose lines end in any way, wherever they cut it", () => {
  const words = "some padding text that goes on for some time; ";
  for (const end of ["\n", "\r\n", "\n  ", "\n> ", "\\n", "\\r\\n", "\\\\n"]) {
    for (const columns of [60, 64, 72, 76, 80]) {
      for (let lead = 0; lead < 12; lead++) {
        const packed = btoa(`${"x".repeat(lead)} ${words}my card is ${CARD} and so on, with ${words}`);
        const text = `Data:\n${packed.replace(new RegExp(`.{${columns}}`, "g"), `$&${end}`)}\nend`;
        assert(everything.scan(text).some((one) => one.entityType === "CREDIT_CARD"), text);
      }
    }
  }
});

Deno.test("scan() finds each value of a long list of lines, whatever long line stands before it", () => {
  const cards = detector(new Set(["CREDIT_CARD"]));
  for (
    const first of ["-".repeat(72), "_".repeat(60), "AbCd0123".repeat(16), btoa("some text ".repeat(300)), ""]
  ) {
    for (const line of [CARD, `Customer${CARD}`, `${CARD}\nx`]) {
      const text = `${first}\n${`${line}\n`.repeat(200)}`;
      assertEquals(cards.scan(text).length, 200, `${first.slice(0, 80)} ${line}`);
    }
  }
});

Deno.test("scan() reports an address and the secret in it, and no password as an e-mail address", () => {
  const types = (text: string) => everything.scan(text).map((one) => one.entityType);
  const hook = "https://hooks.slack.com/services/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";
  assertEquals(types(hook).toSorted(), ["SLACK_TOKEN", "URL"]);
  assert(!types("https://bob:tr0ub4dor@git.corp.example/x").includes("EMAIL_ADDRESS"));
});

Deno.test("scan() of ordinary lists, tables and records finds nothing", () => {
  const usual = detector(DEFAULT_TYPES);
  for (
    const row of [
      (i: number) => `${i * 7919 % 10007},${i * 104729 % 99991},${i * 31 % 997}.${i % 10}`,
      (i: number) => String(i * 2654435761 % 4294967296),
      (i: number) => `${1600000000000 + i * 86413}\t${i % 10}\tok`,
      (i: number) => (6000 + i).toString(),
      (i: number) =>
        `2025-01-02T10:${String(i % 60).padStart(2, "0")}:07Z ts=${1600000000000 + i * 977} bytes=${
          i * 7919
        }`,
    ]
  ) {
    const text = Array.from({ length: 2000 }, (_, i) => row(i)).join("\n");
    assertEquals(usual.scan(text).map(({ start, end }) => text.slice(start, end)), []);
  }
});

/** Values of kinds that are judged in different ways: by a check digit, a beginning, a form, a name. */
const VALUES: Record<string, [lead: string, value: string]> = {
  card: ["card ", "4539578763621486"],
  mail: ["write to ", "jo.doe@example.com"],
  iban: ["IBAN ", "DE89370400440532013000"],
  person: ["SSN: ", "536-90-4399"],
  key: ["", "AKIANAMZOO6VPTQCS6K8"],
  token: ["", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4N0twMlF6OSJ9.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"],
  password: ["password: ", "Tr0ub4dor&3x"],
  hash: ["", "$2b$12$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"],
};
const WRAPPED: Record<string, (lead: string, value: string) => string> = {
  "behind an escaped line break": (lead, value) => `{"t":"a:\\n${lead}${value}\\nthanks"}`,
  "behind a doubly escaped line break": (lead, value) => `"a\\\\n${lead}${value}\\\\nb"`,
  "behind a quoted-printable blank": (lead, value) => `hello=20there=20${lead}${value}=20ok`,
  "in the colours of a terminal": (lead, value) => `${lead}\x1b[31m${value}\x1b[0m`,
  "in a cell of a table": (lead, value) => `<td>${lead}</td><td>${value}</td>`,
  "in a cell of a list": (lead, value) => `a;b\n"${lead}";"${value}";3`,
  "in brackets": (lead, value) => `${lead}[${value}]`,
  "in typographic quotes": (lead, value) => `${lead}“${value}”`,
  "between marks of emphasis": (lead, value) => `${lead}_${value}_`,
  "in a list of changes": (lead, value) => `+${lead}${value}\n-old`,
};
for (const [place, wrapped] of Object.entries(WRAPPED)) {
  Deno.test(`scan() finds values ${place}`, () => {
    const usual = detector(DEFAULT_TYPES);
    const missed = Object.entries(VALUES).filter(([, [lead, value]]) => {
      const text = wrapped(lead, value);
      const at = text.indexOf(value);
      return !usual.scan(text).some(({ start, end }) => start <= at + 1 && end >= at + value.length - 1);
    });
    assertEquals(missed.map(([name]) => name), []);
  });
}

Deno.test("scan() finds numbers in form data, names of files and indented lines", () => {
  const usual = detector(DEFAULT_TYPES);
  for (
    const text of [
      "msg=card+4539578763621486&x=1",
      "msg=4539+5787+6362+1486&x=1",
      "q=NHS+number+943+476+5919&x=1",
      "/home/u/4539_5787_6362_1486.pdf",
      "+4539 5787 6362 1486",
      "total of card 4539 5787\r\n        6362 1486 is",
      "card 45395787\n      63621486",
    ]
  ) assertEquals(usual.scan(text).length, 1, text);
  for (const clean of ["x+1234567890123452 is", "a = b+4539578763621487", "rate +4539578763621486"]) {
    assertEquals(usual.scan(clean), [], clean);
  }
});

Deno.test("of two sure values that share a part, both are reported: nothing of either may stay", () => {
  const found = overlaps([
    { type: "EMAIL_ADDRESS", start: 0, end: 20, confidence: 0.95 },
    { type: "CREDIT_CARD", start: 15, end: 40, confidence: 0.95 },
    { type: "PHONE_NUMBER", start: 38, end: 50, confidence: 0.55 },
  ]);
  assertEquals(found.map(({ type }) => type), ["EMAIL_ADDRESS", "CREDIT_CARD"]);
});

Deno.test("scan() finds addresses whose signs are words or stand apart, and no sentences", () => {
  const usual = detector(DEFAULT_TYPES);
  for (
    const text of ["jane.doe at corp dot example", "jane at mail dot corp dot com", "jane.doe @ corp.example"]
  ) {
    const [found] = usual.scan(`write to ${text} soon`);
    assertEquals([found?.entityType, found?.start, found?.end], ["EMAIL_ADDRESS", 9, 9 + text.length], text);
  }
  for (
    const clean of ["meet me @ corp.example", "look at the red dot in it", "we met at noon dot and dash"]
  ) {
    assertEquals(usual.scan(clean), [], clean);
  }
});

Deno.test("scan() finds what a column names, and nothing where columns name nothing", () => {
  const rows = Array.from({ length: 3000 }, (_, i) => `${i},Okafor ${i},row of a long table`).join("\n");
  const long = `id,dob,note\n${rows.replace(/Okafor 2999/, "1981-03-12")}\n`;
  assert(long.length > 80_000);
  assertEquals(everything.scan(long).filter(({ entityType }) => entityType === "DATE_OF_BIRTH").length, 1);
  assertEquals(everything.scan("id,date,note\n1,1981-03-12,x\n").map(({ entityType }) => entityType), []);
});
