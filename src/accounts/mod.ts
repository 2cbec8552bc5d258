/**
 * API keys, limits and the ledger: authentication, admission and billing.
 *
 * When `settle` resolves, the record is in the journal (without a disk: in the store), and a few milliseconds later in the store. The node
 * holds leases of the budgets, which it may spend without asking the store and which are renewed in the background.
 */
export { openAccounts } from "./service.ts";
export { StoreRefused } from "./keys/pepper.ts";
export type { AccountsConfig } from "./configured.ts";
export type { AccountsOptions, AccountsService } from "./service_types.ts";
export type { Administration } from "./administration/administration.ts";
export {
  ACCESS,
  type Access,
  ADMIN_KEY_HOLDER,
  changes,
  may,
  type Principal,
  type Role,
  ROLES,
} from "./keys/roles.ts";
export type { Change, Trail } from "./administration/trail.ts";
export type { AccountInput, TeamChange, TeamInput } from "./administration/input.ts";
export type {
  AuditView,
  CreditsView,
  GenerationView,
  KeyReport,
  KeyView,
  LeaseView,
  TeamView,
  TokenView,
  UsageView,
} from "./administration/views.ts";
export type { GenerationDetails } from "./administration/generation_details.ts";
export type { LiveFilter } from "./live/live_events.ts";
export type { BudgetView, Concerns } from "./administration/concerns.ts";
export type { SessionView } from "./keys/console_sessions.ts";
export { LONGEST_SESSION_MS } from "./keys/ended_sessions.ts";
export type { Statement, StatementFoot, StatementLine } from "./administration/statement.ts";
export {
  costAtMost,
  costOf,
  formatAmount,
  hasOutputPrice,
  parseAmount,
  priceTable,
} from "./budgets/money.ts";
export type { Estimate } from "./budgets/money.ts";
export type { AccessPolicy, Accounts, AdmissionRequest, Key, RateState, Reservation } from "./types.ts";
