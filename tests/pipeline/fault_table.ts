/** Everything a provider can do wrong, what the caller sees of it, and what is counted and recorded. */
import type { Script } from "../support/faulty_provider.ts";
import { burst, delta, ENDING, frame, HEADERS, type Options, refusal, WHOLE, whole } from "./fault_rig.ts";

export interface Fault {
  name: string;
  script: Script;
  options?: Options;
  /** Moves the clock once the provider has the request: it is silent from then on. */
  silence?: boolean;
  /** What the caller sees: of a stream, of a whole answer. */
  stream: [status: number, code: string | null];
  whole: [status: number, code: string | null];
  /** The answer had begun: the provider may charge for it, so there is a record, which bills nothing. */
  begun?: true;
  /** Failures that the breaker counts, for the one call. */
  failures: number;
  /** Requests that the provider sees, for the one call. */
  hits: number;
}

export const UNAVAILABLE: [number, string] = [502, "provider_unavailable"];
const TIMEOUT: [number, string] = [408, "provider_timeout"];
const GOOD: [number, null] = [200, null];
const RETRYING = { provider: { retries: 2 } };

export const FAULTS: Fault[] = [
  {
    name: "resets before its headers",
    script: (e) => e.reset(),
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 1,
    hits: 1,
  },
  {
    name: "resets before its headers, twice",
    script: burst(2, (e) => e.reset()),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 2,
    hits: 3,
  },
  {
    name: "closes without a word",
    script: () => {},
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 1,
    hits: 1,
  },
  {
    name: "resets after its headers, before the first byte",
    async script(e) {
      e.head(200, HEADERS);
      await e.flush();
      e.reset();
    },
    options: RETRYING,
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 3,
    hits: 3,
  },
  {
    name: "answers with nothing at all",
    script(e) {
      e.head(200, HEADERS);
      e.write("0\r\n\r\n");
    },
    options: RETRYING,
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 3,
    hits: 3,
  },
  {
    name: "resets after the first bytes",
    async script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") : WHOLE.slice(0, 20));
      await e.flush();
      e.reset();
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "hangs before its headers",
    script: (e) => e.hang(),
    options: RETRYING,
    silence: true,
    stream: TIMEOUT,
    whole: TIMEOUT,
    failures: 1,
    hits: 1,
  },
  {
    name: "hangs after its headers",
    script(e) {
      e.head(200, HEADERS);
      return e.hang();
    },
    silence: true,
    stream: TIMEOUT,
    whole: TIMEOUT,
    failures: 1,
    hits: 1,
  },
  {
    name: "hangs in the middle",
    script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") : WHOLE.slice(0, 20));
      return e.hang();
    },
    options: RETRYING,
    silence: true,
    stream: [200, "provider_timeout"],
    whole: TIMEOUT,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "hangs after a complete answer",
    script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") + ENDING : WHOLE);
      return e.hang();
    },
    silence: true,
    stream: GOOD,
    // Nothing but its end says that a body is complete.
    whole: TIMEOUT,
    begun: true,
    failures: NaN,
    hits: 1,
  },
  {
    name: "closes in the middle of a frame",
    async script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") + delta(" there").slice(0, 30) : WHOLE.slice(0, 30));
      await e.flush();
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "ends a stream well in the middle of a frame",
    script(e) {
      e.head(200, HEADERS);
      e.chunk(e.stream ? delta("Hi") + delta(" there").slice(0, 30) : WHOLE.slice(0, 30));
      e.write("0\r\n\r\n");
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "promises more bytes than it sends",
    script(e) {
      const text = e.stream ? delta("Hi") : WHOLE;
      e.head(200, {
        "content-type": e.stream ? "text/event-stream" : "application/json",
        "content-length": "5000",
      });
      e.write(text);
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "promises more bytes than a complete stream has",
    script(e) {
      if (!e.stream) return whole(e, 200, WHOLE);
      e.head(200, { "content-type": "text/event-stream", "content-length": "5000" });
      e.write(delta("Hi") + ENDING);
    },
    stream: GOOD,
    whole: GOOD,
    failures: 0,
    hits: 1,
  },
  {
    name: "promises fewer bytes than it sends",
    async script(e) {
      const text = e.stream ? delta("Hi") + ENDING : WHOLE;
      e.head(200, {
        "content-type": e.stream ? "text/event-stream" : "application/json",
        "content-length": String(delta("Hi").length + 10),
      });
      await e.flush();
      e.write(text);
    },
    options: RETRYING,
    stream: [200, "provider_unavailable"],
    whole: UNAVAILABLE,
    begun: true,
    failures: 1,
    hits: 1,
  },
  {
    name: "answers 429 in a burst",
    script: burst(2, refusal(429)),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 0,
    hits: 3,
  },
  {
    name: "answers 500 in a burst",
    script: burst(2, refusal(500)),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 2,
    hits: 3,
  },
  {
    name: "answers 529 for good",
    script: refusal(529),
    options: RETRYING,
    stream: [502, "provider_model_down"],
    whole: [502, "provider_model_down"],
    failures: 3,
    hits: 3,
  },
  {
    name: "answers 408",
    script: burst(1, refusal(408)),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 1,
    hits: 2,
  },
  {
    name: "says under a good status that it is overloaded",
    script: burst(1, (e) => {
      const error = { error: { message: "Overloaded", type: "overloaded_error", code: 529 } };
      if (!e.stream) return whole(e, 200, JSON.stringify(error));
      e.head(200, HEADERS);
      e.chunk(frame(error));
      e.write("0\r\n\r\n");
    }),
    options: RETRYING,
    stream: GOOD,
    whole: GOOD,
    failures: 1,
    hits: 2,
  },
  {
    name: "asks for a longer wait than is worth it",
    script: refusal(429, undefined, { "retry-after": "60" }),
    options: RETRYING,
    stream: [429, "provider_rate_limited"],
    whole: [429, "provider_rate_limited"],
    failures: 0,
    hits: 1,
  },
  {
    name: "refuses the request",
    script: refusal(400),
    options: RETRYING,
    stream: [400, "provider_bad_request"],
    whole: [400, "provider_bad_request"],
    failures: 0,
    hits: 1,
  },
  {
    name: "refuses the gateway's key",
    script: refusal(401),
    options: RETRYING,
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 0,
    hits: 1,
  },
  {
    name: "refuses, and never ends saying why",
    script(e) {
      e.head(500, { "content-type": "application/json", "transfer-encoding": "chunked" });
      e.chunk('{"error":');
      return e.hang();
    },
    silence: true,
    stream: UNAVAILABLE,
    whole: UNAVAILABLE,
    failures: 1,
    hits: 1,
  },
];
