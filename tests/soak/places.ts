/** The formats, their paths, and where in a request of each something stands. */

export const FORMATS = ["chat_completions", "messages", "responses"] as const;
export type FormatName = (typeof FORMATS)[number];

export const PATHS: Readonly<Record<FormatName, string>> = {
  chat_completions: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

/** Below the usual limit of text. */
export const TEXT = 3_900_000;

/** Stands for text of JSON that is put in after the rest was written. */
export const RAW = "<raw>";

export type Fields = Record<string, unknown>;

export const SCHEMA = { type: "object", properties: {} };

/** Where in a request something stands. */
export const PLACES = {
  text(format: FormatName, text: unknown): Fields {
    if (format === "responses") return { input: text };
    return { messages: [{ role: "user", content: text }] };
  },
  system(format: FormatName, text: unknown): Fields {
    const asked = PLACES.text(format, "Hi");
    if (format === "messages") return { ...asked, system: text };
    if (format === "responses") return { ...asked, instructions: text };
    return { messages: [{ role: "system", content: text }, { role: "user", content: "Hi" }] };
  },
  unknown: (format: FormatName, value: unknown): Fields => ({
    ...PLACES.text(format, "Hi"),
    unheard_of: value,
  }),
  schema(format: FormatName, schema: unknown): Fields {
    const tool = format === "messages"
      ? { name: "f", input_schema: schema }
      : format === "responses"
      ? { type: "function", name: "f", parameters: schema }
      : { type: "function", function: { name: "f", parameters: schema } };
    return { ...PLACES.text(format, "Hi"), tools: [tool] };
  },
  arguments(format: FormatName, text: string, object: unknown): Fields {
    if (format === "messages") {
      return {
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: object }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "done" }] },
        ],
      };
    }
    if (format === "responses") {
      return {
        input: [
          { role: "user", content: "Hi" },
          { type: "function_call", call_id: "t1", name: "f", arguments: text },
          { type: "function_call_output", call_id: "t1", output: "done" },
        ],
      };
    }
    return {
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "t1", type: "function", function: { name: "f", arguments: text } }],
        },
        { role: "tool", tool_call_id: "t1", content: "done" },
      ],
    };
  },
  image(format: FormatName, data: string): Fields {
    if (format === "messages") {
      const source = { type: "base64", media_type: "image/png", data };
      return PLACES.text(format, [{ type: "image", source }]);
    }
    const url = `data:image/png;base64,${data}`;
    if (format === "responses") {
      return { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] };
    }
    return PLACES.text(format, [{ type: "image_url", image_url: { url } }]);
  },
  file(format: FormatName, data: string): Fields {
    if (format === "messages") {
      const source = { type: "base64", media_type: "application/pdf", data };
      return PLACES.text(format, [{ type: "document", source }]);
    }
    const file_data = `data:application/pdf;base64,${data}`;
    if (format === "responses") {
      return { input: [{ role: "user", content: [{ type: "input_file", filename: "a.pdf", file_data }] }] };
    }
    return PLACES.text(format, [{ type: "file", file: { filename: "a.pdf", file_data } }]);
  },
};

export function part(format: FormatName, text: string) {
  return { type: format === "responses" ? "input_text" : "text", text };
}

export function said(format: FormatName, content: unknown, role = "user"): unknown {
  return format === "responses" ? { type: "message", role, content } : { role, content };
}

export const list = (format: FormatName) => format === "responses" ? "input" : "messages";
