/**
 * Stage: repairs arguments of tool calls that are not valid JSON, or whose values have other types than the
 * tool declares.
 *
 * Valid arguments are passed on as they arrive. From the first error on, the rest of a call's arguments and
 * its end are held back until the answer ends: only then is it known whether the model completed them or was
 * cut off. Arguments that cannot be repaired are passed on unchanged.
 */
import type { FinishReason, Part } from "../../exchange/part.ts";
import type { Tool } from "../../exchange/prompt.ts";
import { Declared } from "./declared.ts";
import { mend } from "./mend.ts";
import { ArgumentScanner } from "./scanner.ts";

/** Maximum length of arguments that are held back: a model that generates megabytes does not forget a bracket. */
const MOST_HELD = 1 << 20;
/** The model ended the answer itself. */
const BY_ITSELF: ReadonlySet<FinishReason> = new Set(["stop", "tool-calls", "stop-sequence"]);

interface CallState {
  choice: number;
  declared: Declared;
  scanner: ArgumentScanner;
  /** The arguments so far. */
  text: string;
  /** How much of them was passed on. */
  sent: number;
  ended: boolean;
}

/** @param mended called for each repaired call */
export async function* repairCalls(
  parts: AsyncGenerator<readonly Part[]>,
  tools: readonly Tool[],
  mended: () => void,
): AsyncGenerator<readonly Part[]> {
  const stage = new Repair(tools, mended);
  try {
    for await (const batch of parts) {
      const out = stage.take(batch);
      if (out.length > 0) yield out;
    }
  } catch (thrown) {
    const rest = stage.release(false);
    if (rest.length > 0) yield rest;
    throw thrown;
  }
  const rest = stage.release(false);
  if (rest.length > 0) yield rest;
}

class Repair {
  readonly #calls = new Map<number, CallState>();
  readonly #tools = new Map<string, Tool & { kind: "function" }>();
  readonly #mended: () => void;

  constructor(tools: readonly Tool[], mended: () => void) {
    for (const tool of tools) {
      if (tool.kind === "function") this.#tools.set(nameOf(tool), tool);
    }
    this.#mended = mended;
  }

  take(batch: readonly Part[]): readonly Part[] {
    if (this.#calls.size === 0 && !batch.some((part) => part.type === "call-start")) return batch;
    return batch.flatMap((part) => this.#one(part));
  }

  #one(part: Part): Part[] {
    switch (part.type) {
      case "call-start": {
        const tool = part.kind === "function" ? this.#tools.get(nameOf(part)) : undefined;
        if (tool) {
          const declared = Declared.of(tool.parameters);
          const scanner = new ArgumentScanner(declared);
          this.#calls.set(part.block, {
            choice: part.choice,
            declared,
            scanner,
            text: "",
            sent: 0,
            ended: false,
          });
        }
        return [part];
      }
      case "call-delta": {
        const call = this.#calls.get(part.block);
        return call ? this.#delta(part, call) : [part];
      }
      case "call-end": {
        const call = this.#calls.get(part.block);
        if (!call) return [part];
        if (!call.scanner.whole) {
          call.ended = true;
          return [];
        }
        this.#calls.delete(part.block);
        return [part];
      }
      case "finish":
        return [...this.release(BY_ITSELF.has(part.reason), part.choice), part];
      default:
        return [part];
    }
  }

  #delta(part: Extract<Part, { type: "call-delta" }>, call: CallState): Part[] {
    call.text += part.text;
    if (call.text.length > MOST_HELD) {
      const rest = call.text.slice(call.sent);
      this.#calls.delete(part.block);
      return rest === "" ? [] : [{ ...part, text: rest }];
    }
    if (call.scanner.fault === null) call.scanner.push(part.text);
    const { good } = call.scanner;
    if (good <= call.sent) return [];
    const text = call.text.slice(call.sent, good);
    call.sent = good;
    return [text === part.text ? part : { ...part, text }];
  }

  /**
   * Releases what was held back.
   *
   * @param complete the model ended its answer itself
   * @param choice the choice that has ended; absent: all
   */
  release(complete: boolean, choice?: number): Part[] {
    const out: Part[] = [];
    for (const [block, call] of this.#calls) {
      if (choice !== undefined && call.choice !== choice) continue;
      this.#calls.delete(block);
      const { declared, text, sent, ended } = call;
      const good = ended ? mend(text, declared, { complete }) : null;
      // White space after the object may have been passed on.
      const passed = text.slice(0, sent);
      const begins = good !== null && (good.startsWith(passed) || good === passed.trimEnd());
      if (begins && good !== text) this.#mended();
      const rest = (begins ? good : text).slice(sent);
      if (rest !== "") out.push({ type: "call-delta", block, text: rest });
      if (ended) out.push({ type: "call-end", block });
    }
    return out;
  }
}

function nameOf({ name, namespace = "" }: { name: string; namespace?: string }): string {
  return `${namespace}\n${name}`;
}
