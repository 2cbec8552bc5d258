/**
 * What a provider API is: one object of this shape, in a file of its own, listed in mod.ts. Everything that differs between
 * APIs stands in it; nothing else compares the names of APIs.
 *
 * To add one: write its object in a file of this folder and put it into the list of mod.ts. The configuration's choice of
 * `api`, its check, its JSON Schema and the reference page follow the list.
 */
import type { FormatName, Prompt } from "../../exchange/prompt.ts";
import type { ToolForms } from "../../exchange/tools.ts";
import type { ProviderFormat, ProviderRequest } from "../../formats/format.ts";
import type { Lazy } from "../../exchange/lazy.ts";
import type { Reply } from "../../outgoing/reply.ts";
import type { Framing } from "./framing.ts";

export interface ProviderApi {
  /** As the configuration names it. */
  readonly name: string;
  /** The format whose callers' own fields it is given as they came; those of other formats are dropped. */
  readonly formatName: FormatName;
  /** How requests and answers are written. */
  readonly format: Lazy<ProviderFormat>;
  /** How the bytes of a streamed answer are cut into frames. */
  readonly framing: Framing;
  /** Headers of every request, such as the API's version. A request of the format may override them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The header that says a version of the API by its date. Absent: the API has no such versions. */
  readonly versionHeader?: string;
  /** False: the configuration may leave the base address out. */
  readonly needsBaseUrl: boolean;
  /** How the API's list of models is read; null: it has none. */
  readonly modelsList: ModelsList | null;
  /** Where an API key goes. Credentials of other kinds bring their own headers. */
  keyHeaders(key: string): Record<string, string>;
  /**
   * Address of one generation call.
   * @param baseUrl with the version, without a slash at the end
   */
  address(baseUrl: string, model: string, stream: boolean): string;
  /** Which tools it carries as they are, when the caller spoke `from`; the others are told to it as plain functions. */
  toolForms(from: FormatName): ToolForms;
  /** Whether one call can give so many answers. */
  severalAnswers(stream: boolean, n: number): boolean;
  /**
   * The last change of a request, for addresses that want it otherwise than the format has it.
   * @param prompt that the request was made of
   */
  finish?(request: ProviderRequest, model: string, prompt: Prompt): ProviderRequest;
  /** How it compacts a conversation: at the address of a call and `/compact`. Absent: it has no such address. */
  readonly compaction?: Lazy<ProviderFormat>;
  /** Answers inside of this process, instead of an exchange over the network. */
  reply?(body: string, stream: boolean): Promise<Reply>;
}

/** A model as a provider's own list names it. */
export interface ListedModel {
  /** As a route of the configuration names it. */
  id: string;
  /** Tokens; absent where the list does not say. */
  contextLength?: number;
  maxCompletion?: number;
  /** Prices per token, as the catalog names them, where the list tells them. */
  pricing?: Readonly<Record<string, string>>;
}

/** A list of models, which may come in pages: `GET` of the base address and this path. */
export interface ModelsList {
  /** Where it is, if not at the base address. */
  origin?(baseUrl: string): string;
  /** @param page what the page before gave as `next`; null: the first page */
  path(page: string | null): string;
  /**
   * Entries without an id, and models that do not generate, are left out. `next` is null on the last page. Null: the body is no
   * list of models.
   * @param page what the path was made of
   */
  read(body: unknown, page?: string | null): { models: ListedModel[]; next: string | null } | null;
  /** Of a provider with several lists, each with a permission of its own: the page after one that is refused; null: none. */
  afterRefusal?(page: string | null): string | null;
}
