/**
 * Keys, limits and the ledger: who is asking, may it, and what did it cost.
 *
 * A record is in the journal (or, where there is no disk, in the store) before `settle` is through, and in the store a few
 * milliseconds later. What this node may spend without asking the store it holds as leases, renewed in the background.
 */
export { openAccounts } from "./service.ts";
export { StoreRefused } from "./pepper.ts";
export type { AccountsConfig } from "./configured.ts";
export type { AccountsOptions, AccountsService } from "./service_types.ts";
export type { Administration } from "./administration.ts";
export {
  ACCESS,
  type Access,
  ADMIN_KEY_HOLDER,
  changes,
  may,
  type Principal,
  type Role,
  ROLES,
} from "./roles.ts";
export type { Change, Trail } from "./trail.ts";
export type { AccountInput, GenerationQuery, KeyInput, TeamChange, TeamInput } from "./input.ts";
export type {
  AuditView,
  CreditsView,
  GenerationView,
  KeyReport,
  KeyStatus,
  KeyView,
  LeaseView,
  Listed,
  TeamView,
  TokenView,
  UsageView,
} from "./views.ts";
export type { GenerationDetails } from "./generation_details.ts";
export type { LiveFilter } from "./live_events.ts";
export type { BudgetView, Concerns, EndingKeyView } from "./concerns.ts";
export { LONGEST_SESSION_MS, type SessionView } from "./console_sessions.ts";
export type { ConfigAccount, ConfigKey } from "./config.ts";
export type { Statement, StatementFoot, StatementLine } from "./statement.ts";
export {
  costAtMost,
  costOf,
  formatAmount,
  hasOutputPrice,
  MAX_AMOUNT,
  parseAmount,
  priceTable,
} from "./money.ts";
export type { Estimate, Prices } from "./money.ts";
export type {
  AccessPolicy,
  Accounts,
  AdmissionRequest,
  AuditEntry,
  Key,
  RateState,
  Reservation,
} from "./types.ts";
