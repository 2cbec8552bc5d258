/**
 * Stage: one provider call. Encodes the prompt for the provider that takes it, and decodes what comes back, a stream and
 * a whole answer alike, into batches of parts: one batch for what one network read brought.
 */
import { Failure } from "../exchange/failure.ts";
import { parse } from "../exchange/json.ts";
import type { Part } from "../exchange/part.ts";
import type { FormatName, Prompt } from "../exchange/prompt.ts";
import { flattenTools, restoreTools, type ToolNames } from "../exchange/tools.ts";
import type { Frame, ProviderFormat } from "../formats/format.ts";
import { PROVIDER_FORMATS } from "../formats/mod.ts";
import { brokenAnswer } from "../formats/provider_failure.ts";
import { FrameReader } from "../formats/sse.ts";
import { FORMAT_OF_API } from "../providers/provider.ts";
import type { Reply } from "../providers/send.ts";
import type { Call, Kit } from "./kit.ts";

export async function* generate(call: Call, prompt: Prompt, kit: Kit): AsyncGenerator<readonly Part[]> {
  const { model } = call;
  let names: ToolNames | null = null;
  let dropped: readonly string[] = [];
  const { provider, reply } = await kit.providers.open(model.routes, (provider, route) => {
    const format = PROVIDER_FORMATS[FORMAT_OF_API[provider.api]];
    const flat = flattenTools(prompt, formsOf(format.name, prompt));
    names = flat.names;
    const request = format.encodeRequest(flat.prompt, {
      model: route.model,
      stream: prompt.stream,
      maxOutput: model.maxCompletion,
      features: model.features,
      efforts: model.efforts,
    });
    dropped = request.dropped;
    return { body: JSON.stringify(request.body), headers: request.headers };
  }, { stream: prompt.stream });
  call.provider = provider.name;
  if (dropped.length > 0) call.headers["x-svc-dropped"] = dropped.join(", ");

  const format = PROVIDER_FORMATS[FORMAT_OF_API[provider.api]];
  const parts = isStream(reply) ? streamParts(reply, format) : answerParts(reply, format);
  if (names === null) yield* parts;
  else {
    const restore = restoreTools(names);
    for await (const batch of parts) yield restore(batch);
  }
}

function isStream(reply: Reply): boolean {
  return reply.header("content-type")?.includes("event-stream") ?? false;
}

/** Which tools a format carries as they are. */
function formsOf(format: FormatName, prompt: Prompt) {
  return {
    custom: format === "responses" || (format === "chat_completions" && prompt.format === "chat_completions"),
    namespaces: format === "responses" && prompt.format === "responses",
  };
}

async function* answerParts(reply: Reply, format: ProviderFormat): AsyncGenerator<readonly Part[]> {
  yield decodeWhole(await reply.text(), format);
}

function decodeWhole(text: string, format: ProviderFormat): Part[] {
  const body = parse(text);
  if (body === undefined) throw brokenAnswer("it is not JSON");
  return format.decodeAnswer(body, { stream: false });
}

async function* streamParts(reply: Reply, format: ProviderFormat): AsyncGenerator<readonly Part[]> {
  const decoder = format.decodeStream({ stream: true });
  const reader = new FrameReader();
  let frames: Frame[] = [];
  let begun = false;
  const chunks = reply.chunks();
  for await (const chunk of chunks) {
    if (!begun) {
      const first = firstByte(chunk);
      if (first === undefined) continue;
      begun = true;
      if (first === BRACE || first === BRACKET) {
        // Some providers put a plain JSON body under the type of an event stream.
        yield decodeWhole(await restOf(chunk, chunks), format);
        return;
      }
    }
    reader.push(chunk, frames);
    if (frames.length === 0) continue;
    const out: Part[] = [];
    const failure = decodeFrames(frames, decoder, out);
    frames = [];
    if (out.length > 0) yield out;
    if (failure) throw failure;
  }
  const out: Part[] = [];
  reader.end(frames);
  let failure = decodeFrames(frames, decoder, out);
  if (!failure) {
    try {
      decoder.end(out);
    } catch (thrown) {
      failure = Failure.from(thrown);
    }
  }
  if (out.length > 0) yield out;
  if (failure) throw failure;
}

/** Decodes frames into `out`. A failure is returned, not thrown: what came before it is still to be passed on. */
function decodeFrames(
  frames: readonly Frame[],
  decoder: { push(frame: Frame, out: Part[]): void },
  out: Part[],
): Failure | undefined {
  try {
    for (const frame of frames) decoder.push(frame, out);
  } catch (thrown) {
    return Failure.from(thrown);
  }
}

const BRACE = 123;
const BRACKET = 91;

/** The first byte that is no white space and no byte order mark. */
function firstByte(chunk: Uint8Array): number | undefined {
  return chunk.find((b) => b > 32 && b !== 0xef && b !== 0xbb && b !== 0xbf);
}

/** Largest plain body taken under the type of an event stream, in bytes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

async function restOf(first: Uint8Array, chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const pieces = [decoder.decode(first, { stream: true })];
  let bytes = first.length;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw brokenAnswer(`its body is over ${MAX_BODY_BYTES} bytes`);
    pieces.push(decoder.decode(chunk, { stream: true }));
  }
  pieces.push(decoder.decode());
  return pieces.join("");
}
