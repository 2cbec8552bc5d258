/** When frames without content are a flood. */
import { assertThrows } from "@std/assert";
import { ConnectionError } from "../../../src/outgoing/http2/connection_error.ts";
import { IdleFrames } from "../../../src/outgoing/http2/idle_frames.ts";

function counting() {
  let at = 0;
  const frames = new IdleFrames(() => at);
  return {
    frames,
    add(count: number) {
      for (let i = 0; i < count; i++) frames.add();
    },
    pass: (ms: number) => void (at += ms),
  };
}

Deno.test("IdleFrames allows 10,000 frames without content within ten seconds, and no more", () => {
  const { frames, add, pass } = counting();
  add(5000);
  pass(9999);
  add(5000);
  assertThrows(() => frames.add(), ConnectionError, "too many frames");
});

Deno.test("IdleFrames counts anew after ten seconds", () => {
  const { frames, add, pass } = counting();
  for (let round = 0; round < 5; round++) {
    add(10_000);
    pass(10_000);
    add(1);
  }
  add(10_000);
  assertThrows(() => frames.add(), ConnectionError);
});

Deno.test("IdleFrames allows four more frames for each frame of content", () => {
  const { frames, add } = counting();
  add(10_000);
  frames.content(100);
  add(400);
  assertThrows(() => frames.add(), ConnectionError);
});
