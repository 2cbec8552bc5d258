import { assert, assertEquals } from "@std/assert";
import { fold } from "../../src/dlp/fold.ts";

Deno.test("fold() leaves plain text alone", () => {
  assertEquals(fold("plain ASCII, 4111 1111"), null);
  assertEquals(fold("Grüße aus Zürich, ключ и 東京 ©"), null);
});

Deno.test("fold() reads foreign digits and compatibility letters", () => {
  assertEquals(fold("１２٣٤५६𝟕𝟖")?.text, "12345678");
  assertEquals(fold("ＡＢｃ")?.text, "ABc");
  assertEquals(fold("\u{e0031}\u{e0032}")?.text, "12");
  assertEquals(fold("\u1090\u1946\u104a0")?.text.slice(0, 2), "00");
});

Deno.test("fold() drops what cannot be seen and keeps it inside the span", () => {
  const view = fold("a1\u200b2\u00ad3\ufe0f b")!;
  assertEquals(view.text, "a123 b");
  assertEquals([...view.from!], [0, 1, 3, 5, 7, 8]);
  assertEquals([...view.to!], [1, 3, 5, 7, 8, 9]);
});

Deno.test("fold() makes blanks and hyphens the ordinary ones", () => {
  assertEquals(fold("1\u00a02\u20113\u20134\u30005")?.text, "1 2-3-4 5");
});

Deno.test("fold() takes combining marks off Latin letters and digits", () => {
  assertEquals(fold("4\u03361\u0336")?.text, "41");
});

Deno.test("fold() replaces look-alikes only inside Latin words", () => {
  assertEquals(fold("АКІАIOSFODNN7")?.text, "AKIAIOSFODNN7");
  assertEquals(fold("ТJ 01 23 45 А")?.text, "TJ 01 23 45 A");
  assertEquals(fold("ЕГН: 8032056031"), null);
  assertEquals(fold("Вот мост, сахар"), null);
});

Deno.test("fold() maps astral characters to both of their units", () => {
  const view = fold("x𝟏y")!;
  assertEquals(view.text, "x1y");
  assertEquals([...view.from!], [0, 1, 3]);
  assertEquals([...view.to!], [1, 3, 4]);
});

Deno.test("fold() survives lone surrogates and long expansions", () => {
  assertEquals(fold("a\ud800b１")?.text.length, 4);
  const view = fold("\ufdfa".repeat(200))!;
  assert(view.text.length > 200 && view.from!.length === view.text.length);
});
