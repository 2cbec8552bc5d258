/** What is kept of streams, and what becomes of them where it cannot be. */
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { StreamCipher } from "../../src/resume/cipher.ts";
import { behind, eventNumber, eventsIn, upTo, withIds, withoutIds } from "../../src/resume/event_ids.ts";
import { Resumption, type ResumptionOptions } from "../../src/resume/mod.ts";
import { type Store, StoreUnavailable } from "../../src/store/mod.ts";
import { eventually, turns } from "../support/time.ts";
import { ASKING, begin, event, HEAD, read, withResumption } from "./rig.ts";

Deno.test("ids are put before events, taken back, and read", () => {
  const text = `${event(1)}: a comment\n\nevent: e\n${event(2)}`;
  const named = withIds(text, { id: "gen_1", first: 7 });
  assertEquals(named, {
    text: `id: gen_1:7\n${event(1)}id: gen_1:8\nevent: e\n${event(2)}`,
    events: 2,
  });
  assertEquals(withoutIds(named.text, "gen_1"), `${event(1)}event: e\n${event(2)}`);
  assertEquals(behind(named.text, 1), `id: gen_1:8\nevent: e\n${event(2)}`);
  assertEquals([behind(text, 0), behind(text, 5)], [text, ""]);
  assertEquals(eventsIn(text), 2);
  const read = ["gen_1:0", "5", "gen_1:9007199254740991", "gen_2:1", "", ":1", "-1", "1.5", " 1", "0x1"];
  assertEquals(read.map((id) => eventNumber(id, "gen_1")), [0, 5, ...new Array(8).fill(null)]);
});

Deno.test("what is sealed for one stream and place opens there alone", () => {
  const secret = new Uint8Array(32);
  const cipher = new StreamCipher(secret, "gen_1");
  const data = cipher.seal("text 😀", "0");
  assertEquals(cipher.open(data, "0"), "text 😀");
  assertThrows(() => cipher.open(data, "1"));
  assertThrows(() => new StreamCipher(secret, "gen_2").open(data, "0"));
  assertThrows(() => new StreamCipher(secret.with(0, 1), "gen_1").open(data, "0"));
  assertThrows(() => cipher.open(data.replace(/^./, (c) => c === "A" ? "B" : "A"), "0"));
});

Deno.test("an event is given out once the store has it", async () => {
  const gate = Promise.withResolvers<void>();
  await withResumption(
    async (rig) => {
      const live = begin(rig);
      const follower = live.follow(0);
      live.append(event(0));
      let got: string | null = "";
      const next = follower.next().then((text) => got = text);
      await turns(5);
      assertEquals(got, "");
      gate.resolve();
      await next;
      assertEquals(got, `id: gen_1:0\n${event(0)}`);
      live.end();
      assertEquals(await follower.next(), null);
    },
    {},
    (store) => ({
      async writeStreams(updates) {
        await gate.promise;
        await store.writeStreams(updates);
      },
    }),
  );
});

for (
  const [what, options, change] of [
    [
      "fails",
      { patienceMs: 20 },
      () => ({ writeStreams: () => Promise.reject(new StoreUnavailable("full")) }),
    ],
    ["has a fault", {}, () => ({ writeStreams: () => Promise.reject(new Error("fault")) })],
    ["takes too long", { patienceMs: 20 }, () => ({ writeStreams: () => new Promise<void>(() => {}) })],
  ] as [string, Partial<ResumptionOptions>, (store: Store) => Partial<Store>][]
) {
  Deno.test(`a store that ${what} takes the ids, and not the stream`, async () => {
    await withResumption(
      async (rig) => {
        const live = begin(rig);
        const text = read(live.follow(0));
        live.append(event(0) + event(1));
        await live.findable();
        live.append(event(2));
        await live.room();
        live.end();
        assertEquals(
          await text,
          `: resumption ended: the store cannot be written\n\n${event(0)}${event(1)}${event(2)}`,
        );
        assertEquals(rig.lost(), 1);
        assertEquals(
          rig.resumption.begin({ ...ASKING, id: "gen_2" }),
          null,
          "the store is left alone for a while",
        );
      },
      options,
      change,
    );
  });
}

Deno.test("a stream that grows beyond its bound goes on without ids, and has what it gave out", async () => {
  await withResumption(async (rig) => {
    const live = begin(rig);
    const follower = live.follow(0);
    let text = "";
    for (let i = 0; i < 30; i++) {
      live.append(event(i, 100));
      // An event is given out when it is stored, or cannot be.
      text += await follower.next();
    }
    live.end();
    text += await read(follower);
    const [kept, rest] = text.split(": resumption ended: the stream is too long\n\n");
    assert(eventsIn(kept) > 5);
    assertEquals(
      kept,
      withIds(Array.from({ length: eventsIn(kept) }, (_, i) => event(i, 100)).join(""), {
        id: "gen_1",
        first: 0,
      }).text,
    );
    assertEquals(rest, Array.from({ length: 30 }, (_, i) => event(i, 100)).slice(eventsIn(kept)).join(""));
    assertEquals(await eventually(async () => (await rig.store.stream("gen_1", 0))?.state === "lost"), true);
    const again = await read((await rig.resumption.find("gen_1", "k"))!.follow(0));
    assertEquals(upTo(again, eventsIn(kept)), kept);
    assertStringIncludes(behind(again, eventsIn(kept)), `id: gen_1:${eventsIn(kept)}\ndata: {"error"`);
  }, { bounds: { ofStream: 3000 } });
});

Deno.test("streams of one key and of all keys are bounded, until their time is over", async () => {
  await withResumption(async (rig) => {
    const { resumption, clock } = rig;
    const [one, two] = [begin(rig, "gen_1"), begin(rig, "gen_2")];
    assertEquals(resumption.begin({ ...ASKING, id: "gen_3" }), null);
    const third = begin(rig, "gen_4", "other");
    assertEquals(resumption.begin({ ...ASKING, id: "gen_5", keyId: "another" }), null);
    for (const live of [one, two, third]) {
      live.end();
      await live.settled();
    }
    clock.now = 1001;
    await eventually(async () => resumption.keptChars === 0 && await rig.store.stream("gen_1", 0) === null);
  }, { bounds: { ofKey: 2500, ofAll: 3500 }, sweepMs: 10 });
});

Deno.test("a claim holds where there is no room for the answer", async () => {
  await withResumption(async ({ resumption }) => {
    const claim = (id: string) => resumption.claim({ ...ASKING, id }, { text: "t", request: "r" });
    const first = await claim("gen_1");
    const live = "live" in first ? first.live : null;
    assertEquals(live?.isLost, true);
    live?.begin(HEAD);
    live?.end();
    await eventually(async () => {
      const second = await claim("gen_2");
      return "joined" in second && second.joined === "gen_1" && second.lost;
    });
  }, { bounds: { ofAll: 10 } });
});

Deno.test("a claim is given back when its call is refused after the store was told that nothing can be kept", async () => {
  await withResumption(async ({ resumption, store }) => {
    const claim = (id: string) => resumption.claim({ ...ASKING, id }, { text: "t", request: "r" });
    const first = await claim("gen_1");
    await eventually(async () => (await store.stream("gen_1", 0))?.state === "lost");
    if ("live" in first) first.live.refuse({ status: 503, headers: {}, body: "" });
    await eventually(async () => "live" in await claim("gen_2"));
  }, { bounds: { ofAll: 10 } });
});

Deno.test("a slow follower reads from the store what is no longer in memory, and holds nobody up", async () => {
  await withResumption(async (rig) => {
    const live = begin(rig);
    const [quick, slow] = [live.follow(0), live.follow(0)];
    const whole = read(quick);
    assertEquals(await Promise.race([slow.next(), turns(3).then(() => "nothing")]), "nothing");
    for (let i = 0; i < 300; i++) {
      live.append(event(i, 2000));
      await live.room();
    }
    live.end();
    const text = await whole;
    assertEquals(eventsIn(text), 300);
    // The first call is still waiting, and gets the first piece.
    const rest = await read(live.follow(1));
    assertEquals(rest, behind(text, 1));
    slow.leave();
  });
});

Deno.test("a stream that nobody follows keeps nothing in memory, and runs on", async () => {
  await withResumption(async (rig) => {
    const live = begin(rig);
    let followed = 0;
    live.onFollowed = (now) => followed += now ? 1 : -1;
    live.follow(0).leave();
    for (let i = 0; i < 100; i++) {
      live.append(event(i, 2000));
      await live.room();
    }
    assertEquals(followed, 0);
    await eventually(() => live.held === 0);
    live.end();
    await live.settled();
    const found = (await rig.resumption.find("gen_1", "k"))!;
    assertEquals(eventsIn(await read(found.follow(50))), 50);
    assertEquals(await rig.resumption.find("gen_1", "other"), null);
  });
});

Deno.test("a follower whose store ends is thrown out, so that its client comes back", async () => {
  await withResumption(async (rig) => {
    const live = begin(rig);
    live.append(event(0));
    await live.findable();
    const elsewhere = new Resumption({
      store: rig.store,
      node: "another",
      secret: () => new Uint8Array(32),
      storeUp: () => true,
      stopping: () => true,
      now: () => 0,
      log: () => {},
      lost: () => {},
    });
    const follower = (await elsewhere.find("gen_1", "k"))!.follow(0);
    assertEquals(await follower.next(), `id: gen_1:0\n${event(0)}`);
    await assertRejects(() => follower.next(), Error, "stops");
    follower.leave();
    await elsewhere.close();
    live.end();
  });
});

Deno.test("a claim of which the store does not say whether it was taken is given back", async () => {
  let fails = true;
  await withResumption(
    async ({ resumption, store }) => {
      const claim = (id: string) => resumption.claim({ ...ASKING, id }, { text: "t", request: "r" });
      await assertRejects(() => claim("gen_1"), StoreUnavailable);
      fails = false;
      await eventually(async () => (await store.stream("gen_1", 0))?.state === "refused");
      assert("live" in await claim("gen_2"));
    },
    {},
    (store) => ({
      async claimStream(start, now) {
        const result = await store.claimStream(start, now);
        if (fails) throw new StoreUnavailable("The connection is gone.");
        return result;
      },
    }),
  );
});

Deno.test("a stream that is read on another node alone is no abandoned one, until nobody does there either", async () => {
  await withResumption(async (rig) => {
    const live = begin(rig);
    const told: boolean[] = [];
    const here = live.follow(0);
    await live.findable();
    live.onFollowed = (followed) => told.push(followed);
    here.leave();
    assertEquals(told, [false]);
    const elsewhere = new Resumption({
      store: rig.store,
      node: "another",
      secret: () => new Uint8Array(32),
      storeUp: () => true,
      stopping: () => false,
      now: () => rig.clock.now,
      log: () => {},
      lost: () => {},
    });
    const follower = (await elsewhere.find("gen_1", "k"))!.follow(0);
    const next = follower.next();
    await eventually(() => told.length === 2);
    assertEquals([told[1], live.isFollowed], [true, true]);
    follower.leave();
    assertEquals(await next, null);
    rig.clock.now = 60_000;
    await eventually(() => told.length === 3);
    assertEquals([told[2], live.isFollowed], [false, false]);
    await elsewhere.close();
    live.end();
    await live.settled();
  }, { askMs: 10 });
});

Deno.test("who waits for an answer that does not begin leaves nothing behind each time that he looks", async () => {
  await withResumption(async ({ resumption }) => {
    const live = resumption.begin({ ...ASKING, id: "gen_1" })!;
    let looks = 0;
    const found = await resumption.answered("gen_1", "k", () => ++looks > 4);
    assertEquals([found?.head, looks, live.waiting], [null, 5, 0]);
    live.begin(HEAD);
    assertEquals((await resumption.answered("gen_1", "k", () => false))?.head, HEAD);
    live.end();
    await live.settled();
  });
});

Deno.test("requests that are refused take the room of kept streams for a minute, and none without a claim", async () => {
  await withResumption(async ({ resumption, clock }) => {
    const keepMs = 600_000;
    for (let i = 0; i < 10; i++) {
      resumption.begin({ ...ASKING, keepMs, id: `gen_a${i}` })!.refuse({
        status: 422,
        headers: {},
        body: "",
      });
      const claim = await resumption.claim({ ...ASKING, keepMs, id: `gen_b${i}` }, {
        text: `${i}`,
        request: "r",
      });
      if ("live" in claim) claim.live.refuse({ status: 422, headers: {}, body: "" });
    }
    const full = resumption.keptChars;
    await eventually(() => resumption.keptChars === full / 2);
    clock.now = 60_001;
    await eventually(() => resumption.keptChars === 0);
  }, { sweepMs: 10 });
});

Deno.test("how long streams hold the event loop is told: as they are written, and as they are read from the store", async () => {
  const held = { here: 0, elsewhere: 0 };
  await withResumption(async (rig) => {
    const live = begin(rig);
    live.append(event(0));
    await live.findable();
    await eventually(async () => (await rig.store.streamPieces("gen_1", { event: 0, chars: 1 })).length > 0);
    assert(held.here > 0);
    const elsewhere = new Resumption({
      store: rig.store,
      node: "another",
      secret: () => new Uint8Array(32),
      storeUp: () => true,
      stopping: () => false,
      now: () => 0,
      log: () => {},
      lost: () => {},
      held: (ms) => held.elsewhere += ms >= 0 ? 1 : NaN,
    });
    const follower = (await elsewhere.find("gen_1", "k"))!.follow(0);
    assertEquals(await follower.next(), `id: gen_1:0\n${event(0)}`);
    assert(held.elsewhere > 0);
    follower.leave();
    await elsewhere.close();
    live.end();
  }, { held: (ms) => held.here += ms >= 0 ? 1 : NaN });
});
