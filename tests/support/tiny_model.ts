/**
 * A model for tokens as small as one can be: a table of scores, a row for each piece of the vocabulary. It shows the way that
 * a real model's findings take; it has learnt nothing. ONNX files are protocol buffers, written here field by field.
 */
import { Buffer } from "node:buffer";

const LABELS = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC"];
const WORDS: Record<string, string> = {
  ada: "B-PER",
  love: "I-PER",
  "##lace": "I-PER",
  acme: "B-ORG",
  corp: "I-ORG",
  london: "B-LOC",
  works: "O",
  for: "O",
  in: "O",
};
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];

function varint(n: number): Buffer {
  const bytes = [];
  for (; n > 127; n = Math.floor(n / 128)) bytes.push(n % 128 + 128);
  return Buffer.from([...bytes, n]);
}

function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === "number") return Buffer.concat([varint(number * 8), varint(value)]);
  const bytes = Buffer.from(value as string);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

const message = (...fields: Buffer[]) => Buffer.concat(fields);
const FLOAT = 1;
const INT64 = 7;

function tensorInfo(name: string, type: number, shape: (number | string)[]): Buffer {
  const dims = shape.map((dim) => field(1, typeof dim === "number" ? field(1, dim) : field(2, dim)));
  return message(field(1, name), field(2, field(1, message(field(1, type), field(2, message(...dims))))));
}

/** Writes `model.onnx`, `vocab.txt` and `config.json`; answers the model's path. */
export async function writeTinyModel(folder: string): Promise<string> {
  const vocabulary = [...SPECIAL, ...Object.keys(WORDS)];
  const scores = new Float32Array(vocabulary.length * LABELS.length);
  vocabulary.forEach((piece, i) => scores[i * LABELS.length + LABELS.indexOf(WORDS[piece] ?? "O")] = 8);
  const table = message(
    field(1, vocabulary.length),
    field(1, LABELS.length),
    field(2, FLOAT),
    field(8, "scores"),
    field(9, Buffer.from(scores.buffer)),
  );
  const gather = message(field(1, "scores"), field(1, "input_ids"), field(2, "logits"), field(4, "Gather"));
  const graph = message(
    field(1, gather),
    field(2, "tiny"),
    field(5, table),
    field(11, tensorInfo("input_ids", INT64, [1, "pieces"])),
    field(12, tensorInfo("logits", FLOAT, [1, "pieces", LABELS.length])),
  );
  const model = message(field(1, 8), field(7, graph), field(8, message(field(1, ""), field(2, 13))));
  await Deno.writeFile(`${folder}/model.onnx`, Uint8Array.from(model));
  await Deno.writeTextFile(`${folder}/vocab.txt`, vocabulary.join("\n") + "\n");
  const id2label = Object.fromEntries(LABELS.map((label, i) => [i, label]));
  await Deno.writeTextFile(`${folder}/config.json`, JSON.stringify({ id2label, do_lower_case: true }));
  return `${folder}/model.onnx`;
}
