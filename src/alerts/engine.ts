/**
 * Alerts of a fleet. At a fixed interval each process writes its samples into the store. One of the nodes, the
 * evaluator, evaluates the rules over the samples of all nodes; if it ends, another node becomes the evaluator.
 * A change of state and its notifications, which go into the store's outbox, are written in one transaction, so
 * each change is announced once.
 *
 * Rules about the store itself are evaluated separately on each machine, and their notifications are sent
 * without the store.
 */
import { createHash } from "node:crypto";
import type { MetricData } from "../metrics/registry.ts";
import { deliveryError } from "../outgoing/ask.ts";
import { type AlertEvent, type AlertStore, type OpenAlert, StoreUnavailable } from "../store/mod.ts";
import type { Clock } from "../timing/clock.ts";
import { rest } from "../timing/waits.ts";
import type { AlertRule, SmtpConfig } from "./config.ts";
import { Judge } from "./judge.ts";
import { alertMetric, isOfNode, type Numbers } from "./metrics.ts";
import { type AlertReceiver, receiverId, receiversOf } from "./receivers.ts";
import { joined, RuleWindow } from "./window.ts";

export interface AlertsConfig {
  rules: readonly AlertRule[];
  smtp: SmtpConfig | null;
}

export interface AlertsOptions {
  store: AlertStore;
  /** Identifies this process among the nodes of the store. */
  node: string;
  /** Name of this machine in notifications. */
  machine: string;
  /** True: this process evaluates the rules about the store for its machine. */
  first: boolean;
  collect(): readonly MetricData[];
  /** The metrics of all processes of this machine, for the rules about the store. Absent: there is only this one. */
  collectMachine?(): Promise<readonly (readonly MetricData[])[]>;
  /** False: the store is unavailable. */
  ready(): boolean;
  /** Called after something was put into the outbox. */
  wake(): void;
  /** Milliseconds since the epoch, for times in notifications. */
  now(): number;
  /** A monotonic clock, for the durations of rules. */
  clock: Clock;
  warn(line: string): void;
  /** Milliseconds between rounds. */
  everyMs?: number;
  /** Waits, in milliseconds, before the notifications about the store are sent again. */
  retriesMs?: readonly number[];
}

const EVERY_MS = 5000;
/** By default. The notifications about the store do not use the outbox. */
const RETRIES_MS = [2000, 10_000, 60_000, 300_000, 900_000, 1_800_000];
const ANSWER_MS = 15_000;

interface Watched {
  /** Equal on all nodes that have the same rule. */
  id: string;
  rule: AlertRule;
  window: RuleWindow;
}

/** What outlives a change of the configuration. */
interface State {
  judge: Judge;
  /** Of the rules about the store. */
  ofNode: Judge;
  /** When alerts about the store began. */
  since: Map<string, number>;
  /** Notifications that are sent without the store. */
  sending: Set<Promise<void>>;
  /** The last of them, by receiver and alert: they are sent in order. */
  lastOf: Map<string, Promise<void>>;
  ending: AbortController;
}

function newState(): State {
  return {
    judge: new Judge(),
    ofNode: new Judge(),
    since: new Map(),
    sending: new Set(),
    lastOf: new Map(),
    ending: new AbortController(),
  };
}

type Sample = Record<string, Record<string, number[]>>;

export class Alerts {
  readonly #options: AlertsOptions;
  readonly #config: AlertsConfig;
  readonly #watched: readonly Watched[];
  readonly #state: State;
  readonly #ending = new AbortController();
  readonly receivers: readonly AlertReceiver[];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> = Promise.resolve();
  #complaint = "";

  /**
   * @param before "start": the process has just begun. Otherwise the alerts of the configuration that is
   * replaced, or null if it had none: rules that stay the same keep their samples and their state.
   */
  constructor(config: AlertsConfig, options: AlertsOptions, before: Alerts | "start" | null = "start") {
    this.#config = config;
    this.#options = options;
    this.receivers = receiversOf(config.rules, config.smtp);
    const replaced = before instanceof Alerts ? before : null;
    this.#state = replaced === null ? newState() : replaced.#state;
    const watched = replaced === null ? [] : replaced.#watched;
    const windows = new Map(watched.map(({ id, window }) => [id, window]));
    this.#watched = config.rules.map((rule) => {
      const id = ruleId(rule);
      return { id, rule, window: windows.get(id) ?? new RuleWindow(rule, { atStart: before === "start" }) };
    });
    const ids = new Set(this.#watched.map(({ id }) => id));
    for (const judge of [this.#state.judge, this.#state.ofNode]) {
      for (const alert of [...judge.ids()]) if (!ids.has(ruleOf(alert))) judge.forget(alert);
    }
  }

  get config(): AlertsConfig {
    return this.#config;
  }

  start(): void {
    const { everyMs = EVERY_MS } = this.#options;
    this.#running = this.round().finally(() => {
      if (!this.#ending.signal.aborted) this.#timer = setTimeout(() => this.start(), everyMs);
    });
  }

  /**
   * @param leaves true: if this node is the evaluator, another node can become it immediately
   * @param replaced true: others follow in this process, and what is being sent is sent to the end
   */
  async stop({ leaves = true, replaced = false } = {}): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#running;
    if (!replaced) {
      this.#state.ending.abort();
      await Promise.all(this.#state.sending);
    }
    const { store, node, ready } = this.#options;
    if (leaves && ready()) await store.leaveJudgement(node).catch(() => {});
  }

  /** Collects samples, and evaluates the rules if this node is the evaluator. */
  async round(): Promise<void> {
    const { collect, clock, first, ready, warn } = this.#options;
    try {
      const metrics = collect();
      const sample: Sample = {};
      const ofNode: Watched[] = [];
      for (const watched of this.#watched) {
        const { id, rule, window } = watched;
        if (isOfNode(rule.when.metric)) ofNode.push(watched);
        else sample[id] = window.take(clock.now(), metrics);
      }
      if (first && ofNode.length > 0) {
        const processes = await this.#options.collectMachine?.() ?? [metrics];
        for (const watched of ofNode) this.#judgeNode(watched, processes);
      }
      if (ready() && Object.keys(sample).length > 0) await this.#share(sample);
      this.#complaint = "";
    } catch (error) {
      if (error instanceof StoreUnavailable) return;
      const complaint = error instanceof Error ? `${error.name}: ${error.message}` : "for an unknown reason";
      if (complaint !== this.#complaint) warn(`alerts could not be judged: ${complaint}`);
      this.#complaint = complaint;
    }
  }

  async #share(sample: Sample): Promise<void> {
    const { store, node } = this.#options;
    await store.putSample(node, JSON.stringify(sample));
    if (!await store.takeJudgement(node)) return;
    const { samples, open } = await store.readAlerts();
    await this.#judgeAll(samples.map((text) => JSON.parse(text) as Sample), open);
  }

  async #judgeAll(samples: readonly Sample[], open: readonly OpenAlert[]): Promise<void> {
    const known = new Map(open.map((alert) => [alert.id, alert]));
    for (const id of [...this.#state.judge.ids()]) {
      // Another process has closed this alert.
      if (this.#state.judge.isFiring(id) && !known.has(id)) this.#state.judge.forget(id);
    }
    for (const { id } of open) this.#state.judge.adopt(id);
    const seen = new Set<string>();
    for (const { id, rule } of this.#watched) {
      if (isOfNode(rule.when.metric)) continue;
      const metric = alertMetric(rule.when.metric);
      const numbers = joined(samples.map((sample) => sample[id] ?? {}), metric.joined);
      const groups = new Set([
        ...numbers.keys(),
        ...groupsOf(id, [...known.keys(), ...this.#state.judge.ids()]),
      ]);
      for (const group of groups) {
        seen.add(alertId(id, group));
        await this.#judgeOne(id, rule, { group, numbers });
      }
    }
    // Alerts whose rule was removed are closed without a notification.
    const orphans = open.filter((alert) => !seen.has(alert.id));
    for (const { id, data } of orphans) {
      await this.#options.store.closeAlert({ id, now: this.#options.now(), data, receivers: [] });
      this.#state.judge.forget(id);
    }
  }

  async #judgeOne(
    ruleId: string,
    rule: AlertRule,
    { group, numbers }: { group: string; numbers: Numbers },
  ): Promise<void> {
    const { store, now, clock, wake } = this.#options;
    const value = valueOf(rule, numbers.get(group));
    const id = alertId(ruleId, group);
    const verdict = this.#state.judge.judge(id, value, clock.now(), thresholds(rule));
    if (verdict === null) return;
    const data = dataOf(rule, group, value);
    const change = { id, now: now(), data, receivers: receiversOfRule(rule) };
    try {
      await (verdict === "fires" ? store.openAlert(change) : store.closeAlert(change));
      wake();
    } catch (error) {
      // The state was not written: evaluate it again in the next round.
      if (verdict === "fires") this.#state.judge.forget(id);
      else this.#state.judge.adopt(id);
      throw error;
    }
  }

  #judgeNode({ id, rule, window }: Watched, processes: readonly (readonly MetricData[])[]): void {
    const { now, clock, machine } = this.#options;
    const taken = processes.map((metrics) => window.take(clock.now(), metrics));
    for (const [group, values] of joined(taken, alertMetric(rule.when.metric).joined)) {
      const value = valueOf(rule, values);
      const key = alertId(id, group);
      const verdict = this.#state.ofNode.judge(key, value, clock.now(), thresholds(rule));
      if (verdict === null) continue;
      if (verdict === "fires") this.#state.since.set(key, now());
      const event: AlertEvent = {
        event: verdict === "fires" ? "alert.firing" : "alert.recovered",
        ...dataOf(rule, group, value),
        group: { ...JSON.parse(group), node: machine },
        starts: this.#state.since.get(key) ?? now(),
        ends: verdict === "fires" ? null : now(),
      };
      for (const receiver of receiversOfRule(rule)) this.#sendDirectly(receiver, key, event);
    }
  }

  /** Waits until the notification before, of the same alert, was sent or given up. */
  #sendDirectly(receiver: string, alert: string, data: AlertEvent): void {
    const { now, warn, retriesMs = RETRIES_MS } = this.#options;
    const found = this.receivers.find(({ id }) => id === receiver)!;
    const delivery = { id: `evt_${crypto.randomUUID().replaceAll("-", "")}`, created: now(), data };
    const line = `${receiver} ${alert}`;
    const { sending, lastOf, ending: { signal } } = this.#state;
    const earlier = lastOf.get(line);
    const notifying = (async () => {
      await earlier;
      let trouble: unknown;
      for (const wait of [0, ...retriesMs]) {
        if (wait > 0) await rest(wait, signal);
        if (signal.aborted) return;
        trouble = await found.send(delivery, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
        if (trouble === null) return;
      }
      warn(`${found.name} could not be notified of an alert: ${deliveryError(trouble)}`);
    })().finally(() => {
      sending.delete(notifying);
      if (lastOf.get(line) === notifying) lastOf.delete(line);
    });
    sending.add(notifying);
    lastOf.set(line, notifying);
  }
}

/** A receiver that a rule names twice is notified once. */
function receiversOfRule({ to }: AlertRule): string[] {
  return [...new Set(to.map(receiverId))];
}

function valueOf({ when }: AlertRule, numbers: readonly number[] | undefined): number | null {
  if (numbers === undefined) return null;
  return alertMetric(when.metric).value(numbers, { least: when.least, overMs: when.over });
}

function thresholds({ when: { above, clear }, for: forMs }: AlertRule) {
  return { above, clear, forMs };
}

function dataOf({ name, when }: AlertRule, group: string, value: number | null) {
  return { rule: name, group: JSON.parse(group), metric: when.metric, above: when.above, value };
}

function ruleId({ name, when }: AlertRule): string {
  return createHash("sha256").update(JSON.stringify([name, when])).digest("hex").slice(0, 16);
}

function alertId(rule: string, group: string): string {
  return `${rule} ${group}`;
}

function ruleOf(alert: string): string {
  return alert.slice(0, alert.indexOf(" "));
}

function groupsOf(rule: string, ids: readonly string[]): string[] {
  return ids.filter((id) => ruleOf(id) === rule).map((id) => id.slice(rule.length + 1));
}
