/**
 * An API that the list does not have, unlike the others in all that may differ: the model stands in the address and not in
 * the body, each request is signed, and the answer's frames are binary. What it takes is one object.
 */
import { assert, assertEquals } from "@std/assert";
import type { Part } from "../../../src/exchange/part.ts";
import type { Frame } from "../../../src/formats/format.ts";
import { present } from "../../../src/exchange/lazy.ts";
import { messages } from "../../../src/formats/messages/mod.ts";
import { AnswerReader } from "../../../src/pipeline/generation/answer_reader.ts";
import type { ProviderApi } from "../../../src/providers/apis/mod.ts";
import type { Framing } from "../../../src/providers/apis/framing.ts";
import type { ProviderCredential, SignedRequest } from "../../../src/providers/credentials/credential.ts";
import { openProviders } from "../../../src/providers/mod.ts";
import { Ticker } from "../../../src/timing/ticker.ts";
import { decode } from "../../formats/conversions.ts";

/** Each frame: one byte of length, then its text. A length of 123 looks like the `{` of a plain body. */
const LENGTH_PREFIXED: Framing = {
  isStream: (contentType) => contentType === "application/x-frames",
  text: false,
  open() {
    let kept = new Uint8Array(0);
    return {
      push(bytes: Uint8Array, out: Frame[]) {
        const all = new Uint8Array(kept.length + bytes.length);
        all.set(kept);
        all.set(bytes, kept.length);
        let at = 0;
        while (at < all.length && at + 1 + all[at] <= all.length) {
          out.push({ event: "", data: new TextDecoder().decode(all.subarray(at + 1, at + 1 + all[at])) });
          at += 1 + all[at];
        }
        kept = all.slice(at);
      },
      end() {},
      get pending() {
        return kept.length;
      },
      get inFrame() {
        return kept.length > 0;
      },
    };
  },
};

const UNLISTED: ProviderApi = {
  name: "unlisted",
  formatName: "messages",
  format: present(messages),
  framing: LENGTH_PREFIXED,
  headers: { "x-version": "1" },
  needsBaseUrl: true,
  modelsList: null,
  keyHeaders: () => ({}),
  address: (baseUrl, model, stream) => `${baseUrl}/${model}:${stream ? "stream" : "whole"}`,
  toolForms: () => ({ custom: false, namespaces: false }),
  severalAnswers: () => false,
  finish: ({ body: { model: _, ...body }, ...rest }) => ({
    ...rest,
    body: { ...body, version: "in the body" },
  }),
};

function frame(value: unknown, pad = 0): Uint8Array {
  const text = JSON.stringify(value).padEnd(pad, " ");
  return new Uint8Array([text.length, ...new TextEncoder().encode(text)]);
}

const ANSWER = [
  frame({ type: "message_start", message: { id: "m", role: "assistant", content: [], usage: {} } }, 123),
  frame({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  frame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } }),
  frame({ type: "content_block_stop", index: 0 }),
  frame({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }),
  frame({ type: "message_stop" }),
];

Deno.test("an API outside of the list is addressed, signed and read by its own object", async () => {
  let asked: { path: string; headers: Headers; body: string } | undefined;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    asked = { path: new URL(request.url).pathname, headers: request.headers, body: await request.text() };
    const bytes = new Uint8Array(ANSWER.flatMap((piece) => [...piece]));
    return new Response(bytes, { headers: { "content-type": "application/x-frames" } });
  });
  const signed: SignedRequest[] = [];
  const credential: ProviderCredential = {
    identity: "role",
    headers: { "x-account": "a" },
    sign(request) {
      signed.push(structuredClone(request));
      return Promise.resolve({ "x-signature": `of ${request.body.length}` });
    },
  };
  const ticker = new Ticker();
  const route = { provider: "p", model: "m", weight: null };
  const provider = {
    name: "p",
    api: UNLISTED,
    baseUrl: `http://127.0.0.1:${server.addr.port}`,
    credential,
    headers: {},
    firstByteMs: 10_000,
    idleMs: 10_000,
    retries: 0,
    breaker: { failures: 5, windowMs: 1000, openMs: 1000 },
    maxConcurrent: null,
    maxVersion: null,
  };
  const providers = openProviders([provider], { ticker, routes: [route], log: () => {} });
  const prompt = decode("messages", {
    model: "p/m",
    max_tokens: 9,
    messages: [{ role: "user", content: "Hi" }],
  });
  try {
    const { opened } = await providers.open([route], {
      prepare: ({ api }, _format, model) => ({
        body: JSON.stringify(api.finish!({ body: { model, messages: [] }, dropped: [] }, model, prompt).body),
      }),
      begin: () => Promise.resolve(),
      stream: true,
      key: "k",
      model: "p/m",
      conversation: null,
    });
    const contentType = opened.reply.header("content-type") ?? "";
    assert(opened.api.framing.isStream(contentType, new Uint8Array(0)));
    const reader = new AnswerReader(opened.format, opened.api.framing);
    const parts: Part[] = [];
    for (let bytes: Uint8Array | null = opened.first; bytes !== null; bytes = await opened.reply.read()) {
      assertEquals(reader.push(bytes, parts), undefined);
    }
    assertEquals(reader.end(parts), undefined);
    opened.close();
    assertEquals(parts.filter((p) => p.type === "text-delta").map((p) => p.text), ["Hello"]);
    assertEquals(parts.at(-1)?.type, "finish");
  } finally {
    await server.shutdown();
  }
  const body = '{"messages":[],"version":"in the body"}';
  assertEquals(asked!.path, "/m:stream");
  assertEquals(asked!.body, body);
  assertEquals(asked!.headers.get("x-signature"), `of ${body.length}`);
  assertEquals(asked!.headers.get("x-version"), "1");
  assertEquals(asked!.headers.get("x-account"), "a");
  const [{ method, url, headers }] = signed;
  assertEquals([method, new URL(url).pathname], ["POST", "/m:stream"]);
  assertEquals(headers, { "content-type": "application/json", "x-account": "a", "x-version": "1" });
});
