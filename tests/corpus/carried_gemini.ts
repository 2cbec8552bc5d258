/** What a `generateContent` request says. */
import {
  CallBook,
  canonical,
  type Carried,
  carried,
  functionOf,
  list,
  text,
  type Wild,
  wild,
  wish,
} from "./carried.ts";

export function readGeminiRequest(body: Wild): Carried {
  const into = carried();
  const book = new CallBook(into);
  for (const p of list(wild(body.systemInstruction).parts)) {
    into.words.push({ role: "system", text: text(p.text) });
  }
  for (const content of list(body.contents)) {
    const role = content.role === "model" ? "assistant" : "user";
    for (const p of list(content.parts)) {
      if (p.functionCall) {
        const call = wild(p.functionCall);
        book.call(text(call.id), text(call.name), canonical(call.args ?? {}));
      } else if (p.functionResponse) {
        const said = wild(wild(p.functionResponse).response);
        for (const part of list(wild(p.functionResponse).parts)) {
          into.media.push(text(wild(part.inlineData).data));
        }
        const isError = said.error !== undefined;
        book.result(text(wild(p.functionResponse).id), text(said.output) || text(said.error), isError);
      } else if (p.inlineData) into.media.push(text(wild(p.inlineData).data));
      else if (p.fileData) into.media.push(text(wild(p.fileData).fileUri));
      else if (text(p.text) !== "" && p.thought !== true) {
        const system = /^<system>\n([^]*)\n<\/system>$/.exec(text(p.text));
        into.words.push(system ? { role: "system", text: system[1] } : { role, text: text(p.text) });
      }
    }
  }
  for (const t of list(body.tools)) into.tools.push(...list(t.functionDeclarations).map(functionOf));
  const choice = wild(wild(body.toolConfig).functionCallingConfig);
  if (choice.mode === "ANY") {
    const names = choice.allowedFunctionNames;
    into.choice = !Array.isArray(names)
      ? "required"
      : names.length === 1
      ? `tool:${names[0]}`
      : `allowed:${names.sort()}`;
  } else if (choice.mode) into.choice = text(choice.mode).toLowerCase();
  const config = wild(body.generationConfig);
  if (config.responseMimeType) {
    into.json = config.responseJsonSchema ? canonical(config.responseJsonSchema) : "";
  }
  wish(into, body, { serviceTier: "service_tier" });
  wish(into, config, {
    temperature: "temperature",
    topP: "top_p",
    topK: "top_k",
    seed: "seed",
    frequencyPenalty: "frequency_penalty",
    presencePenalty: "presence_penalty",
    responseLogprobs: "logprobs",
    logprobs: "top_logprobs",
    candidateCount: "n",
    maxOutputTokens: "max",
    stopSequences: "stop",
    thinkingConfig: "effort",
  });
  return into;
}
