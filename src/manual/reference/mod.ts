/**
 * The generated pages, by their file below `pages/reference/`, without that of the commands. A test compares
 * them with the files.
 */
import { configurationPage } from "./configuration.ts";
import { entitiesPage } from "./entities.ts";
import { errorsPage } from "./errors.ts";
import { headersPage } from "./headers.ts";
import { metricsPage } from "./metrics.ts";

export const REFERENCE: Readonly<Record<string, () => string>> = {
  "configuration.md": configurationPage,
  "entities.md": entitiesPage,
  "errors.md": errorsPage,
  "headers.md": headersPage,
  "metrics.md": metricsPage,
};
