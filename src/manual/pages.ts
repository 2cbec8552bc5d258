/**
 * The pages of the manual in reading order, embedded as text in the program.
 *
 * A new page needs a file in `pages/` and a line here; a test fails for a file without a line.
 * `pages/reference/` is written by `deno task docs`.
 */
import accounts from "./pages/accounts.md" with { type: "text" };
import administration from "./pages/administration.md" with { type: "text" };
import alerts from "./pages/alerts.md" with { type: "text" };
import architecture from "./pages/architecture.md" with { type: "text" };
import budgets from "./pages/budgets.md" with { type: "text" };
import changelog from "./pages/changelog.md" with { type: "text" };
import clients from "./pages/clients.md" with { type: "text" };
import consolePage from "./pages/console.md" with { type: "text" };
import contributing from "./pages/contributing.md" with { type: "text" };
import dlp from "./pages/dlp.md" with { type: "text" };
import glossary from "./pages/glossary.md" with { type: "text" };
import hosting from "./pages/hosting.md" with { type: "text" };
import limits from "./pages/limits.md" with { type: "text" };
import operation from "./pages/operation.md" with { type: "text" };
import payloads from "./pages/payloads.md" with { type: "text" };
import providers from "./pages/providers.md" with { type: "text" };
import clouds from "./pages/clouds.md" with { type: "text" };
import commands from "./pages/reference/commands.md" with { type: "text" };
import configuration from "./pages/reference/configuration.md" with { type: "text" };
import entities from "./pages/reference/entities.md" with { type: "text" };
import errors from "./pages/reference/errors.md" with { type: "text" };
import headers from "./pages/reference/headers.md" with { type: "text" };
import metrics from "./pages/reference/metrics.md" with { type: "text" };
import routing from "./pages/routing.md" with { type: "text" };
import search from "./pages/search.md" with { type: "text" };
import speed from "./pages/speed.md" with { type: "text" };
import start from "./pages/start.md" with { type: "text" };
import translation from "./pages/translation.md" with { type: "text" };
import architectureSvg from "./pages/architecture.svg" with { type: "text" };
import soakSvg from "./pages/soak.svg" with { type: "text" };
import curveSvg from "../models/autoroute/curve.svg" with { type: "text" };

export interface Page {
  /** Its path below `/docs/`, and below `pages/` with the suffix `.md`. */
  name: string;
  /** Its group in the navigation. */
  group: string;
  /** Markdown; the first line is the title. */
  text: string;
}

const group = (group: string, pages: Record<string, string>): Page[] =>
  Object.entries(pages).map(([name, text]) => ({ name, group, text }));

export const PAGES: readonly Page[] = [
  ...group("Use", { start, clients, providers, clouds, translation }),
  ...group("Features", {
    accounts,
    budgets,
    administration,
    console: consolePage,
    dlp,
    search,
    routing,
    limits,
  }),
  ...group("Run", { hosting, operation, alerts, payloads, speed }),
  ...group("Reference", {
    "reference/configuration": configuration,
    "reference/commands": commands,
    "reference/errors": errors,
    "reference/entities": entities,
    "reference/metrics": metrics,
    "reference/headers": headers,
    glossary,
  }),
  ...group("Project", { architecture, contributing, changelog }),
];

/** Pictures by their path relative to `pages/`. */
export const PICTURES: Readonly<Record<string, string>> = {
  "architecture.svg": architectureSvg,
  "soak.svg": soakSvg,
  "../../models/autoroute/curve.svg": curveSvg,
};

export function titleOf(page: Page): string {
  return /^# (.+)/.exec(page.text)![1];
}
