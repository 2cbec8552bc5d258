/** Drives nodes by random operations, and holds what they do against {@link model.ts}. */
import { assert, assertEquals } from "@std/assert";
import type { Cluster } from "../../support/cluster.ts";
import { pause } from "../../support/time.ts";
import { Checks } from "./checks.ts";
import { Changes } from "./changes.ts";
import { Crowds } from "./crowds.ts";
import { ACCOUNTS, ADMIN, configOf, TEAMS } from "./config.ts";
import { Judge } from "./judge.ts";
import { budgetsOf, type Call, costOf, type Key, type Limit, pico, type Priced, startOf } from "./model.ts";
import { Node, type Place } from "./node.ts";
import { Outage } from "./outage.ts";
import { type Answer, prepare } from "./requests.ts";
import { Repeats } from "./repeats.ts";
import { prove, retire } from "./retirement.ts";
import { Stall } from "./stall.ts";
import { openWorld, type World } from "./world.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
/** Another node knows of a change by then. */
const HEARD_MS = 1300;
/** A call that was answered later than this may have been let in a good while after it was judged. */
const SLOW_MS = 1000;
/** The database knows of a call by then. */
const REPORTED_MS = 1000;

interface Running {
  call: Call;
  answer: Promise<Answer>;
  left: boolean;
}

export class Driver {
  readonly place: Place;
  readonly world: World = openWorld();
  readonly nodes: Node[] = [];
  readonly keys: Key[] = [];
  readonly teams = new Map<string, Limit | null>();
  /** Of teams that have one. */
  readonly teamAccounts = new Map<string, string>();
  readonly credits = new Map<string, bigint>();
  /** Credits in the file; null: no limit. */
  readonly granted = new Map(ACCOUNTS.map(({ name, credits }) => [name, credits]));
  /** Credits that administrators have added. */
  readonly added = new Map<string, bigint>();
  readonly calls: Call[] = [];
  /** Calls that ran when their node was killed. */
  readonly lost: Call[] = [];
  readonly running = new Map<string, Running>();
  readonly counts: Record<string, number> = {};
  readonly history: string[] = [];
  version = 1;
  /** Prices that come into force at a time. */
  change: { at: number; version: number } | null = null;
  offset: number;
  nonces = 0;
  #next: () => number;
  readonly stall = new Stall();
  readonly outage: Outage;
  readonly #judge = new Judge(this);
  readonly #changes = new Changes(this);
  readonly #crowds = new Crowds(this, this.#judge, this.#changes);
  readonly #repeats = new Repeats(this);
  readonly checks = new Checks(this);

  /** @param cluster of the nodes' store; null: they have a file */
  constructor(place: Place, seed: number, cluster: Cluster | null = null) {
    this.place = place;
    this.outage = new Outage(this, cluster);
    // Retention goes by the earlier of two clocks: this one stays behind that of a database.
    this.offset = place.rateClock === "database" ? -400 * DAY : 0;
    let state = seed;
    this.#next = () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  get now(): number {
    return Date.now() + this.offset;
  }

  random(below: number): number {
    return Math.floor(this.#next() * below);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.random(list.length)];
  }

  chance(share: number): boolean {
    return this.#next() < share;
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  note(what: string): void {
    this.history.push(`${new Date().toISOString().slice(11)} ${what}`);
  }

  configOf(i: number): Record<string, unknown> {
    const { version, change, granted } = this;
    const keys = this.keys.flatMap(({ written, revoked }) => written === null || revoked ? [] : [written]);
    return configOf(this.place.stores[i], { version, change, keys, granted }, this.world);
  }

  async reload(): Promise<void> {
    for (const [i, node] of this.nodes.entries()) {
      await node.tell(`reload ${JSON.stringify(this.configOf(i))}`);
    }
  }

  /** Prices in force at a time. */
  priced(time = this.now): Priced {
    const { version, change } = this;
    return { version: change !== null && time >= change.at ? change.version : version, search: version };
  }

  async start(): Promise<void> {
    for (let i = 0; i < this.place.stores.length; i++) this.nodes.push(await this.#startNode(i));
    for (const name of this.granted.keys()) this.countCredits(name);
    for (const name of TEAMS) await this.#changes.changeTeam(name);
    for (let i = 0; i < 6; i++) await this.#changes.makeKey();
    await this.settleChange();
  }

  /** The total credits of an account follow from what the file grants, and what was added. */
  countCredits(account: string): void {
    const granted = this.granted.get(account) ?? null;
    if (granted === null) this.credits.delete(account);
    else this.credits.set(account, pico(granted) + (this.added.get(account) ?? 0n));
  }

  #startNode(i: number): Promise<Node> {
    const { workers, stores } = this.place;
    return Node.start({
      config: this.configOf(i),
      place: workers ? `${i + 1}/${stores.length}` : "1/1",
      ahead: this.offset,
    });
  }

  // deno-lint-ignore no-explicit-any
  async admin(method: string, path: string, body?: unknown): Promise<any> {
    const response = await fetch(this.pick(this.nodes).url + path, {
      method,
      headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  }

  async adminText(path: string, accept: string): Promise<string> {
    const response = await fetch(this.pick(this.nodes).url + path, {
      headers: { authorization: `Bearer ${ADMIN}`, accept },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${text}`);
    return text;
  }

  async settleChange(): Promise<void> {
    if (this.nodes.length > 1) await pause(HEARD_MS);
  }

  async step(): Promise<void> {
    const roll = this.random(100);
    if (roll < 54) await this.call();
    else if (roll < 62) await this.#crowds.come();
    else if (roll < 70) await this.release();
    else if (roll < 74) await this.#repeats.come();
    else if (roll < 79) await this.#changes.changeKey();
    else if (roll < 81) await this.#changes.changeTeam(this.pick(TEAMS));
    else if (roll < 84) await this.#changes.rotate();
    else if (roll < 86) await this.#changes.revoke();
    else if (roll < 87) await this.#changes.addCredits();
    else if (roll < 88) await this.#changes.changeGrant();
    else if (roll < 90) await this.#changes.changePrices();
    else if (roll < 96) await this.#moveClock();
    else if (roll < 97) await this.#kill();
    else if (roll < 98) await this.outage.come();
    else await this.checks.all();
  }

  async finish(): Promise<void> {
    await this.releaseAll();
    await this.checks.all();
    await this.checks.events();
    if (this.place.rateClock === "node" || this.offset < -20 * DAY) await retire(this);
    for (const node of this.nodes.splice(0)) await node.stop();
    await prove(this);
  }

  /** @param more fields of the store's configuration */
  async startAnew(laterMs: number, more: Record<string, unknown>): Promise<void> {
    for (const node of this.nodes.splice(0)) await node.stop();
    this.offset += laterMs;
    for (const store of this.place.stores) Object.assign(store, more);
    for (let i = 0; i < this.place.stores.length; i++) this.nodes.push(await this.#startNode(i));
  }

  /** Leaves nothing behind, whatever has come of it. */
  async abandon(): Promise<void> {
    this.stall.stop();
    for (const node of this.nodes) await node.kill();
    for (const { answer } of this.running.values()) await answer.catch(() => {});
    await this.world.close();
  }

  async #moveClock(): Promise<void> {
    if (this.chance(0.2)) return await this.#stepBack();
    const far = this.chance(0.5);
    // Else a day, a week or a month ends in the middle of a call.
    if (far && this.chance(0.5)) await this.releaseAll();
    const now = this.now;
    const nextDay = startOf("day", now + DAY);
    const by = far
      ? this.pick([nextDay - now - 3000, DAY, 7 * DAY, 31 * DAY, 10 * MINUTE])
      : this.pick([20_000, MINUTE, nextDay - now < 5 * MINUTE ? nextDay - now + 3000 : MINUTE]);
    this.offset += Math.max(1000, by);
    for (const node of this.nodes) await node.tell(`clock ${this.offset}`);
    this.note(`clock +${Math.round(by / 1000)} s: ${new Date(this.now).toISOString()}`);
    this.count("clock");
  }

  /** As when a clock is corrected. */
  async #stepBack(): Promise<void> {
    const by = this.pick([500, 3000, 70_000, 3_600_000]);
    this.offset -= by;
    this.#judge.steppedBack();
    this.#repeats.forget();
    for (const node of this.nodes) await node.tell(`clock ${this.offset}`);
    this.note(`clock -${by} ms: ${new Date(this.now).toISOString()}`);
    this.count("clock back");
  }

  async #kill(): Promise<void> {
    const i = this.random(this.nodes.length);
    this.note(`killed node ${i}, ${this.running.size} running`);
    const url = this.nodes[i].url;
    // A node without a journal reports to the database what it runs, a moment later.
    if (this.place.diskless) await pause(REPORTED_MS);
    await this.nodes[i].kill();
    for (const [nonce, { call, answer }] of [...this.running]) {
      if (!this.#isAt(nonce, url)) continue;
      this.running.delete(nonce);
      this.lost.push(call);
      this.world.release(nonce);
      await answer.catch(() => {});
    }
    this.nodes[i] = await this.#startNode(i);
    this.#judge.killed();
    this.#repeats.forget();
    this.count("kills");
    await this.settleChange();
    await this.checks.findLost();
  }

  #isAt(nonce: string, url: string): boolean {
    return this.#urls.get(nonce) === url;
  }
  readonly #urls = new Map<string, string>();

  async releaseAll(): Promise<void> {
    while (this.running.size > 0) {
      await this.release();
    }
  }

  async release(one?: string): Promise<void> {
    const all = [...this.running.keys()];
    if (all.length === 0) return;
    const nonce = one ?? this.pick(all);
    const { call, answer, left } = this.running.get(nonce)!;
    this.world.release(nonce);
    const got = await answer.catch(() => null);
    this.running.delete(nonce);
    if (left) await this.checks.recorded(call);
    await this.ended(call);
    if (got !== null) this.assertWhole(got, nonce);
    this.count("released");
  }

  assertWhole({ status, text }: Answer, nonce: string): void {
    assertEquals(
      status === 200 && !/"error":[{"]/.test(text),
      !this.world.failed.has(nonce),
      `${status} ${text}`,
    );
  }

  async ended(call: Call): Promise<void> {
    const { billed, searched, failed, silent, over } = this.world;
    over.add(call.nonce);
    const chars = silent.get(call.nonce);
    if (chars !== undefined && !billed.has(call.nonce)) await this.checks.estimated(call, chars);
    if (call.isHedged) await this.checks.hedged(call);
    const uses = billed.get(call.nonce) ?? [];
    const own = uses.reduce((sum, one) => sum + one.own, 0);
    const searches = (searched.get(call.nonce) ?? 0) + own;
    const broke = failed.has(call.nonce);
    call.cost = call.isCallers ? 0n : costOf(broke ? [] : uses, searches, call.model, call.priced);
    // Whether there was room for the provider's own searches only the record says, which is checked later.
    if (own > 0 && call.isLimited && !call.isCallers) call.cost = await this.checks.costOf(call);
    call.tokens = broke ? 0 : uses.reduce((sum, { input, output }) => sum + input + output, 0);
  }

  async call(): Promise<void> {
    const key = this.pick(this.chance(0.9) ? this.keys.filter(({ revoked }) => !revoked) : this.keys);
    const { order, labels, call, most, send, estimate, secret, until, tokens, repeatable, abort, stream } =
      prepare(this, key, this.running.size < 6 && this.chance(0.25));
    const node = this.pick(this.nodes);
    const budgets = budgetsOf(key, labels, this);
    const away = this.outage.isOn;
    const may = away
      ? { admit: undefined, why: "the store is away" }
      : this.#judge.judge(call, { budgets, most, secret: until, tokens });
    const rates = this.#judge.limited(call);
    const told = !away && this.chance(0.25) ? await estimate(node.url) : null;
    const from = this.#judge.time();
    this.#urls.set(order.nonce, node.url);

    const answer = send(secret, node.url);
    answer.catch(() => {});
    // The same request once more, at any node, while the first one runs.
    const twin = repeatable && !order.held && this.chance(0.5) ? send(secret) : null;
    twin?.catch(() => {});
    let got: Answer | null = null;
    if (order.held) {
      // One that fails in an earlier round is not held: its answer comes.
      const there = () => (this.world.asked.get(order.nonce) ?? 0) > order.rounds;
      while (got === null && !there()) {
        got = await Promise.race([answer, pause(5).then(() => null)]);
      }
    } else got = await answer;
    const second = await twin;
    if (got !== null && second !== null) this.#repeats.joined(got, second, order.nonce);
    const span = { from, to: this.#judge.time() };
    this.#judge.asked(call, rates, span);
    const { priced } = this;
    const then = priced.call(this, this.now + 1000);
    if (then.version !== call.priced.version) call.orPriced = then;
    const free = call.isCallers;
    const what = `${order.nonce} ${key.name} at ${this.nodes.indexOf(node)}: ${JSON.stringify(order)} ${
      JSON.stringify(labels)
    }`;
    if (got === null || got.status === 200 || this.world.asked.has(order.nonce)) {
      this.note(`${what} let in`);
      if (told !== null && may.why !== "a period ends") this.#judge.foretold(told, null, { what, free });
      // On a busy machine it may have come when a minute or a period was over.
      assert(may.admit !== false || span.to - from > SLOW_MS, `${what} was let in: ${may.why}`);
      this.letIn(call, rates, span);
      this.count(got === null ? "held" : "calls");
      if (got === null) {
        const left = !repeatable && order.fails < 0 && this.chance(0.25);
        if (left) abort.abort();
        this.running.set(order.nonce, { call, answer, left });
        return;
      }
      await this.ended(call);
      this.assertWhole(got, order.nonce);
      if (order.rounds > 0) this.count("searched");
      if (order.served !== null) this.count("served by another model");
      if (free) this.count("callers' own");
      if (repeatable && got.status === 200) {
        const { id, text } = got;
        this.#repeats.add({ key, send, until: this.now + 250_000, id, stream, text });
      }
      return;
    }
    this.note(`${what} refused ${got.status} ${got.text.slice(0, 300)}`);
    this.count(`refused ${got.status}${away ? " without a store" : ""}`);
    if (got.status === 503 && (away || this.stall.isFelt)) return;
    if (told !== null && may.why !== "a period ends") this.#judge.foretold(told, got, { what, free });
    assert(may.admit !== true, `${what} was refused: ${got.status} ${got.text}; ${may.why}`);
  }

  letIn(call: Call, rates: ReadonlySet<string>, span: { from: number; to: number }): void {
    this.calls.push(call);
    this.#judge.letIn(call, rates, span);
  }
}
