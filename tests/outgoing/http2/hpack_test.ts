import { assertEquals, assertThrows } from "@std/assert";
import { WireError } from "../../../src/transport/body_framing.ts";
import { encodeFields, type Field, HeadDecoder } from "../../../src/outgoing/http2/hpack.ts";

const bytes = (hex: string) =>
  Uint8Array.from(hex.replaceAll(" ", "").match(/../g) ?? [], (two) => parseInt(two, 16));
const decode = (hex: string) => new HeadDecoder().decode(bytes(hex));

// RFC 7541, appendix C.
const FIELDS: readonly [example: string, hex: string, fields: readonly Field[]][] = [
  ["C.2.1", "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", [[
    "custom-key",
    "custom-header",
  ]]],
  ["C.2.2", "040c 2f73 616d 706c 652f 7061 7468", [[":path", "/sample/path"]]],
  ["C.2.3", "1008 7061 7373 776f 7264 0673 6563 7265 74", [["password", "secret"]]],
  ["C.2.4", "82", [[":method", "GET"]]],
];

for (const [example, hex, fields] of FIELDS) {
  Deno.test(`decode() reads the field of RFC 7541, ${example}`, () => assertEquals(decode(hex), fields));
}

const ANSWERS: readonly (readonly Field[])[] = [
  [
    [":status", "302"],
    ["cache-control", "private"],
    ["date", "Mon, 21 Oct 2013 20:13:21 GMT"],
    ["location", "https://www.example.com"],
  ],
  [
    [":status", "307"],
    ["cache-control", "private"],
    ["date", "Mon, 21 Oct 2013 20:13:21 GMT"],
    ["location", "https://www.example.com"],
  ],
  [
    [":status", "200"],
    ["cache-control", "private"],
    ["date", "Mon, 21 Oct 2013 20:13:22 GMT"],
    ["location", "https://www.example.com"],
    ["content-encoding", "gzip"],
    ["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
  ],
];
const BLOCKS: Record<string, readonly string[]> = {
  "C.5, plain": [
    "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768" +
    "7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
    "4803 3330 37c1 c0bf",
    "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153" +
    "444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e" +
    "3d31",
  ],
  "C.6, in Huffman's code": [
    "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8" +
    "e9ae 82ae 43d3",
    "4883 640e ffc1 c0bf",
    "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b" +
    "3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
  ],
};

for (const [example, blocks] of Object.entries(BLOCKS)) {
  // There the table is of 256 bytes, of which entries fall out: here it is made so small by the first block.
  Deno.test(`decode() reads the answers of RFC 7541, ${example}, whose table is too small for all`, () => {
    const decoder = new HeadDecoder();
    const small = "3f e1 01";
    const got = blocks.map((block, i) => decoder.decode(bytes(i === 0 ? small + block : block)));
    assertEquals(got, ANSWERS as Field[][]);
  });
}

const WRONG: Record<string, string> = {
  "an index of nothing": "80",
  "an index beyond the table": "ff 00",
  "a text that is cut": "00 05 6162",
  "a field without a value": "00 01 61",
  "a number that is cut": "ff",
  "a number without end": "ff ff ff ff ff ff 01",
  "a table larger than was agreed": "3f e2 1f",
  "a size of the table behind a field": "88 20",
  "padding of zeros": "00 81 18 00",
  "padding of a whole byte": "00 82 1f ff 00",
  "the end of a string within": "00 84 ff ff ff ff 00",
  "more fields than 200": "88".repeat(201),
};

for (const [what, hex] of Object.entries(WRONG)) {
  Deno.test(`decode() refuses ${what}`, () => {
    assertThrows(() => decode(hex), WireError);
  });
}

Deno.test("decode() reads a head of 200 fields", () => assertEquals(decode("88".repeat(200)).length, 200));

Deno.test("decode() refuses a head that becomes too long by what the table holds", () => {
  const decoder = new HeadDecoder();
  const value = "6f".repeat(3000);
  decoder.decode(
    bytes(
      `40 01 61 7f ${(3000 - 127 & 0x7f | 0x80).toString(16)} ${
        (3000 - 127 >> 7).toString(16).padStart(2, "0")
      } ${value}`,
    ),
  );
  assertThrows(() => decoder.decode(bytes("be".repeat(30))), WireError);
});

Deno.test("encodeFields() writes what decode() reads, uses no table, and forbids others to keep credentials in one", () => {
  const fields: Field[] = [
    [":method", "POST"],
    [":path", "/v1/chat/completions?x=1"],
    ["authorization", "Bearer sk-secret"],
    ["x-other", "é ".repeat(300)],
    ["content-length", "12"],
    ["empty", ""],
  ];
  const block = encodeFields(fields);
  const decoder = new HeadDecoder();
  assertEquals(decoder.decode(block), fields);
  assertThrows(() => decoder.decode(bytes("be")), WireError, "index is invalid");
  const at = new TextDecoder("latin1").decode(block).indexOf("Bearer");
  // Its kind and the place of its name, and the length of its value.
  assertEquals([...block.subarray(at - 3, at)], [0x1f, 23 - 15, "Bearer sk-secret".length]);
});
