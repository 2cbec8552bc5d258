/** Bodies that are made as they are read, by themselves and as the streams that they stand for. */
import { assertEquals, assertRejects } from "@std/assert";
import { type BodySink, PulledBody } from "../../src/transport/pulled_body.ts";
import { PlainResponse } from "../../src/transport/plain_response.ts";
import { turns } from "../support/time.ts";

const bytes = (...values: number[]) => new Uint8Array(values);

/** A body that gives what a test tells it, and counts how often it is asked. */
function told(start: (sink: BodySink) => void = () => {}) {
  const seen = { pulls: 0, cancels: 0 };
  let sink!: BodySink;
  let pulled = Promise.withResolvers<void>();
  const body = new PulledBody({
    start(of) {
      sink = of;
      start(of);
    },
    pull() {
      seen.pulls++;
      pulled = Promise.withResolvers();
      return pulled.promise;
    },
    cancel() {
      seen.cancels++;
      return Promise.resolve();
    },
  });
  return { body, seen, sink, pulled: () => pulled.resolve() };
}

Deno.test("a pulled body gives what came at first, and asks for more only when it is read", async () => {
  const { body, seen, sink, pulled } = told((sink) => sink.enqueue(bytes(1)));
  assertEquals(seen.pulls, 0);
  assertEquals(await body.read(), { done: false, value: bytes(1) });
  assertEquals(seen.pulls, 0);
  const second = body.read();
  assertEquals(seen.pulls, 1);
  sink.enqueue(bytes(2));
  // More than was asked for waits.
  sink.enqueue(bytes(3));
  pulled();
  assertEquals([await second, await body.read()], [{ done: false, value: bytes(2) }, {
    done: false,
    value: bytes(3),
  }]);
  await turns(2);
  assertEquals(seen.pulls, 1);
});

Deno.test("a pulled body asks again where it was given nothing, and not while it is being asked", async () => {
  const { body, seen, sink, pulled } = told();
  const first = body.read();
  sink.enqueue(bytes(1));
  await first;
  const second = body.read();
  assertEquals(seen.pulls, 1);
  pulled();
  await turns(2);
  assertEquals(seen.pulls, 2);
  pulled();
  await turns(2);
  assertEquals(seen.pulls, 3);
  sink.close();
  assertEquals([(await second).done, (await body.read()).done], [true, true]);
});

Deno.test("a pulled body fails its reader, who loses what waits, and is cancelled once", async () => {
  const failing = told((sink) => sink.enqueue(bytes(1)));
  failing.sink.error(new Error("no"));
  await assertRejects(() => failing.body.read(), Error, "no");
  const waiting = told();
  const read = waiting.body.read();
  waiting.sink.error(new Error("no"));
  await assertRejects(() => read, Error, "no");
  const left = told((sink) => sink.enqueue(bytes(1)));
  await left.body.cancel();
  await left.body.cancel();
  assertEquals([left.seen.cancels, (await left.body.read()).done], [1, true]);
  const over = told((sink) => sink.close());
  await over.body.cancel();
  assertEquals([over.seen.cancels, failing.seen.cancels], [0, 0]);
});

Deno.test("the stream of a pulled body gives, ends, fails and is cancelled as the body", async () => {
  const text = new Response(
    told((sink) => {
      sink.enqueue(bytes(97));
      sink.enqueue(bytes(98));
      sink.close();
    }).body.stream(),
  );
  assertEquals(await text.text(), "ab");
  const { body, seen, sink } = told();
  const reader = body.stream().getReader();
  const read = reader.read();
  sink.error(new Error("no"));
  await assertRejects(() => read, Error, "no");
  const left = told();
  await left.body.stream().cancel();
  assertEquals([left.seen.cancels, seen.cancels], [1, 0]);
});

Deno.test("a PlainResponse tells of its pulled body until somebody reads it", async () => {
  const { body } = told((sink) => sink.close());
  const response = new PlainResponse(body, { headers: { "content-type": "text/event-stream" } });
  assertEquals(PlainResponse.pulledOf(response), body);
  assertEquals(await response.text(), "");
  assertEquals(PlainResponse.pulledOf(response), null);
  assertEquals(PlainResponse.pulledOf(new Response("")), null);
});

Deno.test("a pulled body is passed by only while its reader waits, and allows it", async () => {
  const { body, sink, pulled } = told((sink) => sink.enqueue(bytes(1)));
  const direct = () => Promise.resolve();
  assertEquals(sink.direct, null);
  await body.read();
  const second = body.read();
  assertEquals(sink.direct, null);
  body.passBy(direct);
  assertEquals(sink.direct, direct);
  sink.enqueue(bytes(2));
  assertEquals(sink.direct, null);
  await second;
  pulled();
  const third = body.read();
  assertEquals(sink.direct, direct);
  sink.close();
  assertEquals([(await third).done, sink.direct], [true, null]);
});
