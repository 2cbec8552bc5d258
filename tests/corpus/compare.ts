/** Whether a caller got what the provider said, as far as the caller's format can show it. */
import type { CallerAnswer, CallerName } from "./caller.ts";
import type { AnswerReading, CallReading, ChoiceReading, Counts, Stop } from "./reading.ts";

/** Words of each format for why an answer ended. */
const STOPS: Readonly<Record<CallerName, Readonly<Record<Stop, string[]>>>> = {
  chat_completions: {
    "stop": ["stop"],
    "tool-calls": ["tool_calls"],
    "stop-sequence": ["stop"],
    "length": ["length"],
    "content-filter": ["content_filter"],
    "refusal": ["content_filter", "stop"],
    "pause": ["stop", "length"],
  },
  messages: {
    "stop": ["end_turn"],
    "tool-calls": ["tool_use"],
    "stop-sequence": ["stop_sequence"],
    "length": ["max_tokens", "model_context_window_exceeded"],
    "content-filter": ["refusal"],
    "refusal": ["refusal"],
    "pause": ["pause_turn"],
  },
  responses: {
    "stop": ["completed"],
    "tool-calls": ["completed"],
    "stop-sequence": ["completed"],
    "length": ["incomplete: max_output_tokens"],
    "content-filter": ["incomplete: content_filter"],
    "refusal": ["incomplete: content_filter", "completed"],
    "pause": ["incomplete: max_output_tokens", "completed"],
  },
};

/**
 * What differs, in words; empty when nothing does.
 * @param same the caller's format is the provider's own: not even blocks without a word in other formats may be lost
 */
export function differences(
  wanted: AnswerReading,
  got: CallerAnswer,
  format: CallerName,
  { same }: { same: boolean },
): string[] {
  const found: string[] = [];
  if (same && wanted.kinds && `${wanted.kinds}` !== `${got.kinds}`) {
    found.push(`kinds: ${wanted.kinds}, got ${got.kinds}`);
  }
  // Only chat-completions has more than one choice.
  const choices = format === "chat_completions" ? wanted.choices : wanted.choices.slice(0, 1);
  if (got.choices.length !== Math.max(choices.length, 1)) {
    found.push(`choices: ${choices.length}, got ${got.choices.length}`);
    return found;
  }
  choices.forEach((choice, i) => {
    const mine = got.choices[i];
    // Messages has no place of its own for a refusal: it is text there.
    const text = format === "messages" ? choice.text + choice.refusal : choice.text;
    const shown = withoutMedia(mine.text);
    if (!sameText(text, shown)) found.push(`text: ${clip(text)}, got ${clip(shown)}`);
    if (format !== "messages" && !fairRefusal(choice, mine.refusal)) {
      found.push(`refusal: ${clip(choice.refusal || choice.explanation)}, got ${clip(mine.refusal)}`);
    }
    const loose = choice.reasoning.length > 1 || mine.reasoning.length > 1;
    if (joined(choice.reasoning, loose) !== joined(mine.reasoning, loose)) {
      found.push(`reasoning: ${clip(choice.reasoning.join("|"))}, got ${clip(mine.reasoning.join("|"))}`);
    }
    found.push(...callDifferences(choice.calls, mine.calls));
    const stops = choice.stops.flatMap((s) => STOPS[format][s]);
    if (!stops.includes(mine.stop)) found.push(`stop: ${stops.join(" or ")}, got ${mine.stop}`);
    found.push(...citationDifferences(choice, mine.citations));
  });
  found.push(...usageDifferences(wanted, got));
  if ((wanted.searches ?? 0) !== (got.searches ?? 0)) {
    found.push(`searches: ${wanted.searches}, got ${got.searches}`);
  }
  return found;
}

/** A provider that refuses without a word may be given one, so that the answer is not blank. */
function fairRefusal(choice: ChoiceReading, shown: string): boolean {
  if (choice.refusal !== "") return shown === choice.refusal;
  return shown === "" || shown === choice.explanation ||
    (choice.stops.includes("refusal") && choice.explanation === "");
}

function clip(value: string): string {
  return JSON.stringify(value.length > 160 ? `${value.slice(0, 80)}…${value.slice(-79)}` : value);
}

/** A whole JSON answer may have been written anew (one dialect sends an object where a string belongs). */
function sameText(wanted: string, got: string): boolean {
  return wanted === got || (/^\s*[{[]/.test(wanted) && canonical(wanted) === canonical(got));
}

/** A format without a place for images and sound shows them as links. */
function withoutMedia(text: string): string {
  return text.replaceAll(/!?\[(?:image|audio)\]\(data:[^)]*\)/g, "");
}

/** @param loose separate pieces are joined with line ends of each format's own choice: white space does not count */
function joined(pieces: string[], loose: boolean): string {
  return loose ? pieces.join("\n").replaceAll(/\s+/g, " ").trim() : pieces.join("");
}

function callDifferences(wanted: CallReading[], got: CallReading[]): string[] {
  if (wanted.length !== got.length) {
    return [`calls: ${wanted.map((c) => c.name)}, got ${got.map((c) => c.name)}`];
  }
  return wanted.flatMap((call, i) => {
    const mine = got[i];
    if (call.name !== mine.name) return [`call ${i}: ${call.name}, got ${mine.name}`];
    // Where only an object will do, freeform text and arguments that were cut are packed into one.
    const packed = canonical(mine.arguments) === canonical(JSON.stringify({ input: call.arguments }));
    const same = call.custom
      ? mine.custom ? call.arguments === mine.arguments : packed
      : canonical(call.arguments || "{}") === canonical(mine.arguments || "{}") ||
        (packed && !isJson(call.arguments));
    if (same) return [];
    return [`arguments of ${call.name}: ${clip(call.arguments)}, got ${clip(mine.arguments)}`];
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON with its keys in order; other text as it is. */
function canonical(json: string): string {
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted)
      : value !== null && typeof value === "object"
      ? Object.fromEntries(
        Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([k, v]) => [k, sorted(v)]),
      )
      : value;
  try {
    return JSON.stringify(sorted(JSON.parse(json)));
  } catch {
    return json;
  }
}

function citationDifferences(wanted: ChoiceReading, got: { url: string; title?: string }[]): string[] {
  const found: string[] = [];
  for (const { url, title } of wanted.citations) {
    const mine = got.find((c) => c.url === url);
    if (!mine) found.push(`citation: ${url} is missing`);
    else if (title && !got.some((c) => c.url === url && c.title === title)) {
      found.push(`citation: title ${clip(title)}, got ${clip(mine.title ?? "")}`);
    }
  }
  const known = new Set([...wanted.citations.map((c) => c.url), ...wanted.mayCite]);
  for (const { url } of got) if (!known.has(url)) found.push(`citation: ${url} was never cited`);
  return found;
}

function usageDifferences(wanted: AnswerReading, got: CallerAnswer): string[] {
  const { usage } = wanted;
  if (usage === null) {
    const said = wanted.choices.some((c) => c.text !== "" || c.calls.length > 0);
    if (said && (got.usage === null || got.usage.output <= 0)) return ["usage: no estimate for an answer"];
    return [];
  }
  if (got.usage === null) return ["usage: missing"];
  const found: string[] = [];
  for (const kind of Object.keys(usage) as (keyof Counts)[]) {
    const mine = got.usage[kind] ?? 0;
    if (mine === usage[kind] || (kind === "output" && mine === wanted.outputToo)) continue;
    // The responses format has had a place for cache writes only since 2026.
    if (kind === "cacheWrite" && got.usage.cacheWrite === undefined) continue;
    found.push(`usage.${kind}: ${usage[kind]}, got ${mine}`);
  }
  return found;
}
