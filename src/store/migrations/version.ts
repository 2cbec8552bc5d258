/**
 * The number of migration steps, in a module of its own so that a start need not load the steps to check that
 * none is missing.
 */
export const SCHEMA_VERSION = 21;
