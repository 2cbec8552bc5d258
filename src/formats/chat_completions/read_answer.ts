/**
 * Whole answers of one text, read without parsing where one like it was parsed before: the same parts as
 * {@link decodeAnswer} makes.
 */
import { isObject, type Loose } from "../../exchange/json.ts";
import type { Part } from "../../exchange/part.ts";
import { type PlaceKind, RepeatedAnswers } from "../repeated_answer.ts";
import { decodeReport } from "./usage.ts";

/** What all answers of one kind have in common. */
interface Known {
  start: Extract<Part, { type: "start" }>;
  finish: Extract<Part, { type: "finish" }>;
  choice: number;
  /** The provider's report, with the counts of the answer that was read last. */
  usage: Loose;
  counts: Count[];
}

interface Count {
  /** The report, or what it holds. */
  into: Loose;
  name: string;
  /** What is there. */
  value: number;
}

/** Ids and times of text answers are in no part. */
function placeAt(path: readonly string[]): PlaceKind | null {
  const [first, ...rest] = path;
  if (first === "usage") return rest.length > 0 ? "count" : null;
  if (path.length === 1) return first === "id" ? "word" : first === "created" ? "number" : null;
  return path.join() === "choices,0,message,content" ? "text" : null;
}

export class KnownAnswers {
  readonly #answers = new RepeatedAnswers<Known>(placeAt);

  /** All parts of an answer; null: no answer like it is known. */
  read(answer: string): Part[] | null {
    const found = this.#answers.find(answer);
    if (found === null) return null;
    const { known: { start, finish, choice, usage, counts }, text } = found;
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i];
      const value = found.counts[i];
      // Most are those of the answer before.
      if (count.value === value) continue;
      count.value = value;
      count.into[count.name] = value;
    }
    const report = decodeReport(usage);
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

  /** An answer that was parsed, and the parts that were made of it. */
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
    for (const name of Object.keys(usage)) if (isObject(usage[name])) usage[name] = { ...usage[name] };
    const keep = (paths: (readonly string[])[]): Known => ({
      // Those of this answer are its reader's to change.
      start: structuredClone(start),
      finish: structuredClone(finish),
      choice: opening.choice,
      usage,
      counts: paths.map((path) => countAt(path, usage)),
    });
    this.#answers.learn(answer, keep, () => JSON.stringify(this.read(answer)) === JSON.stringify(parts));
  }
}

/** Nobody reads what stands deeper. */
function countAt([, name, within, ...deeper]: readonly string[], usage: Loose): Count {
  if (within === undefined) return { into: usage, name, value: -1 };
  const held = usage[name];
  return { into: deeper.length === 0 && isObject(held) ? held : {}, name: within, value: -1 };
}
