/** The headers in which traces are read and written (`OTEL_PROPAGATORS`). */
import { assertEquals } from "@std/assert";
import { exportSettings } from "../../src/telemetry/otlp/environment.ts";
import { newSpanId, newTraceId, spanIdOf, traceIdOf } from "../../src/telemetry/otlp/ids.ts";
import { Propagation, type Propagator } from "../../src/telemetry/propagation.ts";
import { PARENT, TRACE, TRACEPARENT, withRig } from "./rig.ts";

const OTHER_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const B3 = `${OTHER_TRACE}-${PARENT}-1`;
const BAGGAGE = "tenant=acme;p=1,user=%C3%A4";
const read = (propagators: Propagator[], headers: Record<string, string>) =>
  new Propagation(propagators).read((name) => headers[name] ?? null);

Deno.test("propagation: the list of propagators is read, and what is not known is named", () => {
  const of = (list: string) => {
    const { propagators, mistakes } = exportSettings((name) =>
      name === "OTEL_PROPAGATORS" ? list : undefined
    );
    return [propagators.join(), mistakes.length];
  };
  const cases: [string, string, number][] = [
    ["", "tracecontext", 0],
    ["tracecontext", "tracecontext", 0],
    ["tracecontext,baggage", "tracecontext,baggage", 0],
    [" B3 , TraceContext ,b3", "b3,tracecontext", 0],
    ["b3multi", "b3multi", 0],
    ["baggage", "baggage", 0],
    ["none", "", 0],
    ["none,b3", "", 0],
    ["jaeger,b3", "b3", 1],
    ["xray", "tracecontext", 1],
    [",,", "tracecontext", 0],
  ];
  for (const [list, ...told] of cases) assertEquals(of(list), told, list);
});

Deno.test("propagation: a trace is found in every format of B3, and in none that is broken", () => {
  const several = { "x-b3-traceid": OTHER_TRACE, "x-b3-spanid": PARENT };
  const cases: [Record<string, string>, null | { id?: string; sampled: boolean; debug?: boolean }][] = [
    [{ b3: B3 }, { sampled: true }],
    [{ b3: `${OTHER_TRACE}-${PARENT}-0` }, { sampled: false }],
    [{ b3: `${OTHER_TRACE}-${PARENT}-d` }, { sampled: true, debug: true }],
    [{ b3: `${OTHER_TRACE}-${PARENT}` }, { sampled: false }],
    [{ b3: `${OTHER_TRACE}-${PARENT}-1-${PARENT}` }, { sampled: true }],
    [{ b3: `${OTHER_TRACE.toUpperCase()}-${PARENT.toUpperCase()}-1` }, { sampled: true }],
    [{ b3: `a3ce929d0e0e4736-${PARENT}-1` }, { id: "0000000000000000a3ce929d0e0e4736", sampled: true }],
    [{ ...several, "x-b3-sampled": "1" }, { sampled: true }],
    [{ ...several, "x-b3-sampled": "true" }, { sampled: true }],
    [{ ...several, "x-b3-sampled": "0" }, { sampled: false }],
    [{ ...several, "x-b3-flags": "1" }, { sampled: true, debug: true }],
    [{ ...several, "x-b3-flags": "1", "x-b3-sampled": "0" }, { sampled: true, debug: true }],
    [{ ...several, b3: "0" }, { sampled: false }],
    [{ ...several, "x-b3-sampled": "0", b3: B3 }, { sampled: true }],
    [{ b3: "0" }, null],
    [{ b3: "1" }, null],
    [{ b3: `${"0".repeat(32)}-${PARENT}-1` }, null],
    [{ b3: `${OTHER_TRACE}-${"0".repeat(16)}-1` }, null],
    [{ b3: `${OTHER_TRACE}-${PARENT}-2` }, null],
    [{ b3: `x${B3}` }, null],
    [{ b3: `${B3}\n` }, null],
    [{ "x-b3-traceid": OTHER_TRACE }, null],
    [{ "x-b3-traceid": "zz", "x-b3-spanid": PARENT }, null],
    [{ traceparent: TRACEPARENT }, null],
  ];
  for (const [headers, told] of cases) {
    const { trace } = read(["b3"], headers);
    if (told === null) assertEquals(trace, null, JSON.stringify(headers));
    else {
      const { id = OTHER_TRACE, sampled, debug = false } = told;
      const expected = {
        traceId: id,
        spanId: PARENT,
        sampled,
        debug,
        random: false,
        state: undefined,
        parent: null,
      };
      assertEquals(trace, expected, JSON.stringify(headers));
    }
    assertEquals(read(["b3multi"], headers), read(["b3"], headers));
    assertEquals(read([], headers), { trace: null, baggage: undefined });
  }
});

Deno.test("propagation: the last propagator that finds a trace counts, and all of them write it", () => {
  const headers = { traceparent: TRACEPARENT, tracestate: "v=1", b3: B3, baggage: BAGGAGE };
  const id = (list: Propagator[], from: Record<string, string> = headers) => read(list, from).trace?.traceId;
  assertEquals(id(["tracecontext", "b3"]), OTHER_TRACE);
  assertEquals(id(["b3", "tracecontext"]), TRACE);
  assertEquals(id(["tracecontext", "b3"], { ...headers, b3: "x" }), TRACE);

  const all = new Propagation(["b3", "b3multi", "tracecontext", "baggage"]);
  const span = { trace: traceIdOf(TRACE), span: spanIdOf("00f067aa0ba902b7") };
  const caller = all.read((name) => new Map(Object.entries(headers)).get(name) ?? null);
  assertEquals(all.headers(span, caller), {
    b3: `${TRACE}-00f067aa0ba902b7-1`,
    "x-b3-traceid": TRACE,
    "x-b3-spanid": "00f067aa0ba902b7",
    "x-b3-sampled": "1",
    traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
    tracestate: "v=1",
    baggage: BAGGAGE,
  });
  // What is not recorded is passed on as it came, in every format.
  const unsampled = TRACEPARENT.replace(/01$/, "00");
  assertEquals(all.passedOn(read(["tracecontext"], { traceparent: unsampled, tracestate: "v=1" })), {
    b3: `${TRACE}-${PARENT}-0`,
    "x-b3-traceid": TRACE,
    "x-b3-spanid": PARENT,
    "x-b3-sampled": "0",
    traceparent: unsampled,
    tracestate: "v=1",
  });
  // That a trace id is random holds for all spans of the trace.
  const random = read(["tracecontext"], { traceparent: TRACEPARENT.replace(/01$/, "03") });
  assertEquals(new Propagation(["tracecontext"]).headers(span, random), {
    traceparent: `00-${TRACE}-00f067aa0ba902b7-03`,
  });
  const debug = read(["b3"], { b3: `${OTHER_TRACE}-${PARENT}-d` });
  const written = new Propagation(["b3", "b3multi"]).headers(
    { trace: newTraceId(), span: newSpanId() },
    debug,
  );
  assertEquals([written.b3.slice(-2), written["x-b3-flags"], written["x-b3-sampled"]], [
    "-d",
    "1",
    undefined,
  ]);
  assertEquals(new Propagation([]).headers(span, caller), {});
});

Deno.test("propagation: baggage that is too long or no text is not passed on", () => {
  const of = (baggage: string) => read(["baggage"], { baggage }).baggage;
  assertEquals(of(BAGGAGE), BAGGAGE);
  assertEquals(of(`a=${"x".repeat(8190)}`)?.length, 8192);
  for (const bad of ["", `a=${"x".repeat(8191)}`, "a=\u00e4", "a=b\r\nx: y"]) {
    assertEquals(of(bad), undefined);
  }
});

Deno.test("telemetry: providers get the trace in the headers of OTEL_PROPAGATORS, and no other", async () => {
  const sent = { traceparent: TRACEPARENT, tracestate: "v=1", b3: B3, baggage: BAGGAGE };
  const unsampled = {
    ...sent,
    traceparent: TRACEPARENT.replace(/1$/, "0"),
    b3: B3.replace(/1$/, "0"),
  };
  const names = ["traceparent", "tracestate", "b3", "x-b3-traceid", "baggage"];
  const cases: [propagators: string | null, sample: number, traceId: string | null, got: string[]][] = [
    [null, 1, TRACE, ["traceparent", "tracestate"]],
    ["none", 1, null, []],
    ["none", 0, null, []],
    ["b3,baggage", 0, OTHER_TRACE, ["b3", "baggage"]],
    ["b3multi", 1, OTHER_TRACE, ["x-b3-traceid"]],
  ];
  for (const [propagators, sample, traceId, got] of cases) {
    await withRig(async ({ ask, seen, receiver, trace }) => {
      await (await ask({}, sample === 1 ? sent : unsampled)).text();
      const { headers } = seen[0];
      assertEquals(names.filter((name) => headers.has(name)), got, `${propagators}`);
      if (traceId === null) return;
      // The trace, and the span of the attempt.
      const [id, span] = headers.get("traceparent")?.split("-").slice(1) ?? headers.get("b3")?.split("-") ??
        [headers.get("x-b3-traceid"), headers.get("x-b3-spanid")];
      assertEquals(id, traceId);
      if (sample === 0) return assertEquals(receiver.spans.filter(({ kind }) => kind === 2), []);
      const { server, of } = await trace(traceId);
      assertEquals([server.parentSpanId, of("chat m")[0].spanId], [PARENT, span]);
    }, {
      env: { ...(propagators !== null && { OTEL_PROPAGATORS: propagators }), OTEL_DENO_TRACING: "false" },
      config: { telemetry: { sample } },
    });
  }
});
