/**
 * What was given out with ids is there again for the whole time, in whatever order the store fails, the caller leaves and the
 * generation ends: then comes its own end, or the format's error.
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { eventsIn, upTo, withIds } from "../../src/resume/event_ids.ts";
import { type LiveStream, Resumption, type ResumptionOptions } from "../../src/resume/mod.ts";
import { type Store, StoreUnavailable, type StreamUpdate } from "../../src/store/mod.ts";
import { eventually } from "../support/time.ts";
import { ASKING, begin, event, read, type Rig, withResumption } from "./rig.ts";

const NOT_KEPT = "was not stored to its end";
const INTERRUPTED = "The generation was interrupted";
const COMMENT = ": resumption ended: the store cannot be written\n\n";
const named = (...numbers: number[]) =>
  withIds(numbers.map((n) => event(n)).join(""), { id: "gen_1", first: 0 }).text;

/** A store whose writes fail, hang or go through, as told. */
class Moody {
  mood: "well" | "full" | "hangs" | "unheard" = "well";
  /** Writes that did not go through, or of which nobody heard. */
  failed = 0;
  /** Writes that hang: they go through when they are let. */
  readonly hanging: (() => Promise<void>)[] = [];

  readonly change = (store: Store): Partial<Store> => ({
    writeStreams: async (updates: readonly StreamUpdate[]) => {
      const { mood } = this;
      if (mood === "full") {
        this.failed++;
        throw new StoreUnavailable("full");
      }
      if (mood === "hangs") {
        this.hanging.push(() => store.writeStreams(updates));
        return new Promise<void>(() => {});
      }
      await store.writeStreams(updates);
      if (mood !== "unheard") return;
      this.failed++;
      throw new StoreUnavailable("The connection is gone.");
    },
  });
}

async function withMoody(
  use: (rig: Rig, moody: Moody) => Promise<void>,
  options: Partial<ResumptionOptions> = { patienceMs: 20, restMs: 50 },
): Promise<void> {
  const moody = new Moody();
  await withResumption((rig) => use(rig, moody), options, moody.change);
}

async function again({ resumption }: Rig, from = 0): Promise<string> {
  const found = await resumption.find("gen_1", "k");
  return await read(found!.follow(from));
}

/** Its first event is in the store. */
async function begun(rig: Rig): Promise<LiveStream> {
  const live = begin(rig);
  live.append(event(0));
  await eventually(async () => (await rig.store.streamPieces("gen_1", { event: 0, chars: 1 })).length > 0);
  return live;
}

/** The stream is what was given out, then the error, from every event of it on. */
async function assertCutShort(rig: Rig, given: string, why = NOT_KEPT): Promise<void> {
  const whole = await again(rig);
  const events = eventsIn(whole);
  assertEquals(upTo(whole, eventsIn(given)), given);
  assertStringIncludes(whole.slice(given.length), why);
  assertStringIncludes(whole, "data: [DONE]");
  assertEquals(await again(rig, 1), whole.slice(upTo(whole, 1).length));
  assertEquals(await again(rig, events - 1), whole.slice(upTo(whole, events - 1).length));
  assertEquals(await again(rig, events), "");
  const found = await rig.resumption.find("gen_1", "k");
  assertEquals([found!.events, found!.goesOn], [events, false]);
}

const ENDS: Record<string, (live: LiveStream) => void> = {
  "ends well": (live) => live.append(`${event(1)}data: [DONE]\n\n`),
  "ends with an error": (live) => live.append(`data: {"error":{"message":"down"}}\n\ndata: [DONE]\n\n`),
};

for (const [how, say] of Object.entries(ENDS)) {
  Deno.test(`a stream that ${how} while the store is full for a moment is kept`, async () => {
    await withMoody(async (rig, moody) => {
      const live = await begun(rig);
      const text = read(live.follow(0));
      moody.mood = "full";
      say(live);
      live.end();
      await eventually(() => moody.failed > 0);
      assertEquals(
        rig.resumption.begin({ ...ASKING, id: "gen_2" }),
        null,
        "new streams do not wait for the store",
      );
      moody.mood = "well";
      const heard = await text;
      assertEquals([heard.includes(COMMENT), eventsIn(heard) > 1, rig.lost()], [false, true, 0]);
      assertEquals(await again(rig), heard);
      assert(rig.resumption.begin({ ...ASKING, id: "gen_3" }) !== null);
    }, { patienceMs: 60_000 });
  });

  Deno.test(`a stream that ${how} while the store is full, and its caller is there`, async () => {
    await withMoody(async (rig, moody) => {
      const live = await begun(rig);
      const text = read(live.follow(0));
      moody.mood = "full";
      say(live);
      live.end();
      const heard = await text;
      assert(heard.startsWith(named(0) + COMMENT), heard);
      moody.mood = "well";
      await assertCutShort(rig, named(0));
    });
  });

  Deno.test(`a stream that ${how} while the store is full, and its caller has left and comes back`, async () => {
    await withMoody(async (rig, moody) => {
      const live = await begun(rig);
      const first = live.follow(0);
      const begins = await first.next();
      first.leave();
      moody.mood = "full";
      say(live);
      live.end();
      await eventually(() => live.isLost);
      // The store still has it as running.
      const rest = again(rig, 1);
      moody.mood = "well";
      const heard = begins + await rest;
      assertStringIncludes(heard, NOT_KEPT);
      assertEquals(await again(rig), heard);
      await assertCutShort(rig, named(0));
    });
  });
}

Deno.test("a stream whose last write hangs, and goes through when its caller was told that it is lost", async () => {
  await withMoody(async (rig, moody) => {
    const live = await begun(rig);
    const text = read(live.follow(0));
    moody.mood = "hangs";
    live.append(`${event(1)}data: [DONE]\n\n`);
    live.end();
    assertEquals(await text, `${named(0)}${COMMENT}${event(1)}data: [DONE]\n\n`);
    moody.mood = "well";
    for (const late of moody.hanging) await late();
    assertEquals((await rig.store.stream("gen_1", 0))?.state, "ended");
    await eventually(async () => (await rig.store.stream("gen_1", 0))?.state === "lost");
    // Its second event has been given out without an id, and does not come again with one.
    await assertCutShort(rig, named(0));
  });
});

Deno.test("a write that goes through after the loss was written changes nothing", async () => {
  await withMoody(async (rig, moody) => {
    const live = await begun(rig);
    const text = read(live.follow(0));
    moody.mood = "hangs";
    live.append(event(1));
    await eventually(() => live.isLost);
    moody.mood = "well";
    await eventually(async () => (await rig.store.stream("gen_1", 0))?.state === "lost");
    for (const late of moody.hanging) await late();
    live.append("data: [DONE]\n\n");
    live.end();
    assertEquals(await text, `${named(0)}${COMMENT}${event(1)}data: [DONE]\n\n`);
    await assertCutShort(rig, named(0));
  });
});

Deno.test("a write that went through unheard is done again with what came since", async () => {
  await withMoody(async (rig, moody) => {
    const live = await begun(rig);
    const text = read(live.follow(0));
    moody.mood = "unheard";
    live.append(event(1));
    await eventually(() => moody.failed > 0);
    live.append(event(2));
    moody.mood = "well";
    live.append(event(3));
    live.end();
    assertEquals([await text, rig.lost()], [named(0, 1, 2, 3), 0]);
    assertEquals(await again(rig), named(0, 1, 2, 3));
  }, { patienceMs: 60_000 });
});

Deno.test("a stream of which everything is there when the store is given up has ended, and is not lost", async () => {
  await withMoody(async (rig, moody) => {
    const live = await begun(rig);
    const follower = live.follow(0);
    live.append("data: [DONE]\n\n");
    let heard = "";
    // An event is given out when it is known to be stored.
    while (!heard.includes("[DONE]")) heard += await follower.next();
    moody.mood = "full";
    live.end();
    heard += await read(follower);
    assertEquals(heard.includes(COMMENT), false);
    moody.mood = "well";
    await eventually(async () => (await rig.store.stream("gen_1", 0))?.state === "ended");
    assertEquals(await again(rig), heard);
  });
});

Deno.test("a stream whose process dies before it could say that it is lost was interrupted", async () => {
  await withMoody(async (rig, moody) => {
    const live = await begun(rig);
    const text = read(live.follow(0));
    moody.mood = "full";
    live.append(event(1));
    live.end();
    assertStringIncludes(await text, COMMENT);
    const elsewhere = new Resumption({
      store: rig.store,
      node: "another",
      secret: () => new Uint8Array(32),
      storeUp: () => true,
      stopping: () => false,
      now: () => 0,
      log: () => {},
      lost: () => {},
    });
    await rig.store.removeNodes(["node"]);
    await assertCutShort({ ...rig, resumption: elsewhere }, named(0), INTERRUPTED);
    await elsewhere.close();
  });
});

Deno.test("a stream that goes on after its process has closed what it keeps is interrupted for others", async () => {
  await withMoody(async (rig) => {
    const live = await begun(rig);
    const text = read(live.follow(0));
    await rig.resumption.close();
    live.append(event(1));
    live.end();
    assertEquals(await text, `${named(0)}: resumption ended: the gateway has ended\n\n${event(1)}`);
    await rig.store.removeNodes(["node"]);
    await assertCutShort(rig, named(0), INTERRUPTED);
  });
});

Deno.test("a slow reader of a stream that is lost gets what was kept, then the error that all others get", async () => {
  await withMoody(async (rig, moody) => {
    const live = begin(rig);
    const [quick, slow] = [live.follow(0), live.follow(0)];
    const whole = read(quick);
    for (let i = 0; i < 100; i++) {
      live.append(event(i, 2000));
      await live.room();
    }
    await eventually(async () =>
      (await rig.store.streamPieces("gen_1", { event: 99, chars: 1 }))[0] !== undefined
    );
    moody.mood = "full";
    for (let i = 100; i < 200; i++) {
      live.append(event(i, 2000));
      await live.room();
    }
    live.end();
    const [kept] = (await whole).split(COMMENT);
    moody.mood = "well";
    const heard = await read(slow);
    assertEquals(upTo(heard, eventsIn(kept)), kept);
    assertStringIncludes(heard, NOT_KEPT);
    assertEquals(await again(rig), heard);
  });
});

Deno.test("a whole answer that could not be kept is refused to those who repeat it, and one that got there is given", async () => {
  for (const late of [false, true]) {
    await withMoody(async (rig, moody) => {
      const asking = { ...ASKING, id: "gen_1", streamed: false };
      const claim = await rig.resumption.claim(asking, { text: "t", request: "r" });
      const live = "live" in claim ? claim.live : null!;
      moody.mood = late ? "hangs" : "full";
      live.begin({ status: 200, headers: {} });
      live.append("{}");
      live.end();
      await live.settled();
      moody.mood = "well";
      for (const write of moody.hanging) await write();
      const repeated = async () => {
        const other = await rig.resumption.claim({ ...asking, id: "gen_2" }, { text: "t", request: "r" });
        return "joined" in other && !other.lost;
      };
      if (late) {
        // Whether its node has said that it is lost or not.
        assertEquals(await repeated(), true);
        await rig.store.writeStreams([{
          start: live.start,
          head: null,
          piece: null,
          end: { state: "lost", events: 0, expires: 1000 },
        }]);
        assertEquals(await repeated(), true);
        assertEquals(await again(rig), "{}");
      } else {
        await eventually(async () => !await repeated());
        await assertRejects(() => again(rig), Error, NOT_KEPT);
      }
    });
  }
});
