/**
 * Stage: one provider call. Decodes the answer, streamed or not, into batches of parts. A batch contains the parts of one network read.
 */
import { Failure } from "../../exchange/failure.ts";
import type { Part } from "../../exchange/part.ts";
import type { Prompt } from "../../exchange/prompt.ts";
import { newCallIds } from "../../exchange/call_ids.ts";
import type { Opened } from "../../providers/mod.ts";
import { CALLER_LEFT } from "../../providers/refusals.ts";
import { ask, askAgain, type Asking, type CallVariant, mayAskAgain } from "./ask.ts";
import type { Call } from "../call.ts";
import { type Answering, Delivery, isLargeBatch, NO_PARTS, portionsOf } from "./delivery.ts";
import type { Kit } from "../kit.ts";
import { noteUsage } from "./note_usage.ts";
import { SplitSecrets } from "./split_secrets.ts";
import type { BatchSink } from "./whole_parts.ts";

/** @param variant absent: a plain call to any route of the model */
export function generate(
  call: Call,
  prompt: Prompt,
  kit: Kit,
  variant?: CallVariant,
): AsyncGenerator<readonly Part[]> {
  const asking = { call, prompt, kit, variant };
  return deliver(() => ask(asking), asking);
}

/**
 * The parts of a call with only one provider call. Once the answer has content, so that nothing is asked again, the prompt's messages are
 * released from memory: a stream may last for an hour, and the history of an agent has hundreds of kilobytes.
 */
export function generateOnce(call: Call, kit: Kit): AsyncGenerator<readonly Part[]> {
  const { prompt } = call;
  const onContent = () => {
    if (prompt.stream) prompt.turns = prompt.turns.filter(({ top }) => top);
  };
  const asking = { call, prompt, kit, onContent };
  return deliver(() => ask(asking), asking);
}

/** Passes the parts of an answer that is not streamed to a callback. */
export async function generateWhole(call: Call, kit: Kit, took: BatchSink): Promise<void> {
  const { prompt } = call;
  const answering = await ask({ call, prompt, kit });
  const { begun: { batch, reader, failure }, opened, use, restore } = answering;
  if (reader !== null || failure !== undefined) {
    for await (const more of deliver(() => answering, { call, prompt, kit })) took(more);
    return;
  }
  const { followed, withheld } = opened;
  const secrets = withheld.secrets.length === 0 ? null : new SplitSecrets(withheld.secrets);
  try {
    noteUsage(batch, prompt, { call, use }, kit);
    followed?.take(batch);
    const newIds = newCallIds(prompt);
    const pass = (portion: readonly Part[]) => {
      const parts = secrets === null ? portion : secrets.take(portion);
      if (parts.length === 0) return;
      const restored = restore === null ? parts : restore(parts);
      took(newIds === null ? restored : newIds(restored));
    };
    if (isLargeBatch(batch)) {
      for (const portion of portionsOf(batch)) {
        pass(portion);
        await kit.slices.pause(call.arrival.key.id);
      }
    } else pass(batch);
    const rest = secrets === null ? [] : secrets.end();
    if (rest.length > 0) took(rest);
  } catch (thrown) {
    throw failedIn(opened, thrown);
  } finally {
    opened.close();
  }
}

function failedIn(opened: Opened, thrown: unknown): Failure {
  const said = opened.withheld.failure(Failure.from(thrown));
  const { followed } = opened;
  followed?.failed(said);
  opened.failed(said);
  return said;
}

/** @param asked called when the parts are first requested */
async function* deliver(
  asked: () => Answering | Promise<Answering>,
  asking: Asking,
): AsyncGenerator<readonly Part[]> {
  const { call, prompt, kit } = asking;
  let answering: Answering;
  try {
    answering = await asked();
  } catch (thrown) {
    // The call was ended while a further provider call waited for capacity: its usage so far is billed.
    if (thrown === CALLER_LEFT && call.cut && call.uses.length > 0) return;
    throw thrown;
  }
  const { key } = call.arrival;
  let delivery = new Delivery(answering, asking, false);
  const pass = (bytes: Uint8Array) => delivery.pass(bytes);
  const end = () => answering.opened.close();
  call.answers.add(end);
  let started = false;
  let failed = false;
  try {
    while (true) {
      if (delivery.failure && delivery.isPreamble && mayAskAgain(delivery.failure, asking)) {
        failed = true;
        const said = failedIn(answering.opened, delivery.failure);
        answering.opened.close();
        answering.begun.buffer.passed();
        answering = await askAgain(answering, said, asking);
        failed = false;
        delivery = new Delivery(answering, asking, started);
        continue;
      }
      if (delivery.isLarge) {
        for (const portion of delivery.portions()) {
          started = true;
          yield portion;
          await kit.slices.pause(key.id);
        }
      } else {
        const given = delivery.given();
        if (given.length > 0) {
          started = true;
          yield given;
        }
      }
      const { over } = delivery;
      const rest = over ? delivery.rest() : NO_PARTS;
      if (rest.length > 0) yield rest;
      if (delivery.failure) throw delivery.failure;
      if (over) return delivery.noteSoFar();
      delivery.next();
      let bytes: Uint8Array | null;
      try {
        const reading = delivery.nextBytes(pass);
        bytes = reading instanceof Promise ? await reading : reading;
      } catch (thrown) {
        if (call.cut) return delivery.noteSoFar();
        if (delivery.lost()) throw thrown;
        continue;
      }
      delivery.ended = bytes === null;
      if (!delivery.isRead) {
        const room = bytes === null ? null : delivery.take(bytes);
        if (room !== null) {
          await room;
          // The connection and its read buffer may be in use by another call by now.
          if (call.cut) return delivery.noteSoFar();
        }
        const reading = delivery.read(bytes);
        delivery.failure = reading instanceof Promise ? await reading : reading;
      }
      // A provider that sends very fast must not block the event loop for other calls.
      if (delivery.isDue()) await kit.slices.pause(key.id);
    }
  } catch (thrown) {
    throw failed ? thrown : failedIn(answering.opened, thrown);
  } finally {
    call.answers.delete(end);
    answering.opened.close();
    // A whole answer is collected, and then written for its caller.
    if (prompt.stream) answering.begun.buffer.passed();
  }
}
