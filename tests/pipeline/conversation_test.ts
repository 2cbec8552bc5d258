import { assert, assertEquals } from "@std/assert";
import type { Turn } from "../../src/exchange/prompt.ts";
import type { Call } from "../../src/pipeline/call.ts";
import { conversationOf } from "../../src/pipeline/conversation.ts";

const text = (role: Turn["role"], words: string) =>
  ({ role, content: [{ type: "text", text: words }] }) as Turn;

function call(
  turns: Turn[],
  more: {
    key?: string;
    cacheKey?: string;
    session?: string;
    sticky?: boolean;
    weight?: number | null;
    chars?: number;
    attachments?: number;
  } = {},
) {
  const { key = "k", cacheKey, session, sticky = true, weight = 1, chars = 2000, attachments = 0 } = more;
  const routes = ["a", "b"].map((provider) => ({ provider, model: "m", weight }));
  return {
    arrival: { key: { id: key } },
    prompt: { turns, cacheKey },
    model: { id: "x/y", stickyCache: sticky, routes },
    size: { chars, attachments },
    labels: session === undefined ? null : { tags: null, session },
  } as unknown as Call;
}

const FIRST = [text("system", "Be brief."), text("user", "Hello")];

Deno.test("conversationOf() is the same for every turn of a conversation", () => {
  const one = conversationOf(call(FIRST));
  assert(one !== null);
  assertEquals(conversationOf(call([...FIRST, text("assistant", "Hi"), text("user", "More")])), one);
});

Deno.test("conversationOf() differs by key, by beginning, and goes by the cache key where there is one", () => {
  const all = [
    call(FIRST),
    call(FIRST, { key: "other" }),
    call([text("system", "Be long."), text("user", "Hello")]),
    call([text("system", "Be brief."), text("user", "Goodbye")]),
    call(FIRST, { cacheKey: "session-1" }),
  ].map(conversationOf);
  assertEquals(new Set(all).size, all.length);
  assertEquals(conversationOf(call([text("user", "anything")], { cacheKey: "session-1" })), all[4]);
});

Deno.test("conversationOf() ignores the billing note of Claude Code, which differs in each request", () => {
  const noted = (cch: string) =>
    call([
      text("system", `x-anthropic-billing-header: cch=${cch};`),
      text("system", "Be brief."),
      text("user", "Hello"),
    ]);
  assertEquals(conversationOf(noted("ea6aa")), conversationOf(noted("71fea")));
});

Deno.test("conversationOf() goes by the session where there is no cache key", () => {
  const named = (first: string, more: { cacheKey?: string; key?: string; chars?: number } = {}) =>
    conversationOf(call([text("user", first)], { session: "run-1", ...more }));
  assertEquals(named("First task"), named("Another task", { chars: 10 }));
  const others = [named("a", { cacheKey: "c" }), named("a", { key: "other" }), conversationOf(call(FIRST))];
  assertEquals(new Set([named("a"), ...others]).size, 4);
});

Deno.test("conversationOf() is nothing where it is switched off, or where no routes share the load", () => {
  assertEquals(conversationOf(call(FIRST, { sticky: false })), null);
  assertEquals(conversationOf(call(FIRST, { weight: null })), null);
});

Deno.test("conversationOf() is nothing for a prompt that no provider caches, unless the caller names the conversation", () => {
  assertEquals(conversationOf(call(FIRST, { chars: 1023 })), null);
  assert(conversationOf(call(FIRST, { chars: 1024 })) !== null);
  assert(conversationOf(call(FIRST, { chars: 10, attachments: 1 })) !== null);
  assert(conversationOf(call(FIRST, { chars: 10, cacheKey: "session-1" })) !== null);
});

Deno.test("conversationOf() reads a bounded beginning of long texts", () => {
  const long = call([text("system", "s".repeat(1_000_000)), text("user", "u".repeat(1_000_000))]);
  assert(conversationOf(long)!.length < 10_000);
});
