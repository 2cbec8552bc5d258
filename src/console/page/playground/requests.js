/** What the playground asks, as a request of each of the three formats. */

/** @typedef {"chat" | "messages" | "responses"} Format */
/**
 * @typedef {object} Wish
 * @property {string} model
 * @property {string} system
 * @property {string} prompt
 * @property {number} maxTokens
 * @property {boolean} stream
 * @property {boolean} search
 * @property {string} dlp a mode of data-loss prevention; empty: as the key's policy has it
 * @property {string} tools JSON: a list of `{name, description, parameters}`; empty: none
 * @property {string | null} image a `data:` address
 */

/** @type {Readonly<Record<Format, { path: string, title: string }>>} */
export const FORMATS = {
  chat: { path: "/v1/chat/completions", title: "Chat completions" },
  messages: { path: "/v1/messages", title: "Messages" },
  responses: { path: "/v1/responses", title: "Responses" },
};

export const SAMPLE_TOOLS = JSON.stringify(
  [{
    name: "get_weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  }],
  null,
  2,
);

/**
 * Throws where the tools are no JSON.
 * @param {Format} format
 * @param {Wish} wish
 * @returns {Record<string, any>}
 */
export function requestOf(format, wish) {
  const plugins = wish.dlp === "" ? {} : { plugins: { dlp: { mode: wish.dlp } } };
  return { ...BODIES[format](wish, toolsOf(wish.tools)), ...plugins };
}

/** @typedef {{ name: string, description?: string, parameters?: object }} Tool */

/** @param {string} text @returns {Tool[]} */
function toolsOf(text) {
  if (text.trim() === "") return [];
  const tools = JSON.parse(text);
  if (!Array.isArray(tools)) throw new Error("The tools must be a list: [{name, description, parameters}]");
  return tools;
}

/** @type {Record<Format, (wish: Wish, tools: Tool[]) => Record<string, unknown>>} */
const BODIES = {
  chat: ({ model, system, prompt, maxTokens, stream, search, image }, tools) => ({
    model,
    messages: [
      ...(system === "" ? [] : [{ role: "system", content: system }]),
      {
        role: "user",
        content: image === null ? prompt : [
          { type: "text", text: prompt },
          { type: "image_url", image_url: { url: image } },
        ],
      },
    ],
    max_tokens: maxTokens,
    ...(tools.length > 0 && { tools: tools.map((one) => ({ type: "function", function: one })) }),
    ...(search && { web_search_options: {} }),
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }),
  messages({ model, system, prompt, maxTokens, stream, search, image }, tools) {
    const all = [
      ...tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: parameters ?? { type: "object" },
      })),
      ...(search ? [{ type: "web_search_20250305", name: "web_search" }] : []),
    ];
    return {
      model,
      max_tokens: maxTokens,
      ...(system !== "" && { system }),
      messages: [{
        role: "user",
        content: image === null ? prompt : [
          { type: "image", source: { type: "base64", ...partsOf(image) } },
          { type: "text", text: prompt },
        ],
      }],
      ...(all.length > 0 && { tools: all }),
      ...(stream && { stream }),
    };
  },
  responses({ model, system, prompt, maxTokens, stream, search, image }, tools) {
    const all = [
      ...tools.map((one) => ({ type: "function", ...one })),
      ...(search ? [{ type: "web_search" }] : []),
    ];
    return {
      model,
      ...(system !== "" && { instructions: system }),
      input: image === null ? prompt : [{
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: prompt }, { type: "input_image", image_url: image }],
      }],
      max_output_tokens: maxTokens,
      ...(all.length > 0 && { tools: all }),
      ...(stream && { stream }),
    };
  },
};

/** @param {string} image a `data:` address */
function partsOf(image) {
  const [, media_type = "", data = ""] = /^data:([^;,]+);base64,(.*)$/s.exec(image) ?? [];
  return { media_type, data };
}
