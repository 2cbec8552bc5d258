/** The worker that runs the model. The runtime and the model are loaded with the first job. */
import type { WorkerReply } from "../../timing/worker_line.ts";
import { entitiesOf, type ModelFinding } from "./entities_of_pieces.ts";
import { type Label, readLabel } from "./labels.ts";
import { type Piece, WordPiece } from "./wordpiece.ts";

export interface ModelJob {
  /** Path of the ONNX file; `vocab.txt` and `config.json` are in the same folder. */
  path: string;
  texts: readonly string[];
}

/** Findings of each text. */
export type ModelResult = ModelFinding[][];

/** Declared by hand because the program's types are those of the main thread, whose `self` differs. */
declare const self: {
  onmessage: (event: MessageEvent<ModelJob & { id: number }>) => void;
  postMessage(reply: WorkerReply<ModelResult>): void;
};

/** Pieces per window, and the overlap between windows. */
const WINDOW = 254;
const OVERLAP = 32;

/**
 * 140 MB that few gateways need. If the import contained a literal, the image and the binary would include
 * the package, and `deno run` would download it for every gateway.
 */
const RUNTIME: string = "onnxruntime-web/wasm";

/** The part of its interface that is used. */
interface Runtime {
  env: { wasm: { numThreads?: number } };
  InferenceSession: { create(model: Uint8Array): Promise<Session> };
  Tensor: new (type: "int64", data: BigInt64Array, shape: number[]) => unknown;
}

interface Session {
  inputNames: readonly string[];
  outputNames: readonly string[];
  run(feeds: Record<string, unknown>): Promise<Record<string, { data: unknown }>>;
}

interface Loaded {
  tokenizer: WordPiece;
  labels: Label[];
  run(ids: number[]): Promise<Float32Array>;
}

let loaded: Promise<Loaded> | undefined;

async function load(path: string): Promise<Loaded> {
  const folder = path.replace(/[^/\\]*$/, "");
  const { id2label, do_lower_case } = JSON.parse(await Deno.readTextFile(`${folder}config.json`));
  const vocabulary = (await Deno.readTextFile(`${folder}vocab.txt`)).replace(/\r?\n$/, "").split(/\r?\n/);
  const labels = Object.keys(id2label).sort((a, b) => Number(a) - Number(b)).map((id) =>
    readLabel(id2label[id])
  );
  // The runtime resolves its files relative to the page's origin, which a worker does not have.
  Object.defineProperty(globalThis, "location", { value: undefined, configurable: true });
  const ort: Runtime = await import(RUNTIME);
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(await Deno.readFile(path));
  return {
    tokenizer: new WordPiece(vocabulary, { lowercase: do_lower_case ?? !vocabulary.includes("The") }),
    labels,
    async run(ids) {
      const tensor = (value: (i: number) => bigint) =>
        new ort.Tensor("int64", BigInt64Array.from(ids, (_, i) => value(i)), [1, ids.length]);
      const feeds: Record<string, unknown> = {};
      for (const name of session.inputNames) {
        feeds[name] = tensor((i) => name.includes("mask") ? 1n : name.includes("type") ? 0n : BigInt(ids[i]));
      }
      const answer = await session.run(feeds);
      const scores = answer[session.outputNames[0]].data;
      if (!(scores instanceof Float32Array) || scores.length !== ids.length * labels.length) {
        throw new Error("the model's answer is not a row of scores for each piece");
      }
      return scores;
    },
  };
}

async function find({ tokenizer, labels, run }: Loaded, text: string): Promise<ModelFinding[]> {
  const pieces = [...tokenizer.pieces(text)];
  const found = new Map<string, ModelFinding>();
  for (let at = 0; at < pieces.length; at += WINDOW - OVERLAP) {
    const window: Piece[] = pieces.slice(at, at + WINDOW);
    const scores = await run([tokenizer.first, ...window.map(({ id }) => id), tokenizer.last]);
    // The first and the last row belong to the special tokens around the text.
    const rows = scores.subarray(labels.length, scores.length - labels.length);
    for (const one of entitiesOf(text, window, rows, labels)) {
      const key = `${one.type} ${one.start}`;
      const known = found.get(key);
      if (!known || known.end < one.end) found.set(key, one);
    }
    if (at + WINDOW >= pieces.length) break;
  }
  return [...found.values()];
}

self.onmessage = async ({ data: { id, path, texts } }) => {
  try {
    const model = await (loaded ??= load(path));
    const result: ModelResult = [];
    for (const text of texts) result.push(await find(model, text));
    self.postMessage({ id, result });
  } catch {
    self.postMessage({ id, result: null });
  }
};
