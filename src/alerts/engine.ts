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
}

const EVERY_MS = 5000;
/** Waits, in milliseconds, before the notifications about the store are sent again. They do not use the outbox. */
const RETRIES_MS = [2000, 10_000, 60_000];
const ANSWER_MS = 15_000;

interface Watched {
  /** Equal on all nodes that have the same rule. */
  id: string;
  rule: AlertRule;
  window: RuleWindow;
}

type Sample = Record<string, Record<string, number[]>>;

export class Alerts {
  readonly #options: AlertsOptions;
  readonly #config: AlertsConfig;
  readonly #watched: readonly Watched[];
  readonly #judge = new Judge();
  readonly #ofNode = new Judge();
  readonly #since = new Map<string, number>();
  readonly #ending = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly receivers: readonly AlertReceiver[];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> = Promise.resolve();
  #complaint = "";

  constructor(config: AlertsConfig, options: AlertsOptions) {
    this.#config = config;
    this.#options = options;
    this.receivers = receiversOf(config.rules, config.smtp);
    this.#watched = config.rules.map((rule) => ({ id: ruleId(rule), rule, window: new RuleWindow(rule) }));
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

  /** @param leaves true: if this node is the evaluator, another node can become it immediately */
  async stop({ leaves = true } = {}): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#running;
    await Promise.all(this.#sending);
    const { store, node, ready } = this.#options;
    if (leaves && ready()) await store.leaveJudgement(node).catch(() => {});
  }

  /** Collects samples, and evaluates the rules if this node is the evaluator. */
  async round(): Promise<void> {
    const { collect, clock, first, ready, warn } = this.#options;
    try {
      const metrics = collect();
      const sample: Sample = {};
      for (const { id, rule, window } of this.#watched) {
        const numbers = window.take(clock.now(), metrics);
        if (!isOfNode(rule.when.metric)) sample[id] = numbers;
        else if (first) this.#judgeNode(id, rule, numbers);
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
    for (const id of [...this.#judge.ids()]) {
      // Another process has closed this alert.
      if (this.#judge.isFiring(id) && !known.has(id)) this.#judge.forget(id);
    }
    for (const { id } of open) this.#judge.adopt(id);
    const seen = new Set<string>();
    for (const { id, rule } of this.#watched) {
      if (isOfNode(rule.when.metric)) continue;
      const metric = alertMetric(rule.when.metric);
      const numbers = joined(samples.map((sample) => sample[id] ?? {}), metric.joined);
      const groups = new Set([...numbers.keys(), ...groupsOf(id, [...known.keys(), ...this.#judge.ids()])]);
      for (const group of groups) {
        seen.add(alertId(id, group));
        await this.#judgeOne(id, rule, { group, numbers }, known);
      }
    }
    // Alerts whose rule was removed are closed without a notification.
    const orphans = open.filter((alert) => !seen.has(alert.id));
    for (const { id, data } of orphans) {
      await this.#options.store.closeAlert({ id, now: this.#options.now(), data, receivers: [] });
      this.#judge.forget(id);
    }
  }

  async #judgeOne(
    ruleId: string,
    rule: AlertRule,
    { group, numbers }: { group: string; numbers: Numbers },
    known: ReadonlyMap<string, OpenAlert>,
  ): Promise<void> {
    const { store, now, clock, wake } = this.#options;
    const value = valueOf(rule, numbers.get(group));
    const id = alertId(ruleId, group);
    const verdict = this.#judge.judge(id, value, clock.now(), thresholds(rule));
    if (verdict === null) return;
    const data = dataOf(rule, group, value ?? known.get(id)?.data.value ?? 0);
    const change = { id, now: now(), data, receivers: rule.to.map(receiverId) };
    try {
      await (verdict === "fires" ? store.openAlert(change) : store.closeAlert(change));
      wake();
    } catch (error) {
      // The state was not written: evaluate it again in the next round.
      if (verdict === "fires") this.#judge.forget(id);
      else this.#judge.adopt(id);
      throw error;
    }
  }

  #judgeNode(id: string, rule: AlertRule, numbers: Record<string, number[]>): void {
    const { now, clock, machine } = this.#options;
    for (const [group, values] of Object.entries(numbers)) {
      const value = valueOf(rule, values);
      const key = alertId(id, group);
      const verdict = this.#ofNode.judge(key, value, clock.now(), thresholds(rule));
      if (verdict === null) continue;
      if (verdict === "fires") this.#since.set(key, now());
      const event: AlertEvent = {
        event: verdict === "fires" ? "alert.firing" : "alert.recovered",
        ...dataOf(rule, group, value ?? 0),
        group: { ...JSON.parse(group), node: machine },
        starts: this.#since.get(key) ?? now(),
        ends: verdict === "fires" ? null : now(),
      };
      for (const to of rule.to) this.#sendDirectly(receiverId(to), event);
    }
  }

  #sendDirectly(receiver: string, data: AlertEvent): void {
    const { now, warn } = this.#options;
    const found = this.receivers.find(({ id }) => id === receiver)!;
    const delivery = { id: `evt_${crypto.randomUUID().replaceAll("-", "")}`, created: now(), data };
    const notifying = (async () => {
      let trouble: unknown;
      for (const wait of [0, ...RETRIES_MS]) {
        if (wait > 0) await rest(wait, this.#ending.signal);
        if (this.#ending.signal.aborted) return;
        trouble = await found.send(
          delivery,
          AbortSignal.any([this.#ending.signal, AbortSignal.timeout(ANSWER_MS)]),
        );
        if (trouble === null) return;
      }
      warn(`${found.name} could not be notified of an alert: ${deliveryError(trouble)}`);
    })().finally(() => this.#sending.delete(notifying));
    this.#sending.add(notifying);
  }
}

function valueOf({ when }: AlertRule, numbers: readonly number[] | undefined): number | null {
  if (numbers === undefined) return null;
  return alertMetric(when.metric).value(numbers, { least: when.least, overMs: when.over });
}

function thresholds({ when: { above, clear }, for: forMs }: AlertRule) {
  return { above, clear, forMs };
}

function dataOf({ name, when }: AlertRule, group: string, value: number) {
  return { rule: name, group: JSON.parse(group), metric: when.metric, above: when.above, value };
}

function ruleId({ name, when }: AlertRule): string {
  return createHash("sha256").update(JSON.stringify([name, when])).digest("hex").slice(0, 16);
}

function alertId(rule: string, group: string): string {
  return `${rule} ${group}`;
}

function groupsOf(rule: string, ids: readonly string[]): string[] {
  return ids.filter((id) => id.startsWith(`${rule} `)).map((id) => id.slice(rule.length + 1));
}
