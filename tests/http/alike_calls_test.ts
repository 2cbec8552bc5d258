/**
 * Callers with keys of their own whose calls are alike and take turns on the same connections, of providers whose answers are alike, come in
 * pieces and fail at times: each is told, recorded and billed its own.
 */
import { assert, assertEquals } from "@std/assert";
import { SECRET, testGateway } from "../support/gateway.ts";
import { nextTurn } from "../support/time.ts";

const OTHER = "sk_live_otherkeyotherkeyotherkeyother01";
const PRICES = { a: { prompt: 3, completion: 7 }, b: { prompt: 11, completion: 13 } };
const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The same numbers with each start. */
function numbers(seed: number): (below: number) => number {
  return (below) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor(seed / 2 ** 32 * below);
  };
}

/** Messages of HTTP/1.1 with a length, one after the other. */
class Wire {
  readonly #conn: Deno.Conn;
  readonly #buffer = new Uint8Array(1 << 16);
  #bytes = new Uint8Array(0);

  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** @param cut where to write the rest by itself; absent: at no place */
  async write(text: string, cut = 0): Promise<void> {
    const bytes = encoder.encode(text);
    for (const part of [bytes.subarray(0, cut), bytes.subarray(cut)]) {
      for (let done = 0; done < part.length;) done += await this.#conn.write(part.subarray(done));
      if (cut > 0) await nextTurn();
    }
  }

  /** Null: the other side has closed. */
  async read(): Promise<{ head: string; body: string } | null> {
    for (;;) {
      const text = decoder.decode(this.#bytes);
      const end = text.indexOf("\r\n\r\n");
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      // Heads are of letters of one byte.
      if (end >= 0 && this.#bytes.length >= end + 4 + length) {
        const body = decoder.decode(this.#bytes.subarray(end + 4, end + 4 + length));
        this.#bytes = this.#bytes.slice(end + 4 + length);
        return { head: text.slice(0, end + 2), body };
      }
      const n = await this.#conn.read(this.#buffer).catch(() => null);
      if (n === null) return null;
      const more = new Uint8Array(this.#bytes.length + n);
      more.set(this.#bytes);
      more.set(this.#buffer.subarray(0, n), this.#bytes.length);
      this.#bytes = more;
    }
  }

  close(): void {
    this.#conn.close();
  }
}

/** What a call asks its provider for: it is the prompt, and the answer says it. */
interface Wish {
  canary: string;
  input: number;
  output: number;
  fails: boolean;
}

function answerTo({ canary, input, output, fails }: Wish, at: number): string {
  const body = fails
    ? { id: canary, object: "chat.completion", error: { message: `no ${canary}`, code: 503 } }
    : {
      id: `chatcmpl-${at}`,
      object: "chat.completion",
      created: 1_763_700_000 + at,
      model: "m",
      choices: [{
        index: 0,
        message: { role: "assistant", content: `${canary} "}],"usage":{`, refusal: null },
        logprobs: null,
        finish_reason: "stop",
      }],
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    };
  const text = JSON.stringify(body);
  return `HTTP/1.1 200 OK\r\ndate: ${at}\r\ncontent-type: application/json\r\nx-request-id: req-${canary}\r\n` +
    `content-length: ${encoder.encode(text).length}\r\n\r\n${text}`;
}

/** A provider that tells with each call whose credential came with it. */
function provider(seed: number) {
  const random = numbers(seed);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conns = new Set<Wire>();
  const heads = new Set<string>();
  const serve = async (wire: Wire) => {
    for (let asked = await wire.read(); asked !== null; asked = await wire.read()) {
      heads.add(/\r\nauthorization: (.*)\r\n/i.exec(asked.head)![1]);
      const answer = answerTo(JSON.parse(JSON.parse(asked.body).messages[0].content), random(1e9));
      await wire.write(answer, random(3) === 0 ? random(answer.length) : 0);
    }
  };
  const accepting = (async () => {
    for await (const conn of listener) {
      const wire = new Wire(conn);
      conns.add(wire);
      serve(wire).catch(() => {});
    }
  })();
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    heads,
    async close() {
      listener.close();
      for (const wire of conns) wire.close();
      await accepting;
    },
  };
}

function bodyOf(format: keyof typeof PATHS, model: string, content: string): string {
  if (format === "responses") return JSON.stringify({ model, input: content });
  return JSON.stringify({ model, max_tokens: 50, messages: [{ role: "user", content }] });
}

// deno-lint-ignore no-explicit-any
function textOf(format: keyof typeof PATHS, body: any): string {
  if (format === "chat") return body.choices[0].message.content;
  return format === "messages" ? body.content[0].text : body.output[0].content[0].text;
}

Deno.test("calls that are alike and take turns are each told, recorded and billed their own", async () => {
  const upstreams = { a: provider(1), b: provider(2) };
  const gateway = await testGateway(
    Object.fromEntries(
      Object.entries(upstreams).map(([name, { url }]) => {
        const { prompt, completion } = PRICES[name as "a"];
        const pricing = {
          prompt: `0.${`${prompt}`.padStart(6, "0")}`,
          completion: `0.${`${completion}`.padStart(6, "0")}`,
        };
        return [name, {
          api: "openai-chat" as const,
          url,
          more: { api_key: `secret-${name}` },
          model: { pricing },
        }];
      }),
    ),
    { keys: [{ name: "test", secret: SECRET }, { name: "other", secret: OTHER }] },
  );
  const random = numbers(3);
  const secrets = [SECRET, OTHER];
  const { port } = new URL(gateway.url);
  let told = 0;
  const ask = async (wire: Wire, method: string, path: string, secret: string, body: string) => {
    const text = `${method} ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${secret}\r\n` +
      `content-type: application/json\r\ncontent-length: ${
        encoder.encode(body).length
      }\r\nx-last: 1\r\n\r\n${body}`;
    await wire.write(text, random(4) === 0 ? random(text.length) : 0);
    const answer = (await wire.read())!;
    return { ...answer, status: Number(answer.head.slice(9, 12)), value: JSON.parse(answer.body) };
  };
  const caller = async (name: number) => {
    const wire = new Wire(await Deno.connect({ hostname: "127.0.0.1", port: Number(port) }));
    for (let i = 0; i < 40; i++) {
      const canary = `canary-${name}-${i}-${"é".repeat(random(30))}.`;
      const wish = {
        canary,
        input: random(10 ** (1 + random(6))),
        output: 1 + random(2000),
        fails: random(9) === 0,
      };
      const which = random(2);
      const model = random(2) === 0 ? "a" : "b";
      const format = (["chat", "messages", "responses"] as const)[random(3)];
      const body = bodyOf(format, `${model}/model`, JSON.stringify(wish));
      const { head, status, value, body: text } = await ask(
        wire,
        "POST",
        PATHS[format],
        secrets[which],
        body,
      );
      const canaries = text.match(/canary-\d+-\d+-é*\./g) ?? [];
      assert(canaries.every((one) => one === canary), text);
      const id = /\r\nx-request-id: (\S+)/i.exec(head)![1];
      const record = (secret: string) => ask(wire, "GET", `/v1/generations/${id}`, secret, "");
      if (wish.fails) {
        assert(status >= 500, text);
        continue;
      }
      assertEquals([status, textOf(format, value)], [200, `${canary} "}],"usage":{`]);
      assertEquals((await record(secrets[1 - which])).status, 404);
      const { value: recorded } = await record(secrets[which]);
      assertEquals(
        [recorded.usage.input_tokens, recorded.usage.output_tokens, recorded.key, recorded.model],
        [wish.input, wish.output, which === 0 ? "test" : "other", `${model}/model`],
      );
      const { prompt, completion } = PRICES[model];
      assertEquals(
        Math.round(Number(recorded.cost) * 1e6),
        wish.input * prompt + wish.output * completion,
        text,
      );
      told++;
    }
    wire.close();
  };
  try {
    await Promise.all(Array.from({ length: 6 }, (_, name) => caller(name)));
    assert(told > 150, String(told));
    assertEquals([...upstreams.a.heads], ["Bearer secret-a"]);
    assertEquals([...upstreams.b.heads], ["Bearer secret-b"]);
  } finally {
    await gateway.close();
    await upstreams.a.close();
    await upstreams.b.close();
  }
});
