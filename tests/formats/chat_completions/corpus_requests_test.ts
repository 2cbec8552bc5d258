/** Every recorded chat-completions request that its provider accepted: accepted here, and the same after a round trip. */
import { assert, assertEquals } from "@std/assert";
import type { Prompt } from "../../../src/exchange/prompt.ts";
import type { Loose } from "../../../src/exchange/json.ts";
import { chatCompletions } from "../../../src/formats/chat_completions/mod.ts";
import { recordings } from "./recordings.ts";
import { DECODE, encode } from "./support.ts";
import { sharedTest } from "../../support/shared.ts";

const ACCEPTED = recordings().filter((r) => r.status === 200 && r.request !== null);

/** Callers here name a model with its provider. */
function decode(request: Loose): Prompt {
  return chatCompletions.decodeRequest({ ...request, model: "acme/one" }, DECODE);
}

sharedTest("corpus/", "decodeRequest() accepts every recorded request that was answered", () => {
  for (const r of ACCEPTED) {
    const prompt = decode(r.request);
    assertEquals(prompt.turns.length, r.request.messages.length, r.id);
  }
});

sharedTest("corpus/", "decodeRequest() of an encoded request is the request", () => {
  for (const r of ACCEPTED) {
    const prompt = decode(r.request);
    const { body, dropped } = encode(prompt, { stream: prompt.stream });
    assertEquals(dropped, [], r.id);
    const again = decode(JSON.parse(JSON.stringify(body)));
    // The search is this service's own and never goes on; usage is always asked for.
    const { search: _, ...wanted } = prompt;
    if (prompt.stream) {
      wanted.verbatim = { ...wanted.verbatim, stream_options: { include_usage: true } };
    }
    assertEquals(JSON.parse(JSON.stringify(again)), JSON.parse(JSON.stringify(wanted)), r.id);
  }
});

sharedTest("corpus/", "encodeRequest() gives a provider of this API the recorded request back", () => {
  let exact = 0;
  for (const r of ACCEPTED) {
    const prompt = decode(r.request);
    const { body } = encode(prompt, { stream: prompt.stream, model: r.request.model ?? "model" });
    const wanted = structuredClone(r.request);
    // What the service changes on purpose.
    if (prompt.stream) wanted.stream_options = { include_usage: true };
    else delete wanted.stream;
    delete wanted.web_search_options;
    if (wanted.tools) wanted.tools = wanted.tools.filter((t: Loose) => !/web_search/.test(String(t.type)));
    if (wanted.tools?.length === 0) delete wanted.tools;
    wanted.model ??= body.model;
    for (const m of wanted.messages) {
      // The first of the two names is the provider's own; the other is what a gateway added for its callers.
      if (m.reasoning && m.reasoning_content) {
        delete m[Object.keys(m).findLast((key) => /^reasoning/.test(key))!];
      }
    }
    if (JSON.stringify(normal(body)) === JSON.stringify(normal(wanted))) exact++;
    else assertEquals(withoutShape(body), withoutShape(wanted), r.id);
  }
  assert(exact >= ACCEPTED.length * 0.9, `${exact} of ${ACCEPTED.length} exactly`);
});

/** Keys in order, and without the nulls that mean absent. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, v]) => v !== null && v !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => a < b ? -1 : 1).map(([k, v]) => [k, normal(v)]));
}

/** Without what has two forms of one meaning: an empty content, an address as a string or in an object. */
function withoutShape(body: Loose): unknown {
  return normal(JSON.parse(JSON.stringify(body), (key, value) => {
    if (key === "content" && (value === "" || (Array.isArray(value) && value.length === 0))) return undefined;
    if (key === "image_url" && typeof value === "string") return { url: value };
    if (key === "tools" && Array.isArray(value)) {
      return value.map((tool) => ({ type: tool.function ? "function" : tool.type, ...tool }));
    }
    return value;
  }));
}
