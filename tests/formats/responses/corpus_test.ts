/** Recorded answers and requests of providers of this format, against readings written here from the wire. */
import { provenFields } from "../../../src/formats/responses/proofs.ts";
import { assert, assertEquals } from "@std/assert";
import { Failure } from "../../../src/exchange/failure.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import { responses } from "../../../src/formats/responses/mod.ts";
import {
  answering,
  answerOf,
  checkStream,
  decode,
  decodeExchange,
  decodeSse,
  encoding,
  eventsOf,
  type Exchange,
  exchanges,
  streamText,
} from "./support.ts";
import { sharedTest } from "../../support/shared.ts";

const RECORDED = exchanges();

/** What a recording says, in the plainest terms. */
interface Reading {
  model: string;
  text: string;
  refusal: string;
  reasoning: string;
  proofs: string[];
  calls: string[];
  citations: number;
  usage: number[] | null;
  cut: string | null;
}

/** The last response of a recording, and the items that were done in its stream. */
function lastOf(exchange: Exchange): { response: Loose; items: Loose[] } | null {
  if (exchange.sse === null) {
    const response = exchange.response as Loose;
    return response.status === "queued" ? null : { response, items: response.output as Loose[] };
  }
  const items: Loose[] = [];
  for (const line of exchange.sse.split(/\r?\n/)) {
    if (!line.startsWith("data:") || line.includes("[DONE]")) continue;
    const event = JSON.parse(line.slice(5)) as Loose;
    if (event.type === "response.output_item.done") items.push(event.item as Loose);
    if (event.type === "response.completed" || event.type === "response.incomplete") {
      return { response: event.response as Loose, items };
    }
  }
  return null;
}

function read({ response, items }: { response: Loose; items: Loose[] }): Reading {
  const parts = items.flatMap((i) => i.type === "message" ? i.content as Loose[] : []);
  const texts = (list: unknown) => (list as Loose[] | undefined ?? []).map((p) => String(p.text));
  const usage = response.usage as Loose | null;
  return {
    model: String(response.model),
    text: parts.map((p) => p.text ?? "").join(""),
    refusal: parts.map((p) => p.refusal ?? "").join(""),
    reasoning: items.flatMap((i) => {
      if (i.type !== "reasoning") return [];
      const open = texts(i.content);
      return open.length > 0 ? open : texts(i.summary);
    }).join("\n"),
    proofs: items.flatMap((i) =>
      i.type === "reasoning" && i.encrypted_content ? [String(i.encrypted_content)] : []
    ),
    calls: items.flatMap((i) =>
      i.type === "function_call"
        ? [`${i.call_id} ${i.name} ${i.arguments}`]
        : i.type === "custom_tool_call"
        ? [`${i.call_id} ${i.name} ${i.input}`]
        : []
    ),
    citations: parts.flatMap((p) => p.annotations as unknown[] ?? []).length,
    usage: usage && [
      usage.input_tokens as number,
      (usage.input_tokens_details as Loose)?.cached_tokens as number ?? 0,
      usage.output_tokens as number,
      (usage.output_tokens_details as Loose)?.reasoning_tokens as number ?? 0,
    ],
    cut: response.status === "incomplete" ? String((response.incomplete_details as Loose).reason) : null,
  };
}

function readOwn(exchange: Exchange): Reading {
  const answer = answerOf(decodeExchange(exchange));
  const { blocks, reason } = answer.choices[0];
  const u = answer.usage;
  return {
    model: answer.model!,
    text: blocks.map((b) => b.type === "text" && !b.refusal ? b.text : "").join(""),
    refusal: blocks.map((b) => b.type === "text" && b.refusal ? b.text : "").join(""),
    reasoning: blocks.flatMap((b) => b.type === "reasoning" ? b.sections : []).join("\n"),
    proofs: blocks.flatMap((b) =>
      b.type === "reasoning" && b.proof ? [String(provenFields(b.proof).encrypted_content)] : []
    ),
    calls: blocks.flatMap((b) => b.type === "call" ? [`${b.id} ${b.name} ${b.arguments}`] : []),
    citations: blocks.flatMap((b) => b.type === "text" ? b.citations : []).length,
    usage: u && [u.input, u.cached, u.output, u.reasoning],
    cut: reason === "length" ? "max_output_tokens" : reason === "content-filter" ? "content_filter" : null,
  };
}

sharedTest(
  "corpus/",
  "responses.decodeStream() and decodeAnswer() read every recorded answer as it was meant",
  () => {
    let compared = 0;
    for (const exchange of RECORDED.filter((e) => e.status === 200)) {
      const last = lastOf(exchange);
      if (last === null) continue;
      assertEquals(readOwn(exchange), read(last), exchange.id);
      compared++;
    }
    assert(compared >= 365, `only ${compared} compared`);
  },
);

sharedTest(
  "corpus/",
  "responses.decodeAnswer() refuses an answer that was put off, and a stream that failed",
  () => {
    const unread = RECORDED.filter((e) => e.status === 200 && lastOf(e) === null);
    assertEquals(unread.length, 5);
    for (const exchange of unread) {
      try {
        decodeExchange(exchange);
      } catch (thrown) {
        assert(thrown instanceof Failure, exchange.id);
        continue;
      }
      throw new Error(`${exchange.id} was read`);
    }
  },
);

sharedTest("corpus/", "responses.decodeStream() reads the same whatever the network cuts", () => {
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) % 400 + 1;
  const streams = RECORDED.filter((e) => e.sse !== null && lastOf(e) !== null);
  for (const [i, { id, sse }] of streams.entries()) {
    const whole = decodeSse(sse!);
    const sizes = function* () {
      for (;;) yield i % 12 === 0 && sse!.length < 60_000 ? 1 : random();
    };
    assertEquals(decodeSse(sse!, sizes()), whole, id);
  }
});

sharedTest("corpus/", "responses.decodeStream() calls a stream broken wherever it is cut", () => {
  for (const { id, sse } of RECORDED.filter((e) => e.sse !== null && e.sse.length < 40_000)) {
    const frames = sse!.split(/\r?\n\r?\n/).filter((f) => f.trim() !== "");
    const end = frames.findIndex((f) => /"type": ?"response\.(completed|incomplete)"/.test(f));
    for (let k = 0; k < (end < 0 ? frames.length : end); k++) {
      try {
        decodeSse(frames.slice(0, k).join("\n\n") + "\n\n");
      } catch (thrown) {
        assert(thrown instanceof Failure, `${id} cut behind ${k}`);
        continue;
      }
      throw new Error(`${id} cut behind ${k} looks whole`);
    }
  }
});

sharedTest(
  "corpus/",
  "responses.encodeStream() makes a legal stream of every recorded answer, equal to encodeAnswer()",
  () => {
    for (const exchange of RECORDED.filter((e) => e.status === 200 && lastOf(e) !== null)) {
      const parts = decodeExchange(exchange);
      const context = answering();
      const { folded, response } = checkStream(eventsOf(streamText(parts, context)));
      assertEquals(folded, response!.output, exchange.id);
      const whole = JSON.parse(JSON.stringify(responses.encodeAnswer(answerOf(parts), context)));
      assertEquals(whole, response, exchange.id);
    }
  },
);

sharedTest("corpus/", "responses: an answer survives a second reading, proofs and ids included", () => {
  for (const exchange of RECORDED.filter((e) => e.status === 200 && lastOf(e) !== null)) {
    const first = answerOf(decodeExchange(exchange));
    const body = responses.encodeAnswer(first, answering());
    const again = answerOf(responses.decodeAnswer(body));
    const searches = first.choices[0].blocks.filter((b) => b.type === "search").length;
    const ids = new Set(first.choices[0].blocks.flatMap((b) => "extra" in b ? [b.extra?.fields.id] : []));
    // Searches are told in the gateway's own item, which is opaque to a second reading. xAI leaves out indices and
    // titles that callers are owed.
    const plain = (blocks: typeof first.choices[0]["blocks"]) =>
      blocks.filter((b) => b.type !== "search" && !(b.type === "opaque" && b.value.type === "svc:web_search"))
        .map((b) => b.type === "text" ? { ...b, citations: b.citations.map((c) => c.url ?? c.title) } : b);
    if (ids.has("") || ids.has(undefined) || searches > 0) {
      assertEquals(
        plain(again.choices[0].blocks).length,
        plain(first.choices[0].blocks).length,
        exchange.id,
      );
    } else assertEquals(plain(again.choices[0].blocks), plain(first.choices[0].blocks), exchange.id);
    assertEquals(again.usage, first.usage, exchange.id);
  }
});

/** Recorded requests that a stateless gateway refuses, and why. */
const REFUSED: Record<string, (request: Loose) => boolean> = {
  background: (r) => r.background === true,
  conversation: (r) => !!r.conversation,
  previous_response_id: (r) => !!r.previous_response_id,
  store: (r) => r.store === true,
  code: (r) => ((r.tools ?? []) as Loose[]).some((t) => t.type === "code_interpreter"),
};

/** Callers here name a model with its provider. */
function asCaller(request: Loose): Loose {
  return { ...request, model: "acme/one" };
}

sharedTest(
  "corpus/",
  "responses.decodeRequest() takes every recorded request that needs no state and runs no code",
  () => {
    let taken = 0;
    for (const { id, request, status } of RECORDED) {
      if (!request || status !== 200) continue;
      const refused = Object.values(REFUSED).some((test) => test(request));
      try {
        decode(asCaller(request));
        taken++;
      } catch (thrown) {
        assert(
          refused && thrown instanceof Failure && thrown.code === "feature_not_supported",
          `${id}: ${thrown}`,
        );
        continue;
      }
      assert(!refused, `${id} was taken`);
    }
    assert(taken >= 300, `only ${taken} taken`);
  },
);

sharedTest("corpus/", "responses.encodeRequest() gives a recorded request back as it was read", () => {
  let compared = 0;
  for (const { id, request, status } of RECORDED) {
    if (!request || status !== 200 || Object.values(REFUSED).some((test) => test(request))) continue;
    const first = decode(asCaller(request));
    const { body, dropped } = responses.encodeRequest(first, encoding({ model: first.model }));
    assertEquals(dropped, [], id);
    const again = decode(JSON.parse(JSON.stringify(body)));
    // The gateway searches itself, and always asks for reasoning that can be carried. Where search was the only tool
    // nothing is left to choose from.
    const plain = (p: typeof first) => ({
      ...p,
      ...(first.tools.length === 0 && { toolChoice: undefined }),
      search: undefined,
      verbatim: {
        ...p.verbatim,
        include: undefined,
        ...(first.tools.length === 0 && { tool_choice: undefined }),
      },
    });
    assertEquals(plain(again), plain(first), id);
    compared++;
  }
  assert(compared >= 300, `only ${compared} compared`);
});
