/** Streams that can be resumed, as both engines keep them. */
import { assertEquals } from "@std/assert";
import type { Store, StreamPiece, StreamStart, StreamUpdate } from "../../src/store/mod.ts";
import { onBothEngines, type Place } from "../support/cluster.ts";

const START: StreamStart = {
  id: "gen_1",
  keyId: "key_1",
  format: "messages",
  streamed: true,
  claim: "claim",
  request: "request",
  node: "node_1",
  keepMs: 1000,
  created: 10_000,
};
const piece = (
  first: number,
  events: number,
  data: string,
  more: Partial<StreamPiece> = {},
): StreamPiece => ({
  stream: "gen_1",
  first,
  events,
  begins: first * 10,
  written: 10_000 + first,
  data,
  ...more,
});
const update = (more: Partial<StreamUpdate>): StreamUpdate => ({
  start: START,
  head: null,
  piece: null,
  end: null,
  ...more,
});
const texts = async (store: Store, event: number, chars = 1000) =>
  (await store.streamPieces("gen_1", { event, chars })).map(({ data }) => data);

onBothEngines(({ name, place: makePlace }) => {
  const test = (title: string, body: (place: Place) => Promise<void>) =>
    Deno.test(`${name}: ${title}`, async () => {
      const place = makePlace();
      try {
        await body(place);
      } finally {
        place.remove();
      }
    });

  test("a stream is written in pieces and read from any event on", async (place) => {
    const store = place.open();
    await store.prepare();
    await store.registerNode("node_1");
    await store.writeStreams([update({ head: "head", piece: piece(0, 2, "a") })]);
    await store.writeStreams([update({ piece: piece(2, 1, "b") }), {
      ...update({ piece: piece(0, 1, "x", { stream: "gen_2" }) }),
      start: { ...START, id: "gen_2", claim: null },
    }]);
    const running = (await store.stream("gen_1", 1e12))!;
    assertEquals([running.state, running.head, running.alive, running.written], [
      "running",
      "head",
      true,
      10_002,
    ]);
    assertEquals(await store.stream("gen_3", 0), null);
    assertEquals(await texts(store, 0), ["a", "b"]);
    assertEquals(await texts(store, 1), ["a", "b"]);
    assertEquals(await texts(store, 2), ["b"]);
    assertEquals(await texts(store, 3), ["b"]);
    assertEquals(await texts(store, 0, 1), ["a"]);
    await store.writeStreams([
      update({ piece: piece(3, 1, "c"), end: { state: "ended", events: 4, expires: 12_000 } }),
    ]);
    const ended = (await store.stream("gen_1", 11_999))!;
    assertEquals([ended.state, ended.events, ended.head, ended.expires], ["ended", 4, "head", 12_000]);
    // A node that hears late of a write repeats it, and an older one may come after it.
    await store.writeStreams([update({ piece: piece(2, 1, "late") })]);
    assertEquals((await store.stream("gen_1", 11_999))?.state, "ended");
    assertEquals(await texts(store, 2), ["b", "c"]);
    assertEquals(await store.stream("gen_1", 12_000), null);
    assertEquals(await texts(store, 3), ["c"]);
    assertEquals(await store.retireStreams(11_999, 10), 0);
    assertEquals(await store.retireStreams(12_000, 10), 1);
    assertEquals(await texts(store, 0), []);
    assertEquals((await store.stream("gen_2", 0))?.id, "gen_2");
    await store.close();
  });

  test("a stream that was lost stays so, and a whole answer that is there is not lost", async (place) => {
    const store = place.open();
    await store.prepare();
    await store.registerNode("node_1");
    const whole = { ...START, id: "gen_2", claim: null, streamed: false };
    const end = { state: "ended", events: 2, expires: 12_000 } as const;
    const lost = { state: "lost", events: 1, expires: 12_000 } as const;
    await store.writeStreams([update({ piece: piece(0, 1, "a") }), update({ start: whole, end })]);
    await store.writeStreams([update({ end: lost }), update({ start: whole, end: lost })]);
    await store.writeStreams([update({ piece: piece(0, 2, "ab"), end })]);
    const [one, two] = [await store.stream("gen_1", 0), await store.stream("gen_2", 0)];
    assertEquals([one?.state, one?.events, two?.state, two?.events], ["lost", 1, "ended", 2]);
    assertEquals(await texts(store, 0), ["ab"]);
    await store.close();
  });

  test("a stream whose node is gone counts from its last piece on", async (place) => {
    const store = place.open();
    await store.prepare();
    await store.registerNode("node_1");
    await store.writeStreams([update({ piece: piece(0, 1, "a") }), {
      ...update({}),
      start: { ...START, id: "gen_2", claim: null, created: 10_500 },
    }]);
    await store.removeNodes(["node_1"]);
    assertEquals((await store.stream("gen_1", 10_999))?.alive, false);
    assertEquals(await store.stream("gen_1", 11_000), null);
    assertEquals((await store.stream("gen_2", 11_000))?.state, "running");
    assertEquals(await store.retireStreams(11_000, 10), 1);
    assertEquals(await store.retireStreams(11_500, 10), 1);
    assertEquals(await texts(store, 0), []);
    await store.close();
  });

  test("of many that claim at once one has the stream, and the others hear whose it is", async (place) => {
    const stores = [place.open(), place.open()];
    await stores[0].prepare();
    await stores[0].registerNode("node_1");
    const claims = Array.from(
      { length: 20 },
      (_, i) => stores[i % 2].claimStream({ ...START, id: `gen_${i}`, request: `r${i}` }, 10_000),
    );
    const results = await Promise.all(claims);
    const own = results.findIndex((result) => result === null);
    assertEquals(results.filter((result) => result === null).length, 1);
    for (const result of results) {
      if (result !== null) assertEquals([result.id, result.request], [`gen_${own}`, `r${own}`]);
    }
    const id = `gen_${own}`;
    const other = { ...START, id: "gen_later" };
    // One that has ended holds its claim until its time is over; one that was refused gives it back.
    const end = { state: "ended", events: 0, expires: 20_000 } as const;
    await stores[0].writeStreams([update({ start: { ...START, id }, end })]);
    assertEquals((await stores[1].claimStream(other, 19_999))?.id, id);
    assertEquals(await stores[1].claimStream(other, 20_000), null);
    await stores[0].writeStreams([
      update({ start: { ...other, claim: null }, end: { state: "refused", events: 0, expires: 30_000 } }),
    ]);
    assertEquals(await stores[1].claimStream({ ...START, id: "gen_last" }, 20_000), null);
    // Of one whose node has died likewise, from its beginning on.
    await stores[0].removeNodes(["node_1"]);
    assertEquals((await stores[1].claimStream({ ...START, id: "gen_x" }, 10_999))?.id, "gen_last");
    assertEquals(await stores[1].claimStream({ ...START, id: "gen_x" }, 11_000), null);
    for (const store of stores) await store.close();
  });

  test("a stream whose claim another has got meanwhile is kept without it, and so are those written with it", async (place) => {
    const store = place.open();
    await store.prepare();
    await store.registerNode("node_1");
    assertEquals(await store.claimStream(START, 10_000), null);
    // Its node was cut off for as long as that takes to be taken for gone, and comes back.
    await store.removeNodes(["node_1"]);
    const other = { ...START, id: "gen_other", node: "node_2" };
    await store.registerNode("node_2");
    assertEquals(await store.claimStream(other, 11_000), null);
    await store.registerNode("node_1");
    const beside = { ...START, id: "gen_beside", claim: null };
    await store.writeStreams([
      update({ piece: piece(0, 1, "a") }),
      { ...update({ piece: piece(0, 1, "b", { stream: "gen_beside" }) }), start: beside },
    ]);
    assertEquals((await store.stream("gen_1", 0))?.claim, null);
    assertEquals((await store.stream("gen_other", 0))?.claim, START.claim);
    assertEquals((await store.stream("gen_beside", 0))?.state, "running");
    assertEquals(await texts(store, 0), ["a"]);
    await store.close();
  });

  test("a node hears which of its streams are read on others", async (place) => {
    const store = place.open();
    await store.prepare();
    await store.writeStreams([update({})]);
    assertEquals([...await store.followedStreams(["gen_1", "gen_2"])], []);
    await store.followStream("gen_1", 5);
    await store.followStream("gen_2", 5);
    assertEquals([...await store.followedStreams(["gen_1", "gen_2"])], [["gen_1", 5]]);
    await store.close();
  });
});
