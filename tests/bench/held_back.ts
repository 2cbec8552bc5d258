/** Whether a provider's whole answers over HTTP/1.1 wait for this machine's kernel, whoever asks. */
import { CA } from "../support/tls.ts";
import { median } from "./table.ts";
import { pause } from "../support/time.ts";

const CALLS = 40;
const PAUSE_MS = 20;
/** Linux acknowledges after 40 ms what it does not acknowledge at once. */
const HELD_MS = 30;

export const HELD_BACK =
  "asked by fetch over HTTP/1.1 alone this provider's answers take 40 ms too: Deno.serve writes one of more " +
  "than some 500 bytes in two packets, and the second waits until this machine's kernel acknowledges the first; so these are no " +
  "figures of the gateway, and nothing is asked of them here";

/** @param port of a provider behind TLS */
export async function heldBack(port: number): Promise<boolean> {
  using client = Deno.createHttpClient({ caCerts: [CA], http2: false, poolMaxIdlePerHost: 1 });
  const took: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    await pause(PAUSE_MS);
    const asked = performance.now();
    const body = '{"model":"whole","messages":[]}';
    await (await fetch(`https://localhost:${port}/v1/chat/completions`, { method: "POST", body, client }))
      .text();
    took.push(performance.now() - asked);
  }
  // A kernel acknowledges the first ones of a connection at once.
  return median(took.slice(CALLS / 2)) > HELD_MS;
}
