/**
 * Checks whether a gateway can start with a configuration: used by `check`, `serve` and reloads. In addition
 * to load.ts, which checks the text, it checks entity types with the recognizers, patterns with the regular
 * expression engine, and files and addresses on this machine.
 */
import type { z } from "zod/mini";
import { DLP, entityTroubles, modelTrouble, patternTroubles } from "../dlp/config.ts";
import { hasRe2 } from "../dlp/re2.ts";
import { array, object } from "../exchange/json.ts";
import { SERVER } from "../http/config.ts";
import type { Field } from "../schema/field.ts";
import { type InputPath, openReport, read, type Report } from "../schema/mistakes.ts";
import { STORE } from "../store/config.ts";
import type { Examination, Loaded } from "./load.ts";
import { checkCertificate, checkClientTls } from "./certificate.ts";
import { checkAddress, checkFiles } from "./machine.ts";

/** Throws `ConfigError` with every mistake. */
export async function checked(examination: Examination, { listens }: { listens: boolean }): Promise<Loaded> {
  const { value, report } = examination;
  await checkEntityTypes(value, report);
  await checkPatterns(value, report);
  const [dlp, store, server] = [
    sectionOf(DLP, "dlp", value),
    sectionOf(STORE, "store", value),
    sectionOf(SERVER, "server", value),
  ];
  const trouble = await modelTrouble(dlp?.model);
  if (trouble !== null) report.expect(trouble, dlp?.model, ["dlp", "model"]);
  if (store !== undefined) checkFiles(store, report);
  if (server !== undefined && server.tls !== null) await checkCertificate(server.tls, report);
  for (const [name, provider] of Object.entries(object(object(value).providers))) {
    const { tls } = object(provider);
    if (tls !== undefined) await checkClientTls(tls, report, ["providers", name, "tls"]);
  }
  if (server !== undefined && listens) checkAddress(server, report);
  return examination.conclude();
}

/**
 * Reads one section, even if another section has mistakes. Undefined: this section has mistakes, which are
 * already reported.
 */
function sectionOf<S extends z.ZodMiniType>(
  field: Field<S>,
  name: string,
  root: unknown,
): z.output<S> | undefined {
  const { [name]: section = {} } = object(root);
  return read(field, section, openReport(new Map()));
}

async function checkEntityTypes(root: unknown, report: Report): Promise<void> {
  const names = Object.entries(object(object(root).dlp_policies)).flatMap(([policy, rules]) =>
    array(object(rules).entity_types).map((name, i) => ({
      name,
      path: ["dlp_policies", policy, "entity_types", i] satisfies InputPath,
    }))
  );
  const { troubles, known } = await entityTroubles(names.map(({ name }) => name));
  for (const [i, { name, path }] of names.entries()) {
    if (troubles[i] !== null) report.expect(troubles[i], name, path, known);
  }
}

/** Reads the value as it was written, so that patterns are checked even if other fields have mistakes. */
async function checkPatterns(root: unknown, report: Report): Promise<void> {
  const patterns = Object.entries(object(object(root).dlp_policies)).flatMap(([name, policy]) =>
    array(object(policy).regexes).flatMap((regex, i) => {
      const { pattern } = object(regex);
      const path: InputPath = ["dlp_policies", name, "regexes", i, "pattern"];
      return typeof pattern === "string" && pattern !== "" && pattern.length <= 512
        ? [{ pattern, path }]
        : [];
    })
  );
  if (!hasRe2()) {
    const wanted = "a host with threads (masking and blocking by this pattern refuses every request here)";
    for (const { pattern, path } of patterns) report.doubt(wanted, pattern, path);
    return;
  }
  const troubles = await patternTroubles(patterns.map(({ pattern }) => pattern));
  for (const [i, { pattern, path }] of patterns.entries()) {
    if (troubles[i] !== null) report.expect(`an RE2 pattern (${troubles[i]})`, pattern, path);
  }
}
