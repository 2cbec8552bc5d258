/** What a messages request says. */
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

export function readMessagesRequest(body: Wild): Carried {
  const into = carried();
  const book = new CallBook(into);
  readContent(into, book, "system", body.system);
  for (const m of list(body.messages)) readContent(into, book, text(m.role) as CarriedRole, m.content);
  const added = list(body.messages).flatMap((m) => list(m.content))
    .map((block) => wild(wild(block.tool).definition)).filter((tool) => tool.name !== undefined);
  for (const tool of [...list(body.tools), ...added]) {
    const type = text(tool.type);
    if (type !== "" && type !== "custom" && type !== "function") continue;
    into.tools.push(functionOf(tool));
    marked(into, tool, functionOf(tool).name);
  }
  const choice = wild(body.tool_choice);
  if (choice.type === "any") into.choice = "required";
  else if (choice.type === "tool") into.choice = `tool:${text(choice.name)}`;
  else if (choice.type) into.choice = text(choice.type);
  if (typeof choice.disable_parallel_tool_use === "boolean") {
    into.wishes.parallel = !choice.disable_parallel_tool_use;
  }
  const format = wild(wild(body.output_config).format ?? body.output_format);
  if (format.type === "json_schema") into.json = canonical(format.schema);
  wish(into, body, { max_tokens: "max", temperature: "temperature", top_p: "top_p", top_k: "top_k" });
  wish(into, wild(body.metadata), { user_id: "user" });
  wish(into, body, { service_tier: "service_tier" });
  if (list(body.stop_sequences).length > 0) into.wishes.stop = body.stop_sequences;
  const thinking = wild(body.thinking);
  const effort = wild(body.output_config).effort ??
    (thinking.type === "enabled" ? thinking.budget_tokens : undefined);
  if (effort) into.wishes.effort = effort;
  if (body.cache_control) into.marks.push("request");
  return into;
}

function readWords(into: Carried, role: CarriedRole, said: string): void {
  const system = /^<system>\n([^]*)\n<\/system>$/.exec(said);
  if (said !== "") into.words.push(system ? { role: "system", text: system[1] } : { role, text: said });
}

function readContent(into: Carried, book: CallBook, role: CarriedRole, content: unknown): void {
  if (typeof content === "string") {
    readWords(into, role, content);
    return;
  }
  for (const b of list(content)) {
    switch (b.type) {
      case "text":
        readWords(into, role, text(b.text));
        marked(into, b, text(b.text));
        break;
      case "image":
        readSource(into, role, wild(b.source));
        marked(into, b, "media");
        break;
      case "document":
        if (text(b.context) !== "") into.words.push({ role, text: text(b.context) });
        readSource(into, role, wild(b.source));
        marked(into, b, text(wild(b.source).type) === "text" ? text(wild(b.source).data) : "media");
        break;
      case "search_result":
        for (const t of list(b.content)) into.words.push({ role, text: text(t.text) });
        break;
      case "tool_use":
        book.call(text(b.id), text(b.name), inputOf(b.input));
        break;
      case "tool_result": {
        const inside = carried();
        readContent(inside, book, "user", b.content);
        into.media.push(...inside.media);
        book.result(text(b.tool_use_id), inside.words.map((w) => w.text).join("\n"), b.is_error === true);
        marked(into, b, inside.words.map((w) => w.text).join("\n"));
        break;
      }
    }
  }
}

function readSource(into: Carried, role: CarriedRole, source: Wild): void {
  switch (source.type) {
    case "text":
      into.words.push({ role, text: text(source.data) });
      return;
    case "content":
      if (typeof source.content === "string") into.words.push({ role, text: source.content });
      for (const b of list(source.content)) {
        if (b.type === "text") into.words.push({ role, text: text(b.text) });
        if (b.type === "image") readSource(into, role, wild(b.source));
      }
      return;
  }
  into.media.push(mediaKey(text(source.data) || text(source.url) || text(source.file_id)));
}
