/**
 * The definition of a provider API: one object per API, in a module of its own, listed in mod.ts. It contains
 * everything that differs between APIs; no other code depends on API names.
 *
 * To add an API, write its object in a module of this folder and add it to the list in mod.ts. The
 * configuration's values of `api`, their validation, the JSON Schema and the reference page are derived from
 * the list.
 */
import type { FormatName, Prompt } from "../../exchange/prompt.ts";
import type { ToolForms } from "../../exchange/tools.ts";
import type { ProviderFormat, ProviderRequest } from "../../formats/format.ts";
import type { Lazy } from "../../exchange/lazy.ts";
import type { Reply } from "../../outgoing/reply.ts";
import type { Framing } from "./framing.ts";

export interface ProviderApi {
  /** Name in the configuration. */
  readonly name: string;
  /** The format whose callers' additional fields are sent unchanged; those of other formats are dropped. */
  readonly formatName: FormatName;
  /** Encodes requests and decodes answers. */
  readonly format: Lazy<ProviderFormat>;
  /** Splits a streamed answer into frames. */
  readonly framing: Framing;
  /**
   * Headers of every request, such as the API version. The caller's request, in the same format, may override
   * them.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** The header with an API version that is a date. Absent: the API has no such versions. */
  readonly versionHeader?: string;
  /** The vendor reads the billing note of Claude Code (formats/billing_note.ts). Absent: it is left out. */
  readonly readsBillingNote?: boolean;
  /** False: the configuration may omit `base_url`. */
  readonly needsBaseUrl: boolean;
  /** The list of models; null: the API has none. */
  readonly modelsList: ModelsList | null;
  /** Headers for an API key. Other kinds of credentials provide their own headers. */
  keyHeaders(key: string): Record<string, string>;
  /**
   * URL of a generation call.
   * @param baseUrl includes the version, without a trailing slash
   */
  address(baseUrl: string, model: string, stream: boolean): string;
  /** Which tools are sent unchanged if the caller's format is `from`; the others are sent as plain functions. */
  toolForms(from: FormatName): ToolForms;
  /** Whether one call can return this many choices. */
  severalAnswers(stream: boolean, n: number): boolean;
  /** The server is that of the vendor who defines the API, so that it knows all fields. */
  readonly vendorsOwn?: true;
  /**
   * Adapts the encoded request, for endpoints that deviate from the format.
   * @param prompt the prompt that the request was encoded from
   */
  finish?(request: ProviderRequest, model: string, prompt: Prompt): ProviderRequest;
  /** The format for compactions, sent to the URL of a call plus `/compact`. Absent: not supported. */
  readonly compaction?: Lazy<ProviderFormat>;
  /** Answers within this process instead of over the network. */
  reply?(body: string, stream: boolean): Promise<Reply>;
}

/** An entry of a provider's list of models. */
export interface ListedModel {
  /** The model name for routes in the configuration. */
  id: string;
  /** In tokens; absent if not in the list. */
  contextLength?: number;
  maxCompletion?: number;
  /** Prices per token, under the names of the catalog; absent if not in the list. */
  pricing?: Readonly<Record<string, string>>;
}

/** A paginated list of models: `GET` base URL plus path. */
export interface ModelsList {
  /** The base URL of the list, if different. */
  origin?(baseUrl: string): string;
  /** @param page `next` of the previous page; null: the first page */
  path(page: string | null): string;
  /**
   * Entries without an id, and models that are not for generation, are omitted. `next` is null on the last
   * page. Null: the body is not a list of models.
   * @param page the argument of `path`
   */
  read(body: unknown, page?: string | null): { models: ListedModel[]; next: string | null } | null;
  /**
   * For a provider with several lists that need separate permissions: the page to read after one was refused;
   * null: none.
   */
  afterRefusal?(page: string | null): string | null;
}
