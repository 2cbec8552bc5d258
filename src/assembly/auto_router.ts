/** The automatic choice of models, where the configuration has one. */
import type { Config } from "../config/schema.ts";
import type { AutoRouter } from "../models/auto.ts";
import type { Catalog } from "../models/catalog.ts";

/** Loaded only where it is used: the predictor's weights take longer to read than the rest of the start. */
export async function autoRouter(config: Config, catalog: Catalog): Promise<AutoRouter | null> {
  if (config.auto.models.length === 0) return null;
  const { openAuto } = await import("../models/auto.ts");
  return openAuto(config.auto, catalog);
}
