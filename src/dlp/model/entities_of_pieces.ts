/**
 * Converts scores of pieces to entities: adjacent pieces of one type are one entity, whose confidence is
 * their average.
 */
import type { Label } from "./labels.ts";
import type { Piece } from "./wordpiece.ts";

export interface ModelFinding {
  type: string;
  start: number;
  end: number;
  confidence: number;
}

const SURE = 0.5;

interface Open extends ModelFinding {
  pieces: number;
}

/** @param scores logits, one row of labels per piece */
export function entitiesOf(
  text: string,
  pieces: readonly Piece[],
  scores: Float32Array,
  labels: readonly Label[],
): ModelFinding[] {
  const found: ModelFinding[] = [];
  let open: Open | null = null;
  for (const [i, { start, end }] of pieces.entries()) {
    const { label, probability } = best(scores.subarray(i * labels.length, (i + 1) * labels.length));
    const { type, begins } = labels[label];
    const inWord = i > 0 && pieces[i - 1].end === start;
    const last = open as Open | null;
    // Further pieces of a word belong to the entity, whatever their label.
    if (last && inWord && /[\p{L}\p{N}]/u.test(text[start])) {
      last.end = end;
      last.confidence += type === last.type ? probability : 0;
      last.pieces++;
    } else if (last && type === last.type && !begins && /^[\s.'’-]{0,2}$/.test(text.slice(last.end, start))) {
      last.end = end;
      last.confidence += probability;
      last.pieces++;
    } else {
      if (last) close(last, found);
      open = type === null ? null : { type, start, end, confidence: probability, pieces: 1 };
    }
  }
  if (open !== null) close(open, found);
  return found;
}

function close({ type, start, end, confidence, pieces }: Open, found: ModelFinding[]): void {
  if (confidence / pieces < SURE) return;
  found.push({ type, start, end, confidence: Math.round(confidence / pieces * 100) / 100 });
}

function best(row: Float32Array): { label: number; probability: number } {
  let label = 0;
  for (let i = 1; i < row.length; i++) if (row[i] > row[label]) label = i;
  let sum = 0;
  for (const score of row) sum += Math.exp(score - row[label]);
  return { label, probability: 1 / sum };
}
