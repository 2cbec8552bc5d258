/** Encodes the prompt of a call as a request to a provider. */
import { Failure } from "../../exchange/failure.ts";
import { jsonBytes } from "../../exchange/json_bytes.ts";
import { type NumberedSources, numberedSources, withSources } from "../../exchange/numbered_sources.ts";
import type { Part } from "../../exchange/part.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { flattenTools, restoreTools, type ToolNames } from "../../exchange/tools.ts";
import { withoutBillingNote } from "../../formats/billing_note.ts";
import { takesUnsigned } from "../../formats/restrictions/claude_rules.ts";
import type { ProviderFormat, ProviderRequest } from "../../formats/format.ts";
import type { Model } from "../../models/catalog.ts";
import type { Outgoing } from "../../providers/exchange.ts";
import { type Upstream, versionInForce } from "../../providers/provider.ts";

/** Data of an encoded request. */
export interface Made {
  names: ToolNames | null;
  dropped: readonly string[];
  /** Sources of the request that the answer may cite by number. */
  sources: NumberedSources | null;
}

export const notMade = (): Made => ({ names: null, dropped: [], sources: null });

/** Changes the parts of an answer. */
export type Change = (parts: readonly Part[]) => readonly Part[];

/** Converts the parts of an answer to the names and sources of the request. One per answer; null: nothing changes. */
export function restoring({ names, sources }: Made): Change | null {
  const tools = names === null ? null : restoreTools(names);
  if (sources === null) return tools;
  return (parts) => withSources(tools === null ? parts : tools(parts), sources);
}

/**
 * Encodes a request for a provider's API, and lists the dropped fields.
 * @param flat a prompt whose tools have only the forms that the API supports
 * @param providersModel the provider's name of the model
 */
export function encodeFlat(
  flat: Prompt,
  upstream: Pick<Upstream, "provider" | "api">,
  format: ProviderFormat,
  providersModel: string,
  model: Model,
): ProviderRequest {
  const noted = upstream.api.readsBillingNote === true && !takesUnsigned(providersModel);
  const encoded = format.encodeRequest(noted ? flat : withoutBillingNote(flat), {
    model: providersModel,
    stream: flat.stream,
    maxOutput: model.maxCompletion,
    features: model.features,
    efforts: model.efforts,
    parameters: model.parameters,
    apiVersion: versionInForce(upstream, flat.headers),
  });
  return upstream.api.finish ? upstream.api.finish(encoded, providersModel, flat) : encoded;
}

/** Models that cite sources by number: those of Mistral. */
const CITES_NUMBERS = /stral/i;

/** Encodes the request of a call for a provider's API. @param providersModel the provider's name of the model */
export function encodeFor(
  upstream: Pick<Upstream, "provider" | "api">,
  format: ProviderFormat,
  { providersModel, prompt, model, made }: {
    providersModel: string;
    prompt: Prompt;
    model: Model;
    made: Made;
  },
): Pick<ProviderRequest, "body" | "headers"> {
  const { api } = upstream;
  const flat = flattenTools(prompt, api.toolForms(prompt.format));
  made.names = flat.names;
  made.sources = CITES_NUMBERS.test(providersModel) ? numberedSources(flat.prompt) : null;
  const request = withCallerField(
    prompt,
    () => encodeFlat(flat.prompt, upstream, format, providersModel, model),
  );
  made.dropped = request.dropped;
  return request;
}

/** Writes the body of a large request in slices. */
export function* writtenInSlices(
  encode: () => Pick<ProviderRequest, "body" | "headers">,
): Generator<void, Outgoing> {
  const { body, headers } = encode();
  return { body: yield* jsonBytes(body), headers };
}

/** Sets `param` of the failure for unsupported content to the field of the conversation in the caller's format. */
function withCallerField<T>(prompt: Prompt, encode: () => T): T {
  try {
    return bounded(encode);
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== "feature_not_supported") throw thrown;
    const param = prompt.format === "responses" ? "input" : "messages";
    throw new Failure(thrown.code, thrown.message, { param, details: thrown.details });
  }
}

/** Turns a stack overflow caused by a deeply nested request into a `validation_error`, since it is not an internal error. */
export function bounded<T>(walk: () => T): T {
  try {
    return walk();
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new Failure("validation_error", "Cannot read the request: it is nested too deeply.");
  }
}
