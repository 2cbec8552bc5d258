/** Messages in the form that chat-completions servers other than OpenAI's accept. */
import { type Loose, object } from "../../exchange/json.ts";
import { nineLettersOf } from "./nine_letters.ts";

type Role = "system" | "user" | "assistant" | "tool";

export interface MessageDialect {
  /** The role `developer` is not supported. */
  readonly noDeveloper?: true;
  /** Contents that are only text must be a string. */
  readonly plainText?: true;
  /** The only fields allowed in messages. */
  readonly messages?: Readonly<Record<Role, readonly string[]>>;
  /** Tool call ids must have nine letters and digits. */
  readonly nineLetters?: true;
  /** The `detail` of an image must not be `original`. */
  readonly plainDetail?: true;
  /** Files are sent as `document_url`, stored ones by their id beside the type. */
  readonly documentUrl?: true;
}

/** @param lose called with the names of fields that are dropped */
export function speakMessage(given: Loose, dialect: MessageDialect, lose: (field: string) => void): Loose {
  const { noDeveloper, plainText, messages, nineLetters, documentUrl, plainDetail } = dialect;
  const message = withoutRefusal(given);
  const renamed: Loose = noDeveloper && message.role === "developer"
    ? { ...message, role: "system" }
    : message;
  const role = renamed.role === "developer" ? "system" : renamed.role as Role;
  const known = messages && Object.hasOwn(messages, role) ? messages[role] : undefined;
  const spoken: Loose = {};
  for (const field of Object.keys(renamed)) {
    if (known === undefined || known.includes(field)) spoken[field] = renamed[field];
    else if (!isNothing(renamed[field]) && !UNREPORTED.has(field)) lose(field);
  }
  const { content, tool_calls: calls, tool_call_id: answered } = spoken;
  if (Array.isArray(content)) {
    if (plainText && content.every(({ type }) => type === "text")) {
      spoken.content = content.map(({ text }) => text).join(role === "assistant" ? "" : "\n\n");
    } else if (known !== undefined) {
      spoken.content = content.map(({ cache_control: _, prompt_cache_breakpoint: _point, ...part }: Loose) =>
        documentUrl ? documentOf(part) : plainDetail ? withPlainDetail(part) : part
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

/** Refusals of an earlier answer as its text: only OpenAI knows a separate part and field. */
function withoutRefusal(message: Loose): Loose {
  const { role, content, refusal, ...fields } = message;
  if (role !== "assistant") return message;
  const said = typeof refusal === "string" && isNothing(content) ? refusal : content;
  const parts = Array.isArray(said) && said.some(isRefusal)
    ? said.map((part) => isRefusal(part) ? { type: "text", text: part.refusal } : part)
    : said;
  return parts === content ? message : { role, content: parts, ...fields };
}

function isRefusal(part: unknown): boolean {
  return object(part).type === "refusal";
}

/** Fields without a value: clients return complete messages of earlier answers. */
function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === "" ||
    (Array.isArray(value) && value.length === 0);
}

/** Fields of earlier answers that are dropped without being reported. */
const UNREPORTED = new Set(
  ("annotations reasoning reasoning_content reasoning_details reasoning_opaque reasoning_text refusal " +
    "thinking_blocks").split(" "),
);

function withPlainDetail(part: Loose): Loose {
  const image = object(part.image_url);
  return image.detail === "original" ? { ...part, image_url: { ...image, detail: "high" } } : part;
}

function documentOf(part: Loose): Loose {
  const { file_data: url, file_id, filename } = object(part.file);
  if (part.type !== "file") return part;
  if (url === undefined) return file_id === undefined ? part : { type: "file", file_id };
  return {
    type: "document_url",
    document_url: url,
    ...(filename !== undefined && { document_name: filename }),
  };
}
