/**
 * What well-known servers of chat-completions have otherwise than OpenAI's own, which callers and translations speak. A server
 * that takes whatever OpenAI takes has no row here.
 *
 * Sources: the types of the vendors' own libraries (`@mistralai/mistralai` 2.7, `groq-sdk`, `@cerebras/cerebras_cloud_sdk`,
 * `together-ai`), their pages on OpenAI's libraries, and the words of their refusals.
 */
import { array, type Loose, object } from "../../exchange/json.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { fieldName, type NamedField } from "../../formats/field_names.ts";
import type { ProviderRequest } from "../../formats/format.ts";
import type { ProviderApi } from "./api.ts";
import { fitForcedCall, type ForcedCalls } from "./forced_calls.ts";

type Role = "system" | "user" | "assistant" | "tool";

interface ChatDialect {
  /** Of its addresses, for configurations that name no preset: the host, with a port that is no usual one. */
  readonly host?: RegExp;
  /** The cap on output has its older name only: the newer is refused, or passed over without a word. */
  readonly olderCap?: true;
  /** It knows no messages of the role `developer`. */
  readonly noDeveloper?: true;
  /** Templates of its models refuse a system message that is not the first one. */
  readonly oneSystem?: true;
  /** It gives one answer, whatever `n` says. */
  readonly oneAnswer?: true;
  /** Contents must be a string, where they are nothing but text. */
  readonly plainText?: true;
  /** Fields of OpenAI's that it has under another name. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Fields of OpenAI's that make it refuse the request. */
  readonly refused?: readonly string[];
  /** Fields with values of its own: with any other it refuses the request. */
  readonly values?: Readonly<Record<string, readonly unknown[]>>;
  /** All fields that messages may have: any other makes it refuse the request. */
  readonly messages?: Readonly<Record<Role, readonly string[]>>;
  /** Ids of calls are nine letters and digits. */
  readonly nineLetters?: true;
  /** Files are `document_url`. */
  readonly documentUrl?: true;
  /** Its models refuse a demand for a call while they think. */
  readonly forced?: ForcedCalls;
}

const KIMI: ForcedCalls = {
  quiet: /k2\.[56]/i,
  off: ["thinking", { type: "disabled" }],
  always: /k2\.[7-9]|k2-thinking/i,
  unnamed: /k[3-9]/i,
};

/** By the name of the preset. */
const DIALECTS: Readonly<Record<string, ChatDialect>> = {
  mistral: {
    host: /(?:^|\.)mistral\.ai$/,
    olderCap: true,
    noDeveloper: true,
    renamed: { seed: "random_seed" },
    refused: [
      "audio",
      "cache_control",
      "logit_bias",
      "logprobs",
      "modalities",
      "moderation",
      "prompt_cache_options",
      "prompt_cache_retention",
      "safety_identifier",
      "store",
      // Usage comes without it.
      "stream_options",
      "top_logprobs",
      "user",
      "verbosity",
    ],
    values: { service_tier: ["auto", "standard_only"] },
    messages: {
      system: ["role", "content"],
      user: ["role", "content"],
      assistant: ["role", "content", "tool_calls", "prefix"],
      tool: ["role", "content", "tool_call_id", "name"],
    },
    nineLetters: true,
    documentUrl: true,
  },
  groq: {
    host: /^api\.groq\.com$/,
    oneAnswer: true,
    refused: [
      "audio",
      "cache_control",
      "logit_bias",
      "logprobs",
      "modalities",
      "moderation",
      "prediction",
      "prompt_cache_key",
      "prompt_cache_options",
      "prompt_cache_retention",
      "safety_identifier",
      "top_logprobs",
      "verbosity",
    ],
    messages: {
      system: ["role", "content"],
      user: ["role", "content"],
      assistant: ["role", "content", "tool_calls", "function_call", "reasoning"],
      tool: ["role", "content", "tool_call_id"],
    },
  },
  cerebras: {
    host: /^api\.cerebras\.ai$/,
    refused: [
      "audio",
      "cache_control",
      "metadata",
      "modalities",
      "moderation",
      "prompt_cache_options",
      "prompt_cache_retention",
      "safety_identifier",
      "store",
      "verbosity",
    ],
    messages: {
      system: ["role", "content", "name"],
      user: ["role", "content", "name"],
      assistant: ["role", "content", "tool_calls", "name", "reasoning"],
      tool: ["role", "content", "tool_call_id", "name"],
    },
  },
  deepseek: {
    host: /(?:^|\.)deepseek\.com$/,
    olderCap: true,
    noDeveloper: true,
    oneAnswer: true,
    plainText: true,
    forced: { quiet: /v[4-9]/i, off: ["thinking", { type: "disabled" }] },
  },
  alibaba: {
    host: /(?:^|\.)aliyuncs\.com$/,
    olderCap: true,
    noDeveloper: true,
    oneSystem: true,
    forced: { quiet: /^qwen3\.\d(?!.*thinking)/i, off: ["enable_thinking", false] },
  },
  cohere: { host: /(?:^|\.)cohere\.(?:ai|com)$/, olderCap: true, noDeveloper: true, oneAnswer: true },
  deepinfra: { host: /(?:^|\.)deepinfra\.com$/, olderCap: true, noDeveloper: true },
  fireworks: { host: /(?:^|\.)fireworks\.ai$/, noDeveloper: true, oneSystem: true },
  huggingface: { host: /^router\.huggingface\.co$/, olderCap: true, noDeveloper: true },
  llamacpp: { olderCap: true, noDeveloper: true, oneSystem: true, oneAnswer: true },
  lmstudio: {
    host: /^(?:localhost|127\.0\.0\.1):1234$/,
    olderCap: true,
    noDeveloper: true,
    oneSystem: true,
    oneAnswer: true,
  },
  moonshot: { host: /^api\.moonshot\.(?:ai|cn)$/, noDeveloper: true, forced: KIMI },
  nebius: { host: /(?:^|\.)nebius\.com$/, noDeveloper: true },
  nvidia: { host: /^integrate\.api\.nvidia\.com$/, olderCap: true, noDeveloper: true },
  ollama: { host: /^(?:localhost|127\.0\.0\.1):11434$/, olderCap: true, noDeveloper: true, oneAnswer: true },
  perplexity: { host: /^api\.perplexity\.ai$/, olderCap: true, noDeveloper: true, oneAnswer: true },
  together: { host: /(?:^|\.)together\.(?:xyz|ai)$/, olderCap: true, noDeveloper: true },
  vllm: { noDeveloper: true, oneSystem: true },
  zai: { host: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/, olderCap: true, noDeveloper: true, oneAnswer: true },
};

const CHAT = "openai-chat";

/** One object for each dialect: what is called alike is one API. */
const spoken = new Map<ChatDialect, ProviderApi>();

/**
 * The API as this provider has it.
 * @param preset that it follows; null: none, and its address tells
 */
export function inDialect(api: ProviderApi, preset: string | null, baseUrl: string): ProviderApi {
  if (api.name !== CHAT) return api;
  const dialect = dialectOf(preset, baseUrl);
  if (dialect === undefined) return api;
  const known = spoken.get(dialect);
  if (known !== undefined) return known;
  const made: ProviderApi = {
    ...api,
    // Tools of another kind than functions are OpenAI's alone.
    toolForms: (from) => from === "chat_completions" ? OWN_FUNCTIONS : FUNCTIONS,
    ...(dialect.oneAnswer && { severalAnswers: () => false }),
    finish: (request, model, prompt) => speak(request, dialect, { prompt, model }),
  };
  spoken.set(dialect, made);
  return made;
}

const FUNCTIONS = { custom: false, namespaces: false };
const OWN_FUNCTIONS = { ...FUNCTIONS, builtIn: true };

function dialectOf(preset: string | null, baseUrl: string): ChatDialect | undefined {
  if (preset !== null) return Object.hasOwn(DIALECTS, preset) ? DIALECTS[preset] : undefined;
  if (!URL.canParse(baseUrl)) return undefined;
  const { host } = new URL(baseUrl);
  return Object.values(DIALECTS).find((dialect) => dialect.host?.test(host));
}

/** Words of the vocabulary that fields of a body hold, where the caller may have called them otherwise. */
const NAMED: Readonly<Record<string, NamedField>> = {
  logit_bias: "logitBias",
  logprobs: "logprobs",
  prompt_cache_key: "cacheKey",
  service_tier: "serviceTier",
  top_logprobs: "topLogprobs",
  user: "user",
  verbosity: "verbosity",
};

/** The request as such a server takes it; what it cannot be told is dropped. The body is this function's to change. */
function speak(
  { body, headers, dropped }: ProviderRequest,
  dialect: ChatDialect,
  { prompt, model }: { prompt: Prompt; model: string },
): ProviderRequest {
  const { olderCap, renamed = {}, refused = [], values = {} } = dialect;
  const lost = new Set(dropped);
  const drop = (field: string) => {
    // Options of the stream are the gateway's own.
    if (body[field] !== null && field !== "stream_options") {
      lost.add(Object.hasOwn(NAMED, field) ? fieldName(NAMED[field], prompt) : field);
    }
    delete body[field];
  };
  const rename = (from: string, to: string) => {
    if (body[from] === undefined) return;
    body[to] = body[from];
    delete body[from];
  };
  if (olderCap) rename("max_completion_tokens", "max_tokens");
  for (const from of Object.keys(renamed)) rename(from, renamed[from]);
  for (const field of refused) if (body[field] !== undefined) drop(field);
  for (const field of Object.keys(values)) {
    if (body[field] !== undefined && !values[field].includes(body[field])) drop(field);
  }
  chooseTools(body);
  if (dialect.forced) {
    fitForcedCall(body, model, dialect.forced, (field) => lost.add(fieldName(field, prompt)));
  }
  const root = prompt.format === "responses" ? "input" : "messages";
  const lose = (field: string) => void lost.add(`${root}.${field}`);
  const messages = (body.messages as Loose[]).map((message) => speakMessage(message, dialect, lose));
  body.messages = dialect.oneSystem ? withOneSystem(messages) : messages;
  return { body, headers, dropped: [...lost] };
}

/** A choice among some tools is OpenAI's alone: elsewhere the others are not declared. */
function chooseTools(body: Loose): void {
  const choice = object(body.tool_choice);
  const { mode, tools } = object(choice.allowed_tools);
  if (choice.type !== "allowed_tools" || !Array.isArray(tools)) return;
  const names = new Set(tools.map(nameOf));
  body.tools = (body.tools as Loose[]).filter((tool) => names.has(nameOf(tool)));
  body.tool_choice = mode ?? "auto";
}

const nameOf = (tool: Loose) => object(tool.function ?? tool.custom).name;

function speakMessage(message: Loose, dialect: ChatDialect, lose: (field: string) => void): Loose {
  const { noDeveloper, plainText, messages, nineLetters, documentUrl } = dialect;
  const told: Loose = noDeveloper && message.role === "developer" ? { ...message, role: "system" } : message;
  const role = told.role === "developer" ? "system" : told.role as Role;
  const known = messages && Object.hasOwn(messages, role) ? messages[role] : undefined;
  const spoken: Loose = {};
  for (const field of Object.keys(told)) {
    if (known === undefined || known.includes(field)) spoken[field] = told[field];
    else if (!isNothing(told[field]) && !UNTOLD.has(field)) lose(field);
  }
  const { content, tool_calls: calls, tool_call_id: answered } = spoken;
  if (Array.isArray(content)) {
    if (plainText && content.every(({ type }) => type === "text")) {
      spoken.content = content.map(({ text }) => text).join(role === "assistant" ? "" : "\n\n");
    } else if (known !== undefined) {
      spoken.content = content.map(({ cache_control: _, ...part }: Loose) =>
        documentUrl ? documentOf(part) : part
      );
    }
  }
  const idOf = nineLetters ? nineLettersOf : (id: unknown) => id;
  if (known !== undefined && Array.isArray(calls)) {
    spoken.tool_calls = calls.map(({ id, type, function: called }) => ({
      id: idOf(id),
      type,
      function: called,
    }));
  }
  if (answered !== undefined) spoken.tool_call_id = idOf(answered);
  return spoken;
}

/**
 * With one system message, the first. Those right behind it are joined with it; the text of later ones becomes the user's in its
 * place, between `<system>` tags, so that what stands before it is found in a cache as before. Roles alternate, as some templates
 * want it, where they did.
 */
function withOneSystem(messages: Loose[]): Loose[] {
  if (!messages.some(({ role }, i) => role === "system" && i > 0)) return messages;
  const first = messages.findIndex(({ role }) => role !== "system");
  const leading = first < 0 ? messages : messages.slice(0, first);
  const placed: Loose[] = leading.length === 0 ? [] : [
    leading.reduce((all, { content }) => ({ ...all, content: joined(all.content, content) })),
  ];
  let note = "";
  for (const message of messages.slice(leading.length)) {
    const { role, content } = message;
    if (role === "system") {
      const text = textOf(content);
      if (text.trim() !== "") note += `${note && "\n\n"}<system>\n${text}\n</system>`;
    } else if (note === "" || role === "tool") {
      // Nothing may stand between calls and their results.
      placed.push(message);
    } else {
      if (role === "user" && placed.at(-1)?.role !== "user") {
        placed.push({ ...message, content: joined(note, content) });
      } else {
        say(note, placed);
        placed.push(message);
      }
      note = "";
    }
  }
  if (note !== "") say(note, placed);
  return placed;
}

/** As the end of the user's message, or as one. */
function say(note: string, placed: Loose[]): void {
  const last = placed.at(-1);
  if (last?.role !== "user") placed.push({ role: "user", content: note });
  else placed[placed.length - 1] = { ...last, content: joined(last.content, note) };
}

/** Contents one behind the other: as a string where both are, else as a list of parts. */
function joined(a: unknown, b: unknown): unknown {
  if (typeof a === "string" && typeof b === "string") return a === "" || b === "" ? a + b : `${a}\n\n${b}`;
  return [...partsOf(a), ...partsOf(b)];
}

function partsOf(content: unknown): Loose[] {
  if (typeof content !== "string") return array(content).map(object);
  return content === "" ? [] : [{ type: "text", text: content }];
}

function textOf(content: unknown): string {
  return partsOf(content).map(({ text }) => text).join("\n\n");
}

/** Fields that say nothing: clients send back whole messages of answers. */
function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === "" ||
    (Array.isArray(value) && value.length === 0);
}

/** What an answer says beside its text, and nobody expects to be read again. */
const UNTOLD = new Set(
  "annotations reasoning reasoning_content reasoning_details refusal thinking_blocks".split(" "),
);

function documentOf(part: Loose): Loose {
  const { file_data: url, filename } = object(part.file);
  if (part.type !== "file" || url === undefined) return part;
  return {
    type: "document_url",
    document_url: url,
    ...(filename !== undefined && { document_name: filename }),
  };
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The same for the same id, so that a prompt that is sent again can be found in a cache. */
function nineLettersOf(id: unknown): unknown {
  if (typeof id !== "string" || /^[a-zA-Z\d]{9}$/.test(id)) return id;
  let a = 0x811c9dc5;
  let b = 0x9dc5811c;
  for (let i = 0; i < id.length; i++) {
    a = Math.imul(a ^ id.charCodeAt(i), 0x01000193);
    b = Math.imul(b ^ id.charCodeAt(id.length - 1 - i), 0x01000193);
  }
  return letters(a >>> 0, 5) + letters(b >>> 0, 4);
}

function letters(number: number, count: number): string {
  let text = "";
  for (let rest = number; text.length < count; rest = Math.floor(rest / DIGITS.length)) {
    text += DIGITS[rest % DIGITS.length];
  }
  return text;
}
