/** What a chat-completions request says. */
import {
  CallBook,
  canonical,
  type Carried,
  carried,
  type CarriedRole,
  functionOf,
  inputOf,
  list,
  marked,
  mediaKey,
  text,
  type Wild,
  wild,
  wish,
} from "./carried.ts";

export function readChatRequest(body: Wild): Carried {
  const into = carried();
  const book = new CallBook(into);
  let legacy = 0;
  for (const m of list(body.messages)) {
    const role = text(m.role);
    if (role === "tool") {
      const inside = carried();
      readContent(inside, "user", m.content);
      into.media.push(...inside.media);
      const said = inside.words.map((w) => w.text).join("\n");
      const isError = /^Error: /.test(said);
      book.result(text(m.tool_call_id), said.replace(/^Error: /, ""), isError);
      continue;
    }
    if (role === "function") {
      book.result(`legacy${legacy}`, text(m.content));
      continue;
    }
    const spoken: CarriedRole = role === "assistant" ? "assistant" : role === "user" ? "user" : "system";
    readContent(into, spoken, m.content);
    if (text(m.refusal) !== "") into.words.push({ role: spoken, text: text(m.refusal) });
    for (const call of list(m.tool_calls)) {
      const custom = wild(call.custom);
      if (custom.name) book.call(text(call.id), text(custom.name), text(custom.input));
      else book.call(text(call.id), text(wild(call.function).name), inputOf(wild(call.function).arguments));
    }
    if (m.function_call) {
      book.call(
        `legacy${++legacy}`,
        text(wild(m.function_call).name),
        inputOf(wild(m.function_call).arguments),
      );
    }
  }
  for (const tool of [...list(body.tools), ...list(body.functions)]) {
    const type = text(tool.type);
    if (/web_search/.test(type)) continue;
    const custom = wild(tool.custom);
    if (custom.name) {
      into.tools.push({ name: text(custom.name), schema: "custom", description: text(custom.description) });
    } else if (type === "" || type === "function") {
      into.tools.push(functionOf(tool));
      marked(into, tool, functionOf(tool).name);
    }
  }
  into.choice = readChatChoice(body.tool_choice ?? body.function_call);
  const format = wild(body.response_format);
  if (format.type === "json_object") into.json = format.schema ? canonical(format.schema) : "";
  if (format.type === "json_schema") into.json = canonical(wild(format.json_schema).schema ?? format.schema);
  wish(into, body, {
    temperature: "temperature",
    top_p: "top_p",
    top_k: "top_k",
    seed: "seed",
    random_seed: "seed",
    frequency_penalty: "frequency_penalty",
    presence_penalty: "presence_penalty",
    logit_bias: "logit_bias",
    logprobs: "logprobs",
    top_logprobs: "top_logprobs",
    n: "n",
    parallel_tool_calls: "parallel",
    max_tokens: "max",
    max_completion_tokens: "max",
    verbosity: "verbosity",
    user: "user",
    metadata: "metadata",
    service_tier: "service_tier",
    prompt_cache_key: "prompt_cache_key",
  });
  if (body.stop) into.wishes.stop = [body.stop].flat();
  const effort = body.reasoning_effort ?? wild(body.reasoning).effort ?? wild(body.reasoning).max_tokens ??
    wild(body.reasoning).enabled ?? (wild(body.thinking).type === "enabled" ? true : undefined) ??
    body.thinking_budget ?? body.enable_thinking;
  if (effort) into.wishes.effort = effort;
  return into;
}

function readContent(into: Carried, role: CarriedRole, content: unknown): void {
  if (typeof content === "string") {
    if (content !== "") into.words.push({ role, text: content });
    return;
  }
  for (const part of Array.isArray(content) ? content : []) {
    if (typeof part === "string") {
      into.words.push({ role, text: part });
      continue;
    }
    const p = wild(part);
    switch (p.type) {
      case "text":
        if (text(p.text) !== "") into.words.push({ role, text: text(p.text) });
        marked(into, p, text(p.text));
        break;
      case "refusal":
        into.words.push({ role, text: text(p.refusal) });
        break;
      case "image_url":
      case "video_url":
      case "document_url":
      case "file_url": {
        const at = p[p.type];
        into.media.push(mediaKey(typeof at === "string" ? at : text(wild(at).url)));
        marked(into, p, "media");
        break;
      }
      case "input_audio":
        into.media.push(
          mediaKey(typeof p.input_audio === "string" ? p.input_audio : text(wild(p.input_audio).data)),
        );
        break;
      case "file":
        into.media.push(mediaKey(text(wild(p.file).file_data) || text(wild(p.file).file_id)));
        break;
    }
  }
}

export function readChatChoice(choice: unknown): string | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (typeof choice === "string") return choice === "any" ? "required" : choice;
  const c = wild(choice);
  if (c.type === "allowed_tools") {
    const allowed = wild(c.allowed_tools);
    return `allowed:${
      list(allowed.tools).map((t) => text(wild(t.function).name ?? wild(t.custom).name)).sort()
    }`;
  }
  return `tool:${text(wild(c.function).name) || text(wild(c.custom).name) || text(c.name)}`;
}
