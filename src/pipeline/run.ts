/** One call from admission to billing: defines only the order of guards and stages. */
import { Failure } from "../exchange/failure.ts";
import { admit } from "./admission/admit.ts";
import { hedges } from "./generation/ask.ts";
import { generate, generateOnce, generateWhole } from "./generation/generate.ts";
import { lazy } from "../exchange/lazy.ts";
import type { Arrival, Call, Parts } from "./call.ts";
import { isScreened, screen } from "./guard.ts";
import type { Kit } from "./kit.ts";
import { labelsIfGood } from "./admission/labels.ts";
import { meter, meterPlain, meterWhole } from "./meter.ts";
import { identitiesOf } from "./admission/pseudonyms.ts";
import { repairs } from "./shape.ts";
import { WholeParts } from "./generation/whole_parts.ts";

// Loaded on first use, since few calls need them.
const compositeCall = lazy(() => import("./composite_call.ts"));
const restoring = lazy(() => import("../dlp/restore.ts"));

export interface Run {
  call: Call;
  parts: Parts;
}

/** Runs the guards, whose failures still become an HTTP status. The stages begin when the parts are read. */
export async function run(arrival: Arrival, kit: Kit): Promise<Run> {
  if (arrival.format.unsealBody !== undefined) {
    arrival.body = arrival.format.unsealBody(arrival.body, kit.sealer.of(arrival.key.account).unseal);
  }
  // Read before screening, which masks values in the body.
  const sent = isScreened(arrival.key, arrival.body)
    ? { labels: labelsIfGood(arrival.header, arrival.body), identities: identitiesOf(arrival.body) }
    : null;
  const screening = screen(arrival, kit);
  const screened = screening instanceof Promise ? await screening : screening;
  arrival.passed = true;
  const followed = arrival.steps.follow("admission", "request");
  let call: Call;
  try {
    call = await admit(arrival, { screened, sent }, kit);
  } catch (thrown) {
    // The headers with the findings are sent also if the request fails later.
    const failure = Failure.from(thrown).with(screened?.headers ?? {});
    followed?.end(failure.code);
    throw failure;
  }
  arrival.admitted = true;
  if (followed !== null) {
    followed.end("ok");
    arrival.steps.followed!.admitted(call.prompt, call.labels, call.shape.calls > 1 ? 1 : call.prompt.n ?? 1);
  }
  // With several provider calls, the steps cannot be derived from the record.
  if (arrival.compacts || call.shape.search || call.shape.calls > 1 || hedges(call)) arrival.steps.collect();
  if (isPlain(call, kit)) return { call, parts: plain(call, kit) };
  const one = isOneCall(call);
  const asked = one
    ? generateOnce(call, kit)
    : await begun(call, async () => (await compositeCall.open()).runCompositeCall(call, kit));
  const { payloads } = kit;
  const parts = payloads?.keeps(arrival.key)
    ? payloads.keep(asked, { call, body: arrival.body, kit })
    : asked;
  const originals = originalsOf(call);
  if (one && parts === asked && originals === null) return { call, parts: meterPlain(parts, call, kit) };
  if (originals === null) return { call, parts: meter(parts, call, kit) };
  const { restore } = await begun(call, async () => await restoring.open());
  return { call, parts: meter(restore(parts, originals), call, kit) };
}

/** Prepares the stages. The cost of the call is reserved already, so it is released if this fails. */
async function begun<T>(call: Call, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (thrown) {
    await call.reservation.release("internal_service_error");
    throw thrown;
  }
}

/** What placeholders of the answer stand for; null: nothing is to be restored. */
function originalsOf({ screened, shape }: Call): ReadonlyMap<string, string> | null {
  const originals = screened?.originals ?? null;
  return originals !== null && (originals.size > 0 || shape.search) ? originals : null;
}

/** Whether the call makes one provider call whose answer is passed on unchanged. */
function isOneCall({ arrival, shape, screened }: Call): boolean {
  return !shape.search && shape.calls === 1 && !screened?.answers && arrival.compacts !== true &&
    !repairs(arrival);
}

/** As {@link isOneCall}, and not streamed, without payload log and without placeholders to restore. */
function isPlain(call: Call, { payloads }: Kit): boolean {
  return !call.prompt.stream && originalsOf(call) === null && isOneCall(call) &&
    !payloads?.keeps(call.arrival.key);
}

function plain(call: Call, kit: Kit): Parts {
  return new WholeParts(
    (took) => meterWhole((received) => generateWhole(call, kit, received), took, { call, kit }),
    () => meter(generate(call, call.prompt, kit), call, kit),
  );
}
