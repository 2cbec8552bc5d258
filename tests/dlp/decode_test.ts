import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { decodings } from "../../src/dlp/decode.ts";
import { DEFAULT_TYPES, resolveEntityTypes } from "../../src/dlp/entities.ts";
import { detector } from "../../src/dlp/scan.ts";
import { joinLines } from "../../src/dlp/line_joins.ts";

function reading(text: string): string {
  return decodings({ text })?.view.text ?? "";
}

Deno.test("decodings() reads base64 with and without padding, in either alphabet, wrapped", () => {
  const secret = "value: 123 456 782 end";
  const packed = btoa(secret);
  assert(reading(`x: ${packed}`).includes(secret));
  assert(reading(`x: ${packed.replaceAll("=", "")}`).includes(secret));
  assert(
    reading(btoa("ÿ?>?>~~user@example.com".replace("ÿ", "")).replaceAll("+", "-").replaceAll("/", "_"))
      .includes("user@example.com"),
  );
  const long = btoa("the card number is 4111 1111 1111 1111 and the rest of the letter goes on for a while");
  assert(reading(long.replace(/.{64}/g, "$&\r\n")).includes("4111 1111 1111 1111"));
});

const SCRIPTS = [
  "Мой номер карты 4539578763621486, спасибо",
  "Привет, это длинное письмо без цифр в начале, и только в самом конце стоит номер карты 4539578763621486",
  "ο αριθμός της κάρτας είναι 4539578763621486 ευχαριστώ",
  "رقم البطاقة هو 4539578763621486 شكرا",
  "מספר הכרטיס 4539578763621486 תודה",
  "카드 번호는 4539578763621486 입니다",
  "卡号是4539578763621486谢谢",
  "番号は4539578763621486です",
  "บัตรเลขที่ 4539578763621486 ครับ",
];

Deno.test("decodings() reads base64 without padding, whatever the next line begins with", () => {
  // 60 units or more may go on in the next line.
  const run = btoa("the card of the customer is 4539578763621486, valid until May 2029");
  assertEquals(run.length, 88);
  for (
    const next of [
      "\n    token: x",
      "\nNEXT_NAME=x",
      "\nRegards",
      "\nand then we",
      "\n\nRegards\n",
      "\\nnext: x",
      "\r\n- a",
    ]
  ) {
    const view = decodings({ text: `data: ${run}${next}` })?.view;
    assertEquals(view?.text.includes("is 4539578763621486, valid"), true, next);
  }
});

for (const says of SCRIPTS) {
  Deno.test(`decodings() reads base64 of UTF-16 in another script: ${says.slice(0, 12)}`, () => {
    for (const mark of ["", "\ufeff"]) {
      for (const big of [false, true]) {
        const bytes = Buffer.from(mark + says, "utf16le");
        const packed = (big ? bytes.swap16() : bytes).toString("base64");
        assert(reading(`x: ${packed} y`).includes(says), `${packed}: ${reading(`x: ${packed} y`)}`);
      }
    }
  });
}

Deno.test("decodings() reads no random bytes as UTF-16", () => {
  let read = 0;
  for (let i = 0; i < 3000; i++) {
    const packed = Buffer.from(crypto.getRandomValues(new Uint8Array(24 + i % 400))).toString("base64");
    if (/[\u0370-\uffff]/.test(reading(`x: ${packed} y`))) read++;
  }
  // One in 2^16 begins as a mark of UTF-16 does.
  assert(read <= 3, `${read}`);
});

Deno.test("decodings() reads hexadecimal, percent, entities, escapes and quoted-printable", () => {
  const hex = [..."mail@host.org"].map((c) => c.charCodeAt(0).toString(16)).join("");
  assert(reading(`h ${hex}`).includes("mail@host.org"));
  assert(reading("a%40b.org").includes("a@b.org"));
  assert(reading("caf%C3%A9%40b.org").includes("café@b.org"));
  assert(reading("a&#64;b&#x2e;org &commat;").includes("a@b.org"));
  assert(reading("4111&ndash;1111&numsp;&NoBreak;1111").includes("4111-1111 1111"));
  assertEquals(reading("Terms &amp; conditions &lt;apply&gt; &nosuchname;"), "");
  assert(reading("a\\u0040b\\x2eorg").includes("a@b.org"));
  assert(reading("a=40b.org").includes("a@b.org"));
});

Deno.test("decodings() maps a run to itself and escapes one by one", () => {
  const packed = btoa("value: 123 456 782 end");
  const text = `TFN: ${packed}!`;
  const view = decodings({ text })!.view;
  const at = view.text.indexOf("123");
  assertEquals([view.from![at], view.to![at + 10]], [5, 5 + packed.length]);
  const percent = decodings({ text: "12%33 4" })!.view;
  const three = percent.text.indexOf("3");
  assertEquals([percent.from![three], percent.to![three]], [2, 5]);
});

Deno.test("decodings() of words, paths and random bytes finds nothing to read", () => {
  assertEquals(decodings({ text: "some_long_identifier_name and src/providers/anthropic/mod.ts" }), null);
  assertEquals(
    decodings({ text: "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }),
    null,
  );
});

Deno.test("decodings() reads folded text a second time", () => {
  const outer = btoa(`inner ${btoa("card 4111 1111 1111 1111")}`);
  const once = decodings({ text: outer })!.view;
  assert(decodings(once)!.view.text.includes("4111 1111 1111 1111"));
});

Deno.test("joinLines() puts values together that a line break cuts, not prose", () => {
  assert(joinLines({ text: "card 55000000\n00000004" })!.text.includes("5500000000000004"));
  assert(joinLines({ text: "john@exam\r\nple.com" })!.text.includes("john@example.com"));
  assertEquals(joinLines({ text: "a line of words\nand another one\n\nthe end" }), null);
});

Deno.test("joinLines() leaves tables, lists and records alone", () => {
  for (
    const row of ["1234,5678,9012", "550e8400-e29b-41d4-a716-446655440000", "2025-01-02 12:00:00 took 7"]
  ) {
    assertEquals(joinLines({ text: `${row}\n`.repeat(10) }), null);
  }
});

Deno.test("joinLines() is bounded where every line could be a part", () => {
  const text = Array.from({ length: 10_000 }, (_, i) => "A1B2C3D4E5F6".slice(i % 7)).join("\n");
  assert(joinLines({ text })!.text.length < text.length * 4);
});

Deno.test("decodings() shows a token behind an escape to its end, and its span is the whole token", () => {
  const letters = "Gw07pLmv38q7Zk29xLm4Vb81RtYp03nWe5sHc9Jd2fQm";
  const body = (length: number) => letters.repeat(Math.ceil(length / letters.length)).slice(0, length);
  const tokens = [
    `sk-proj-${body(74)}T3BlbkFJ${body(74)}`,
    `ATATT3xFfGF0${body(180)}`,
    `github_pat_${body(22)}_${body(59)}`,
    `sl.u.${body(1300)}`,
  ];
  const secrets = detector(resolveEntityTypes(["SECRET"]).types);
  for (const token of tokens) {
    for (const [lead, trail] of [["a\\n", "\\nb"], ["q=%20", " and more"], ["x\\u003e", "\\u003c"]]) {
      const text = `${lead}${token}${trail}`;
      const found = secrets.scan(text).map(({ start, end }) => text.slice(start, end));
      assertEquals(found, [token], JSON.stringify(lead));
    }
  }
});

Deno.test("decodings() shows each unit a few times, however many encoded parts a token has", () => {
  for (const part of [`QUJDREVGR0hJSktMTU5PUFFSUw.${"a.".repeat(70)}`, `%20${"a.".repeat(70)}`]) {
    const text = part.repeat(200);
    const { length } = decodings({ text })!.view.text;
    assert(length < 3 * text.length, `${length} for ${text.length}`);
  }
});

Deno.test("scan() finds values between one or two blanks in lists of bytes, and between =20 without other evidence", () => {
  const bytes = [..."card 4539578763621486"].map((c) => String(c.charCodeAt(0)));
  const texts = [
    bytes.join("  "),
    bytes.map((byte) => byte.padStart(3)).join(" "),
    `bytes: [${bytes.join("  ")}] end`,
    "card 4539=205787=206362=201486 ok",
  ];
  for (const text of texts) {
    const types = detector(DEFAULT_TYPES).scan(text).map(({ entityType }) => entityType);
    assertEquals(types, ["CREDIT_CARD"], text);
  }
  assertEquals(detector(DEFAULT_TYPES).scan("x=20, 5=20 and size=2048").length, 0);
});

Deno.test("decodings() reads bytes as decimal numbers between blanks, and hexadecimal digits as such", () => {
  for (const says of ["4539578763621486", "mail jane@corp.example now", "card 4539 5787 6362 1486"]) {
    const bytes = [...says].map((c) => c.charCodeAt(0));
    assertEquals(reading(`od: ${bytes.join(" ")} end`), `od: ${says} end\n\n`);
    assertEquals(reading(`od: ${bytes.join(", ")} end`), `od: ${says} end\n\n`);
    assertEquals(
      reading(`od: ${bytes.map((byte) => byte.toString(16)).join(" ")} end`),
      `od: ${says} end\n\n`,
    );
  }
  assertEquals(reading("rows 10 20 30 40 50 60 70 80 90 100 of 12 13 14 15 16 17 18 19 20 21"), "");
});
