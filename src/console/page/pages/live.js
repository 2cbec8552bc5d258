/** Calls as they begin and end, and one of them in detail. */
import { events, query, Refused } from "../lib/api.js";
import { Field, Form } from "../lib/form.js";
import { clock, count, countOf, duration, money, named } from "../lib/format.js";
import { html, useEffect, useRef, useState } from "../lib/html.js";
import { go, href, useRoute } from "../lib/router.js";
import { Table } from "../lib/table.js";
import { Badge, Button, Failed, Page, Panel } from "../lib/ui.js";
import { GenerationDialog, Outcome, Tags } from "../generation.js";
import { seesAll } from "../manage/rights.js";

/** @typedef {import("../../../accounts/mod.ts").GenerationView} Generation */
/** @typedef {Omit<Generation, "status"> & { status: Generation["status"] | "running", recorded?: false }} Call */

const MOST_SHOWN = 200;
const FILTERS = ["key", "model", "provider", "team", "session", "tag", "status"];
/** Calls of some milliseconds come in crowds: they are shown a few times a second. */
const SHOW_MS = 150;
const AGAIN_MS = 2000;
const PACE_MS = 8000;

export default function Live() {
  const route = useRoute();
  const [paused, setPaused] = useState(false);
  const asked = query(Object.fromEntries(FILTERS.map((name) => [name, route.query[name]])));
  const { calls, state, refused, lost, pace, seen } = useLive(`/admin/live${asked}`, paused);
  const [, setNow] = useState(0);
  const running = calls.filter(({ status }) => status === "running");
  useEffect(() => {
    if (running.length === 0) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [running.length > 0]);
  const opened = route.rest[0];
  const failed = calls.filter(({ status }) => status === "failed" || status === "interrupted").length;
  return html`
    <${Page} title="Live"
      about=${seesAll() ? told(seen) : "Calls of your own keys as they begin and end."}
      actions=${html`<span class="live-state" role="status">${
        paused
          ? html`<${Badge}>Paused<//>`
          : state === "open"
          ? html`<${Badge} tone="good"><i class="pulse"></i>Live<//>`
          : refused
          ? html`<${Badge} tone="bad">Refused<//>`
          : html`<${Badge} tone="warn">Connecting…<//>`
      }</span><${Button} onClick=${() => setPaused(!paused)}>${paused ? "Go on" : "Pause"}<//>`}>
      <${Panel}>
        <${Form} inline key=${asked} submit="Filter" kind="" onSubmit=${(
          /** @type {Record<string, string>} */ given,
        ) => {
          go("live", { query: given });
          return Promise.resolve();
        }} more=${asked && html`<a class="button" href=${href("live")}>All</a>`}>
            ${FILTERS.map((name) =>
              html`
                <${Field} key=${name} label=${name[0].toUpperCase() +
                  name.slice(1)} name=${name} initial=${route.query[name] ?? ""} placeholder=${name === "tag"
                  ? "env=dev"
                  : "any"}
                  suggestions=${name === "status"
                    ? ["completed", "incomplete", "failed", "interrupted"]
                    : had(calls, name)} />
              `
            )}
          <//>
        <//>
        ${refused && html`<${Failed} error=${refused} />`}
        ${lost > 0 && html`
          <p class="strip warn" role="status">${left(lost, pace)}</p>
        `}
        <${Panel} title=${html`${count(running.length)} running, ${
          count(calls.length - running.length)
        } ended`}
          note=${failed > 0 ? `${count(failed)} of them failed` : undefined}>
          <${Table} caption="Calls, the newest first" rows=${calls} id=${(/** @type {Call} */ c) => c.id}
            link=${(/** @type {Call} */ c) => href("live", { rest: [c.id], query: route.query })}
            marked=${(/** @type {Call} */ c) => c.id === opened}
            empty=${asked
              ? "No call matches the filter yet"
              : "No call yet: they appear here as they begin"} columns=${COLUMNS} />
        <//>
        ${opened && html`
          <${GenerationDialog} key=${opened} id=${opened} call=${calls.find(({ id }) => id === opened)}
            onClose=${() => go("live", { query: route.query })} />
        `}
      <//>
  `;
}

/**
 * Whose calls are seen.
 * @param {import("../../../accounts/live/live_events.ts").Seen | null} seen
 */
function told(seen) {
  if (seen === null) return "Calls as they begin and end.";
  const { nodes, told } = seen;
  if (nodes === 1) return "Calls of this gateway as they begin and end.";
  if (told === nodes) {
    return `Calls of all ${nodes} processes as they begin and end. Those of other processes appear a second later.`;
  }
  return `Calls of ${told} of ${nodes} processes as they begin and end. Calls of the others appear when they have ended.`;
}

/**
 * What was left out.
 * @param {number} lost events
 * @param {{ told: number, all: number }} pace ends of calls a second
 */
function left(lost, { told, all }) {
  const more = html`Set a filter to see fewer calls; <a href=${
    href("explore")
  }>Explore</a> lists every call.`;
  return all > told
    ? html`Showing ${count(Math.round(told))} of ${count(Math.round(all))} calls a second. ${more}`
    : html`${countOf(lost, "event")} left out, because there were more than the page can show. ${more}`;
}

/** @type {import("../lib/table.js").Column<Call>[]} */
const COLUMNS = [
  { title: "Time", show: (c) => html`<span class="mono">${clock(c.created)}</span>` },
  { title: "State", show: (c) => html`<${Outcome} call=${c} />` },
  { title: "Model", show: (c) => named(c.model) },
  { title: "Provider", show: (c) => c.provider ?? "" },
  {
    title: "Key",
    show: (c) =>
      html`${c.key}${
        c.team && html`
          <small class="note">${c.team}</small>
        `
      }`,
  },
  {
    title: "In / out",
    number: true,
    show: (c) => c.usage ? `${count(c.usage.input_tokens)} / ${count(c.usage.output_tokens)}` : "",
  },
  {
    title: "First output",
    number: true,
    show: (c) => c.ttft_ms === null || c.ttft_ms === undefined ? "" : duration(c.ttft_ms),
  },
  {
    title: "Total",
    number: true,
    show: (c) =>
      c.status === "running"
        ? duration(Math.max(0, Date.now() - Date.parse(c.created)))
        : duration(c.latency_ms),
  },
  { title: "Cost", number: true, show: (c) => c.cost === undefined ? "" : money(c.cost) },
  { title: "Tags", show: (c) => html`<${Tags} tags=${c.tags} session=${c.session} />` },
];

/**
 * Values that calls have had, as suggestions for a filter.
 * @param {readonly Call[]} calls
 * @param {string} name
 */
function had(calls, name) {
  const values = calls.flatMap((call) =>
    name === "tag"
      ? Object.entries(call.tags).map(([tag, value]) => `${tag}=${value}`)
      : [/** @type {any} */ (call)[name]]
  );
  return [...new Set(values.filter(Boolean))].sort().slice(0, 50);
}

/** Ends of calls a second, over the last few: events come in bursts, with seconds between them. */
class Pace {
  /** @type {{ at: number, told: number, left: number }[]} */
  #seconds = [];
  #began = Date.now();

  /**
   * @param {number} told
   * @param {number} left
   */
  add(told, left) {
    const at = Math.floor(Date.now() / 1000);
    if (this.#seconds.at(-1)?.at !== at) this.#seconds.push({ at, told: 0, left: 0 });
    const last = this.#seconds[this.#seconds.length - 1];
    last.told += told;
    last.left += left;
  }

  now() {
    const from = Date.now() - PACE_MS;
    this.#seconds = this.#seconds.filter(({ at }) => at * 1000 >= from);
    const seconds = Math.max(1, Math.min(PACE_MS, Date.now() - this.#began) / 1000);
    const told = this.#seconds.reduce((sum, second) => sum + second.told, 0) / seconds;
    return { told, all: told + this.#seconds.reduce((sum, second) => sum + second.left, 0) / seconds };
  }
}

/**
 * Follows the events; begins anew when the connection breaks. A filter that is refused now is refused again.
 *
 * @param {string} path
 * @param {boolean} paused
 */
function useLive(path, paused) {
  const [shown, setShown] = useState(
    /** @type {{ calls: Call[], lost: number, pace: { told: number, all: number } }} */ ({
      calls: [],
      lost: 0,
      pace: { told: 0, all: 0 },
    }),
  );
  const [state, setState] = useState("connecting");
  const [refused, setRefused] = useState(/** @type {Error | null} */ (null));
  const [seen, setSeen] = useState(
    /** @type {import("../../../accounts/live/live_events.ts").Seen | null} */ (null),
  );
  const held = useRef(paused);
  held.current = paused;
  useEffect(() => {
    const aborter = new AbortController();
    /** @type {Map<string, Call>} */
    let calls = new Map();
    let lost = 0;
    let changed = true;
    const ends = new Pace();
    const timer = setInterval(() => {
      if (!changed || held.current) return;
      changed = false;
      const all = [...calls.values()].sort((a, b) =>
        a.created < b.created ? 1 : a.created > b.created ? -1 : a.id < b.id ? 1 : -1
      );
      calls = new Map(all.slice(0, 2 * MOST_SHOWN).map((call) => [call.id, call]));
      setShown({ calls: all.slice(0, MOST_SHOWN), lost, pace: ends.now() });
    }, SHOW_MS);
    const follow = async () => {
      for await (const { event, data } of events(path, aborter.signal)) {
        changed = true;
        setState("open");
        if (event === "hello") {
          calls = new Map();
          for (const call of data.recent) calls.set(call.id, call);
          for (const call of data.running) calls.set(call.id, { ...call, status: "running" });
          setSeen(data.seen);
        } else if (event === "start") {
          if (!calls.has(data.id)) calls.set(data.id, { ...data, status: "running" });
        } else if (event === "end") {
          calls.set(data.id, data);
          ends.add(1, 0);
        } else if (event === "lost") {
          lost += data.events;
          ends.add(0, data.ended);
        } else if (event === "seen") setSeen(data);
      }
    };
    (async () => {
      while (!aborter.signal.aborted) {
        const error = await follow().catch((thrown) => thrown);
        setState("connecting");
        if (error instanceof Refused && error.status === 422) return setRefused(error);
        if (!aborter.signal.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    })();
    return () => {
      aborter.abort();
      setRefused(null);
      clearInterval(timer);
    };
  }, [path]);
  return { ...shown, state, refused, seen };
}
