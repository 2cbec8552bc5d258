/** The endpoints of the console: administration, the operator's page, metrics. */
import type { Endpoint } from "../http/endpoint.ts";
import { ADMINISTRATION } from "./administration.ts";
import { LIVE } from "./live.ts";
import { METRICS_PAGE } from "./metrics_page.ts";
import { CATALOG } from "./catalog_endpoints.ts";
import { CONFIGURATION } from "./configuration_endpoint.ts";
import { OVERVIEW } from "./overview_endpoints.ts";
import { CONSOLE_PAGE } from "./page.ts";
import { OIDC_ENDPOINTS } from "./oidc_endpoints.ts";
import { PEOPLE } from "./people.ts";
import { SIGN_IN } from "./sign_in.ts";
import { POLICIES } from "./policy_endpoints.ts";
import { PROVIDERS } from "./provider_endpoints.ts";
import { TEAMS_AND_ACCOUNTS } from "./team_endpoints.ts";

export const CONSOLE: readonly Endpoint[] = [
  ...ADMINISTRATION,
  ...LIVE,
  ...OVERVIEW,
  ...PEOPLE,
  ...TEAMS_AND_ACCOUNTS,
  ...PROVIDERS,
  ...POLICIES,
  ...CATALOG,
  ...CONFIGURATION,
  ...SIGN_IN,
  ...OIDC_ENDPOINTS,
  ...CONSOLE_PAGE,
  METRICS_PAGE,
];
