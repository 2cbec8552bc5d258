import { assertEquals } from "@std/assert";
import { envelopedRuns } from "../../src/dlp/enveloped.ts";
import { detector } from "../../src/dlp/scan.ts";

/** What stands for "Customer wrote: my card is 4539578763621486 and mail jane.doe@corp.example thanks", packed by Python. */
const PACKED: Record<string, string> = {
  uuencode:
    'see file\n\nbegin 644 note.txt\nM0W5S=&]M97(@=W)O=&4Z(&UY(&-A<F0@:7,@-#4S.34W.#<V,S8R,30X-B!A\nE;F0@;6%I;"!J86YE+F1O94!C;W)P+F5X86UP;&4@=&AA;FMS"@``\n`\nend\n\nbye',
  "uuencode with blanks for zeros":
    'x\nbegin 644 note.txt\nM0W5S=&]M97(@=W)O=&4Z(&UY(&-A<F0@:7,@-#4S.34W.#<V,S8R,30X-B!A\nE;F0@;6%I;"!J86YE+F1O94!C;W)P+F5X86UP;&4@=&AA;FMS"@  \n \nend\n',
  "uuencode that mail quotes":
    '> begin 644 note.txt\n> M0W5S=&]M97(@=W)O=&4Z(&UY(&-A<F0@:7,@-#4S.34W.#<V,S8R,30X-B!A\n> E;F0@;6%I;"!J86YE+F1O94!C;W)P+F5X86UP;&4@=&AA;FMS"@``\n> `\n> end\n',
  "uuencode in a string of JSON":
    '{"a": "begin 644 note.txt\\nM0W5S=&]M97(@=W)O=&4Z(&UY(&-A<F0@:7,@-#4S.34W.#<V,S8R,30X-B!A\\nE;F0@;6%I;\\"!J86YE+F1O94!C;W)P+F5X86UP;&4@=&AA;FMS\\"@``\\n`\\nend\\n"}',
  yEnc:
    "see\n=ybegin line=128 size=82 name=n.txt\nm\u009f\u009d\u009e\u0099\u0097\u008f\u009cJ\u00a1\u009c\u0099\u009e\u008fdJ\u0097\u00a3J\u008d\u008b\u009c\u008eJ\u0093\u009dJ^_]c_aba`]`\\[^b`J\u008b\u0098\u008eJ\u0097\u008b\u0093\u0096J\u0094\u008b\u0098\u008fX\u008e\u0099\u008fj\u008d\u0099\u009c\u009aX\u008f\u00a2\u008b\u0097\u009a\u0096\u008fJ\u009e\u0092\u008b\u0098\u0095\u009d4\n=yend size=82\n",
  Ascii85:
    "<~6ZmHlDf''++EqjEFCdKUD0[76@<,m$BlbCR2)@6M2`N`S1H%!C1cRB9@;]TuD..-p+DP>&AM.M3AO'aDEc<XBG[YH.Ch4`2BOPdoEs_~>",
  "Ascii85 in lines":
    "<~6ZmHlDf''++EqjEFCdKUD0[76@<,m$BlbCR2)@6M2`N`S1H%!C1cRB9@;]TuD..-p+DP>&\nAM.M3AO'aDEc<XBG[YH.Ch4`2BOPdoEs_~>",
};

for (const [name, text] of Object.entries(PACKED)) {
  Deno.test(`scan() finds values in ${name}, at the place of the whole file`, () => {
    const found = detector(new Set(["CREDIT_CARD", "EMAIL_ADDRESS"])).scan(text);
    assertEquals(found.map(({ entityType }) => entityType).sort(), ["CREDIT_CARD", "EMAIL_ADDRESS"]);
    for (const { start, end } of found) {
      // No unit of what is packed is left beside the span.
      const rest = text.slice(0, start) + text.slice(end);
      assertEquals(rest.length < 30, true, rest);
      assertEquals(end <= text.length && start >= 0, true);
    }
  });
}

Deno.test("scan() finds values in a long file of uuencode, which no segment holds whole", () => {
  const line = (text: string) => {
    const bytes = new TextEncoder().encode(text);
    let out = String.fromCharCode(32 + bytes.length);
    for (let i = 0; i < bytes.length; i += 3) {
      const held = bytes[i] << 16 | (bytes[i + 1] ?? 0) << 8 | (bytes[i + 2] ?? 0);
      for (const shift of [18, 12, 6, 0]) out += String.fromCharCode(32 + (held >> shift & 63));
    }
    return `${out}\n`;
  };
  const words = line("nothing here but words, and more of the words").repeat(1500);
  const text = `see\nbegin 644 export.txt\n${words}${
    line("card 4539578763621486 of jane")
  }${words} \nend\nbye`;
  const found = detector(new Set(["CREDIT_CARD"])).scan(text);
  assertEquals(found.length, 1);
  assertEquals(text.slice(found[0].start).startsWith("begin 644"), true);
});

Deno.test("scan() finds values in base58", () => {
  const found = detector(new Set(["CREDIT_CARD", "EMAIL_ADDRESS"])).scan(
    "token A4UdiYtDUyYWcv4zyFYoDuWUNb34j7XnJ\nbeside 7YQdjN3tj5KFzNUcyTSnp1vH86x6G",
  );
  assertEquals(found.map(({ entityType }) => entityType), ["CREDIT_CARD", "EMAIL_ADDRESS"]);
});

Deno.test("words that begin as packed files do are none", () => {
  const texts = [
    "the war will begin 644 bc in rome\nM is a letter\n",
    "a <~ b and c ~> d",
    "=ybegin is a mark of yEnc\n",
    "begin 644 a\n\u0161\u0161\u0161\n",
  ];
  for (const text of texts) assertEquals(envelopedRuns(text), [], text);
});
