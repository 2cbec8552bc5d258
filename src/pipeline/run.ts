/** One call from admission to bill: the order of the steps, and nothing else. */
import { Failure } from "../exchange/failure.ts";
import { admit } from "./admit.ts";
import { generate, generateOnce, generateWhole, hedges } from "./generate.ts";
import { lazy } from "../exchange/lazy.ts";
import type { Arrival, Call, Parts } from "./call.ts";
import { isScreened, screen } from "./guard.ts";
import type { Kit } from "./kit.ts";
import { labelsIfGood } from "./labels.ts";
import { meter, meterPlain, meterWhole } from "./meter.ts";
import { repairs } from "./shape.ts";
import { WholeParts } from "./whole_parts.ts";

// Few calls need them.
const ways = lazy(() => import("./ways.ts"));
const restoring = lazy(() => import("../dlp/restore.ts"));

export interface Run {
  call: Call;
  parts: Parts;
}

/** Guards first: whatever they throw still has a status of its own. The parts begin when they are read. */
export async function run(arrival: Arrival, kit: Kit): Promise<Run> {
  if (arrival.format.unsealBody !== undefined) {
    arrival.body = arrival.format.unsealBody(arrival.body, kit.sealer.of(arrival.key.account).unseal);
  }
  // A mask is written into the body.
  const sent = isScreened(arrival.key, arrival.body) ? labelsIfGood(arrival.header, arrival.body) : null;
  const screening = screen(arrival, kit);
  const screened = screening instanceof Promise ? await screening : screening;
  arrival.passed = true;
  const followed = arrival.steps.follow("admission", "request");
  let call: Call;
  try {
    call = await admit(arrival, { screened, sent }, kit);
  } catch (thrown) {
    // What the check found is said whatever comes of the request.
    const failure = Failure.from(thrown).with(screened?.headers ?? {});
    followed?.end(failure.code);
    throw failure;
  }
  arrival.admitted = true;
  followed?.end("ok");
  // Of several calls of providers the record tells too little.
  if (arrival.compacts || call.shape.search || call.shape.calls > 1 || hedges(call)) arrival.steps.collect();
  if (isPlain(call, kit)) return { call, parts: plain(call, kit) };
  const one = isOneCall(call);
  const asked = one
    ? generateOnce(call, kit)
    : await begun(call, async () => (await ways.open()).askOtherwise(call, kit));
  const { payloads } = kit;
  const parts = payloads?.keeps(arrival.key)
    ? payloads.keep(asked, { call, body: arrival.body, kit })
    : asked;
  const originals = call.screened?.originals;
  if (one && parts === asked && !originals) return { call, parts: meterPlain(parts, call, kit) };
  if (!originals) return { call, parts: meter(parts, call, kit) };
  const { restore } = await begun(call, async () => await restoring.open());
  return { call, parts: meter(restore(parts, originals), call, kit) };
}

/** What is needed before the parts begin. The call's money is reserved by now. */
async function begun<T>(call: Call, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (thrown) {
    await call.reservation.release("internal_service_error");
    throw thrown;
  }
}

/** One call of a provider, whose answer is given as it comes. */
function isOneCall({ arrival, shape, screened }: Call): boolean {
  return !shape.search && shape.calls === 1 && !screened?.answers && arrival.compacts !== true &&
    !repairs(arrival);
}

/** The same, its answer wanted whole and with nothing to be put back into it. */
function isPlain(call: Call, { payloads }: Kit): boolean {
  return !call.prompt.stream && !call.screened?.originals && isOneCall(call) &&
    !payloads?.keeps(call.arrival.key);
}

function plain(call: Call, kit: Kit): Parts {
  return new WholeParts(
    (took) => meterWhole((told) => generateWhole(call, kit, told), took, { call, kit }),
    () => meter(generate(call, call.prompt, kit), call, kit),
  );
}
