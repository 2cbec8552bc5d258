/**
 * An optional recognizer for names, addresses and organisations: a model provided by the operator, run in a
 * worker. It is used only for texts that are screened for one of these types.
 */
import { WorkerLine } from "../../timing/worker_line.ts";
import type { ModelFinding } from "./entities_of_pieces.ts";
import type { ModelJob, ModelResult } from "./model_worker.ts";
import { startThread } from "../../timing/start_thread.ts";

export interface EntityModel {
  /** The findings in each text; null: the model failed or timed out. */
  find(texts: readonly string[]): Promise<Map<string, ModelFinding[]> | null>;
  close(): void;
}

/** Time limit for all texts of a request, including loading of the model, in milliseconds. */
const LIMIT_MS = 20_000;
const IDLE_MS = 600_000;
const MOST_WAITING = 64;

/** @param path path of the ONNX file */
export function openModel(path: string): EntityModel {
  const line = new WorkerLine<ModelJob, ModelResult>({
    start: () => startThread(new URL("./model_worker.ts", import.meta.url)),
    limitMs: LIMIT_MS,
    idleMs: IDLE_MS,
    mostWaiting: MOST_WAITING,
  });
  return {
    async find(texts) {
      const found = await line.run({ path, texts });
      return found && new Map(texts.map((text, i) => [text, found[i]]));
    },
    close: () => line.close(),
  };
}
