/**
 * Stage: one provider call. Encodes the prompt for the provider that takes it, and decodes what comes back, a stream and
 * a whole answer alike, into batches of parts: one batch for what one network read brought.
 */
import { Failure } from "../exchange/failure.ts";
import type { Part } from "../exchange/part.ts";
import type { FormatName, Prompt } from "../exchange/prompt.ts";
import { flattenTools, restoreTools, type ToolNames } from "../exchange/tools.ts";
import { PROVIDER_FORMATS } from "../formats/mod.ts";
import { FORMAT_OF_API } from "../providers/provider.ts";
import type { Reply } from "../providers/send.ts";
import { AnswerReader, readWhole } from "./answer_reader.ts";
import type { Call, Kit } from "./kit.ts";

export async function* generate(call: Call, prompt: Prompt, kit: Kit): AsyncGenerator<readonly Part[]> {
  const { model } = call;
  let names: ToolNames | null = null;
  let dropped: readonly string[] = [];
  const { provider, reply } = await kit.providers.open(model.routes, (provider, route) => {
    const format = PROVIDER_FORMATS[FORMAT_OF_API[provider.api]];
    const flat = flattenTools(prompt, formsOf(format.name, prompt));
    names = flat.names;
    const request = bounded(() =>
      format.encodeRequest(flat.prompt, {
        model: route.model,
        stream: prompt.stream,
        maxOutput: model.maxCompletion,
        features: model.features,
        efforts: model.efforts,
      })
    );
    dropped = request.dropped;
    return { body: bounded(() => JSON.stringify(request.body)), headers: request.headers };
  }, { stream: prompt.stream });
  call.provider = provider.name;
  if (dropped.length > 0) call.headers["x-svc-dropped"] = dropped.join(", ");

  const format = PROVIDER_FORMATS[FORMAT_OF_API[provider.api]];
  const restore = names === null ? null : restoreTools(names);
  if (!isStream(reply)) {
    const batch = readWhole(await reply.text(), format);
    yield restore ? restore(batch) : batch;
    return;
  }
  const reader = new AnswerReader(format);
  let ended = false;
  try {
    while (!ended) {
      const bytes = await reply.read();
      ended = bytes === null;
      const batch: Part[] = [];
      const failure = bytes === null ? reader.end(batch) : reader.push(bytes, batch);
      if (batch.length > 0) yield restore ? restore(batch) : batch;
      if (failure) throw failure;
    }
  } finally {
    reply.close();
  }
}

/** A request nested so deeply that walking it needs more stack than there is must not look like a fault of ours. */
function bounded<T>(walk: () => T): T {
  try {
    return walk();
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new Failure("validation_error", "Cannot read the request: it is nested too deeply.");
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
