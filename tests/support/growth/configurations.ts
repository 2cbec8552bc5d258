/** Configurations with many entries that refer to each other by name. */
import { checkReferences } from "../../../src/config/references.ts";
import { openReport } from "../../../src/schema/mistakes.ts";
import { type Dimension, times } from "./dimension.ts";

type Make = (n: number) => Record<string, unknown>;

const names = (n: number, of: string) => times(n, (i) => ({ name: `${of}${i}` }));
/** From the last one to the first, so that a search from the beginning takes long. */
const keys = (n: number, field: string, of: string) =>
  times(n, (i) => ({ name: `key${i}`, [field]: `${of}${n - 1 - i}` }));
const sections = (n: number, of: string, value: object) =>
  Object.fromEntries(times(n, (i) => [`${of}${i}`, value]));
const models = (n: number) =>
  times(n, (i) => ({ id: `v/m${i}`, routes: [{ provider: `p${n - 1 - i}`, model: "m" }] }));

const MADE: Readonly<Record<string, Make>> = {
  "accounts of keys": (n) => ({ accounts: names(n, "a"), keys: keys(n, "account", "a") }),
  "accounts that keys lack": (n) => ({ accounts: names(n, "a"), keys: keys(n, "account", "b") }),
  "teams of keys": (n) => ({ teams: names(n, "t"), keys: keys(n, "team", "t") }),
  "policies of keys": (n) => ({
    access_policies: sections(n, "p", { allow: ["*"] }),
    keys: keys(n, "access_policy", "p"),
  }),
  "providers of models": (n) => ({
    catalog: { discover: false },
    providers: sections(n, "p", { api: "demo" }),
    models: models(n),
  }),
  "models of keys, and of auto": (n) => ({
    catalog: { discover: false },
    models: models(n),
    keys: times(n, (i) => ({ name: `key${i}`, models: [`v/m${n - 1 - i}`] })),
    auto: { models: times(n, (i) => `v/m${n - 1 - i}`) },
  }),
};

export const CONFIGURATIONS: Dimension[] = Object.entries(MADE).map(([name, make]) => ({
  name: `configuration: ${name}`,
  prepare(n, watch) {
    const value = watch(make(n));
    return () => {
      const report = openReport(new Map());
      checkReferences(value, report);
      return report.mistakes;
    };
  },
}));
