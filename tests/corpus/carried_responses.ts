/** What a responses request says. */
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

export function readResponsesRequest(body: Wild): Carried {
  const into = carried();
  const book = new CallBook(into);
  if (text(body.instructions) !== "") into.words.push({ role: "system", text: text(body.instructions) });
  if (typeof body.input === "string") into.words.push({ role: "user", text: body.input });
  for (const item of list(body.input)) {
    const type = text(item.type) || (item.role ? "message" : "item_reference");
    if (type === "message") {
      const role = text(item.role);
      readParts(into, role === "user" || role === "assistant" ? role : "system", item.content);
    } else if (type === "function_call") {
      book.call(text(item.call_id), text(item.name), inputOf(item.arguments));
    } else if (type === "custom_tool_call") book.call(text(item.call_id), text(item.name), text(item.input));
    else if (type === "function_call_output" || type === "custom_tool_call_output") {
      const inside = carried();
      const { output } = item;
      const other = typeof output === "object" && output !== null && !Array.isArray(output);
      readParts(inside, "user", other ? JSON.stringify(output) : output);
      into.media.push(...inside.media);
      const said = inside.words.map((w) => w.text).join("\n");
      book.result(text(item.call_id), said.replace(/^Error:[\n ]/, ""), /^Error:[\n ]/.test(said));
    }
  }
  const tool = (t: Wild) => {
    if (t.type === "custom") {
      into.tools.push({ name: text(t.name), schema: "custom", description: text(t.description) });
    } else if (t.type === "function") into.tools.push(functionOf(t));
  };
  const declared = list(body.input).filter((item) =>
    item.type === "additional_tools" || item.type === "tool_search_output"
  ).flatMap((item) => list(item.tools));
  for (const t of [...list(body.tools), ...declared]) {
    if (t.type === "namespace") list(t.tools).forEach(tool);
    else tool(t);
  }
  const choice = body.tool_choice;
  if (typeof choice === "string") into.choice = choice;
  else if (wild(choice).type === "allowed_tools") {
    into.choice = `allowed:${list(wild(choice).tools).map((t) => text(t.name)).sort()}`;
  } else if (wild(choice).name) into.choice = `tool:${text(wild(choice).name)}`;
  const format = wild(wild(body.text).format);
  if (format.type === "json_object") into.json = "";
  if (format.type === "json_schema") into.json = canonical(format.schema ?? wild(format.json_schema).schema);
  wish(into, body, {
    temperature: "temperature",
    top_p: "top_p",
    top_logprobs: "top_logprobs",
    parallel_tool_calls: "parallel",
    max_output_tokens: "max",
    user: "user",
    metadata: "metadata",
    service_tier: "service_tier",
    prompt_cache_key: "prompt_cache_key",
  });
  wish(into, wild(body.text), { verbosity: "verbosity" });
  const effort = wild(body.reasoning).effort;
  if (effort && effort !== "none") into.wishes.effort = effort;
  const { include } = body;
  if (Array.isArray(include) && include.includes("message.output_text.logprobs")) into.wishes.logprobs = true;
  return into;
}

function readParts(into: Carried, role: CarriedRole, content: unknown): void {
  if (typeof content === "string") {
    if (content !== "") into.words.push({ role, text: content });
    return;
  }
  for (const p of list(content)) {
    switch (p.type) {
      case "input_text":
      case "output_text":
      case "text":
        if (text(p.text) !== "") into.words.push({ role, text: text(p.text) });
        marked(into, p, text(p.text));
        break;
      case "refusal":
        into.words.push({ role, text: text(p.refusal) });
        break;
      case "input_image":
        into.media.push(
          mediaKey(text(p.image_url) || text(wild(p.image_url).url) || text(p.file_id)),
        );
        break;
      case "input_file":
        into.media.push(mediaKey(text(p.file_data) || text(p.file_url) || text(p.file_id)));
        break;
      case "input_audio":
        into.media.push(text(wild(p.input_audio).data));
        break;
    }
  }
}
