/** What an answer of each format says, read from its events as they come, or from the whole of it. */

/** @typedef {import("./requests.js").Format} Format */
/** @typedef {{ name: string, arguments: string }} Call */
/**
 * @typedef {object} Said
 * @property {string} text
 * @property {string} reasoning
 * @property {Call[]} calls
 * @property {string[]} sources
 * @property {string | null} model that answered
 * @property {string | null} stop why it ended
 * @property {Record<string, unknown> | null} usage
 * @property {string | null} error
 */

/** @returns {Said} */
export const nothingSaid = () => ({
  text: "",
  reasoning: "",
  calls: [],
  sources: [],
  model: null,
  stop: null,
  usage: null,
  error: null,
});

/** Whether there is something of the answer itself: a stream begins with events and comments that have none. @param {Said} said */
export const hasBegun = ({ text, reasoning, calls }) => text !== "" || reasoning !== "" || calls.length > 0;

/**
 * Takes one event into what was said.
 * @param {Format} format
 * @param {Said} said
 * @param {any} data
 */
export function takeEvent(format, said, data) {
  if (data?.error) said.error = String(data.error.message ?? data.error);
  else EVENTS[format](said, data);
}

/**
 * @param {Format} format
 * @param {any} body
 * @returns {Said}
 */
export function readWhole(format, body) {
  const said = nothingSaid();
  WHOLE[format](said, body);
  said.model = body.model ?? null;
  said.usage = body.usage ?? null;
  return said;
}

/** @param {Said} said @param {any[] | undefined} annotations */
function addSources(said, annotations) {
  for (const one of annotations ?? []) addSource(said, one.url_citation?.url ?? one.url);
}

/** @param {Said} said @param {unknown} url */
function addSource(said, url) {
  if (typeof url === "string" && !said.sources.includes(url)) said.sources.push(url);
}

/** @type {Record<Format, (said: Said, data: any) => void>} */
const EVENTS = {
  chat(said, { model, choices = [], usage }) {
    said.model ??= model ?? null;
    if (usage) said.usage = usage;
    const [{ delta = {}, finish_reason } = {}] = choices;
    said.text += (delta.content ?? "") + (delta.refusal ?? "");
    said.reasoning += delta.reasoning_content ?? delta.reasoning ?? "";
    addSources(said, delta.annotations);
    for (const call of delta.tool_calls ?? []) {
      const known = said.calls[call.index] ??= { name: "", arguments: "" };
      known.name += call.function?.name ?? "";
      known.arguments += call.function?.arguments ?? "";
    }
    if (finish_reason) said.stop = finish_reason;
  },
  messages(said, { type, message, content_block: block, delta, usage }) {
    if (type === "message_start") {
      said.model = message.model;
      said.usage = message.usage;
    } else if (type === "content_block_start") takeBlock(said, { ...block, input: undefined, text: "" });
    else if (type === "content_block_delta") {
      said.text += delta.text ?? "";
      said.reasoning += delta.thinking ?? "";
      const call = said.calls.at(-1);
      if (call && delta.partial_json) call.arguments += delta.partial_json;
    } else if (type === "message_delta") {
      said.stop = delta.stop_reason;
      said.usage = { ...said.usage, ...usage };
    }
  },
  responses(said, { type, delta, item, response }) {
    if (type === "response.output_text.delta" || type === "response.refusal.delta") said.text += delta;
    else if (type === "response.reasoning_summary_text.delta" || type === "response.reasoning_text.delta") {
      said.reasoning += delta;
    } else if (type === "response.output_item.done") {
      takeItem(said, { ...item, content: undefined, summary: undefined });
    } else if (response) {
      said.model = response.model ?? said.model;
      if (response.usage) said.usage = response.usage;
      if (type !== "response.created" && type !== "response.in_progress") said.stop = response.status;
      if (response.error) said.error = response.error.message;
    }
  },
};

/** @type {Record<Format, (said: Said, body: any) => void>} */
const WHOLE = {
  chat(said, { choices: [choice] }) {
    const { content, refusal, reasoning_content, reasoning, tool_calls = [], annotations } = choice.message;
    said.text = (content ?? "") + (refusal ?? "");
    said.reasoning = reasoning_content ?? reasoning ?? "";
    said.calls = tool_calls.map((/** @type {any} */ call) => call.function);
    said.stop = choice.finish_reason;
    addSources(said, annotations);
  },
  messages(said, { content, stop_reason }) {
    for (const block of content) takeBlock(said, block);
    said.stop = stop_reason;
  },
  responses(said, { output, status, error }) {
    for (const item of output) takeItem(said, item);
    said.stop = status;
    if (error) said.error = error.message;
  },
};

/** @param {Said} said @param {any} block of messages */
function takeBlock(said, block) {
  if (block.type === "text") said.text += block.text;
  else if (block.type === "thinking") said.reasoning += block.thinking ?? "";
  else if (block.type === "tool_use") {
    said.calls.push({ name: block.name, arguments: block.input ? JSON.stringify(block.input) : "" });
  } else if (block.type === "web_search_tool_result" && Array.isArray(block.content)) {
    for (const { url } of block.content) addSource(said, url);
  }
}

/** @param {Said} said @param {any} item of responses */
function takeItem(said, item) {
  if (item.type === "function_call") said.calls.push({ name: item.name, arguments: item.arguments });
  else if (item.type === "svc:web_search") {
    for (const { url } of item.action?.sources ?? []) addSource(said, url);
  }
  for (const { text, refusal } of item.content ?? []) {
    if (item.type === "message") said.text += text ?? refusal ?? "";
  }
  for (const { text = "" } of item.summary ?? []) said.reasoning += text;
}
