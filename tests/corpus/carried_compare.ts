/** What a caller's request says and a provider's body does not, after what the gateway said it dropped. */
import { canonical, type Carried } from "./carried.ts";

export type Target = "chat_completions" | "messages" | "responses" | "gemini" | "converse";

/** Fields' names in each caller format, as `x-svc-dropped` lists them. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  stop: ["stop", "stop_sequences"],
  effort: ["reasoning_effort", "reasoning", "thinking"],
  parallel: ["parallel_tool_calls", "tool_choice"],
  logprobs: ["logprobs", "include"],
  verbosity: ["verbosity", "text"],
};

/** Wishes that no answer depends on: they may go without a word, where the API has no place for them. */
const SILENT: ReadonlySet<string> = new Set(["user", "metadata", "prompt_cache_key"]);

/** Values that mean what one gets anyway. */
function isDefault(name: string, value: unknown): boolean {
  switch (name) {
    case "temperature":
    case "top_p":
    case "n":
      return value === 1;
    case "frequency_penalty":
    case "presence_penalty":
    case "top_logprobs":
      return value === 0;
    case "logprobs":
      return value === false;
    case "parallel":
      return value === true;
    case "service_tier":
      return ["auto", "default", "standard", "standard_only"].includes(String(value));
    case "verbosity":
      return value === "medium";
    case "effort":
      return value === "none";
  }
  return Array.isArray(value) ? value.length === 0 : canonical(value) === "{}";
}

export function losses(said: Carried, got: Carried, target: Target, dropped: readonly string[]): string[] {
  const lost: string[] = [];
  const isDropped = (name: string) => (FIELDS[name] ?? [name]).some((field) => dropped.includes(field));
  lost.push(...wordsLost(said, got));
  const whole = canonical(got.words.map((w) => w.text));
  for (const media of said.media) {
    if (got.media.includes(media)) continue;
    // Bytes of a text document may be told as text.
    const decoded = decode(media);
    if (decoded === undefined || !whole.includes(canonical(decoded.trim()).slice(1, -1))) {
      lost.push(`media ${media.slice(0, 40)}`);
    }
  }
  if (got.media.length > said.media.length) lost.push("media twice");
  const inOrder = said.media.filter((m) => got.media.includes(m));
  if (canonical([...new Set(inOrder)]) !== canonical([...new Set(got.media)])) {
    lost.push("the order of media");
  }

  lost.push(...callsLost(said, got));
  for (const stray of said.strays) {
    if (!got.words.some((w) => w.text.includes(stray)) && !got.strays.includes(stray)) {
      lost.push("a stray result");
    }
  }
  const only = /^allowed:/.test(said.choice ?? "") ? said.choice!.slice(8).split(",") : undefined;
  for (const tool of said.tools) {
    // There is no choice of none: what nobody may call is not declared.
    if (target === "converse" && said.choice === "none" && got.tools.length === 0) break;
    if (only && !only.includes(tool.name)) continue;
    const same = got.tools.filter((t) =>
      t.name.endsWith(tool.name) || t.name === tool.name.replace(/[^\w-]/g, "_")
    );
    if (same.length === 0) lost.push(`tool ${tool.name}`);
    else if (!same.some((t) => sameTool(tool, t, target))) {
      lost.push(`schema or description of tool ${tool.name}`);
    }
  }
  if (said.choice !== undefined && got.tools.length > 0 && !sameChoice(said, got)) {
    if (!isDropped("tool_choice")) lost.push(`choice ${said.choice}, got ${got.choice}`);
  }
  if (said.json !== undefined && !sameJson(said.json, got)) lost.push("the answer's shape");
  for (const [name, value] of Object.entries(said.wishes)) {
    if (isDefault(name, value) || isDropped(name)) continue;
    const found = got.wishes[name];
    if (found === undefined) {
      if (name === "n" || (name === "parallel" && got.tools.length === 0)) continue;
      if (!SILENT.has(name)) lost.push(`${name} ${canonical(value).slice(0, 60)}`);
    } else if (!sameWish(name, value, found)) {
      lost.push(`${name} ${canonical(value)}, got ${canonical(found)}`);
    }
  }
  if (target === "messages" || (target === "converse" && !dropped.includes("cache_control"))) {
    for (const mark of said.marks.length <= 4 ? said.marks : said.marks.slice(0, 2)) {
      if (!got.marks.some((m) => m.includes(mark.trim()))) {
        lost.push(`the cache mark on ${mark.slice(0, 30)}`);
      }
    }
  }
  return lost;
}

/** Every text in its order: what the system says apart from what the other two say to each other. */
function wordsLost(said: Carried, got: Carried): string[] {
  const lost: string[] = [];
  for (const system of [true, false]) {
    const theirs = got.words.filter((w) => (w.role === "system") === system);
    let at = 0;
    let from = 0;
    for (const word of said.words.filter((w) => (w.role === "system") === system)) {
      const wanted = word.text.trim();
      if (wanted === "") continue;
      let k = at;
      let start = from;
      let found = -1;
      for (; k < theirs.length; k++, start = 0) {
        if (theirs[k].role !== word.role) continue;
        found = theirs[k].text.indexOf(wanted, start);
        if (found >= 0) break;
      }
      if (found < 0) {
        // A prompt of system text alone is the user's words where an API wants some.
        const asUser = system && got.words.some((w) => w.text.includes(wanted)) &&
          said.words.every((w) => w.role === "system");
        if (!asUser) lost.push(`${word.role}'s text ${JSON.stringify(word.text.slice(0, 40))}`);
      } else {
        at = k;
        from = found + wanted.length;
      }
    }
  }
  return lost;
}

function callsLost(said: Carried, got: Carried): string[] {
  const lost: string[] = [];
  if (got.calls.length !== said.calls.length) return [`calls: ${said.calls.length}, got ${got.calls.length}`];
  said.calls.forEach((call, i) => {
    const other = got.calls[i];
    const wrapped = canonical({ input: call.input });
    if (call.input !== other.input && wrapped !== other.input) lost.push(`arguments of call ${i}`);
    if (!other.name.endsWith(call.name) && other.name !== call.name.replace(/[^\w-]/g, "_")) {
      lost.push(`name of call ${i}`);
    }
    if (!call.result) return;
    if (!other.result) return void lost.push(`result of call ${i}`);
    const squeezed = (t: string) => t.replace(/\s+/g, "");
    if (!squeezed(other.result.text).includes(squeezed(call.result.text))) lost.push(`text of result ${i}`);
    if (call.result.isError && !other.result.isError && !/^\W*error/i.test(other.result.text)) {
      lost.push(`failure of result ${i}`);
    }
  });
  return lost;
}

function sameTool(tool: Carried["tools"][0], other: Carried["tools"][0], target: Target): boolean {
  if (!other.description.includes(tool.description)) return false;
  if (tool.schema === "custom") return other.schema === "custom" || /"input":\{/.test(other.schema);
  if (tool.schema === other.schema || tool.schema === "{}") return true;
  const schema = JSON.parse(tool.schema);
  // OpenAI refuses a function without properties.
  if (schema.properties === undefined && other.schema === canonical({ ...schema, properties: {} })) {
    return true;
  }
  // Alternatives at the top become one object.
  const alternatives = ["anyOf", "oneOf", "allOf", "$ref"].some((key) => key in schema);
  if (target !== "messages" && target !== "converse" && !alternatives) return false;
  const names = (s: string) => Object.keys(JSON.parse(s).properties ?? {});
  return names(tool.schema).every((name) => names(other.schema).includes(name));
}

function sameChoice(said: Carried, got: Carried): boolean {
  const { choice } = said;
  if (choice === got.choice || (choice === "auto" && got.choice === undefined)) return true;
  const name = (c: string) => c.slice(c.indexOf(":") + 1);
  if (choice!.startsWith("tool:")) {
    return got.choice?.startsWith("tool:") === true && name(got.choice).endsWith(name(choice!));
  }
  if (choice!.startsWith("allowed:")) {
    const names = name(choice!).split(",");
    // Gemini has one form for one tool and for a choice among one.
    if (got.choice?.startsWith("tool:")) return names.length === 1 && name(got.choice).endsWith(names[0]);
    return got.tools.every((t) => names.some((n) => t.name.endsWith(n)));
  }
  return false;
}

/** Natively, or as words of the system that hold the schema. */
function sameJson(json: string, got: Carried): boolean {
  const words = got.words.some((w) => /JSON/.test(w.text));
  if (json === "") return got.json !== undefined || words;
  if (got.json === json || (got.json === "" && words)) return true;
  const properties = (s: string) => canonical(Object.keys(JSON.parse(s || "{}").properties ?? {}).sort());
  if (got.json !== undefined && properties(got.json) === properties(json)) return true;
  return got.words.some((w) => {
    const at = w.text.indexOf("{");
    try {
      return at >= 0 && canonical(JSON.parse(w.text.slice(at))) === json;
    } catch {
      return false;
    }
  });
}

function sameWish(name: string, value: unknown, found: unknown): boolean {
  switch (name) {
    case "effort":
      return true;
    case "max":
      return Number(found) <= Math.max(Number(value), 16);
    case "temperature":
      return found === Math.min(Number(value), found === 1 ? 1 : 2);
    case "seed":
      return Number(found) === Number(value) % 0x80000000;
    case "stop":
      return (found as unknown[]).every((s) => (value as unknown[]).includes(s));
    case "user":
    case "service_tier":
      return true;
  }
  return canonical(value) === canonical(found);
}

function decode(base64: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(base64));
  } catch {
    return undefined;
  }
}
