/** Crowds of calls. */
import { assert } from "@std/assert";
import { pause } from "../../support/time.ts";
import type { Changes } from "./changes.ts";
import { TEAMS } from "./config.ts";
import type { Driver } from "./driver.ts";
import type { Judge } from "./judge.ts";
import { accountOf, budgetsOf, dollars, sharedBudgets, startOf, stateOf } from "./model.ts";
import { prepare } from "./requests.ts";

export class Crowds {
  readonly #driver: Driver;
  readonly #judge: Judge;
  readonly #changes: Changes;

  constructor(driver: Driver, judge: Judge, changes: Changes) {
    this.#driver = driver;
    this.#judge = judge;
    this.#changes = changes;
  }

  /** Many calls at once, and something is changed in their middle: whatever is let in, no limit is passed. */
  async come(): Promise<void> {
    const driver = this.#driver;
    const good = driver.keys.filter(({ revoked }) => !revoked);
    const key = driver.pick(good);
    const other = driver.chance(0.5) ? key : driver.pick(good);
    const planned = Array.from({ length: 12 }, (_, i) => prepare(driver, i % 3 === 0 ? other : key, false));
    const now = driver.now;
    const before = planned.map(({ call, labels }) =>
      budgetsOf(call.key, labels, driver).map((budget) => ({ budget, ...stateOf(budget, driver.calls, now) }))
    );
    const shared = sharedBudgets(driver).map((budget) => ({ budget, ...stateOf(budget, driver.calls, now) }));
    driver.note(
      `a crowd of ${key.name} and ${other.name}: ${planned.map(({ order }) => order.nonce).join()}`,
    );
    const rates = planned.map(({ call }) => this.#judge.limited(call));
    const from = this.#judge.time();
    const answers = Promise.all(planned.map(({ send, secret }) => send(secret)));
    await pause(driver.random(30));
    const change = driver.random(12);
    if (change === 0) await this.#changes.changeLimits(key);
    else if (change === 1) await this.#changes.rotate(key);
    else if (change === 2) await this.#changes.addCredits();
    else if (change === 3) await this.#changes.changePrices();
    else if (change === 4) await this.#changes.changeTeamOf(key);
    else if (change === 5) await this.#changes.changeAccountOf(key);
    else if (change === 6) await this.#changes.changeTeam(driver.pick(TEAMS));
    else if (change === 7) await this.#changes.expire(key);
    else if (change === 8) await this.#changes.revoke(key);
    const gots = await answers;
    const span = { from, to: this.#judge.time() };
    for (const [i, { call }] of planned.entries()) this.#judge.asked(call, rates[i], span);
    for (const [i, got] of gots.entries()) {
      const { call, order } = planned[i];
      if (got.status !== 200 && !driver.world.asked.has(order.nonce)) {
        driver.count(`crowd: refused ${got.status}`);
        assert([401, 402, 429].includes(got.status) || (got.status === 503 && driver.stall.isFelt), got.text);
        continue;
      }
      driver.count("crowd: calls");
      driver.letIn(call, rates[i], span);
      call.orPriced = driver.priced();
      call.orOf = { team: call.key.team, account: accountOf(call.key, driver) };
      await driver.ended(call);
      driver.assertWhole(got, order.nonce);
    }
    await driver.settleChange();
    // What each of them has cost and who pays for it, where that has changed meanwhile.
    if (change < 9 || driver.chance(0.2)) await driver.checks.all();
    if (startOf("day", now) !== startOf("day", driver.now)) return;
    const all = [...before.entries()].map(([i, budgets]) => {
      const { call, labels } = planned[i];
      return { budgets, after: budgetsOf(call.key, labels, driver) };
    });
    for (const { budgets, after } of [...all, { budgets: shared, after: sharedBudgets(driver) }]) {
      for (const { budget, spent } of budgets) {
        const limit = after.find(({ name }) => name === budget.name)?.limit;
        // It was taken away, or another one is there now.
        if (limit === undefined || limit.period !== budget.limit.period) continue;
        const most = [spent, limit.amount, budget.limit.amount].reduce((a, b) => a > b ? a : b);
        const is = stateOf(budget, driver.calls, now).spent;
        assert(is <= most, `${budget.name}: ${dollars(is)} of ${dollars(most)}, ${dollars(spent)} before`);
      }
    }
    driver.count("crowds");
  }
}
