/** Checks that parts keep the contract of exchange/part.ts. */
import { assert, assertEquals } from "@std/assert";
import type { Part } from "../../../src/exchange/part.ts";
import { withoutLive } from "../../support/live.ts";

/** @param whole the answer ended well: everything is closed, and each choice has its finish */
export function assertLegal(all: readonly Part[], { whole = true } = {}): void {
  const parts = withoutLive(all);
  const open = new Map<number, { kind: string; choice: number }>();
  const used = new Set<number>();
  const finished = new Set<number>();
  const choices = new Set<number>();
  parts.forEach((part, i) => {
    assertEquals(part.type === "start", i === 0, `start comes once and first, part ${i} is ${part.type}`);
    if ("choice" in part && "block" in part) {
      assert(!finished.has(part.choice), `${part.type} after the finish of its choice`);
      assert(!used.has(part.block), `block ${part.block} twice`);
      used.add(part.block);
      choices.add(part.choice);
    }
    const [kind, step] = part.type.split("-");
    if (step === "start" && "choice" in part && "block" in part) {
      open.set(part.block, { kind, choice: part.choice });
    } else if ((step === "delta" || step === "end") && "block" in part) {
      assertEquals(open.get(part.block)?.kind, kind, `${part.type} without its start`);
      if (step === "end") open.delete(part.block);
    } else if (part.type === "citation") {
      assertEquals(open.get(part.block)?.kind, "text", "a citation outside a text");
    } else if (part.type === "finish") {
      assert(!finished.has(part.choice), "two finishes");
      finished.add(part.choice);
      assert(![...open.values()].some((b) => b.choice === part.choice), "finish before an end");
    }
  });
  if (!whole) return;
  assertEquals(open.size, 0, "a block was not ended");
  assert(finished.size > 0, "no finish");
  for (const choice of choices) assert(finished.has(choice), `choice ${choice} has no finish`);
}
