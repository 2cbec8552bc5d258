/** What a Converse request says. */
import {
  CallBook,
  canonical,
  type Carried,
  carried,
  type CarriedRole,
  inputOf,
  list,
  text,
  type Wild,
  wild,
  wish,
} from "./carried.ts";

export function readConverseRequest(body: Wild): Carried {
  const into = carried();
  const book = new CallBook(into);
  readBlocks(into, book, "system", body.system);
  for (const m of list(body.messages)) readBlocks(into, book, text(m.role) as CarriedRole, m.content);
  // A mark on the request as a whole stands behind all of it.
  const end = list(list(body.messages).at(-1)?.content).at(-1);
  if (end?.cachePoint) into.marks.push("request");
  const config = wild(body.toolConfig);
  let last = "";
  for (const tool of list(config.tools)) {
    if (tool.cachePoint) into.marks.push(last);
    else {
      const spec = wild(tool.toolSpec);
      last = text(spec.name);
      into.tools.push({
        name: last,
        schema: canonical(wild(spec.inputSchema).json ?? {}),
        description: text(spec.description),
      });
    }
  }
  const choice = wild(config.toolChoice);
  if (choice.any) into.choice = "required";
  else if (choice.tool) into.choice = `tool:${text(wild(choice.tool).name)}`;
  else if (choice.auto) into.choice = "auto";
  const output = wild(body.outputConfig);
  const schema = wild(wild(wild(output.textFormat).structure).jsonSchema).schema;
  if (schema) into.json = canonical(JSON.parse(text(schema)));
  const fields = wild(body.additionalModelRequestFields);
  wish(into, wild(body.inferenceConfig), {
    maxTokens: "max",
    temperature: "temperature",
    topP: "top_p",
    stopSequences: "stop",
  });
  wish(into, fields, { top_k: "top_k", reasoning_effort: "effort", reasoningConfig: "effort" });
  wish(into, wild(fields.inferenceConfig), { topK: "top_k" });
  wish(into, wild(fields.thinking), { budget_tokens: "effort" });
  wish(into, output, { effort: "effort" });
  wish(into, wild(body.serviceTier), { type: "service_tier" });
  return into;
}

function readBlocks(into: Carried, book: CallBook, role: CarriedRole, content: unknown): void {
  let last = "";
  for (const b of list(content)) {
    if (b.cachePoint) into.marks.push(last);
    else if (typeof b.text === "string") {
      const system = /^<system>\n([^]*)\n<\/system>$/.exec(b.text);
      into.words.push(system ? { role: "system", text: system[1] } : { role, text: b.text });
      last = b.text;
    } else if (b.toolUse) {
      const call = wild(b.toolUse);
      book.call(text(call.toolUseId), text(call.name), inputOf(call.input));
    } else if (b.toolResult) {
      const result = wild(b.toolResult);
      const inside = carried();
      readBlocks(inside, book, "user", result.content);
      into.media.push(...inside.media);
      last = inside.words.map((w) => w.text).join("\n");
      book.result(text(result.toolUseId), last, result.status === "error");
    } else if (b.searchResult) {
      for (const t of list(wild(b.searchResult).content)) into.words.push({ role, text: text(t.text) });
    } else {
      const media = wild(b.image ?? b.document ?? b.audio ?? b.video);
      const source = wild(media.source);
      if (text(media.context) !== "") into.words.push({ role, text: text(media.context) });
      last = "media";
      if (media.format === "txt" && b.document) {
        last = new TextDecoder().decode(Uint8Array.fromBase64(text(source.bytes)));
        into.words.push({ role, text: last });
      } else into.media.push(text(source.bytes) || text(wild(source.s3Location).uri));
    }
  }
}
