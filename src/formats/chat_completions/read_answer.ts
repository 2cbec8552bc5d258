/**
 * Whole answers of one text, read without parsing where one like it was parsed before: the same parts as
 * {@link decodeAnswer} makes.
 */
import { isNumber, isObject, type Loose } from "../../exchange/json.ts";
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
  service: string | undefined;
}

interface Count {
  /** The report, or what it holds. */
  into: Loose;
  name: string;
  /** What is there. */
  value: number;
}

const TEXT = ["choices", "0", "message", "content"];

/** Ids and times of text answers are in no part. */
function placeAt(path: readonly string[]): PlaceKind | null {
  const [first, ...rest] = path;
  // Nobody reads what stands deeper.
  if (first === "usage") return rest.length === 0 ? null : rest.length > 2 ? "number" : "count";
  if (path.length === 1) return first === "id" ? "word" : first === "created" ? "number" : null;
  return path.length === TEXT.length && path.every((name, i) => name === TEXT[i]) ? "text" : null;
}

export class KnownAnswers {
  readonly #answers = new RepeatedAnswers<Known>(placeAt);

  /** All parts of an answer; null: no answer like it is known. */
  read(answer: string): Part[] | null {
    const found = this.#answers.find(answer);
    if (found === null) return null;
    const { known: { start, finish, choice, usage, counts, service }, text } = found;
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i];
      const value = found.counts[i];
      // Most are those of the answer before.
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
    for (const name of Object.keys(usage)) usage[name] = ownCopy(usage[name]);
    const keep = (paths: (readonly string[])[]): Known => ({
      // Those of this answer are its reader's to change.
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

/** A number that would be rounded is an object too, and a copy of it would be no number. */
function ownCopy(value: unknown): unknown {
  return isObject(value) && !isNumber(value) ? { ...value } : value;
}

function countAt([, name, within]: readonly string[], usage: Loose): Count {
  if (within === undefined) return { into: usage, name, value: -1 };
  const held = usage[name];
  // Nobody reads lists either.
  return { into: isObject(held) ? held : {}, name: within, value: -1 };
}
