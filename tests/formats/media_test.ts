import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Failure } from "../../src/exchange/failure.ts";
import { DocumentNames, encodeAttachment } from "../../src/formats/converse/encode_media.ts";
import { audioFormat, audioType, decodeUrl, isText, joinBase64 } from "../../src/formats/media.ts";
import { CALLER_FORMATS } from "../../src/formats/mod.ts";
import { convert } from "./conversions.ts";
import { soundType } from "../../src/formats/chat_completions/decode_media_blocks.ts";

Deno.test("decodeUrl() data URLs, and what only looks like one", () => {
  assertEquals(decodeUrl("data:image/png;base64,AAAA"), {
    kind: "base64",
    mediaType: "image/png",
    data: "AAAA",
  });
  assertEquals(decodeUrl("data:text/plain;charset=utf-8;base64,YQ=="), {
    kind: "base64",
    mediaType: "text/plain",
    data: "YQ==",
  });
  assertEquals(decodeUrl("data:,a%20b"), { kind: "base64", mediaType: "text/plain", data: btoa("a b") });
  for (const url of ["https://a.test/x", "data:nothing", "data:,%"]) {
    assertEquals(decodeUrl(url), { kind: "url", url });
  }
});

Deno.test("audioType() and audioFormat() are each other's reverse", () => {
  for (const format of ["wav", "mp3", "flac", "opus", "pcm16"]) {
    assertEquals(audioFormat(audioType(format)), format);
  }
  assertEquals([audioFormat("audio/x-wav"), audioFormat("audio/mpeg")], ["wav", "mp3"]);
});

Deno.test("soundType() by the first bytes", () => {
  assertEquals(["UklGRgAA", "SUQzBAAA", "T2dnUwAC", "AAAA"].map(soundType), [
    "audio/wav",
    "audio/mpeg",
    "audio/ogg",
    "audio/pcm",
  ]);
});

Deno.test("joinBase64() of pieces with padding inside and without", () => {
  assertEquals(joinBase64(["YWJj", "ZA=="]), btoa("abcd"));
  assertEquals(joinBase64(["YQ==", "YmM=", "ZA=="]), btoa("abcd"));
  assertEquals(joinBase64([]), "");
});

Deno.test("every caller format reads the type and the bytes of a data URL alike", () => {
  const url = "data:image/png;charset=binary;base64,AAAA";
  const contents = {
    chat_completions: { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] },
    messages: {
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url } }] }],
    },
    responses: { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] },
  };
  for (const [name, body] of Object.entries(contents)) {
    const prompt = CALLER_FORMATS[name as keyof typeof contents].decodeRequest({ model: "p/m", ...body }, {
      unseal: () => null,
      headers: () => ({}),
    });
    const [image] = prompt.turns.flatMap((turn) => turn.content);
    assertEquals(
      image.type === "image" && image.source,
      { kind: "base64", mediaType: "image/png", data: "AAAA" },
      name,
    );
  }
});

Deno.test("isText() takes types with parameters and capitals, and no binary ones", () => {
  const types = [
    "Text/Plain; charset=utf-8",
    "application/json",
    "application/x-yaml",
    "application/ld+json",
  ];
  for (const type of types) assertEquals(isText(type), true, type);
  for (const type of ["application/pdf", "image/png", "application/octet-stream", ""]) {
    assertEquals(isText(type), false, type);
  }
});

Deno.test("a media type of a name that JavaScript's objects have is none that Bedrock takes", () => {
  const source = { kind: "base64", mediaType: "constructor", data: "aGk=" } as const;
  for (const type of ["image", "document"] as const) {
    const encoded = () => encodeAttachment({ type, source }, new DocumentNames());
    assertThrows(encoded, Failure, "got constructor");
  }
});

Deno.test("a file whose type its client does not know reaches providers as what it is", () => {
  const sent = (target: "gemini" | "converse" | "messages", filename: string, data: string) => {
    const file = { filename, file_data: `data:application/octet-stream;base64,${data}` };
    const { body } = convert(
      "chat_completions",
      { messages: [{ role: "user", content: [{ type: "file", file }] }] },
      target,
      "m",
    );
    return JSON.stringify(body.contents ?? body.messages);
  };
  const text = btoa("plain words");
  for (
    const [target, image, pdf, words] of [
      ["gemini", '"mimeType":"image/png","data":"AAAA"', '"mimeType":"application/pdf"', "plain words"],
      ["converse", '"image":{"format":"png","source":{"bytes":"AAAA"}}', '"format":"pdf"', `"txt"|${text}`],
      ["messages", '"media_type":"image/png","data":"AAAA"', '"media_type":"application/pdf"', "plain words"],
    ] as const
  ) {
    assertStringIncludes(sent(target, "a.png", "AAAA"), image);
    assertStringIncludes(sent(target, "a", btoa("%PDF-1.4")), pdf);
    for (const piece of words.split("|")) assertStringIncludes(sent(target, "notes", text), piece);
    assertThrows(() => sent(target, "a.unknown", btoa("PK\0\0")), Failure, "Cannot send");
  }
});

Deno.test("an image goes to other APIs with the type that its bytes have, however it is declared", () => {
  // The first bytes of real files.
  const images = {
    "image/png": "iVBORw0KGgoAAAANSUhEUg==",
    "image/jpeg": "/9j/4AAQSkZJRgABAQ==",
    "image/gif": "R0lGODlhAQABAIAAAA==",
    "image/webp": "UklGRiIAAABXRUJQVlA4IBYAAAA=",
  };
  for (const [type, data] of Object.entries(images)) {
    for (const declared of ["image/png", "image/jpeg", "application/octet-stream", "IMAGE/*"]) {
      const url = `data:${declared};base64,${data}`;
      const asked = {
        chat_completions: {
          messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
        },
        responses: { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] },
        messages: {
          max_tokens: 9,
          messages: [{
            role: "user",
            content: [{ type: "image", source: { type: "base64", media_type: declared, data } }],
          }],
        },
      };
      for (const caller of ["chat_completions", "responses"] as const) {
        // deno-lint-ignore no-explicit-any
        const sent = (target: any) => convert(caller, asked[caller], target, "m").body as any;
        const what = `${caller} ${type} as ${declared}`;
        assertEquals(sent("messages").messages[0].content[0].source, {
          type: "base64",
          media_type: type,
          data,
        }, what);
        assertEquals(sent("gemini").contents[0].parts[0], { inlineData: { mimeType: type, data } }, what);
        assertEquals(sent("converse").messages[0].content[0].image.format, type.slice(6), what);
      }
      // A caller of the same format is not corrected.
      const own = convert("messages", asked.messages, "messages", "m").body;
      assertEquals(own.messages, asked.messages.messages);
    }
  }
  const file = {
    filename: "photo",
    file_data: `data:application/octet-stream;base64,${images["image/png"]}`,
  };
  const { body } = convert(
    "chat_completions",
    { messages: [{ role: "user", content: [{ type: "file", file }] }] },
    "messages",
    "m",
  );
  assertStringIncludes(JSON.stringify(body), '"media_type":"image/png"');
});

Deno.test("base64 with line breaks, as MIME encoders write it, reaches other APIs in one line", () => {
  const data = btoa("a".repeat(200));
  const broken = data.replace(/.{76}/g, "$&\r\n") + "\n";
  const short = "iVBORw0KGgo=\n";
  const image = (url: string) => ({ type: "image_url", image_url: { url } });
  const file = (file_data: string) => ({ type: "file", file: { filename: "a.pdf", file_data } });
  const parts = [
    image(`data:image/png;base64,${broken}`),
    image(`DATA:image/png;base64,${short}`),
    file(broken),
    file(`data:application/pdf;base64,${broken}`),
  ];
  for (const target of ["messages", "gemini", "converse", "responses"] as const) {
    for (const part of parts) {
      const { body } = convert(
        "chat_completions",
        { messages: [{ role: "user", content: [part] }] },
        target,
        "m",
      );
      const sent = JSON.stringify(body);
      assertEquals(/[^\\]\\[nr]/.test(sent), false, sent);
      assertStringIncludes(sent, part === parts[1] ? short.trim() : data);
    }
  }
  const sound = { type: "input_audio", input_audio: { data: broken, format: "wav" } };
  const { body } = convert(
    "chat_completions",
    { messages: [{ role: "user", content: [sound] }] },
    "gemini",
    "m",
  );
  assertStringIncludes(JSON.stringify(body), data);
});

Deno.test("base64 for URLs, without padding or over several lines reaches providers in the standard form", () => {
  const standard = "iVBORw0KGgo+/+/+Pj8=";
  const written = {
    "for URLs": "iVBORw0KGgo-_-_-Pj8=",
    "without padding": "iVBORw0KGgo+/+/+Pj8",
    "for URLs and without padding": "iVBORw0KGgo-_-_-Pj8",
    "over two lines": "iVBORw0KGgo+\r\n/+/+Pj8=\r\n",
    standard,
  };
  for (const [name, data] of Object.entries(written)) {
    const url = `data:image/png;base64,${data}`;
    const pdf = `data:application/pdf;base64,${data}`;
    const asked = {
      chat_completions: {
        messages: [{
          role: "user",
          content: [
            { type: "image_url", image_url: { url } },
            { type: "file", file: { filename: "a.pdf", file_data: pdf } },
            { type: "input_audio", input_audio: { data, format: "mp3" } },
          ],
        }],
      },
      messages: {
        max_tokens: 9,
        messages: [{
          role: "user",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data } },
            { type: "document", source: { type: "base64", media_type: "application/pdf", data } },
          ],
        }],
      },
      responses: {
        input: [{
          role: "user",
          content: [
            { type: "input_image", image_url: url },
            { type: "input_file", filename: "a.pdf", file_data: pdf },
          ],
        }],
      },
    };
    for (const caller of ["chat_completions", "messages", "responses"] as const) {
      const { body } = convert(caller, { model: "p/m", ...asked[caller] }, "gemini", "gemini-2.5-flash");
      const sent = JSON.stringify(body.contents).match(/"data":"[^"]*"/g)!;
      assertEquals(new Set(sent), new Set([`"data":"${standard}"`]), `${caller}: ${name}`);
    }
  }
});

Deno.test("an image whose address names no type, or none of an image, has the type of its bytes", () => {
  const png = "iVBORw0KGgoAAAANSUhEUg==";
  for (const type of ["", "application/octet-stream", "text/plain;charset=utf-8"]) {
    const body = {
      messages: [{
        role: "user",
        content: [{ type: "image_url", image_url: { url: `data:${type};base64,${png}` } }],
      }],
    };
    for (const api of ["chat_completions", "responses", "messages", "gemini", "converse"] as const) {
      const sent = JSON.stringify(convert("chat_completions", body, api, "m").body);
      assertEquals(/text\/plain|octet-stream/.test(sent), false, `${type} ${api}: ${sent}`);
      assertEquals(/image\/png|"format":"png"/.test(sent), true, `${type} ${api}: ${sent}`);
    }
  }
});

/** Not timed: a pattern that reads the rest of the type from each semicolon takes many minutes here. */
Deno.test("audioFormat() of a type with a megabyte of parameters comes to an end", () => {
  assertEquals(audioFormat(`audio/mpeg${";".repeat(1_000_000)}\n!`), "mp3");
});
