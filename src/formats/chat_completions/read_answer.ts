/**
 * Decodes complete text answers without parsing, if a similar one was parsed before. The parts are the same
 * as those of {@link decodeAnswer}.
 */
import { isNumber, isObject, type Loose } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { type PlaceKind, RepeatedAnswers } from "../wire/repeated_answer.ts";
import { decodeReport } from "./usage.ts";

/** The common parts of similar answers. */
interface Known {
  start: Extract<Part, { type: "start" }>;
  finish: Extract<Part, { type: "finish" }>;
  choice: number;
  /** The usage object, with the counts of the last answer. */
  usage: Loose;
  counts: Count[];
  service: string | undefined;
}

interface Count {
  /** The usage object or a nested object. */
  into: Loose;
  name: string;
  /** The current value. */
  value: number;
}

const TEXT = ["choices", "0", "message", "content"];

/** Ids and times of text answers do not occur in parts. */
function placeAt(path: readonly string[]): PlaceKind | null {
  const [first, ...rest] = path;
  // Deeper fields are not used.
  if (first === "usage") return rest.length === 0 ? null : rest.length > 3 ? "number" : "count";
  if (path.length === 1) return first === "id" ? "word" : first === "created" ? "number" : null;
  return path.length === TEXT.length && path.every((name, i) => name === TEXT[i]) ? "text" : null;
}

export class KnownAnswers {
  readonly #answers = new RepeatedAnswers<Known>(placeAt);

  /** All parts of an answer; null: no similar answer is known. */
  read(answer: string): Part[] | null {
    const found = this.#answers.find(answer);
    if (found === null) return null;
    const { known: { start, finish, choice, usage, counts, service }, text } = found;
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i];
      const value = found.counts[i];
      // Most counts equal those of the previous answer.
      if (count.value === value) continue;
      count.value = value;
      count.into[count.name] = value;
    }
    const report = decodeReport(usage, service);
    const parts: Part[] = [
      start.extra === undefined
        ? { ...start }
        : { ...start, extra: { ...start.extra, fields: { ...start.extra.fields } } },
      { type: "text-start", block: 0, choice },
      { type: "text-delta", block: 0, text },
      { type: "text-end", block: 0 },
    ];
    if (report !== null) parts.push(report);
    parts.push({ ...finish });
    return parts;
  }

  /** Remembers a parsed answer and its parts. */
  learn(answer: string, value: unknown, parts: readonly Part[]): void {
    if (parts.length !== 6 || !isObject(value) || !isObject(value.usage)) return;
    const [start, opening, delta, closing, report, finish] = parts;
    if (
      start.type !== "start" || opening.type !== "text-start" || delta.type !== "text-delta" ||
      closing.type !== "text-end" || report.type !== "usage" || finish.type !== "finish"
    ) return;
    if (
      opening.refusal !== undefined || delta.logprobs !== undefined || finish.extra !== undefined ||
      report.extra !== undefined || report.estimated !== undefined ||
      !Object.values(start.extra?.fields ?? {}).every((field) => typeof field === "string")
    ) return;
    const usage = { ...value.usage };
    for (const name of Object.keys(usage)) usage[name] = ownCopy(usage[name], 2);
    const keep = (paths: (readonly string[])[]): Known => ({
      // Cloned, since the reader of this answer may modify its parts.
      start: structuredClone(start),
      finish: structuredClone(finish),
      choice: opening.choice,
      usage,
      counts: paths.map((path) => countAt(path, usage)),
      service: report.service,
    });
    this.#answers.learn(answer, keep, () => JSON.stringify(this.read(answer)) === JSON.stringify(parts));
  }
}

/** A number that would be rounded is an object too, which must not be copied. */
function ownCopy(value: unknown, depth: number): unknown {
  if (!isObject(value) || isNumber(value)) return value;
  const copy: Loose = { ...value };
  if (depth > 1) { for (const name of Object.keys(copy)) copy[name] = ownCopy(copy[name], depth - 1); }
  return copy;
}

function countAt([, ...names]: readonly string[], usage: Loose): Count {
  const name = names.pop()!;
  // Arrays are not used either.
  const into = names.reduce<Loose>((held, inner) => isObject(held[inner]) ? held[inner] : {}, usage);
  return { into, name, value: -1 };
}
