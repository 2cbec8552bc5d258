/**
 * The output of a start without a configuration: the providers that were found, prices, a key, and three
 * lines to paste.
 */
import type { FoundProvider } from "../config/demo.ts";
import { isPriced, type Model } from "../models/catalog.ts";
import { perMillion } from "../models/summary.ts";
import { inColumns } from "./columns.ts";

export interface Welcome {
  base: string;
  /** Null: it was shown at an earlier start. */
  secret: string | null;
  found: readonly FoundProvider[];
  models: readonly Model[];
  /** Whether an admin key is set, without which the console is unavailable. */
  administered: boolean;
  /** The command with which the user starts the program. */
  program: string;
}

/** The most models of one provider in the table. */
const MOST_SHOWN = 12;

/**
 * The text that a first start prints.
 * @param secret in `Welcome`: null if an earlier start created the key
 */
export function welcomeText({ base, secret, found, models, administered, program }: Welcome): string {
  const key = secret ?? "$SLUICE_KEY";
  const mode = found.length === 0
    ? "Demo mode."
    : "Serving the providers whose API keys are in the environment, for this machine only.";
  const shown = secret === null
    ? `${mode} The key was shown at the first start; \`${program} keys create NAME\` creates another one.`
    : `${mode} Your key, shown only once: ${secret}`;
  const json = `-H "Content-Type: application/json"`;
  const model = exampleOf(found, models);
  const page = `${base}/console`;
  const console = administered
    ? `Console: ${page}`
    : `Console: set SLUICE_ADMIN_KEY to a secret of 16 characters or more, start again, and sign in with it at ${page}`;
  return `
${shown}
${found.length === 0 ? "" : `\n${table(found, models, program)}\n`}
curl ${base}/v1/chat/completions -H "Authorization: Bearer ${key}" ${json} -d '{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Good morning"}]}'
curl ${base}/v1/messages -H "x-api-key: ${key}" ${json} -d '{"model":"${model}","stream":true,"max_tokens":200,"messages":[{"role":"user","content":"Good morning"}]}'
curl ${base}/v1/responses -H "Authorization: Bearer ${key}" ${json} -d '{"model":"${model}","stream":true,"input":"Good morning"}'

${console}
`;
}

function table(found: readonly FoundProvider[], models: readonly Model[], program: string): string {
  const rows = [["PROVIDER", "MODEL", "IN", "OUT", "CONTEXT"]];
  for (const { name, keyFrom } of found) {
    const own = models.filter(({ routes }) => routes[0]?.provider === name);
    if (own.length === 0) {
      rows.push([name, `no models listed with the key of ${keyFrom}: see the log`, "", "", ""]);
    }
    for (const model of sorted(own).slice(0, MOST_SHOWN)) {
      rows.push([
        name,
        model.id,
        perMillion(model.pricing.prompt),
        perMillion(model.pricing.completion),
        model.contextLength === null ? "?" : String(model.contextLength),
      ]);
    }
    if (own.length > MOST_SHOWN) {
      rows.push([name, `and ${own.length - MOST_SHOWN} more: GET /v1/models`, "", "", ""]);
    }
  }
  const note =
    `Prices are US dollars per million tokens; ? is unknown. \`${program} init\` writes a configuration to start from.`;
  return [...inColumns(rows), "", note].join("\n");
}

/** Models with a known price first, each group in the order of the provider's list. */
function sorted(models: readonly Model[]): readonly Model[] {
  return [...models.filter(isPriced), ...models.filter((model) => !isPriced(model))];
}

/** A cheap model of the found providers whose price is certain; the demo model if there is none. */
function exampleOf(found: readonly FoundProvider[], models: readonly Model[]): string {
  const names = new Set(found.map(({ name }) => name));
  const cost = ({ pricing }: Model) => Number(pricing.prompt ?? 0) + Number(pricing.completion ?? 0);
  const able = models.filter((m) => isPriced(m) && cost(m) > 0 && names.has(m.routes[0]?.provider));
  const [first] = able.toSorted((a, b) => cost(a) - cost(b));
  return first?.id ?? "demo/small";
}
